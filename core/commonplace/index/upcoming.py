"""Chunks that say when something is next, or what is on each Monday, for a query that asks it.

What a query names a time for is in ``dated.py``. Imported only for such a query.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING

from commonplace.text.analyse import make_analyser
from commonplace.text.day_names import is_seen_from
from commonplace.text.tenses import dates_ahead, is_habit_of_a_weekday

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.model.search import Arm, Found, KeywordQuery, StoredChunk

_RAISED, _LOWERED = 0.6, 0.8
"""What the evidence lacks to 1 is made so much less where a chunk says what is asked for, and a log
of a day gone by keeps so much of its own."""
_LEAST_NEXT, _LEAST_AGAIN = 1 / 2, 1 / 3
"""Which share of the query's words a line has that says so: of a habit the weekday tells most."""
_NEVER = "9999-12-31"
_RECENT = 7  # days in which a log's "on Friday" is ahead


def with_saying(arm: Arm, query: KeywordQuery) -> Arm:
    """The ``arm`` of keywords, for a query when something is next or what is on each Monday.

    Chunks of which a line has half of its words and names a day that is ahead, or a third and says
    that it is of each such day, are raised, and where there are any, logs (of days gone by)
    lowered. Other arms are left as they are.
    """
    topic = frozenset(query.should) - query.beside
    if arm.name != "keyword" or query.plain or not topic:
        return arm
    says, why, share = is_habit_of_a_weekday, "what is again and again", _LEAST_AGAIN
    if query.foreseen:
        says = partial(_is_ahead, today=date.fromisoformat(query.foreseen))
        why, share = "what is next", _LEAST_NEXT
    wanted, least = topic | query.instead, share * len(topic)
    saying = {item.chunk.id for item in arm.found if _says(item.chunk, wanted, least, says)}
    if not saying:
        return arm

    def weighed(item: Found) -> Found:
        evidence, coverage = item.evidence or 0.0, item.coverage or 0.0
        if item.chunk.id in saying:
            evidence, coverage = (of + _RAISED * (1 - of) for of in (evidence, coverage))
            note = f"{item.note}; says when: {why} is asked for"
        elif item.chunk.day is not None and item.chunk.day < (query.foreseen or _NEVER):
            evidence, coverage = _LOWERED * evidence, _LOWERED * coverage
            note = f"{item.note}; evidence x {_LOWERED}: {why} is asked for"
        else:
            return item
        return item._replace(evidence=evidence, coverage=coverage, note=note)

    return arm._replace(found=tuple(map(weighed, arm.found)))


def _says(
    chunk: StoredChunk,
    wanted: frozenset[str],
    least: float,
    says: Callable[[str, str | None], bool],
) -> bool:
    """Whether a line of ``chunk`` ``says`` so and has at least so many of the ``wanted`` tokens."""
    if len(wanted.intersection(chunk.body.split())) < least:
        return False
    lines = [line for line in chunk.text.split("\n") if says(line, chunk.day)]
    found = (make_analyser().matches(line, wanted) for line in lines)
    return any(
        len(frozenset().union(*[tokens for _, _, tokens in matches])) >= least for matches in found
    )


def _is_ahead(line: str, day: str | None, today: date) -> bool:
    """Whether ``line``, of ``day`` (ISO) where it has one, names a day from ``today`` on."""
    if day is not None and day > today.isoformat():
        return True
    if any(map(str.isdigit, line)) and any(dates_ahead(line, day, today)):
        return True
    if day is None or date.fromisoformat(day) < today - timedelta(_RECENT):
        return False
    week = today, today + timedelta(_RECENT - 1)
    return is_seen_from(day, line, week, coming=True)
