"""The page on the long-term store: its Python and its commands run, its examples are valid."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from commonplace import Memory, MemoryTools
from commonplace.cli import main
from commonplace.config.json5 import parse_json5
from commonplace_longterm.capture import is_worth_keeping
from commonplace_longterm.markdown import read, written
from commonplace_longterm.prompt import NOTICE

PAGE = (Path(__file__).parents[2] / "docs" / "long-term.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return str(found)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "notes").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name, folder in {"STATE_DIR": "state", "CACHE_DIR": "cache", "WORKSPACE": "notes"}.items():
        monkeypatch.setenv(f"COMMONPLACE_{name}", str(tmp_path / folder))
    return tmp_path


@pytest.mark.slow
@pytest.mark.usefixtures("home")
def test_its_python_and_its_commands_run(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("lancedb")
    exec(compile(block("python"), "long-term.md", "exec"), {})
    recalled, shown, captured, again = _parts(capsys.readouterr().out)
    assert "1. [preference] Anna prefers short answers. (" in recalled
    assert shown.split("\n") == block("text").rstrip().split("\n")
    assert (captured, again) == ("1", "0")
    for line in block("sh").splitlines():
        assert main(shlex.split(line)[1:]) == 0, line
    said = capsys.readouterr().out
    assert "2 unchanged" in said
    assert "Helix" in said


def _parts(out: str) -> list[str]:
    """What each of the four prints has printed."""
    first, second, rest = out.split("</relevant-memories>\n")
    end = "</relevant-memories>"
    return [f"{first}{end}", f"{second}{end}", *rest.split()]


def test_its_settings_switch_the_store_on(home: Path) -> None:
    with Memory.open(config=parse_json5(block("json5"))) as memory:
        assert memory.settings.warnings == ()
        names = {tool.name for tool in MemoryTools(memory).definitions}
    assert set(re.findall(r"^\| `(memory_\w+)` \|", PAGE, re.MULTILINE)) <= names


def test_its_file_is_read_as_it_stands() -> None:
    entries = read(block("markdown"), now=1)
    assert [entry.text for entry in entries] == ["Anna prefers short answers."]
    assert written(entries, "main") == block("markdown")


def test_what_it_says_of_the_block_and_of_capture_is_so() -> None:
    assert NOTICE in block("text")
    for phrase in ("I prefer", "remember", "we decided"):
        assert f'"{phrase}' in PAGE
        assert is_worth_keeping(f"{phrase} some words", longest=500)
