"""What is found in plain text of scripts without spaces is what cutting it would find."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commonplace.text.analyse import make_analyser
from commonplace.text.unspaced import places_in_plain, script_weights

ANALYSER = make_analyser("standard")

THAI = "กขญนฯเแไโะาำๅัิุู็่้์ๆ"
OTHERS = (*"aกB1 -(—。\n記憶か\u200bé๑\u0e4d", "C++", "C#")
TEXTS = st.lists(st.sampled_from((*THAI, *THAI, *OTHERS)), max_size=25).map("".join)


@settings(max_examples=300)
@given(TEXTS, st.integers(1, 4))
@example("น้ำใจ", 1)
@example("เเก เกา a่", 1)
def test_matches_are_the_spans_with_a_wanted_term(text: str, each: int) -> None:
    spans = list(ANALYSER.spans(text))
    wanted = frozenset(sorted({term for *_, terms in spans for term in terms})[::each])
    expected = [(start, end, wanted.intersection(terms)) for start, end, terms in spans]
    assert ANALYSER.matches(text, wanted) == [match for match in expected if match[2]]


@pytest.mark.parametrize(
    ("text", "term", "places", "rest"),
    [
        ("ตั้งค่า port", "ตั้งค่", [], "        port"),
        ("ตั้งค่า port?", "ตั้งค่า", [(0, 7)], "        port "),
        ("ทำงาน ทํา a?", "ทํา", [(0, 2)], "      ทํา a?"),
        ("ค่า 記憶する, C++", "憶す", [(5, 7)], "        , C++"),
        ("ค่า 記憶++", "記憶", [], "    記憶++"),
        ("café 記憶-8", "記憶", [(5, 7)], "café   -8"),
        ("ตัวเลข๑", "เล", [], "ตัวเลข๑"),
    ],
)
def test_what_is_not_plain_is_left_to_cutting(
    text: str, term: str, places: list[tuple[int, int]], rest: str
) -> None:
    terms = frozenset({term})
    found = places_in_plain(text, terms)
    assert found == ([(*place, terms) for place in places], rest)


def test_what_a_script_shows_to_be_grammar_weighs_less() -> None:
    tokens = ("\u304b\u3089", "\u306e\u4f1a", "\u4f1a\u8b70")  # kara, no + kai, kaigi
    assert list(script_weights(tokens).values()) == [0.2, 0.6, 1.0]
    chinese = ("\u4ec0\u4e48", "\u7684\u533b", "\u533b\u9662")
    assert list(script_weights(chinese).values()) == [0.3, 0.7, 1.0]
    korean = ("\ub97c", "\uc5d0\uc11c", "\ud2b8\uac00", "\ud3ec\ud2b8")
    assert list(script_weights(korean).values()) == [0.3, 0.3, 0.7, 1.0]
    assert script_weights((*korean, tokens[0]))[korean[2]] == 0.7, "kana beside them change nothing"
    assert set(script_weights(tokens[:2]).values()) == {1.0}
    assert script_weights(("ferry",)) == {"ferry": 1.0}
