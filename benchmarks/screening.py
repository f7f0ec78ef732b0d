"""What the screening of what agents write costs retrieval, on sets that hold no attack.

    COMMONPLACE_EVAL_DIR=../shared/eval python benchmarks/screening.py [set ...]

Every note is measured as it is, and as an agent could have written it, line by line: a line that
reads like an instruction is refused, and an empty one stands in its place; secrets are masked.
Exits 1 if nDCG@10 or recall@5 of a set falls by more than 0.002.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from commonplace import WriteRefusedError
from commonplace.writing.screening import screened_change

SLACK = 0.002
MEASURES = ("ndcg@10", "recall@5")


def measured(tree: Path, scratch: Path) -> dict[str, float]:
    """The measures of a set, as ``commonplace eval`` gives them."""
    env = {**os.environ, "HOME": str(scratch), "COMMONPLACE_STATE_DIR": str(scratch / "state")}
    command = [sys.executable, "-m", "commonplace", "eval", str(tree), "--json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)["all"]
    return found


def screen(tree: Path) -> tuple[int, int, int]:
    """Screen every note below ``tree`` in place; its lines, those refused, those masked."""
    total = refused = masked = 0
    for note in sorted(tree.rglob("workspace/**/*.md")):
        lines = note.read_bytes().split(b"\n")
        for at, line in enumerate(lines):
            if not line.strip():
                continue
            total += 1
            try:
                data, notes = screened_change(None, line, note.name, "session")
            except WriteRefusedError:
                refused += 1
                data, notes = b"", ()
            lines[at] = data or b""
            masked += bool(notes)
        note.write_bytes(b"\n".join(lines))
    return total, refused, masked


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", help="names of sets (default: all with notes)")
    args = parser.parse_args()
    root = Path(os.environ.get("COMMONPLACE_EVAL_DIR", "../shared/eval")) / "dev"
    if not root.is_dir():
        print(f"no evaluation data at {root}: set COMMONPLACE_EVAL_DIR")
        return 2
    names = args.sets or sorted(path.name for path in root.iterdir() if path.is_dir())
    print(f"{'set':18} {'lines':>10} {'refused':>8} {'masked':>7}   ndcg@10  change", end="")
    print("   recall@5  change")
    worst = 0.0
    for name in names:
        if not any((root / name).rglob("workspace/**/*.md")):
            continue
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder)
            shutil.copytree(root / name, scratch / name)
            before = measured(scratch / name, scratch)
            total, refused, masked = screen(scratch / name)
            after = measured(scratch / name, scratch)
        changes = [after[measure] - before[measure] for measure in MEASURES]
        worst = min(worst, *changes)
        figures = "   ".join(
            f"{before[measure]:8.4f} {change:+7.4f}"
            for measure, change in zip(MEASURES, changes, strict=True)
        )
        print(f"{name:18} {total:10} {refused:8} {masked:7}   {figures}", flush=True)
    print(f"largest loss {-worst:.4f} (at most {SLACK})")
    return int(-worst > SLACK)


if __name__ == "__main__":
    raise SystemExit(main())
