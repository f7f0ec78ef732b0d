"""A command in a folder of a workspace says which of the two it takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from commonplace.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder ``kunden`` in ``notes``, with a note in each."""
    folder = tmp_path / "notes/kunden"
    folder.mkdir(parents=True)
    (folder / "siebert.md").write_text("Siebert pays in 30 days.\n")
    (folder.parent / "hello.md").write_text("Hello world.\n")
    monkeypatch.setenv("COMMONPLACE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("COMMONPLACE_WORKSPACE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("mark", ["MEMORY.md", "memory/", "commonplace.json5", "an index"])
def test_the_workspace_above_is_named(
    mark: str, below: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    above = below.parent
    if mark == "an index":
        assert main(["index", "--workspace", str(above)]) == 0
    elif mark.endswith("/"):
        (above / mark).mkdir()
    else:
        (above / mark).write_text("{}" if mark.endswith("5") else "- tea\n")
    capsys.readouterr()
    assert main(["search", "Siebert"]) == 0
    shown = capsys.readouterr()
    assert "siebert.md#L1" in shown.out
    said = (
        f"the notes are those of {below}, the current folder, which lies in the workspace {above}"
    )
    assert shown.err.count(said) == 1
    assert main(["search", "Siebert", "--json"]) == 0
    shown = capsys.readouterr()
    assert said in shown.err
    assert json.loads(shown.out)["workspace"] == str(below)
    for named in (["--workspace", "."], ["--workspace", str(above)]):
        assert main(["search", "Siebert", *named]) == 0
        assert said not in capsys.readouterr().err


def test_a_folder_by_itself_names_no_other(
    below: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "Siebert"]) == 0
    assert "which lies in" not in capsys.readouterr().err
    (below.parent / "MEMORY.md").write_text("- tea\n")
    (below / "memory").mkdir()  # a workspace in its own right
    main(["search", "Siebert"])
    assert "which lies in" not in capsys.readouterr().err
    (below / "memory").rmdir()
    monkeypatch.setenv("COMMONPLACE_WORKSPACE", str(below))
    main(["search", "Siebert"])
    assert "which lies in" not in capsys.readouterr().err
