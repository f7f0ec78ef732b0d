"""The file commands: their exact answers, what they refuse, and where ``/memories`` is."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tests.core.tools.memory_commands import CASES, FILES, M, fill

from commonplace.errors import CallerError
from commonplace.tools.memory_files import MemoryFiles

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class PlainWriter:
    """Writes at once; receipts are numbered, and hold what was there."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.done: dict[str, tuple[str, bytes | None]] = {}
        self.refused: set[str] = set()
        self.stuck: set[str] = set()

    def change(self, path: str, edit: Callable[[bytes | None], bytes | None], *, why: str) -> Any:
        file = self.workspace / path
        before = file.read_bytes() if file.exists() else None
        self._put(path, edit(before))
        number = str(len(self.done) + 1)
        self.done[number] = (path, before)
        return SimpleNamespace(id=number)

    def undo(self, receipt: str) -> Any:
        if receipt in self.stuck:
            raise CallerError("the lines have changed since")
        self._put(*self.done[receipt])
        return SimpleNamespace(id="")

    def _put(self, path: str, data: bytes | None) -> None:
        if path in self.refused:
            raise CallerError("the disk is full", hint="make room")
        file = self.workspace / path
        if data is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)


DONE = ("Here's the content", "File created", "Successfully", "The memory file", "The file ")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A workspace whose ``memory/`` holds the files of the commands."""
    fill(tmp_path / "notes" / "memory")
    (tmp_path / "notes" / "MEMORY.md").write_text("# Curated\n")
    (tmp_path / "outside.md").write_text("secret\n")
    return tmp_path / "notes"


def tree_of(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder below ``folder``, with the bytes of files; links as they are named."""
    found: dict[str, bytes | None] = {}
    for at, folders, files in os.walk(folder):
        below = os.path.relpath(at, folder) if at != str(folder) else ""
        found.update((os.path.join(below, name), None) for name in folders)
        for name in files:
            path = os.path.join(at, name)
            if os.path.islink(path):
                data: bytes | None = os.readlink(path).encode()
            else:
                with open(path, "rb") as file:
                    data = file.read()
            found[os.path.join(below, name)] = data
    return found


def memory_of(workspace: Path, writer: PlainWriter | None = None) -> Any:
    """As much of a memory as the commands need."""
    settings = SimpleNamespace(workspace=str(workspace), agent="main")
    made = writer or PlainWriter(workspace)
    return SimpleNamespace(settings=settings, writer=lambda **_: made)


def files_of(notes: Path, **options: str) -> MemoryFiles:
    return MemoryFiles(memory_of(notes), **options)


def run(notes: Path, command: str, **fields: object) -> Any:
    return files_of(notes).call({"command": command, **fields})


@pytest.mark.parametrize(("command", "answer"), CASES, ids=range(len(CASES)))
def test_the_answers_are_those_of_the_standard(
    notes: Path, command: dict[str, Any], answer: str
) -> None:
    before = tree_of(notes)
    given = files_of(notes).call(command)
    assert given.text == answer
    assert given.failed == (not answer.startswith(DONE))
    if given.failed:
        assert tree_of(notes) == before


def test_a_listing_is_two_levels_deep_without_hidden_files(notes: Path) -> None:
    (notes / "memory" / ".tools").mkdir()
    lines = run(notes, "view", path=M).text.split("\n")
    assert lines[0].endswith("2 levels deep in /memories, excluding hidden items:")
    named = [line.split("\t") for line in lines[2:]]
    assert [name for _, name in named] == [
        f"{M}/{name}"
        for name in (
            *("bom.md", "breaks.md", "crlf.md", "d/", "d/e/", "d/x.md", "dup.md", "empty.md"),
            *("emptydir/", "nonl.md", "three.md"),
        )
    ]
    sizes = {name: size for size, name in named}
    assert (sizes[f"{M}/d/x.md"], sizes[f"{M}/empty.md"]) == ("1.5K", "0B")
    inner = run(notes, "view", path=f"{M}/d").text
    assert f"\t{M}/d/e/f/" in inner
    assert "g.md" not in inner


