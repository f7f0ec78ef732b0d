"""Requests hold every text once, in order, within the limits."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from commonplace.embedding.requests import cut_to_fit, estimate_tokens, fits, pack
from commonplace.protocols.providers import Limits

texts = st.lists(st.text(max_size=30), max_size=30)
limits = st.builds(
    Limits,
    items=st.none() | st.integers(1, 5),
    tokens=st.none() | st.integers(1, 40),
    bytes=st.none() | st.integers(4, 80),
    item_tokens=st.none() | st.integers(1, 20),
)


@given(texts, limits)
def test_every_text_once_and_in_order(given_texts: list[str], limit: Limits) -> None:
    runs = list(pack(given_texts, limit))
    assert [index for run in runs for index in run] == list(range(len(given_texts)))


@given(texts, limits)
def test_no_request_passes_a_limit_unless_one_text_alone_does(
    given_texts: list[str], limit: Limits
) -> None:
    for run in pack(given_texts, limit):
        held = [given_texts[index] for index in run]
        assert len(held) <= (limit.items or len(held))
        if len(held) > 1:
            assert sum(map(estimate_tokens, held)) <= (limit.tokens or 10**9)
            assert sum(len(text.encode()) for text in held) <= (limit.bytes or 10**9)


@given(texts, limits)
def test_a_request_is_full(given_texts: list[str], limit: Limits) -> None:
    runs = list(pack(given_texts, limit))
    for run, following in itertools.pairwise(runs):
        held = [given_texts[index] for index in (*run, following[0])]
        assert (
            len(held) > (limit.items or 10**9)
            or sum(map(estimate_tokens, held)) > (limit.tokens or 10**9)
            or sum(len(text.encode()) for text in held) > (limit.bytes or 10**9)
        )


@given(st.text(max_size=200), limits)
def test_a_cut_text_is_a_start_that_fits_or_a_single_character(text: str, limit: Limits) -> None:
    cut = cut_to_fit(text, limit)
    assert text.startswith(cut)
    assert fits(cut, limit) or len(cut) <= 1
    if fits(text, limit):
        assert cut == text


def test_an_estimate_by_hand() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("hello world!") == 4
    assert estimate_tokens("記憶") == 2
    assert estimate_tokens("API方案") == 3
