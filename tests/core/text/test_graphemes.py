from __future__ import annotations

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commonplace.graphemes import floor_boundary, is_boundary

# Characters that UAX 29 has rules for, and some it has none for.
_SPECIAL = (
    "\r\n\t\u2028 aé"
    "\u0301\u0316\u0903\u0e33\u0eb3\u0e31\uff9e"  # marks, and letters that lean like them
    "\u200d\u200c\u200b\u00ad\ufeff\ufe0f\U000e0067"  # joiners, format, variation, tag
    "\U0001f1e6\U0001f1ff\U0001f468\U0001f3fd\u2764"  # flags, emoji, modifier
    "\u1100\u1161\u11a8\uac00\uac01\ua960\ud7b0\ud7cb"  # Hangul
    "\u0915\u094d\u0937\u09cd\u0995\u1039\u1000\u17d2\u1780\u1cf5"  # conjuncts
    "\u0600\u06dd\u0d4e\U00011a3a\U000110bd"  # prepended
    "\ud800\U000e0001\u0378\U0001f9ff漢の"
)
_TEXTS = st.text(st.sampled_from(_SPECIAL) | st.characters(), max_size=12)


def _boundaries(text: str) -> set[int]:
    return {0, len(text)} | {match.start() for match in regex.finditer(r"\X", text)}


@settings(max_examples=300)
@given(_TEXTS)
@example("\r\n")
@example("\U0001f468\u200d\U0001f469")
@example("\u0915\u094d\u0301\u0937")
@example("\u0e01\u0e33")
def test_what_is_called_a_boundary_is_one(text: str) -> None:
    true = _boundaries(text)
    claimed = {index for index in range(len(text) + 1) if is_boundary(text, index)}
    assert claimed <= true


@pytest.mark.parametrize(
    "text",
    [
        "plain words, and more.\nNext line\r\n",
        "方案はAPIで検索する。",
        "สวัสดีชาวโลก ทำงาน",
        "नमस्ते दुनिया क्षत्रिय",
        "مُحَمَّد",
        "한국어 서버",
        "naïve cafe\u0301",
        "👨‍👩‍👧 🇩🇪🇫🇷🇯🇵 👍🏽 done",
    ],
)
def test_in_living_languages_every_boundary_is_found(text: str) -> None:
    assert {index for index in range(len(text) + 1) if is_boundary(text, index)} == _boundaries(
        text
    )


def test_flags_are_counted_from_the_last_cut() -> None:
    flags = "\U0001f1e6" * 7
    assert [index for index in range(8) if is_boundary(flags, index)] == [0, 2, 4, 6, 7]
    assert [index for index in range(1, 8) if is_boundary(flags, index, 1)] == [1, 3, 5, 7]


@given(_TEXTS, st.integers(0, 14), st.integers(0, 14))
def test_the_floor_is_the_nearest_boundary_below(text: str, index: int, lower: int) -> None:
    lower = min(lower, len(text))
    floor = floor_boundary(text, index, lower)
    top = min(index, len(text))
    below = [at for at in range(lower + 1, top + 1) if is_boundary(text, at, lower)]
    assert floor == max(below, default=lower)


def test_a_cluster_longer_than_the_range_has_no_cut_in_it() -> None:
    monster = "a" + "\u0301" * 500
    assert floor_boundary(f"xyz{monster}", 300, 3) == 3
    assert floor_boundary(f"xyz{monster}", 300) == 3
