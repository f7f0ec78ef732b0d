"""The page on flushes and archives: its Python runs, and its commands are known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commonplace.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "flush.md").read_text(encoding="utf-8")


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace that the page writes to."""
    (tmp_path / "notes").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, folder in {"STATE_DIR": "state", "CACHE_DIR": "cache", "WORKSPACE": "notes"}.items():
        monkeypatch.setenv(f"COMMONPLACE_{name}", str(tmp_path / folder))
    return tmp_path / "notes"


def test_its_python_runs(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flush, archive = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    exec(compile(flush, "flush.md", "exec"), {})
    shown = capsys.readouterr().out
    assert "True flushed" in shown
    (log,) = notes.rglob("*.md")
    assert log.read_text("utf-8").endswith("\n\n- Ann's bike is green.\n")
    exec(compile(archive, "flush.md", "exec"), {})
    assert capsys.readouterr().out.endswith("-green-bike.md 2\n")


@pytest.mark.usefixtures("notes")
def test_its_commands_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    lines = re.findall(r"^commonplace (sessions .*)$", PAGE, re.MULTILINE)
    assert len(lines) >= 4
    for line in lines:
        code = main(line.split())
        assert "usage" not in capsys.readouterr().err
        assert code in (0, 1)
