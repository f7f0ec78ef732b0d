"""The plugin for Claude Code is what its generator writes."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
files = runpy.run_path(str(ROOT / "docs" / "generate" / "claude_code_plugin.py"))["files"]


def test_it_is_up_to_date() -> None:
    wanted = files()
    found = {path: (ROOT / path).read_text(encoding="utf-8") for path in wanted}
    assert found == wanted, "write it again: python docs/generate/claude_code_plugin.py"


def test_nothing_else_is_in_its_folder() -> None:
    folder = ROOT / "integrations" / "claude-code"
    found = {str(path.relative_to(ROOT)) for path in folder.rglob("*") if path.is_file()}
    assert found == {path for path in files() if path.startswith("integrations/")}
