from __future__ import annotations

import hashlib
import json
import sys
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace_sessions.readers import Message, read_openclaw
from commonplace_sessions.transcript import (
    PIECE,
    Cut,
    Lines,
    Transcript,
    pieces_of_transcript,
    records,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from commonplace_sessions.readers import Reader, Record

    Entries = Callable[..., bytes]
    Entry = Callable[..., dict[str, Any]]


def numbered(data: bytes, longest: int = 1000) -> list[tuple[int, Any]]:
    return list(records(Lines([data], longest)))


def test_objects_come_with_their_lines() -> None:
    assert numbered(b'{"a": 1}\n\n{"b": 2}\n') == [(1, {"a": 1}), (3, {"b": 2})]


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"   ", b"no json", b"[1]", b"1", b'"a"', b"null", b'{"a": 1', b"{a: 1}"),
        *(b'{"a": 1}{"b": 2}', b"\0\0\0", b"\xff\xfe", b'{"a": "' + b"x" * 1000 + b'"}'),
        b'{"a":' + b"[" * 90 + b"1",
    ],
)
def test_other_lines_are_passed_over(line: bytes) -> None:
    assert numbered(b"%s\n{}\n" % line) == [(2, {})]


def test_nesting_and_numbers_without_bounds_are_passed_over() -> None:
    deep = b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    long = b'{"a": ' + b"9" * (sys.get_int_max_str_digits() + 1) + b"}"
    assert numbered(b"\n".join((deep, long, b'{"a": 1e999, "b": NaN}')), 1 << 20)[0][0] == 3


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'\xef\xbb\xbf{"a": "b"}\r\n', "b"),
        (b'\0\0{"a": "b"}', "b"),
        (b'{"a": "\xff"}\n', "\ufffd"),
        (b'{"a": "\\ud83d\\ude00"}\n', "😀"),
        (b'{"a": "\\ud83d"}\n', "\ud83d"),
        (b'{"a": "\\u0000"}\n', "\0"),
    ],
)
def test_oddities_of_the_text(data: bytes, value: str) -> None:
    assert numbered(data) == [(1, {"a": value})]


def test_a_last_line_still_being_written_is_no_record_yet() -> None:
    whole = b'{"a": 1}\n{"b": 2}\n'
    for end in range(len(whole) + 1):
        found = numbered(whole[:end])
        assert found == [(1, {"a": 1}), (2, {"b": 2})][: (end >= 8) + (end >= 17)]


@given(
    st.lists(st.one_of(st.binary(max_size=20), st.just(b'{"a": 1}')), max_size=12).map(b"\n".join),
    st.lists(st.integers(0, 60), max_size=8),
    st.integers(0, 30),
)
def test_how_the_bytes_come_makes_no_difference(data: bytes, cuts: list[int], longest: int) -> None:
    def pieces() -> Iterator[bytes]:
        at = 0
        for cut in sorted(cuts):
            yield data[at:cut]
            at = max(at, cut)
        yield data[at:]

    def expected() -> Iterator[tuple[int, Any]]:
        for number, line in enumerate(data.split(b"\n"), 1):
            if line.strip(b" \t\r\0\xef\xbb\xbf") == b'{"a": 1}' and len(line) <= longest:
                yield number, {"a": 1}

    assert list(records(Lines(pieces(), longest))) == list(expected())


@given(st.recursive(st.none() | st.text(max_size=5) | st.floats(), st.lists, max_leaves=5))
def test_any_json_survives(value: Any) -> None:
    line = json.dumps({"a": value}).encode()
    assert [json.dumps(found) for _, found in records(Lines([line]))] == [json.dumps({"a": value})]


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
    seen = [(line, lines.number, lines.end) for line in lines]
    expected = data.split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    assert [line for line, _, _ in seen] == [e if len(e) <= longest else b"" for e in expected]
    assert [number for _, number, _ in seen] == list(range(1, len(expected) + 1))
    ends = list(accumulate(len(line) + 1 for line in expected))
    assert [end for _, _, end in seen][:-1] == ends[:-1]
    assert lines.end == len(data)
    assert lines.digest == hashlib.sha256(data).hexdigest()
    assert lines.is_whole == (not data or data.endswith(b"\n"))
