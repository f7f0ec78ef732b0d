"""How many kinds of secrets are masked, and how many ordinary lines are touched.

    python benchmarks/redaction.py [FOLDER ...]

The kinds are those of ``tests/core/text/secret_kinds.py``, twenty of each. Every line of the text
files of each FOLDER counts as ordinary. Where ``detect-secrets`` is installed, it is asked for the
same kinds.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from commonplace.text.redaction import redact

ENDINGS = {".md", ".txt", ".rst", ".py", ".log", ".json", ".jsonl", ".js", ".toml", ".yaml", ".yml"}
ROUNDS = 20


def load_kinds() -> Any:
    path = Path(__file__).parents[1] / "tests/core/text/secret_kinds.py"
    spec = importlib.util.spec_from_file_location("secret_kinds", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    kinds = load_kinds()
    found: Counter[str] = Counter()
    of: Counter[str] = Counter()
    for seed in range(ROUNDS):
        for category, text, secrets in kinds.samples(seed):
            of[category] += 1
            found[category] += kinds.is_hidden(redact(text), secrets)
    for category, number in of.items():
        print(f"{category:10} {found[category] / number:7.1%} of {number // ROUNDS} kinds")
    print(f"{'all':10} {found.total() / of.total():7.1%} of {of.total() // ROUNDS} kinds")
    print_detect_secrets(kinds)
    for folder in sys.argv[1:]:
        print_ordinary(Path(folder))


def print_detect_secrets(kinds: Any) -> None:
    if importlib.util.find_spec("detect_secrets") is None:
        print("detect-secrets is not installed")
        return
    # Loaded by name: it is a judge that need not be there.
    scan_line = importlib.import_module("detect_secrets.core.scan").scan_line
    with importlib.import_module("detect_secrets.settings").default_settings():
        samples = kinds.samples(0)
        hits = sum(
            any(list(scan_line(line)) for line in text.splitlines()) for _, text, _ in samples
        )
    print(f"detect-secrets reports one in {hits / len(samples):.1%} of the kinds")


def print_ordinary(folder: Path) -> None:
    lines: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix in ENDINGS and path.is_file():
            text = path.read_text("utf-8", errors="replace")
            lines += [line[:2000] for line in text.splitlines() if line.strip()]
    before = time.process_time()
    touched = sum(redact(line) != line for line in lines)
    seconds = time.process_time() - before
    size = sum(map(len, lines))
    print(
        f"{folder}: {touched} of {len(lines):,} lines touched ({touched / max(1, len(lines)):.3%}),"
        f" {size / max(seconds, 1e-9) / 1e6:.2f} million characters a second"
    )


if __name__ == "__main__":
    main()
