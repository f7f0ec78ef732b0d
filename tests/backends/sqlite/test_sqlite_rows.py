from __future__ import annotations

import zlib

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace_sqlite import rows

ANY_TEXT = st.text(st.characters())  # lone surrogates and NUL too
HEX = st.binary(min_size=32, max_size=32).map(bytes.hex)


def through_sqlite(value: str | bytes | int) -> object:
    connection = apsw.Connection(":memory:")
    try:
        return connection.execute("SELECT ?", (value,)).get
    finally:
        connection.close()


@given(ANY_TEXT)
def test_any_text_comes_back(text: str) -> None:
    stored = through_sqlite(rows.text_in(text))
    assert isinstance(stored, str | bytes)
    assert rows.text_out(stored) == text


@given(st.lists(ANY_TEXT | st.text("\x1e\x1fes"), max_size=4).map(tuple))
def test_any_headings_come_back(heading: tuple[str, ...]) -> None:
    stored = through_sqlite(rows.heading_in(heading))
    assert isinstance(stored, str | bytes)
    assert rows.heading_out(stored) == heading


@given(HEX | HEX.map(str.upper) | st.text("0123456789abcdef xyz", max_size=8))
def test_any_digest_comes_back(digest: str) -> None:
    stored = through_sqlite(rows.digest_in(digest))
    assert isinstance(stored, str | bytes)
    assert rows.digest_out(stored) == digest


def test_a_digest_takes_half_the_room() -> None:
    assert rows.digest_in("00ff" * 16) == b"\x00\xff" * 16


@given(ANY_TEXT, ANY_TEXT)
def test_packed_tokens_come_back(tokens: str, text: str) -> None:
    assert rows.unpacked(rows.packed(tokens, text), text) == tokens
    assert rows.unpacked(rows.packed(tokens, tokens), tokens) == tokens


def test_tokens_that_are_the_words_of_the_text_take_hardly_any_room() -> None:
    words = [f"{place % 7}Word{place * 31 % 97}" for place in range(200)]
    tokens = " ".join(words).lower()
    assert len(rows.packed(tokens, ", ".join(words) + "!")) < len(tokens) / 20


def test_packed_tokens_that_are_cut_short_are_an_error() -> None:
    packed = rows.packed("one two three", "One, two: three!")
    with pytest.raises(zlib.error):
        rows.unpacked(packed[:-3], "One, two: three!")


@given(ANY_TEXT)
def test_indexable_text_can_be_bound_and_has_no_nul(text: str) -> None:
    indexable = rows.indexable(text)
    assert "\0" not in indexable
    assert through_sqlite(indexable) == indexable
    assert rows.indexable(indexable) == indexable


@pytest.mark.parametrize("text", ["plain", "ünïcödé 🐜", "a b\tc\n"])
def test_what_sqlite_can_hold_is_not_changed(text: str) -> None:
    assert rows.text_in(text) == text
    assert rows.indexable(text) == text


def test_ids_are_a_json_list() -> None:
    assert rows.ids_in([]) == "[]"
    assert rows.ids_in(iter([1, 22])) == "[1,22]"
