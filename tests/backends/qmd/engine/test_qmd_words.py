from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace_qmd.engine import Line
from commonplace_qmd.engine.words import as_document, cleaned, has_words, is_findable, plain


@pytest.mark.parametrize("word", ["lex", "vec", "hyde", "intent", "expand", "LEX"])
def test_a_plain_query_is_not_taken_for_a_typed_one(word: str) -> None:
    assert plain(f"  {word}: x") == f"{word} : x"


def test_a_plain_query_is_on_one_line() -> None:
    assert plain("what is\nlex: this") == "what is lex: this"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (Line("lex", ' "a b" c'), '"a b" c'),
        (Line("lex", '"a b" "c'), '"a b" c'),
        (Line("lex", "a\nvec: b"), "a vec: b"),
        (Line("lex", "a -b"), "a -b"),
        (Line("vec", "a -b --c d-e"), "a b c d-e"),
        (Line("vec", '-"a b"'), '"a b"'),
        (Line("hyde", "a\0b"), "a b"),
    ],
)
def test_what_would_be_refused_is_put_right(line: Line, text: str) -> None:
    assert cleaned(line).text == text


@given(st.text())
def test_every_line_stays_one_line_with_quotes_in_pairs(text: str) -> None:
    line = cleaned(Line("lex", text))
    assert len(as_document([line]).split("\n")) == 1
    assert line.text.count('"') % 2 == 0
    line.text.encode()


def test_lines_make_a_document() -> None:
    assert as_document([Line("lex", "a b"), Line("vec", "c?")]) == "lex: a b\nvec: c?"


@pytest.mark.parametrize("text", ["a", "-a b", '-"a b" "c"', "a-b", "-a 水", "'s", "_", "-a -b c"])
def test_a_query_with_a_word_can_find_something(text: str) -> None:
    assert has_words(text)


@pytest.mark.parametrize("text", ["", "???", "-a", '-"a b"', "-a-b", '""', "-", '- "?"', "🎉"])
def test_a_query_without_one_never_does(text: str) -> None:
    assert not has_words(text)


@pytest.mark.parametrize("text", ["router", "café", "cafe\u0301", "東京", "Москва", "שלום", "서울"])
def test_words_of_these_scripts_are_found(text: str) -> None:
    assert is_findable(text)


@pytest.mark.parametrize(
    "text", ["กรุงเทพ", "router ประชุม", "ລາວ", "ភ្នំពេញ", "မြန်မာ", "हिन्दी", "தமிழ்"]
)
def test_words_of_these_may_not_be(text: str) -> None:
    assert not is_findable(text)
