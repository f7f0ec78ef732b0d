"""One form of a text, and which texts are one memory."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.errors import CallerError
from commonplace_longterm.entries import cleaned, digest, says_the_same


@settings(max_examples=40)
@given(st.text())
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    once = cleaned(f"{text}.")
    assert cleaned(once) == once
    assert "\r" not in once
    assert "\0" not in once
    once.encode()


def test_a_text_has_bounds() -> None:
    assert len(cleaned("x" * 10_000)) == 10_000
    with pytest.raises(CallerError, match="more than 10000"):
        cleaned("x" * 10_001)
    for empty in ("", " \n\t", "\0\x1b", "\ud800"):
        with pytest.raises(CallerError, match="empty"):
            cleaned(empty)


@pytest.mark.parametrize(
    ("text", "other", "same"),
    [
        ("I like tea.", "i  like TEA", True),
        ("I like tea!", "I like tea", True),
        ("Ｔｅａ", "tea", True),
        ("port 8.0", "port 80", False),
        ("I like tea", "I like teas", False),
    ],
)
def test_equal_words_have_equal_digests(text: str, other: str, same: bool) -> None:
    assert (digest(text) == digest(other)) is same


@pytest.mark.parametrize(
    ("text", "other", "same"),
    [
        ("The port is 8471.", "Our port is 8471", True),
        ("The port is 8471.", "The port is 8472.", False),
        ("I like tea", "I don’t like tea", False),
        ("I like tea", "I never like tea", False),
        ("Ich mag Tee", "Ich mag keinen Tee", False),
        ("我喜欢茶", "我不喜欢茶", False),
        ("お茶が好き", "お茶が好きではない", False),
    ],
)
def test_numbers_and_negations_make_another_memory(text: str, other: str, same: bool) -> None:
    assert says_the_same(text, other) is same
