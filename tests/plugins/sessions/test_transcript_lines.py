from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace_sessions.jsonl import Lines, records

if TYPE_CHECKING:
    from collections.abc import Iterator


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
