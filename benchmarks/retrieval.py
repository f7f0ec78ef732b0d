"""Retrieval with the default configuration, beside the figures of the prototype it must match.

    COMMONPLACE_EVAL_DIR=../shared/eval python benchmarks/retrieval.py

One configuration for all sets; every folder with a queries.jsonl is an index of its own. Exits 1 if
a set lies more than 0.01 below the prototype, or the mean lies below it.

    python benchmarks/retrieval.py --backend inmemory
    python benchmarks/retrieval.py --config qmd.json5 eslint locomo-notes

measure another backend or configuration on all sets or some, and exit 0.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

# nDCG@10, and recall within 4,000 characters where it was published.
PROTOTYPE: dict[str, tuple[float, float | None]] = {
    "eslint": (0.847, 0.916),
    "openclaw-docs-en": (0.677, 0.781),
    "openclaw-docs-zh": (0.730, 0.864),
    "openclaw-docs-ja": (0.729, 0.822),
    "openclaw-docs-th": (0.692, 0.799),
    "locomo-notes": (0.639, 0.773),
    "locomo-log": (0.686, 0.774),
    "locomo-sessions": (0.702, 0.719),
    "madial-zh": (0.365, None),
    "madial-en": (0.327, None),
    "cmrc2018-zh": (0.989, None),
    "jsquad-ja": (0.967, None),
    "xquad-th": (0.963, None),
    "xquad-en": (0.979, None),
    "xquad-zh": (0.979, None),
}
SLACK = 0.01
# Transcripts are searched where both keys ask for it; these lie in the workspace's own folder.
SEARCH = {"sources": ["memory", "sessions"], "experimental": {"sessionMemory": True}}


def measure(tree: Path, *, backend: str | None, config: str | None) -> dict[str, float]:
    """All metrics of one set, as ``commonplace eval --json`` gives them."""
    with tempfile.TemporaryDirectory() as scratch:
        env = {
            **os.environ,
            "COMMONPLACE_STATE_DIR": f"{scratch}/state",
            "COMMONPLACE_CACHE_DIR": f"{scratch}/cache",
            "HOME": scratch,
        }
        if config is None:
            config = f"{scratch}/config.json"
            memory = {"search": SEARCH} | ({"backend": [backend]} if backend else {})
            Path(config).write_text(json.dumps({"memory": memory}), encoding="utf-8")
        command = [sys.executable, "-m", "commonplace", "eval", str(tree)]
        command += ["--config", os.path.abspath(config)]
        done = subprocess.run(
            [*command, "--budget", "4000", "--json"],
            env=env,
            check=True,
            capture_output=True,
            text=True,
        )
    found: dict[str, float] = json.loads(done.stdout)["all"]
    return found


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(PROTOTYPE), help="names of sets")
    parser.add_argument("--backend", help="id of the backend, without a fallback")
    parser.add_argument("--config", help="configuration file")
    args = parser.parse_args()
    root = Path(os.environ.get("COMMONPLACE_EVAL_DIR", "../shared/eval")) / "dev"
    if not root.is_dir():
        print(f"no evaluation data at {root}: set COMMONPLACE_EVAL_DIR")
        return 2
    proto = f"{'(proto)':>8} {'diff':>7}"
    print(f"{'set':18} {'ndcg@10':>8} {proto}   {'budget':>7} {proto}")
    differences: list[float] = []
    for name in args.sets:
        ndcg, budget = PROTOTYPE[name]
        found = measure(root / name, backend=args.backend, config=args.config)
        differences.append(found["ndcg@10"] - ndcg)
        line = f"{name:18} {found['ndcg@10']:8.3f} {ndcg:8.3f} {differences[-1]:+7.3f}"
        line += f"   {found['budget']:7.3f}"
        if budget is not None:
            differences.append(found["budget"] - budget)
            line += f" {budget:8.3f} {differences[-1]:+7.3f}"
        print(line, flush=True)
    mean = sum(differences) / len(differences)
    worst = min(differences)
    print(f"mean difference {mean:+.4f}, worst {worst:+.4f}")
    default = args.backend is None and args.config is None
    return 0 if not default or (worst >= -SLACK and mean >= 0) else 1


if __name__ == "__main__":
    sys.exit(main())
