"""Where the pieces of a transcript end, and what is remembered of that."""

from __future__ import annotations

import hashlib
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace_sessions.jsonl import Lines
from commonplace_sessions.messages import Message
from commonplace_sessions.openclaw import read_openclaw
from commonplace_sessions.transcript import PIECE, Cut, Transcript, pieces_of_transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from commonplace_sessions.messages import Reader, Record

    Entries = Callable[..., bytes]
    Entry = Callable[..., dict[str, Any]]


def cut(data: bytes, reader: Reader = read_openclaw) -> list[Transcript]:
    return list(pieces_of_transcript(Lines([data]), reader))


@given(
    st.integers(0, 2**50),
    st.integers(0, 2**40),
    st.floats(0, allow_nan=False, allow_infinity=False),
    st.binary(),
)
def test_a_cut_comes_back_as_it_was(end: int, lines: int, began: float, data: bytes) -> None:
    made = Cut(end, lines, began, hashlib.sha256(data).hexdigest())
    assert Cut.of(made.text) == made
    assert made.text.isascii()


@pytest.mark.parametrize("text", ["", "1 2 3", "1 2 3 4 5", "x 2 3 4", "1 x 3 4", "1 2 x 4"])
def test_what_is_no_cut(text: str) -> None:
    assert Cut.of(text) is None


def test_a_piece_ends_with_the_message_that_fills_it(lines_of: Entries, message: Entry) -> None:
    data = lines_of(*(message("user", "ant " * 1_000) for _ in range(11)))
    pieces = cut(data)
    assert [len(piece.text) > PIECE for piece in pieces] == [True, True, False]
    assert [set(piece.line_map) for piece in pieces] == [{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, {11}]
    first, second = pieces[0].cut, pieces[1].cut
    assert first is not None
    assert second is not None
    assert pieces[2].cut is None
    assert (first.lines, second.lines) == (5, 10)
    assert data[: first.end].count(b"\n") == 5
    assert first.digest == hashlib.sha256(data[: first.end]).hexdigest()
    assert pieces[2].digest == hashlib.sha256(data).hexdigest()


def test_a_line_without_its_end_ends_no_piece(lines_of: Entries, message: Entry) -> None:
    data = lines_of(message("user", "ant " * 5_000))
    assert [piece.cut is None for piece in cut(data[:-1])] == [True]
    assert [piece.cut is None for piece in cut(data)] == [False, True]
    assert cut(data)[-1].text == ""


def test_a_piece_does_not_end_between_a_poll_and_its_answers(
    lines_of: Entries, message: Entry
) -> None:
    poll = message("user", "Read HEARTBEAT.md if it exists")
    long = message("assistant", "ant " * 5_000)
    silent = message("assistant", "HEARTBEAT_OK, all is well")
    data = lines_of(poll, long, silent, message("user", "bee"), long)
    pieces = cut(data)
    assert [piece.cut.lines for piece in pieces if piece.cut] == [4, 5]
    assert "HEARTBEAT" not in "".join(piece.text for piece in pieces)


def test_a_reader_that_looks_ahead_ends_no_piece(lines_of: Entries, message: Entry) -> None:
    def ahead(transcript: Iterable[Record]) -> Iterator[Message]:
        records = list(transcript)
        for line, _ in records:
            yield Message("user", "ant " * 5_000, 0, line)

    data = lines_of(*(message("user", "x") for _ in range(3)))
    assert [piece.cut is None for piece in cut(data, ahead)] == [False, True]


def test_what_follows_the_end_of_a_dream_is_hashed_and_no_more(
    lines_of: Entries, message: Entry
) -> None:
    dream = {"runId": "dreaming-narrative-1"}
    data = lines_of(message("user", "ant"), dream, message("user", "bee " * 9_000))
    (piece,) = cut(data)
    assert (piece.text, piece.digest) == ("User: ant", hashlib.sha256(data).hexdigest())


@given(st.lists(st.binary(max_size=8)), st.integers(1, 5))
def test_lines_know_where_they_end(parts: list[bytes], longest: int) -> None:
    data = b"".join(parts)
    lines = Lines(parts, longest)
    told = [(line, lines.number, lines.end) for line in lines]
    expected = data.split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    assert [line for line, _, _ in told] == [e if len(e) <= longest else b"" for e in expected]
    assert [number for _, number, _ in told] == list(range(1, len(expected) + 1))
    ends = list(accumulate(len(line) + 1 for line in expected))
    assert [end for _, _, end in told][:-1] == ends[:-1]
    assert lines.end == len(data)
    assert lines.digest == hashlib.sha256(data).hexdigest()
    assert lines.is_whole == (not data or data.endswith(b"\n"))
