"""What a settings file was meant to say and does not is in every answer, not in a command alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from commonplace import Memory
from commonplace.cli import main
from commonplace.tools.toolset import MemoryTools

if TYPE_CHECKING:
    from pathlib import Path

OWN = (
    ('{ memorySearch: { extraPaths: ["."] } }', "memorySearch: has no effect here; put it into"),
    ('{ memory: { extraPaths: ["."] } }', "put it into memory.search.extraPaths"),
    ('{ memory: { serch: { extraPaths: ["."] } } }', "did you mean 'search'?"),
    ('{ memry: { search: { extraPaths: ["."] } } }', "did you mean 'memory'?"),
    ("{ agents: { defaults: { memorysearch: {} } } }", "did you mean 'memorySearch'?"),
)
USERS = (
    ("{ agents: { defaults: { memorysearch: {} } } }", "did you mean 'memorySearch'?"),
    ("{ memry: { search: {} } }", "did you mean 'memory'?"),
)


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "notes"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- tea at four\n")
    (folder / "other.md").write_text("- coffee at nine\n")
    monkeypatch.setenv("COMMONPLACE_WORKSPACE", str(folder))
    monkeypatch.setenv("COMMONPLACE_STATE_DIR", str(tmp_path / "state"))
    return folder


def _checked(said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Memory.open() as memory:
        memory.sync()
        for query in ("tea", "coffee"):
            result = memory.search(query)
            assert [note for note in result.notes if said in note] == list(result.warnings)
            assert len(result.warnings) == 1
        assert said in memory.recall(query="tea").text
        found = MemoryTools(memory).call("memory_search", {"query": "coffee"})
        assert said in found.text
    capsys.readouterr()
    assert main(["search", "coffee", "--json"]) == 0
    shown = capsys.readouterr()
    (warning,) = json.loads(shown.out)["warnings"]
    assert said in warning
    assert main(["search", "tea"]) == 0
    assert capsys.readouterr().err.count(said) == 1
    assert main(["status"]) == 0
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(("text", "said"), OWN)
def test_a_workspaces_own_file_that_is_wrong(
    text: str, said: str, notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (notes / "commonplace.json5").write_text(text)
    _checked(said, capsys)


@pytest.mark.parametrize(("text", "said"), USERS)
def test_a_misspelt_section_of_the_users_file(
    text: str,
    said: str,
    notes: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "own.json5").write_text(text)
    monkeypatch.setenv("COMMONPLACE_CONFIG", str(tmp_path / "own.json5"))
    _checked(said, capsys)


def test_what_is_right_is_not_named(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (notes / "commonplace.json5").write_text('{ memory: { search: { extraPaths: ["."] } } }')
    with Memory.open() as memory:
        memory.sync()
        assert memory.search("coffee").warnings == ()
    capsys.readouterr()
    assert main(["search", "coffee"]) == 0
    assert capsys.readouterr().err == ""
