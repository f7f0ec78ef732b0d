"""What the backend that answered is asked once more, where its first answer shows a need.

Without the quotes, where no note has them side by side; for newer hits, where those that fold come
from a list that was cut off; for more, where folding leaves places empty; with compounds: what
notes write in one of the words of a query, and words that end in one of them. Imported only then.
Where that fails, the first answer holds, with a note.

Dutch, German and the languages of Scandinavia join words: for "Termin beim Zahnarzt" notes have
"Zahnarzttermin". The analyser adds to each long word that is none of English a token that is turned
round, so that a store's ``tokens_beginning`` finds words by how they end, too. They are asked for
in queries that are not in English, and where a word is unknown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonplace.errors import DeclinedError, UnavailableError, reason_of
from commonplace.model.search import QueryNote
from commonplace.protocols.contexts import MOST_HITS
from commonplace.text.alternatives import stems_of
from commonplace.text.languages import composed
from commonplace.text.questions import STOP_WORDS
from commonplace.text.stems import turned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from commonplace.model.search import Arm, Candidate, Query
    from commonplace.protocols.contexts import FurtherHits
    from commonplace.search.choosing import Folding
    from commonplace.text.analyse import Analyser

    LookUp = Callable[[str], Mapping[str, int]]

_PASTED = 4
"""A query with so many words beside the quoted ones may be a message that has quotes itself."""
_LITTLE = 0.5
"""With less than this share of the others' evidence, quoted words alone do not make the answer."""
_ROUNDS = 4
"""How often newer hits are asked for."""

_LETTERS = re.compile(r"[^\W\d_]+")
_LEAST_LETTERS, _MOST_WORDS = 4, 8
"""How many letters a part has, and how many words of a query may be parts."""
_MOST_BETWEEN = 3
"""How many letters may stand between the stems of two parts: "Umzugsfirma", "Kinderwagen"."""
_MOST_FOUND = 50
"""How many tokens are looked up by their end."""
_ANY_FIRST = "kaba"
"""Stands for another part, and is in no list of words."""


def without_quotes(
    query: Query,
    arms: tuple[Arm, ...],
    ask: Callable[[Query], tuple[Arm, ...]],
    no_note: str,
    *,
    quoted: Sequence[str],
) -> tuple[Query, tuple[Arm, ...], tuple[str, ...]]:
    """Ask once more without what must be there, if nothing or hardly anything has it; and a note.

    Questions quote things, too, and so do messages that are pasted: where no note has the quoted
    words, others are shown. ``no_note`` names the notes that were searched.
    """
    by_words = [arm for arm in arms if arm.kind != "cosine"]  # vectors alone were filtered, too
    found = any(arm.found for arm in by_words or arms)
    words = [word for word in query.words.lower().split() if word not in STOP_WORDS]
    if found and len(words) < _PASTED:
        return query, arms, ()
    loose = query._replace(keyword=query.keyword._replace(must=()))
    try:
        others = ask(loose)
    except (UnavailableError, DeclinedError) as error:  # the first answer holds
        missing = f"{no_note} has all of this; what comes near is missing: {reason_of(error)}"
        return query, arms, () if found else (missing,)
    if found and _evidence(arms) >= _LITTLE * _evidence(others):
        return query, arms, ()
    near = f"{no_note} has the quoted words side by side; shown is what comes near"
    if found:
        near = "what has the quoted words matches little else; similar notes are shown, too"
    shown = quoted and any(arm.found for arm in others)
    return loose, others, (QueryNote(near),) if shown else ()


def _evidence(arms: Iterable[Arm]) -> float:
    """The most that a hit by words has."""
    by_words = (arm.found for arm in arms if arm.kind != "cosine")
    return max((item.evidence or 0.0 for found in by_words for item in found), default=0.0)


def add_further(
    folding: Folding,
    further: FurtherHits,
    readable: Callable[[Candidate], bool],
    more: Callable[[tuple[Arm, ...]], Sequence[Candidate]],
    wanted: int,
) -> tuple[str, ...]:
    """Add to ``folding`` what is newer than what folds, and more where fewer are left than wanted.

    ``more`` gives the hits of lists, in order, that may be shown. Returns a note where the
    backend fails: what was found before is an answer, but not all of it.
    """
    notes = _add_newer(folding, further, readable)
    if len(folding.folded()) < wanted:
        try:
            arms = further.ask(further.query, where=further.where)
        except (UnavailableError, DeclinedError) as error:
            return (*notes, f"further notes may be missing: {reason_of(error)}")
        folding.add(more(tuple(arms)), limit=wanted)
    return notes


def _add_newer(
    folding: Folding, further: FurtherHits, readable: Callable[[Candidate], bool]
) -> tuple[str, ...]:
    """Add to ``folding`` what the active backend has, until there is nothing newer.

    First it is asked for more, then for what is newer. Returns a note where the backend fails: the
    hits found before may not be the newest.
    """
    words, where, before = further.query.keyword, further.where, None
    for _ in range(_ROUNDS):
        since = folding.since()
        if since is None or where == before:
            break
        must = (*words.must, *folding.shared(words.should))
        query = further.query._replace(keyword=words._replace(must=must, plain=True))
        try:
            arms = further.ask(query, where=where)
        except (UnavailableError, DeclinedError) as error:
            return (f"newer notes that say the same may be missing: {reason_of(error)}",)
        folding.add(filter(readable, further.united(arms)), limit=0)
        if all(len(arm.found) < MOST_HITS for arm in arms):
            break
        before, newest = where, folding.since() or since
        where = where._replace(after=max(newest, where.after or ""))
    return ()


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


def ending_in(word: str, analyser: Analyser, look_up: LookUp) -> list[str]:
    """The tokens of compounds that end in ``word``, a lower-case one; the most used come first."""
    end = _end_of(word, analyser) if _may_be_part(word) else ""
    counts = _ending(end, look_up) if end else {}
    return sorted(counts, key=lambda token: (-counts[token], token))


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
