"""The history of a folder that was moved is found under its old path, and named."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from commonplace.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    """A folder with two changes that was moved after them, beside one that stayed."""
    monkeypatch.setenv("COMMONPLACE_STATE_DIR", str(tmp_path / "state"))
    for name in ("old", "other"):
        folder = tmp_path / name
        (folder / "memory").mkdir(parents=True)
        (folder / "MEMORY.md").write_text(f"# {name}\n")
        for text in ("Tea at four", "Milk at six"):
            assert main(["remember", "--workspace", str(folder), "--entry", text]) == 0
    shutil.move(tmp_path / "old", tmp_path / "new")
    capsys.readouterr()
    return tmp_path / "new"


def test_the_history_is_named_and_the_command_brings_it_along(
    moved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = ["--workspace", str(moved)]
    assert main(["journal", *here]) == 0
    shown = capsys.readouterr().err
    assert f"changes made while this folder was {tmp_path / 'old'} are kept" in shown
    assert main(["undo", *here]) != 0
    assert "bring them along: mv " in capsys.readouterr().err
    command = shlex.split(shown.partition("bring them along: ")[2])
    subprocess.run(command, check=True)
    assert main(["undo", *here]) == 0
    assert (moved / "MEMORY.md").read_text() == "# old\n\n- Tea at four\n"
    capsys.readouterr()
    assert main(["journal", *here]) == 0
    assert "Milk at six" in capsys.readouterr().out


def test_a_folder_that_never_had_these_notes_does_not_name_them(
    moved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fresh = tmp_path / "fresh"
    (fresh / "memory").mkdir(parents=True)
    (fresh / "MEMORY.md").write_text("# Mine\n")
    for command in ("journal", "undo"):
        main([command, "--workspace", str(fresh)])
        assert "are kept under that path" not in capsys.readouterr().err
    (tmp_path / "old").mkdir()  # the folder is there again: its history is its own
    main(["journal", "--workspace", str(moved)])
    assert "are kept under that path" not in capsys.readouterr().err


def test_a_history_of_changes_since_the_move_is_not_to_be_overwritten(
    moved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = ["--workspace", str(moved)]
    assert main(["remember", *here, "Bread at nine"]) == 0
    assert main(["undo", *here]) == 0
    assert main(["undo", *here]) != 0  # nothing is left, though the journal has both changes
    shown = capsys.readouterr().err
    assert "there is no change to undo" in shown
    assert "mv " not in shown
