from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace_lancedb.head import (
    BuildState,
    Counts,
    Head,
    Space,
    head_id,
    heading_in,
    heading_out,
    literal,
    terms_in,
    terms_out,
    text_in,
    text_out,
)
from commonplace_lancedb.scoring import counts_of, has, padded, weight

ANY = st.text() | st.text("\0\ud800\udfff\ufdd0\ue000\ue7ff\ue800\ue801a", max_size=8)
TOKENS = st.lists(st.text("ab\0\ufdd0", min_size=1, max_size=2), max_size=6).map(" ".join)


@given(ANY)
def test_any_text_comes_back_and_is_valid_in_between(text: str) -> None:
    stored = text_in(text)
    assert text_out(stored) == text
    stored.encode()
    assert "\0" not in stored


@given(ANY, ANY)
def test_two_texts_stay_two(one: str, other: str) -> None:
    assert (text_in(one) == text_in(other)) == (one == other)


@given(st.lists(ANY).map(tuple))
def test_headings_come_back(heading: tuple[str, ...]) -> None:
    assert heading_out(heading_in(heading)) == heading


@given(TOKENS, TOKENS, TOKENS)
def test_columns_of_terms_are_distinguished(body: str, head: str, extra: str) -> None:
    columns = terms_out(terms_in(body, head, extra))
    assert tuple(map(text_out, columns)) == (body, head, extra)


def test_a_quote_does_not_end_a_literal() -> None:
    assert literal("it's") == "'it''s'"


@given(st.lists(st.sampled_from("abc"), max_size=9), st.lists(st.sampled_from("abc"), min_size=1))
def test_phrases_are_found_in_their_column(tokens: list[str], phrase: list[str]) -> None:
    columns = padded(terms_in(" ".join(tokens), "", ""))
    width = len(phrase)
    stands = any(tokens[i : i + width] == phrase for i in range(len(tokens) - width + 1))
    assert has(columns, phrase) == stands
    assert counts_of(columns, phrase[0]) == tokens.count(phrase[0])


def test_columns_have_their_weights_and_no_phrase_crosses_them() -> None:
    columns = padded(terms_in("a a", "a", "a b"))
    assert counts_of(columns, "a") == pytest.approx(3.4)
    assert not has(padded(terms_in("a", "b", "")), ("a", "b"))


def test_a_frequent_token_weighs_little_and_never_nothing() -> None:
    assert weight(100, 1) > weight(100, 10) > weight(100, 90) > 0
    assert weight(100, 100.7) > 0, "an estimate may be more than there are"


def test_a_head_comes_back_and_forgets_spaces_that_hold_nothing() -> None:
    state = BuildState(
        7, "identity \udcff", "live", {"o'brien's": Counts(1, 2, 3)}, {"used": 2, "unused": 0}
    )
    spaces = {"used": Space("c", 3, 5), "unused": Space("d", 2, 6)}
    head = Head(9, (state,), spaces).next()
    assert head.revision == 10
    assert set(head.spaces) == {"used"}
    assert Head.loaded(10, head.dumped()) == head
    emptied = state.counting("o'brien's", -Counts(1, 2, 3))
    assert emptied.sources == {}
    assert emptied.total == Counts()


def test_namespaces_have_rows_of_their_own() -> None:
    ids = {head_id(name) for name in ("main", "main-1", "other", "")}
    assert len(ids) == 4
    assert all(2**61 <= id_ < 2**62 for id_ in ids), "no id that is drawn can be one of these"
