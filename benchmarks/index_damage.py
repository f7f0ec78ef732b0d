"""Random damages of an index, each followed by searches, ``doctor`` and ``index``.

Run it with ``python benchmarks/index_damage.py [--trials 2000] [--seed 1] [--verbose]``. Bits are
flipped in index and log, both are cut, pages are zeroed, swapped and overwritten, foreign journals
laid beside them; see ``tests/faults/index_damage.py``. Printed is how many damages of each kind
ended in which way. Exits with 1 unless each ended in right answers, after one ``index`` at the
most, none in a wrong answer that nothing is said about, and none in a foreign exception.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_DETAIL = 1_500


def load() -> Any:
    """What damages, which the tests use too; tests are not packages."""
    path = Path(__file__).parents[1] / "tests" / "faults" / "index_damage.py"
    spec = importlib.util.spec_from_file_location("damages", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["damages"] = module  # attrs looks for it
    spec.loader.exec_module(module)
    return module


def table(outcomes: Sequence[Any], good: Sequence[str]) -> str:
    """How many damages of each kind ended in which way."""
    results = [*good, *sorted({one.result for one in outcomes} - set(good))]
    counts = Counter((one.damage, one.result) for one in outcomes)
    kinds = sorted({one.damage for one in outcomes})
    lines = [[kind, *(str(counts[kind, result]) for result in results)] for kind in kinds]
    lines.insert(0, ["damage", *results])
    totals = Counter(one.result for one in outcomes)
    lines.append(["all", *(str(totals[result]) for result in results)])
    widths = [max(len(line[at]) for line in lines) for at in range(len(results) + 1)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trials", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    asked = parser.parse_args()
    damages = load()
    began = time.monotonic()
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        trials = damages.run_trials(Path(folder), asked.trials, seed=asked.seed)
        for seed, outcome in enumerate(trials, asked.seed):
            outcomes.append(outcome)
            if asked.verbose or outcome.result not in damages.GOOD:
                line = f"{seed}: {outcome.state}, {outcome.damage}: {outcome.result}"
                print(line, outcome.detail[:MOST_DETAIL], flush=True)
    print(table(outcomes, damages.GOOD))
    print(f"{len(outcomes)} damages in {time.monotonic() - began:.0f} s")
    return 0 if all(one.result in damages.GOOD for one in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