def test_what_the_commands_left(notes: Path) -> None:
    run(notes, "insert", path=f"{M}/crlf.md", insert_line=1, insert_text="mid\n\n")
    run(notes, "insert", path=f"{M}/nonl.md", insert_line=2, insert_text="end")
    run(notes, "str_replace", path=f"{M}/bom.md", old_str="one", new_str="1")
    run(notes, "rename", old_path=f"{M}/d", new_path=f"{M}/k/l")
    after = tree_of(notes / "memory")
    assert after["crlf.md"] == b"a\r\nmid\nb\r\n"
    assert after["nonl.md"] == b"one\ntwo\nend\n"
    assert after["bom.md"] == b"\xef\xbb\xbf1\n"
    assert after["k/l/e/f/g.md"] == b"deep\n"
    assert "d" not in after


# --- what Anthropic's own tool answers with an exception, or does through a link

WRONG: list[tuple[dict[str, Any], str]] = [
    (
        {"command": "create", "path": f"{M}/three.md/x.md", "file_text": "x"},
        "three.md is no folder",
    ),
    ({"command": "create", "path": f"{M}/{'n' * 300}.md", "file_text": "x"}, "name too long"),
    ({"command": "create", "path": f"{M}/a\0.md", "file_text": "x"}, "failed"),
    ({"command": "create", "path": f"{M}/n.md"}, "needs file_text"),
    ({"command": "create", "path": f"{M}/n.md", "file_text": "\ud800"}, "half a character"),
    ({"command": "create", "path": f"{M}/n.md", "file_text": 4}, "is no text: 4"),
    ({"command": "str_replace", "path": f"{M}/three.md", "old_str": "two"}, "needs new_str"),
    ({"command": "view", "path": f"{M}/latin.md"}, "no text in UTF-8"),
    ({"command": "insert", "path": f"{M}/latin.md", "insert_line": 0, "insert_text": "x"}, "UTF-8"),
    (
        {"command": "insert", "path": f"{M}/three.md", "insert_line": "x", "insert_text": "x"},
        "whole",
    ),
    ({"command": "view", "path": f"{M}/three.md", "view_range": "all"}, "two line numbers"),
    ({"command": "view", "path": f"{M}/three.md", "view_range": [True, 2]}, "whole number"),
    ({"command": "rename", "old_path": f"{M}/d", "new_path": f"{M}/d/in"}, "inside of"),
    ({"command": "rename", "old_path": f"{M}/three.md/x", "new_path": f"{M}/n.md"}, "not exist"),
    ({"command": "undo_edit", "path": f"{M}/three.md"}, "Unknown command: undo_edit"),
    ({"command": ["view"]}, "Unknown command"),
    ({}, "Unknown command"),
    ({"command": "view"}, "needs path"),
    ({"command": "view", "path": None}, "needs path"),
    # links: nothing is read, changed or deleted through one
    ({"command": "view", "path": f"{M}/out.md"}, "would escape"),
    ({"command": "create", "path": f"{M}/out.md", "file_text": "x"}, "would escape"),
    ({"command": "view", "path": f"{M}/away/outside.md"}, "would escape"),
    ({"command": "view", "path": f"{M}/inner.md"}, "follows no links"),
    ({"command": "delete", "path": f"{M}/inner.md"}, "follows no links"),
    ({"command": "create", "path": f"{M}/loop/n.md", "file_text": "x"}, "follows no links"),
    ({"command": "rename", "old_path": f"{M}/inner.md", "new_path": f"{M}/n.md"}, "no links"),
    ({"command": "delete", "path": f"{M}/linked"}, "which is no note"),
    ({"command": "rename", "old_path": f"{M}/linked", "new_path": f"{M}/n"}, "which is no note"),
    # what is no note
    ({"command": "create", "path": f"{M}/n.txt", "file_text": "x"}, "must end in .md"),
    ({"command": "create", "path": f"{M}/.git/n.md", "file_text": "x"}, "may be hidden"),
    ({"command": "delete", "path": f"{M}/photo.png"}, "must end in .md"),
    ({"command": "rename", "old_path": f"{M}/d", "new_path": f"{M}/.d"}, "may be hidden"),
    ({"command": "rename", "old_path": f"{M}/three.md", "new_path": f"{M}/three"}, "end in .md"),
]


