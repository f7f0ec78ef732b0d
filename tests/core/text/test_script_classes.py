from __future__ import annotations

import re
import sys

import regex

from commonplace.text.languages import EMOJI, IGNORABLE, MARKS, RADICALS, UNSPACED

_ALL = "".join(map(chr, range(0x80, sys.maxunicode + 1)))


def _members(brackets: str) -> set[str]:
    return set(re.findall(f"[{brackets}]", _ALL))


def test_marks_hold_all_marks_and_else_only_letters_numbers_and_unassigned() -> None:
    members = _members(MARKS)
    assert set(regex.findall(r"\p{M}", _ALL)) <= members
    assert not [char for char in members if regex.match(r"[\p{P}\p{S}\p{Z}\p{Cc}\p{Cf}]", char)]
    # Beside \w no letter matters, so a mark is what is no word character for itself.
    assert not [char for char in members if regex.match(r"\p{M}", char) and char.isalnum()]


def test_the_scripts_without_spaces_are_whole() -> None:
    letters = regex.findall(
        r"[[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}"
        r"\p{sc=Khmer}\p{sc=Myanmar}]&&\p{L}]",
        _ALL,
        regex.VERSION1,
    )
    # Letters newer than the ranges may be missing, but none of the basic plane of old.
    members = _members(UNSPACED)
    missing = [char for char in letters if char not in members and char < "\U00010000"]
    assert missing == []
    assert "ー" in members
    assert "々" in members
    assert not members & set(regex.findall(r"[\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Devanagari}]", _ALL))


def test_nothing_ignorable_or_pictured_is_a_word_character() -> None:
    assert not [char for char in _members(IGNORABLE) if char.isalnum()]
    assert not [char for char in _members(RADICALS) if char.isalnum()]
    assert "🦞" in _members(EMOJI)
