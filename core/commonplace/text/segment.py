"""Cutting a text into groups of joined words, and these into words and runs without spaces.

A *group* is what stands together without white space or other punctuation than the joiners
``- . / : @``: ``no-unused-vars``, ``memory.search.provider``, ``a828e60``, ``C++``. A *run* is a
stretch of a script that is written without spaces. A *unit* is a letter of a run with all that
belongs to it: marks, a Thai or Lao vowel before or behind it, a Khmer or Burmese letter below it,
the other letters of a Hangul syllable. (Pairs of such units find Thai better than pairs of code
points do, measured.)
All patterns are possessive: time is linear in the text whatever it holds.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING
from unicodedata import is_normalized

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["cut", "drop_ignorable", "find_groups", "groups", "has_unspaced", "units", "words"]

_JOINERS = "-./:@"
_WIDE_JOINERS = _JOINERS + "\u2010\u2011"
_ENDING = r"(?:\+\+(?![+\w])|\#(?![\#\w]))?"
_MARK = rf"[^{_WIDE_JOINERS}+\#\w\u2e80-\u2fd5]"
_GROUP = re.compile(rf"(?:\w++(?:[{_JOINERS}](?=\w))?)+{_ENDING}", re.ASCII)
_WORD = re.compile(r"\w++")


def groups(text: str) -> list[str]:
    """The groups of ``text`` in their order."""
    found: list[str] = _group_pattern(text).findall(text)
    return found


def find_groups(text: str) -> Iterator[tuple[int, str]]:
    """The groups of ``text``, each with the place where it starts."""
    for match in _group_pattern(text).finditer(text):
        yield match.start(), match.group()


def cut(group: str) -> Iterator[tuple[int, str, bool]]:
    """``group`` as runs and the groups between them: (start, piece, whether it is a run)."""
    if group.isascii():
        yield 0, group, False
        return
    at = 0
    for match in _run_pattern().finditer(group):
        yield from _between(group, at, match.start())
        yield match.start(), match.group(), True
        at = match.end()
    yield from _between(group, at, len(group))


def words(group: str) -> Iterator[tuple[int, str]]:
    """The words of a group that holds no run, each with the place where it starts.

    Underscores at a word's ends are Markdown's or a language's marks, and no part of it.
    """
    for match in (_WORD if group.isascii() else _word_pattern()).finditer(group):
        word = match.group().rstrip("_")
        if word:
            core = word.lstrip("_")
            yield match.start() + len(word) - len(core), core


def units(run: str) -> Sequence[str]:
    """The units of a run; joined they are the run.

    A run comes back as it is if its units are its characters, with nothing to normalise in them.
    """
    if _simple_pattern().fullmatch(run) and is_normalized("NFKC", run):
        return run
    found: list[str] = _unit_pattern().findall(run)
    return found


def has_unspaced(text: str) -> bool:
    """Whether ``text`` holds a letter of a script that is written without spaces."""
    return not text.isascii() and _run_pattern().search(text) is not None


def drop_ignorable(word: str) -> str:
    """``word`` without soft hyphens, joiners, direction marks and variation selectors."""
    return _ignorable_pattern().sub("", word)


def _between(group: str, start: int, end: int) -> Iterator[tuple[int, str, bool]]:
    piece = group[start:end].rstrip(_WIDE_JOINERS)
    core = piece.lstrip(_WIDE_JOINERS)
    if core:
        yield start + len(piece) - len(core), core, False


def _group_pattern(text: str) -> re.Pattern[str]:
    return _GROUP if text.isascii() else _wide_group_pattern()


# The patterns below take some milliseconds to compile, which an ASCII query need not pay. All but
# the first are for pieces of a group, where what is neither a word character nor a joiner can only
# be a mark or be ignorable: so the large class of marks is compiled once.


@cache
def _wide_group_pattern() -> re.Pattern[str]:
    from commonplace.text.scripts import EMOJI, IGNORABLE, MARKS, RADICALS

    word = rf"[\w{RADICALS}][\w{RADICALS}{MARKS}{IGNORABLE}]*+"
    return re.compile(rf"(?:{word}(?:[{_WIDE_JOINERS}](?=[\w{RADICALS}]))?)+{_ENDING}|[{EMOJI}]")


@cache
def _word_pattern() -> re.Pattern[str]:
    return re.compile(rf"\w(?:\w|{_MARK})*")


@cache
def _run_pattern() -> re.Pattern[str]:
    from commonplace.text.scripts import UNSPACED

    return re.compile(rf"(?:[{UNSPACED}]{_MARK}*)+")


@cache
def _simple_pattern() -> re.Pattern[str]:
    return re.compile(r"[^\W\0-\u3004\ud7a4-\U0010ffff]*+")


@cache
def _unit_pattern() -> re.Pattern[str]:
    from commonplace.text.scripts import RADICALS

    syllable = (
        "[\u1100-\u115f\ua960-\ua97c\uac00-\ud7a3]"
        "[\u1160-\u11a7\ud7b0-\ud7c6]*+[\u11a8-\u11ff\ud7cb-\ud7fb]*+"
    )
    before = "[\u0e40-\u0e44](?=[\u0e01-\u0e2e])|[\u0ec0-\u0ec4](?=[\u0e81-\u0eae])"
    after = (
        rf"[^\w{RADICALS}]"
        "|[\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3\uff9e\uff9f]"
        "|(?<=[\u1039\u17d2])[\u1000-\u102a\u1780-\u17b3]"
    )
    return re.compile(f"(?:{syllable}|(?:{before})?.)(?:{after})*", re.DOTALL)


@cache
def _ignorable_pattern() -> re.Pattern[str]:
    from commonplace.text.scripts import IGNORABLE

    return re.compile(f"[{IGNORABLE}\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
