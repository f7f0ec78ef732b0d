"""A thousand searches and a hundred syncs while every part of a plugin fails at random.

    python benchmarks/failing_parts.py [--searches 1000] [--seeds 1 2 3] [--share 0.2]

See ``tests/faults/failing_parts.py`` for what fails, and how. Printed is, for each seed, how many
calls failed in which way, which backend served, how many syncs raised their reason, and then what
must be 0: searches that raised, those with failures that neither answer nor status nor log name,
and notes lost. Exits with 1 unless it is.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from commonplace.embedding import guarded as provider
from commonplace.fallback import backend
from commonplace.host import answers, backends, events, sources
from commonplace.host.discovery import installed
from commonplace.plugin import Limits


def load() -> Any:
    """What fails, which the tests use too; tests are not packages."""
    path = Path(__file__).parents[1] / "tests" / "faults" / "failing_parts.py"
    spec = importlib.util.spec_from_file_location("failing_parts", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=1000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--share", type=float, default=0.2, help="of calls that fail")
    options = parser.parse_args()
    parts, bad = load(), 0
    # So that a call that hangs does not hold up a run of some 10,000 calls.
    answers.RANKER_SECONDS = sources.CALL_SECONDS = backends.PROBE_SECONDS = 0.2
    events.HOOK_SECONDS = provider.FACT_SECONDS = 0.2
    backend.BACKEND_PROBE_SECONDS = 2.0  # more than the calls that one look at an index makes
    limits = Limits(query_seconds=0.3, request_seconds=0.3, wait_seconds=0.2)
    for seed in options.seeds:
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            outcome = parts.run(
                Path(folder),
                searches=options.searches,
                seed=seed,
                share=options.share,
                installed=installed(),
                limits=limits,
            )
        manners = Counter[str]()
        for name, count in outcome.failed.items():
            manners[name.partition(": ")[2]] += count
        served = ", ".join(f"{count} by {name}" for name, count in outcome.served.most_common())
        shown = ", ".join(f"{count} x {name}" for name, count in manners.most_common())
        print(
            f"seed {seed}: {outcome.searches} searches ({served}), {outcome.syncs} syncs, "
            f"failures of {len({name.partition(':')[0] for name in outcome.failed})} calls: "
            f"{shown}; {time.perf_counter() - began:.0f} s",
            flush=True,
        )
        print(f"  syncs refused: {len(outcome.refused)} {outcome.refused[:3]}", flush=True)
        for what in ("raised", "silent", "lost"):
            found = getattr(outcome, what)
            bad += len(found)
            print(f"  {what}: {len(found)} {found[:3] if found else ''}", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
