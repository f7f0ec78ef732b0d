"""Random changes, edits by hand and undos in any order agree with a model of files and journal.

``SOAK_CHANGES`` is how many histories the slow test tries, if not 2,000.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.config.settings import Settings
from commonplace.errors import WriteRefusedError
from commonplace.writing.journal import Journal, digest_of, journal_path
from commonplace.writing.notefile import read_note, split_lines
from commonplace.writing.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace import Receipt

HISTORIES = int(os.environ.get("SOAK_CHANGES", "2000"))
PATHS = ("MEMORY.md", "memory/2026-11-22.md", "memory/a.md")
BEGINNINGS = (None, b"", b"# A\n\n- one\n- two\n", b"\xef\xbb\xbfone\r\ntwo", b"caf\xe9\n\n\nx\n")

place = st.floats(0, 0.999)
steps = st.one_of(
    st.tuples(st.just("remember"), st.sampled_from(["log", "entry"]), st.booleans()),
    st.tuples(st.sampled_from(["correct", "supersede", "forget"]), st.integers(0, 2), place),
    st.tuples(
        st.just("change"), st.integers(0, 2), st.sampled_from(["end", "top", "gone", "wide"])
    ),
    st.tuples(st.just("edit"), st.integers(0, 2), place),
    st.tuples(st.just("undo"), place, st.just(0)),
    st.tuples(st.just("undo"), st.just(0.999), st.just(0)),
)


class World:
    """A workspace, its writer, and what the model knows: every receipt with the bytes around it."""

    def __init__(self, folder: Path, beginnings: tuple[bytes | None, ...]) -> None:
        self.folder = folder / "notes"
        (self.folder / "memory").mkdir(parents=True)
        for path, data in zip(PATHS, beginnings, strict=True):
            if data is not None:
                (self.folder / path).write_bytes(data)
        self.settings = Settings(
            workspace=str(self.folder),
            agent="main",
            state_dir=str(folder / "state"),
            cache_dir=str(folder / "cache"),
            index_path=str(folder / "index"),
        )
        memory: Any = SimpleNamespace(
            settings=self.settings,
            host=SimpleNamespace(veto=lambda *_: ""),
            get=None,
            status=lambda: SimpleNamespace(failed_roots=()),
            closed=False,
        )
        self.writer = Writer(
            memory, origin="owner", who="test", allowed=None, clock=lambda: 1_795_348_800.0
        )
        self.made: list[tuple[Receipt, bytes | None, bytes | None]] = []
        self.count = 0

    def files(self) -> dict[str, bytes]:
        found = (Path(top, name) for top, _, names in os.walk(self.folder) for name in names)
        return {file.relative_to(self.folder).as_posix(): file.read_bytes() for file in found}

    def word(self) -> str:
        self.count += 1
        return f"word{self.count}"

    def take(self, step: tuple[Any, ...]) -> None:
        action, first, second = step
        if action == "edit":
            self.edit(PATHS[first], second)
        elif action == "remember":
            text = f"{self.word()}\n{self.word()}" if second else self.word()
            self.change(lambda: self.writer.remember(text, kind=first))
        elif action == "change":
            edit = {"end": self.end, "top": self.top, "gone": lambda _: None, "wide": self.wide}
            self.change(lambda: self.writer.change(PATHS[first], edit[second], why=""))
        elif action == "undo":
            if self.made:
                self.undo(int(first * len(self.made)))
        else:
            lines = read_note(self.files().get(PATHS[first]), "x").lines
            citation = f"{PATHS[first]}#L{int(second * len(lines)) + 1}"
            call: dict[str, Callable[[], Receipt]] = {
                "correct": lambda: self.writer.correct(citation, self.word()),
                "supersede": lambda: self.writer.supersede(citation, self.word()),
                "forget": lambda: self.writer.forget(citation),
            }
            self.change(call[action])

    def end(self, data: bytes | None) -> bytes:
        return (data or b"") + f"{self.word()}\n".encode()

    def top(self, data: bytes | None) -> bytes:
        return f"{self.word()}\r\n".encode() + (data or b"")

    def wide(self, data: bytes | None) -> bytes:
        return f"{self.word()}\n{self.word()}\n".encode("utf-16") if data else b"x"

    def edit(self, path: str, where: float) -> None:
        """What a person does: a line more, or a line less."""
        file = self.folder / path
        if not file.exists() or b"\0" in file.read_bytes():
            return
        lines = file.read_bytes().split(b"\n")
        at = int(where * len(lines))
        if len(lines) > 3 and at % 2:
            del lines[at]
        else:
            lines.insert(at, self.word().encode())
        file.write_bytes(b"\n".join(lines))

    def change(self, call: Callable[[], Receipt]) -> Receipt | None:
        """Make a change, and compare all files with what its receipt says."""
        before = self.files()
        try:
            receipt = call()
        except WriteRefusedError:
            assert self.files() == before
            return None
        after = self.files()
        path = receipt.path
        if not receipt.id:
            assert after == before
            return receipt
        old, new = before.pop(path, None), after.pop(path, None)
        assert before == after, "another file has changed"
        assert (receipt.created, receipt.deleted) == (old is None, new is None)
        start = receipt.before.start - 1
        lines = [*read_note(old, "x").lines]
        assert "".join(lines[start : receipt.before.end]) == receipt.before.text
        lines[start : receipt.before.end] = split_lines(receipt.after.text)
        assert tuple(lines) == read_note(new, "x").lines
        self.made.append((receipt, old, new))
        return receipt

    def undo(self, index: int) -> None:
        receipt, old, new = self.made[index]
        data = self.files().get(receipt.path)
        was_undone = self.is_undone(receipt.id)
        undo = self.change(lambda: self.writer.undo(receipt))
        if was_undone:
            assert undo is None
        elif data == new:
            assert undo is not None, "nothing has changed since, and it was refused"
            assert self.files().get(receipt.path) == old
        if undo is not None and undo.id:
            assert undo.undoes == receipt.id
            note = read_note(self.files().get(receipt.path), "x")
            lines = {*"".join(note.lines).splitlines()}
            removed, added = ({*run.text.splitlines()} for run in (receipt.before, receipt.after))
            if not receipt.deleted or data is None:
                assert lines >= removed - added
                assert lines.isdisjoint(line for line in added - removed if "word" in line)

    def is_undone(self, id_: str) -> bool:
        return any(one.undoes == id_ and not self.is_undone(one.id) for one, _, _ in self.made)

    def check(self) -> None:
        """The journal has every change in its order, with the digests of its file."""
        entries = Journal(
            journal_path(self.settings.state_dir, self.settings.workspace), ""
        ).entries()
        assert [entry.receipt for entry in entries] == [receipt for receipt, _, _ in self.made]
        for entry, (_, old, new) in zip(entries, self.made, strict=True):
            assert (entry.was, entry.becomes) == (digest_of(old), digest_of(new))
        assert set(self.files()) <= set(PATHS)


def run(beginnings: tuple[bytes | None, ...], taken: list[tuple[Any, ...]]) -> None:
    base = "/dev/shm" if os.path.isdir("/dev/shm") else None
    folder = Path(tempfile.mkdtemp(dir=base))
    try:
        with mock.patch("os.fsync"):
            world = World(folder, beginnings)
            for step in taken:
                world.take(step)
            world.check()
            for index in reversed(range(len(world.made))):
                world.undo(index)
    finally:
        shutil.rmtree(folder)


histories = (
    st.tuples(*[st.sampled_from(BEGINNINGS)] * 3),
    st.lists(steps, min_size=1, max_size=8),
)


@settings(max_examples=40)
@given(*histories)
def test_random_changes_agree_with_the_model(
    beginnings: tuple[bytes | None, ...], taken: list[tuple[Any, ...]]
) -> None:
    run(beginnings, taken)


@pytest.mark.slow
@settings(max_examples=HISTORIES)
@given(*histories)
def test_many_random_histories_agree_with_the_model(
    beginnings: tuple[bytes | None, ...], taken: list[tuple[Any, ...]]
) -> None:
    run(beginnings, taken)
