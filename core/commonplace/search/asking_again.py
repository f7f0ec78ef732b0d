"""What the backend that answered is asked once more, where its first answer shows a need.

Without the quotes, where no note has them side by side; for newer hits, where those that fold come
from a list that was cut off; for more, where folding leaves places empty. Imported only then. Where
that fails, the first answer holds, with a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.errors import DeclinedError, UnavailableError, reason_of
from commonplace.model.search import QueryNote
from commonplace.protocols.contexts import MOST_HITS
from commonplace.text.questions import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from commonplace.model.search import Arm, Candidate, Query
    from commonplace.protocols.contexts import FurtherHits
    from commonplace.search.choosing import Folding

_PASTED = 4
"""A query with so many words beside the quoted ones may be a message that has quotes itself."""
_LITTLE = 0.5
"""With less than this share of the others' evidence, quoted words alone do not make the answer."""
_ROUNDS = 4
"""How often newer hits are asked for."""


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
