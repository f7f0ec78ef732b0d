"""From pieces of text to their tokens: the words' own, and those of what stands inside them.

A *piece* is ``(start, end, token, plain, extra)``: where it stands, its token in the sequence of
the text (``""`` for none), that token before stemming, and tokens beside the sequence.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING
from unicodedata import category, normalize

from commonplace.text.segment import cut, drop_ignorable, units, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = [
    "MAX_TOKEN",
    "Piece",
    "identifier_parts",
    "pieces",
    "run_tokens",
    "word_pieces",
]

Piece = tuple[int, int, str, str, tuple[str, ...]]

MAX_TOKEN = 128
"""Characters of a token; what is longer is cut, as no user types it."""

# As much of a word, and of a unit, as is looked at: sorting marks takes time in the square of them.
_MAX_RAW = 4 * MAX_TOKEN
_MAX_UNIT = 32


def pieces(group: str, at: int, stem: Callable[[str], str]) -> Iterator[Piece]:
    """The pieces of a group that starts at ``at``, by where they start."""
    for start, piece, is_run in cut(group):
        if is_run:
            yield from _run_pieces(piece, at + start)
        else:
            yield from word_pieces(piece, at + start, stem)


def run_tokens(run: str) -> tuple[Sequence[str], Sequence[str]]:
    """The tokens of a run, and its single letters beside them.

    The tokens are overlapping pairs of letters; of a lone letter, itself and nothing beside.
    """
    letters = _letters(units(run))
    if len(letters) == 1:
        return letters, ()
    return list(map(str.__add__, letters, letters[1:])), letters


def identifier_parts(word: str) -> list[str]:
    """The words that an identifier is made of, in their own spelling; none if it is just a word.

    ``memorySearch``, ``HTTPServer`` and ``ERR_MODULE_NOT_FOUND`` have parts; so has ``utf8``, but
    not ``a828e60``: letters and digits are parted where they meet once.
    """
    found: list[str] = []
    for name in word.split("_"):
        if not name:
            continue
        whole = name.islower() or name.isupper() or not name.isascii()
        for part in [name] if whole else _camel_pattern().findall(name):
            found.append(part)
            numbered = _numbered_pattern().fullmatch(part)
            if numbered:
                found += [half for half in numbered.groups() if half]
    if found and found[0] == word:
        del found[0]
    return found


def word_pieces(group: str, at: int, stem: Callable[[str], str]) -> Iterator[Piece]:
    """The pieces of a group that holds no run."""
    found = list(words(group))
    is_emoji = not found and not group.isascii()
    if len(found) > 1 or is_emoji or group[-1] in "+#":
        compound = _plain(group.strip("_")).replace("\u2010", "-")
        if compound:
            yield at, at + len(group), "", "", (compound,)
    for start, word in found:
        plain = _plain(word)
        if plain:
            begin = at + start
            yield begin, begin + len(word), stem(plain), plain, _beside(word, plain, stem)


def _beside(word: str, plain: str, stem: Callable[[str], str]) -> tuple[str, ...]:
    """The tokens of a word without its accents, and of an identifier's parts."""
    if len(plain) < 3 or (word == plain and plain.isascii() and plain.isalpha()):
        return ()
    bare = plain
    if not word.isascii():
        word = normalize("NFKC", drop_ignorable(word[:_MAX_RAW]))
        bare = _unaccented(plain)
    parts = () if word[1:].isalpha() and word[1:].islower() else identifier_parts(word[:MAX_TOKEN])
    found = [stem(_plain(part)) for part in parts]
    return (stem(bare), *found) if bare != plain else tuple(found)


def _plain(word: str) -> str:
    """``word`` normalised (NFKC) and case-folded."""
    if word.isascii():
        return word[:MAX_TOKEN].lower()
    word = normalize("NFKC", drop_ignorable(word[:_MAX_RAW]))
    word = normalize("NFKC", word.casefold())
    return "".join(word.split())[:MAX_TOKEN]  # a few Arabic ligatures hold spaces


def _unaccented(plain: str) -> str:
    """``plain`` without marks, where they are accents or vowel points and not letters."""
    if plain[0] >= "\u0700":
        return plain
    bare = [char for char in normalize("NFD", plain) if category(char) != "Mn"]
    return normalize("NFC", "".join(bare))


def _run_pieces(run: str, at: int) -> Iterator[Piece]:
    raw = units(run)
    letters = _letters(raw)
    last = len(letters) - 1
    start = at
    for index, letter in enumerate(letters):
        end = start + len(raw[index])
        if last == 0:
            yield start, end, letter, letter, ()
            return
        yield start, end, "", "", (letter,)
        if index < last:
            pair = letter + letters[index + 1]
            yield start, end + len(raw[index + 1]), pair, pair, ()
        start = end


def _letters(raw: Sequence[str]) -> Sequence[str]:
    """Units as they are compared."""
    if isinstance(raw, str):
        return raw  # nothing to normalise
    known: dict[str, str] = {}
    letters = []
    for unit in raw:
        letter = known.get(unit)
        if letter is None:
            letter = normalize("NFKC", drop_ignorable(unit[:_MAX_UNIT]))
            known[unit] = letter
        letters.append(letter)
    return letters


@cache
def _camel_pattern() -> re.Pattern[str]:
    return re.compile(
        r"[A-Z]{2,}s(?![a-z])"  # URLs
        r"|[A-Z]+(?![a-z])[0-9]*"  # HTTP of HTTPServer, ES2015
        r"|[A-Z]?[a-z][a-z0-9]*"
        r"|[A-Z]"
        r"|[0-9]+[a-z]*"
    )


@cache
def _numbered_pattern() -> re.Pattern[str]:
    return re.compile(r"([a-zA-Z]{2,})([0-9]+)|([0-9]+)([a-zA-Z]{2,})")
