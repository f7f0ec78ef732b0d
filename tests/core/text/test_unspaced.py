"""What is found in plain text of scripts without spaces is what cutting it would find."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commonplace.text import unspaced
from commonplace.text.analyse import make_analyser
from commonplace.text.unspaced import (
    is_of_one_script,
    other_letters,
    places_in_plain,
    script_weights,
)

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
    traditional = ("\u4ec0\u9ebc", "\u9019\u91ab", "\u91ab\u9662")
    assert list(script_weights(traditional).values()) == [0.3, 0.7, 1.0]
    assert list(script_weights(korean).values()) == [0.3, 0.3, 0.7, 1.0]
    assert script_weights((*korean, tokens[0]))[korean[2]] == 0.7, "kana beside them change nothing"
    assert set(script_weights(tokens[:2]).values()) == {1.0}
    assert script_weights(("ferry",)) == {"ferry": 1.0}


@pytest.mark.parametrize(
    ("token", "others"),
    [
        ("電腦", ["电脑"]),
        ("会议", ["會議"]),
        ("发展", ["發展", "髮展"]),
        ("里面", ["裡面", "裏面", "里麵"]),
        ("征求", ["徵求"]),
        ("渡邉", ["渡辺", "渡邊"]),
        ("斉", ["斎", "齊", "齋"]),
        ("國", ["国"]),
        ("邉さ", ["辺さ"]),
        ("山", []),
        ("めが", []),
        ("query", []),
        ("", []),
    ],
)
def test_other_letters_of_chinese_and_of_japanese_names(token: str, others: list[str]) -> None:
    found = other_letters(token)
    assert set(found) >= set(others)
    assert bool(found) == bool(others)
    assert token not in found
    assert len(found) == len(set(found))


def test_each_letter_of_a_pair_may_stand_for_the_other() -> None:
    letters = unspaced._OTHER_SCRIPT
    pairs = list(zip(letters[::2], letters[1::2], strict=True))
    assert len(pairs) == len(set(pairs)) > 1_400
    for traditional, simplified in pairs:
        assert simplified.encode("gb2312")
        assert simplified in other_letters(traditional)
        assert traditional in other_letters(simplified)


def test_what_both_scripts_have_is_of_neither_alone() -> None:
    assert is_of_one_script("台湾")
    assert not is_of_one_script("台面")
    assert not is_of_one_script("山水")
