"""Scripts without spaces: where units and pairs of them stand, where that is plain to see.

In most texts there is nothing to normalise: in Chinese, Japanese and Korean each letter is a unit,
and in Thai what belongs to a letter is known by its neighbours. Other words are cut into units, see
:mod:`commonplace.text.tokens`, which is ten times the work.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING
from unicodedata import is_normalized

from commonplace.text.tokens import has_unspaced, in_ascii

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Collection, Iterator, Sequence

    from commonplace.text.tokens import Match


_THAI = "[\u0e01-\u0e2f\u0e40-\u0e44\u0e46][\u0e01-\u0e3a\u0e40-\u0e4e]*"
"""Letters with their signs."""


def places_in_plain(
    text: str, wanted: frozenset[str], letters: str, plain_text: Callable[[str], re.Pattern[str]]
) -> tuple[list[Match], str]:
    """Where ``wanted`` stand in the plain words of ``text``: (start, end, which one); and the rest.

    Spaces part words. In the rest they stand in the place of all letters that were plain: Thai, and
    ``letters``, each of which is a unit. ``plain_text`` gives what matches text with no others; it
    is the analyser's own, as few searches need this module.
    """
    if plain_text(letters).fullmatch(text):
        return list(_letters_and_pairs(text, wanted)), in_ascii(text)
    if _is_plain(text, plain_text(_THAI)):
        return list(_units_and_pairs(f"{text} ", wanted)), in_ascii(text)
    plain, rest = [], []
    pattern = plain_text(f"{_THAI}|{letters}")
    for word in text.split(" "):
        is_plain = word.isascii() or _is_plain(word, pattern)
        plain.append(word if is_plain else " " * len(word))
        rest.append(in_ascii(word) if is_plain and not word.isascii() else word)
    return list(_units_and_pairs(" ".join([*plain, ""]), wanted)), " ".join(rest)


def _is_plain(text: str, pattern: re.Pattern[str]) -> bool:
    # Sara am is normalised here, where it was typed as one sign.
    whole = pattern.fullmatch(text) is not None and "\u0e4d" not in text
    return whole and is_normalized("NFC", text)


_PAIR = 2


def _letters_and_pairs(text: str, wanted: frozenset[str]) -> Iterator[Match]:
    """Those in ``text``, in which each letter is a unit."""
    for term in sorted(wanted, key=len):
        if len(term) > _PAIR:  # in words of Latin letters with accents, which plain text has not
            break
        held = frozenset((term,))
        at = text.find(term)
        while at >= 0:
            yield at, at + len(term), held
            at = text.find(term, at + 1)


_BEFORE = frozenset("\u0e40\u0e41\u0e42\u0e43\u0e44")
"""Vowels that are written before their consonant."""

_CONSONANTS = frozenset(map(chr, range(0x0E01, 0x0E2F)))
_BEHIND = frozenset(map(chr, (*range(0x0E30, 0x0E3B), 0x0E45, *range(0x0E47, 0x0E4F))))
"""Vowels and signs that belong to the letter before them."""

_AM, _AM_NORMALISED = "\u0e33", "\u0e4d\u0e32"
"""Sara am, and what it is in a token: NFKC makes two signs of it, and of nothing else in Thai."""


def _units_and_pairs(text: str, wanted: frozenset[str]) -> Iterator[Match]:
    """Those in ``text``, which ends with something else than a letter."""
    for typed, held in _as_typed(wanted):
        at = text.find(typed)
        while at >= 0:
            end = at + len(typed)
            if _begins_unit(text, at) and _begins_unit(text, end):
                yield at, end, held
            at = text.find(typed, at + 1)


@lru_cache(maxsize=64)  # each hit of a search asks
def _as_typed(wanted: frozenset[str]) -> list[tuple[str, frozenset[str]]]:
    """``wanted`` as it stands in a text, a unit before the pairs that begin with it."""
    ordered = sorted(wanted, key=len)
    return [(term.replace(_AM_NORMALISED, _AM), frozenset((term,))) for term in ordered]


def _begins_unit(text: str, at: int) -> bool:
    """Whether a unit of Thai begins at ``at``, or something else does."""
    after = text[at]
    if after in _BEHIND:
        return False
    return not (at and text[at - 1] in _BEFORE and after in _CONSONANTS)


_LEAST_SELECTIVE = 3


def selective_terms(terms: Sequence[str], beside: Collection[str]) -> list[str]:
    """Those of ``terms`` that tell most, for a query in a script without spaces; none if too few.

    Single letters stand in most of the chunks, and find little that pairs do not. (Without pairs of
    hiragana, which are grammar, nDCG@10 of Japanese documentation fell from .793 to .785.)
    """
    found = [term for term in terms if not (term in beside and has_unspaced(term))]
    return found if _LEAST_SELECTIVE <= len(found) < len(terms) else []
