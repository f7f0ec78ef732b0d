"""What the page says is safe to delete: every file of a state folder, and what its loss costs."""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path

import pytest

from commonplace import Memory, WriteRefusedError

PAGE = Path(__file__).parents[2] / "docs" / "maintenance.md"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def memory(tmp_path: Path, state: Path) -> Memory:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "MEMORY.md").write_text("The ferry leaves at noon.\n")
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(state)}
    return Memory.open(workspace=notes, env=env, watch=True)


def test_every_file_of_a_state_folder_has_a_row(memory: Memory, state: Path) -> None:
    rows = re.findall(r"^\| (`.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    named = [name for row in rows for name in re.findall("`([^`]+)`", row)]
    with memory:
        memory.sync()
        memory.writer(who="test").remember("The quay is closed.")
        files = [path.relative_to(state).as_posix() for path in state.rglob("*") if path.is_file()]
    assert any(path.startswith("memory/journals/") for path in files)
    for path in files:
        assert any(_names(name, path) for name in named), path


def test_the_loss_of_the_journals_costs_what_the_page_says(memory: Memory, state: Path) -> None:
    with memory:
        receipt = memory.writer(who="talk", origin="session", allowed=True).remember("I am Bo.")
        owner = memory.writer(who="test")
        cited = f"{receipt.path}#L{receipt.after.start}"
        assert owner.origin_of(cited) == "session"
        forgotten = owner.forget("MEMORY.md#L1")
        for file in (state / "memory" / "journals").glob("*.jsonl"):
            file.unlink()
        assert owner.origin_of(cited) == "owner"
        with pytest.raises(WriteRefusedError):
            owner.undo(forgotten)


def _names(name: str, path: str) -> bool:
    if name.endswith("/"):
        return path.startswith(name)
    pattern = re.sub(r"[A-Z]+", "*", name).replace("**/", "*")
    if name.startswith("-"):  # of the file before it
        pattern = f"*.sqlite{name}"
    elif name.startswith("*"):
        pattern = f"memory/{name}"
    return fnmatch.fnmatchcase(path, pattern)
