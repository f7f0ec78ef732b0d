from __future__ import annotations

import errno
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UnavailableError, WorkspaceError
from commonplace.files import reading
from commonplace.files.reading import cut_lines, read_lines
from commonplace.files.roots import Roots
from commonplace.model.reports import NoteText

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "one\ntwo\nthree\nfour\n"


def cut(text: str, start: int | None = None, lines: int | None = None) -> NoteText:
    return cut_lines("n.md", text, start, lines)


@pytest.mark.parametrize(
    ("start", "lines", "expected"),
    [
        (
            None,
            None,
            NoteText(
                path="n.md", text="one\ntwo\nthree\nfour", start_line=1, end_line=4, total_lines=4
            ),
        ),
        (
            2,
            None,
            NoteText(path="n.md", text="two\nthree\nfour", start_line=2, end_line=4, total_lines=4),
        ),
        (2, 2, NoteText(path="n.md", text="two\nthree", start_line=2, end_line=3, total_lines=4)),
        (None, 1, NoteText(path="n.md", text="one", start_line=1, end_line=1, total_lines=4)),
        (4, 1, NoteText(path="n.md", text="four", start_line=4, end_line=4, total_lines=4)),
        (
            3,
            100,
            NoteText(path="n.md", text="three\nfour", start_line=3, end_line=4, total_lines=4),
        ),
        (
            1,
            10**30,
            NoteText(
                path="n.md", text="one\ntwo\nthree\nfour", start_line=1, end_line=4, total_lines=4
            ),
        ),
        (0, 0, NoteText(path="n.md", text="one", start_line=1, end_line=1, total_lines=4)),
        (-7, -7, NoteText(path="n.md", text="one", start_line=1, end_line=1, total_lines=4)),
        (5, None, NoteText(path="n.md", text="", start_line=5, end_line=4, total_lines=4)),
        (
            10**30,
            3,
            NoteText(path="n.md", text="", start_line=10**30, end_line=10**30 - 1, total_lines=4),
        ),
    ],
)
def test_a_window_of_lines(start: int | None, lines: int | None, expected: NoteText) -> None:
    assert cut(TEXT, start, lines) == expected


@pytest.mark.parametrize(
    ("text", "whole", "total"),
    [
        ("", "", 0),
        ("\n", "", 1),
        ("a", "a", 1),
        ("a\n", "a", 1),
        ("a\n\n", "a\n", 2),
        ("\n\na", "\n\na", 3),
        ("a\r\nb\r\n", "a\r\nb", 2),
        ("a\r\nb\r", "a\r\nb\r", 2),
        ("a\rb\x0bc\x85d\u2028e\n", "a\rb\x0bc\x85d\u2028e", 1),
        ("nul\0\n", "nul\0", 1),
    ],
)
def test_lines_end_at_newlines_only(text: str, whole: str, total: int) -> None:
    note = cut(text)
    assert (note.text, note.total_lines) == (whole, total)
    assert (note.start_line, note.end_line) == (1, total)


def test_the_last_line_wanted_loses_its_whole_line_end() -> None:
    assert cut("a\r\nb\r\nc", 1, 2).text == "a\r\nb"


@given(st.text("ab\n\r", max_size=40))
def test_the_lines_one_by_one_are_the_whole(text: str) -> None:
    total = cut(text).total_lines
    single = [cut(text, n, 1) for n in range(1, total + 1)]
    assert all((line.start_line, line.end_line) == (n, n) for n, line in enumerate(single, 1))
    assert not any("\n" in line.text for line in single)
    joined = "\n".join(line.text for line in single)
    assert joined == cut(text).text.replace("\r\n", "\n")


@given(st.text("ab\n\r", max_size=40), st.integers(1, 12), st.integers(1, 12))
def test_a_window_is_a_piece_of_the_whole(text: str, start: int, lines: int) -> None:
    note = cut(text, start, lines)
    assert note.text in text
    assert note.end_line - note.start_line + 1 == max(0, min(lines, note.total_lines - start + 1))


def test_a_note_is_read_from_its_file(workspace: Path) -> None:
    (workspace / "memory/a.md").write_bytes(b"\xef\xbb\xbfone\r\ntwo\xff\r\n")
    roots = Roots(str(workspace))
    assert read_lines(roots, "memory/a.md") == NoteText(
        path="memory/a.md", text="one\r\ntwoÿ", start_line=1, end_line=2, total_lines=2
    )
    assert read_lines(roots, "memory/a.md", start=2).text == "twoÿ"


@pytest.mark.parametrize(
    ("cited", "start", "lines", "text"),
    [
        ("MEMORY.md#L2-L3", None, None, "two\nthree"),
        ("MEMORY.md#L2", None, None, "two"),
        ("MEMORY.md#L0-L2", None, None, "one\ntwo"),
        ("MEMORY.md#L3-L99", None, None, "three\nfour"),
        ("MEMORY.md#L2-L3", 1, None, TEXT.rstrip()),
        ("MEMORY.md#L2-L3", 4, 1, "four"),
        ("MEMORY.md#L2-L3", None, 1, "one"),
    ],
)
def test_a_citation_brings_its_lines(
    workspace: Path, cited: str, start: int | None, lines: int | None, text: str
) -> None:
    (workspace / "MEMORY.md").write_text(TEXT)
    note = read_lines(Roots(str(workspace)), cited, start, lines)
    assert (note.path, note.text) == ("MEMORY.md", text)


def test_a_missing_workspace_is_not_a_missing_note(workspace: Path) -> None:
    roots = Roots(str(workspace))
    shutil.rmtree(workspace)
    with pytest.raises(WorkspaceError) as caught:
        read_lines(roots, "MEMORY.md")
    assert caught.value.hint.startswith("if it is on another disk, mount it; else create it")
    assert str(workspace) in caught.value.hint


def test_a_file_that_cannot_be_read_is_unavailable(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(reading, "open_below", fail)
    with pytest.raises(UnavailableError, match=r"MEMORY\.md cannot be read: Input/output error"):
        read_lines(Roots(str(workspace)), "MEMORY.md")


def test_a_large_note_is_read_whole(workspace: Path) -> None:
    line = "x" * 63 + "\n"
    (workspace / "MEMORY.md").write_text(line * 200_000)
    note = read_lines(Roots(str(workspace)), "MEMORY.md", start=199_999)
    assert (note.total_lines, note.text) == (200_000, (line * 2).rstrip())
