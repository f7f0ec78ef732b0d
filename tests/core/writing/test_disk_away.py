"""The journal while the disk of the notes is away, and files that stay open."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from commonplace import WorkspaceError, Writer, WriteRefusedError
from commonplace.writing.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path

    from commonplace import Receipt


class Ended(BaseException):
    """The process ends: nothing that follows is done either."""


def ends(*_: object) -> None:
    raise Ended


def added(writer: Writer, text: str, path: str = "MEMORY.md") -> Receipt:
    return writer.change(path, lambda old: (old or b"") + text.encode() + b"\n", why="")


@pytest.mark.parametrize("mount_point", [False, True])
def test_a_change_of_a_writer_that_ended_is_known_once_its_disk_is_back(
    mount_point: bool, writer: Writer, workspace: Path, tmp_path: Path
) -> None:
    added(writer, "ferry")
    with pytest.raises(Ended), mock.patch.object(Journal, "done", ends):
        added(writer, "harbour")
    away = workspace.rename(tmp_path / "away")
    if mount_point:
        workspace.mkdir()
        assert len(writer.journal()) == 1  # what became of the other one is not known yet
        workspace.rmdir()
    else:
        with pytest.raises(WorkspaceError):
            writer.journal()
    away.rename(workspace)
    assert [receipt.after.text for receipt in writer.journal()] == ["harbour\n", "ferry\n"]
    writer.undo("last")
    assert (workspace / "MEMORY.md").read_bytes() == b"ferry\n"
    assert [file.name for file in workspace.iterdir()] == ["MEMORY.md"]


def test_the_journal_is_read_without_the_notes_and_their_lock(
    writer: Writer, workspace: Path, tmp_path: Path
) -> None:
    receipt = added(writer, "ferry")
    workspace.rename(tmp_path / "away")
    assert list(writer.journal()) == [receipt]


OPEN = "/dev/fd"


@pytest.mark.skipif(not os.path.isdir(OPEN), reason="the system does not list open files")
def test_no_change_leaves_a_file_open(writer: Writer, workspace: Path) -> None:
    def change_and_take_back() -> None:
        for path in ("memory/new/a.md", "MEMORY.md", "MEMORY.md"):
            added(writer, "ferry", path)
        (workspace / "memory" / "file").touch()
        with pytest.raises(WriteRefusedError):
            added(writer, "ferry", "memory/file/a.md")
        for receipt in writer.journal()[:3]:
            writer.undo(receipt)

    change_and_take_back()  # what is opened once and kept is open then
    before = len(os.listdir(OPEN))
    change_and_take_back()
    assert len(os.listdir(OPEN)) <= before
