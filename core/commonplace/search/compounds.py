"""Compounds: what notes write in one of the words of a query, and words that end in one of them.

Dutch, German and the languages of Scandinavia join words: for "Termin beim Zahnarzt" notes have
"Zahnarzttermin". The analyser adds to each long word that is none of English a token that is turned
round, so that a store's ``tokens_beginning`` finds words by how they end, too. Imported only for
queries that are not in English, and where a word is unknown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonplace.errors import DeclinedError, UnavailableError, reason_of
from commonplace.text.alternatives import stems_of
from commonplace.text.languages import composed
from commonplace.text.questions import STOP_WORDS
from commonplace.text.stems import turned

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from commonplace.model.search import Arm, Query
    from commonplace.text.analyse import Analyser

    LookUp = Callable[[str], Mapping[str, int]]

_LETTERS = re.compile(r"[^\W\d_]+")
_LEAST_LETTERS, _MOST_WORDS = 4, 8
"""How many letters a part has, and how many words of a query may be parts."""
_MOST_BETWEEN = 3
"""How many letters may stand between the stems of two parts: "Umzugsfirma", "Kinderwagen"."""
_LONGEST = 40
"""How many letters a word has that is parted."""
_MOST_FOUND = 50
"""How many tokens are looked up by their end."""
_MOST_LASTS, _MOST_SHOWN = 3, 3
"""How many ways to part a compound are looked up, and how many words with a part searched for."""
_LINK = re.compile("(?:e?s|e?n|er)$")
"""What may stand behind the first part: "Mietsvertrag"."""
_ANY_FIRST = "kaba"
"""Stands for another part, and is in no list of words."""


def with_compounds(
    query: Query,
    arms: tuple[Arm, ...],
    texts: Iterable[str],
    analyser: Analyser,
    ask: Callable[[Query], tuple[Arm, ...]],
) -> tuple[Query, tuple[Arm, ...], tuple[str, ...]]:
    """Ask once more, with what notes write in one of two words of ``texts``; and a note.

    Where notes have none, or cannot be asked, ``query`` and ``arms`` hold.
    """
    look_up = next((arm.tokens_beginning for arm in arms if arm.tokens_beginning), None)
    if look_up is None:
        return query, arms, ()
    words = dict.fromkeys(w for text in texts for w in _LETTERS.findall(composed(text).lower()))
    parts = [word for word in words if _may_be_part(word)][:_MOST_WORDS]

    def tokens_beginning(text: str) -> Mapping[str, int]:
        return look_up(text, _MOST_FOUND)

    keyword, stems = query.keyword, stems_of(analyser.spans, parts)
    try:
        compounds = {
            token: None
            for last in parts
            if (end := _end_of(last, analyser))
            for token in _ending(end, tokens_beginning)
            if any(_joins(token, stems.get(first, first), end) for first in parts if first != last)
        }
        new = [token for token in compounds if token not in keyword.should]
        if not new:
            return query, arms, ()
        wider = keyword._replace(
            should=(*keyword.should, *new),
            beside=keyword.beside.union(new),
            instead=keyword.instead.union(new),
            selective=(),
        )
        return (again := query._replace(keyword=wider)), ask(again), ()
    except (UnavailableError, DeclinedError) as error:
        return query, arms, (f"similar words could not be looked up: {reason_of(error)}",)


def compounds_of(
    word: str,
    analyser: Analyser,
    look_up: LookUp,
    holders: Callable[[Collection[str]], Mapping[str, int]],
    words_of: Callable[[str], Collection[str]],
) -> tuple[str, ...]:
    """What notes have of the compound, or of the end of compounds, ``word``; in lower case.

    Compounds that end in it, the most used; else words with its two parts. ``holders`` counts the
    chunks with each token, ``words_of`` gives the words of notes for one.
    """

    def written(token: str) -> str:
        return min(words_of(token), key=lambda one: (len(one), one), default="")

    tokens = ending_in(word, analyser, look_up)[:_MOST_SHOWN]
    words = map(written, tokens) if tokens else _in_two(word, analyser, look_up, holders, written)
    return tuple(filter(None, dict.fromkeys(words)))


def ending_in(word: str, analyser: Analyser, look_up: LookUp) -> list[str]:
    """The tokens of compounds that end in ``word``, a lower-case one; the most used come first."""
    end = _end_of(word, analyser) if _may_be_part(word) else ""
    counts = _ending(end, look_up) if end else {}
    return sorted(counts, key=lambda token: (-counts[token], token))


def _in_two(
    word: str,
    analyser: Analyser,
    look_up: LookUp,
    holders: Callable[[Collection[str]], Mapping[str, int]],
    written: Callable[[str], str],
) -> Sequence[str]:
    """For a compound in lower case: others that have its first part, and its last; or ``()``.

    For "Kellernummer" notes have "Kellerabteil" and "Nummer", for "Gartenpacht" "Schrebergarten"
    and "Pacht". ``written`` gives the word of notes for a token.
    """
    if not word.isalpha():
        return ()
    ends = range(_LEAST_LETTERS, min(len(word), _LONGEST) - _LEAST_LETTERS + 1)
    stems = stems_of(analyser.spans, filter(_may_be_part, (word[at:] for at in ends)))
    counts = holders(set(stems.values())) if stems else {}
    held = [at for at in ends if counts.get(stems.get(word[at:], ""))]
    for at in held[:_MOST_LASTS]:
        last = written(stems[word[at:]])
        if not last.startswith(word[at:][:_LEAST_LETTERS]):
            continue
        for first in filter(_may_be_part, dict.fromkeys((word[:at], _LINK.sub("", word[:at])))):
            beginning = look_up(first)
            by_use = sorted(beginning, key=lambda one: (-beginning[one], one))
            if tokens := by_use or ending_in(first, analyser, look_up):
                return *map(written, tokens[:_MOST_SHOWN]), last
    return ()


def _ending(end: str, look_up: LookUp) -> dict[str, int]:
    """The tokens that end in ``end``, and how many chunks hold each."""
    return {token[:0:-1]: count for token, count in look_up(turned(end)).items()}


def _may_be_part(word: str) -> bool:
    return len(word) >= _LEAST_LETTERS and word.isalpha() and word not in STOP_WORDS


def _joins(compound: str, first: str, end: str) -> bool:
    """Whether ``compound`` has the stem ``first``, a few letters at most, and ``end``."""
    return (
        compound.startswith(first) and 0 <= len(compound) - len(first) - len(end) <= _MOST_BETWEEN
    )


def _end_of(word: str, analyser: Analyser) -> str:
    """How the token of a compound ends whose last part is ``word``; ``""``: too short to tell.

    A word of four letters keeps an ending that a longer one loses.
    """
    stems = stems_of(analyser.spans, [_ANY_FIRST + word])
    end = next(iter(stems.values()), "").removeprefix(_ANY_FIRST)
    return end if len(end) >= _LEAST_LETTERS - 1 else ""