@pytest.mark.parametrize(("command", "words"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_command_is_refused_and_changes_nothing(
    notes: Path, command: dict[str, Any], words: str
) -> None:
    memory = notes / "memory"
    (memory / "latin.md").write_bytes(b"caf\xe9")
    (memory / "photo.png").write_bytes(b"\x89PNG")
    (memory / "out.md").symlink_to(notes.parent / "outside.md")
    (memory / "away").symlink_to(notes.parent)
    (memory / "inner.md").symlink_to("three.md")
    (memory / "loop").symlink_to("loop")
    (memory / "linked").mkdir()
    (memory / "linked" / "inner.md").symlink_to("../three.md")
    before = tree_of(notes.parent)
    answer = files_of(notes).call(command)
    assert answer.failed
    assert words.lower() in answer.text.lower()
    assert str(notes) not in answer.text
    assert tree_of(notes.parent) == before


@pytest.mark.parametrize("command", [None, [], "view", 4, {"command": {"path": {}}}])
def test_what_is_no_command_is_refused(notes: Path, command: object) -> None:
    assert files_of(notes).call(command).failed


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_pipe_is_neither_read_nor_removed(notes: Path) -> None:
    os.mkfifo(notes / "memory" / "pipe.md")
    path = f"{M}/pipe.md"
    assert run(notes, "view", path=path).text == f"Unsupported file type for {path}"
    assert run(notes, "delete", path=path).text == f"The path {path} does not exist"
    assert "is not a file" in run(notes, "insert", path=path, insert_line=0, insert_text="x").text
    assert "pipe.md" not in run(notes, "view", path=M).text
    assert (notes / "memory" / "pipe.md").is_fifo()


def test_a_change_that_fails_half_way_is_undone(notes: Path) -> None:
    writer = PlainWriter(notes)
    writer.refused = {"memory/moved/x.md"}
    files = MemoryFiles(memory_of(notes, writer))
    before = tree_of(notes)
    answer = files.call({"command": "rename", "old_path": f"{M}/d", "new_path": f"{M}/moved"})
    assert answer.text == "the disk is full (make room)"
    assert answer.data["receipts"] == []
    assert len(writer.done) == 2
    assert tree_of(notes) == before


def test_what_cannot_be_undone_is_named(notes: Path) -> None:
    writer = PlainWriter(notes)
    writer.refused = {"memory/moved/x.md"}
    writer.stuck = {"1"}
    files = MemoryFiles(memory_of(notes, writer))
    answer = files.call({"command": "rename", "old_path": f"{M}/d", "new_path": f"{M}/moved"})
    assert answer.failed
    assert answer.text.endswith("(what was done before stands: 1)")
    assert answer.data["receipts"] == ["1"]


def test_a_change_says_which_receipts_it_has(notes: Path) -> None:
    answer = run(notes, "rename", old_path=f"{M}/three.md", new_path=f"{M}/new.md")
    assert answer.data == {"command": "rename", "receipts": ["1", "2"]}


# --- where /memories is


def test_curated_memory_is_out_of_reach(notes: Path) -> None:
    for path in (f"{M}/../MEMORY.md", f"{M}/MEMORY.md", "/MEMORY.md", f"{M}/d/../../MEMORY.md"):
        assert run(notes, "view", path=path).failed


def test_a_group_has_a_folder_of_its_own(notes: Path) -> None:
    group = files_of(notes, session_key="agent:main:telegram:group:-42")
    other = files_of(notes, session_key="agent:main:telegram:group:42")
    create = {"command": "create", "path": f"{M}/plan.md", "file_text": "Lunch at noon\n"}
    assert group.call(create).text == f"File created successfully at: {M}/plan.md"
    assert (notes / group.folder / "plan.md").read_text() == "Lunch at noon\n"
    assert group.folder.startswith("memory/chats/")
    assert group.folder != other.folder
    for path in (f"{M}/three.md", f"{M}/../three.md", f"{M}/../../three.md"):
        assert group.call({"command": "view", "path": path}).failed
    assert "plan.md" not in other.call({"command": "view", "path": M}).text
    direct = run(notes, "view", path=f"{M}/chats").text
    assert "plan.md" in direct


def test_a_plain_folder_of_notes_stays_one(tmp_path: Path) -> None:
    (tmp_path / "travel.md").write_text("# Travel\n")
    files = files_of(tmp_path)
    assert files.folder == "commonplace/memories"
    assert not files.call({"command": "create", "path": f"{M}/a.md", "file_text": "x"}).failed
    assert files_of(tmp_path).folder == "commonplace/memories"
    assert not (tmp_path / "memory").exists()


def test_the_folder_need_not_be_there(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    assert files.folder == "memory"
    assert files.call({"command": "view", "path": M}).text.endswith(f"\n0B\t{M}")
    assert files.call({"command": "delete", "path": M}).failed
    assert files.call({"command": "create", "path": M, "file_text": ""}).failed
    assert not (tmp_path / "memory").exists()
    assert FILES.keys().isdisjoint(tree_of(tmp_path))
