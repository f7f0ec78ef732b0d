"""The days that a query names: how near a chunk is to them, and which chunks are of them.

A chunk is of a day by its document, a daily log, or names the day in its text. The time is one more
piece of what a query asks for, beside its words. Imported only for queries that name a time.
"""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from functools import cache, lru_cache, partial
from math import fsum
from typing import TYPE_CHECKING, cast

from commonplace.errors import DeadlineExceededError
from commonplace.model.search import Found, KeywordQuery
from commonplace.text.analyse import make_analyser
from commonplace.text.day_names import DayNames, says_next
from commonplace.text.day_spans import BEGINNING, dates_of, is_yearly
from commonplace.text.tokens import has_unspaced

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from commonplace.model.search import Arm, StoredChunk, Where
    from commonplace.protocols.parts import DayStore, Store
    from commonplace.resilience.deadline import Deadline
    from commonplace.text.analyse import Analyser
    from commonplace.text.day_spans import Days

_HALF_LIFE_DAYS, _BEYOND, _OF_ONE_DAY = 5, 0.75, 1.5
_WEEK = 7
_A_WEEK_OFF = _BEYOND * 0.5 ** ((_WEEK - 1) / _HALF_LIFE_DAYS)
_WEIGHT_OF_A_DAY, _WEIGHT_OF_A_WEEK, _WEIGHT_OF_MORE = 3.0, 2.0, 0.5
"""So many words of a query tell as much as the time that it names. What is asked about one day is
hardly in the log of another; a month or a year says less than the words beside it."""

_OF_A_WORD = 0.4
"""So much of a word is a pair of letters of scripts without spaces, times its script's weight."""

_BESIDE = 0.5
"""What is near to a time has so much of that, where the time is a piece of what was asked."""

_OF_A_DAY, _NAMES_A_DAY = 0.8, 0.75
"""The evidence of a chunk by its day where a query is about a time alone: as much as if it held
each word once; and that of one which names the day."""
_NAMES_A_COMING_DAY = 0.85
"""That of chunks which name days to come, where a query asks for what will be; of three of them
where it may, and such days of other years are meant, too: in November "December" is as much the
next one as that of last year, which may have many logs."""
_NAMES_A_TASK = 0.9
"""That of such a chunk which has a word of the query for what is to be done: "due"."""
_GONE_BY = 0.8
"""The share of its evidence that a chunk of a day gone by keeps where what will be is asked for."""
_OF_A_DAY_ALONE = 0.5
"""It is no more where a chunk has none of the words that a query has beside its time."""
_ANOTHER_OF_IT = 0.9
"""Each further chunk of a document has so much of that: a long log is not all that is shown."""
_OF_ANOTHER_DAY = 0.5
"""The share of its evidence that a chunk of another day keeps, where a query is about a time alone:
digits and names of months are in many notes."""

_BEFORE_PLACES, _PLACES, _A_LITTLE = 2, 3, 0.001
"""Where no note of a month has another word of the query, three of its chunks come behind the best
two that have one. (With all of them first, or behind the best one, an answer of the second memory
of ``benchmarks/dated`` falls behind the third hit; among 6 hits all find one more of the first.)"""

_MOST_NAMING = 100
"""Chunks that are looked through for one that names a coming day."""


class Times:
    """The times that ``query`` names."""

    def __init__(self, query: KeywordQuery) -> None:
        self._days = query.days
        longest = max((last - first).days + 1 for first, last in map(dates_of, query.days))
        self.short = longest <= _WEEK
        names = partial(DayNames, coming=bool(query.coming))
        self._names = names(query.days) if self.short or query.coming else None
        self.foreseen = query.foreseen
        today = query.foreseen
        tomorrow = today and (date.fromisoformat(today) + timedelta(1)).isoformat()
        to_come = tuple(
            (max(first, min(tomorrow, last)), last)
            for first, last in query.days
            if not is_yearly(first) and last >= today
        )
        both = self.foreseen or len(to_come) < len(query.days)
        self._coming_names = names(to_come) if query.coming and both and to_come else None
        self.one_day = longest == 1
        weight = _WEIGHT_OF_A_WEEK if self.short else _WEIGHT_OF_MORE
        self.weight = _WEIGHT_OF_A_DAY if self.one_day else weight
        self._words = query.timed
        self._topic = {*query.should} - query.beside
        self._accepted, self._instead = self._topic | query.instead, query.instead
        self._asked_words = _words_in(self._topic)

    def nearness(self, chunk: StoredChunk, counts: Mapping[str, float]) -> float:
        """0 to 1.5: 1 for a chunk that is of one of the times or names it; 1.5 for a single day.

        ``counts`` says how often the chunk has which tokens of the query.
        """
        near = nearness(self._days, chunk.day) if chunk.day else 0.0
        if near < 1 and self.named_in(chunk):
            return max(_OF_ONE_DAY if first == last else 1.0 for first, last in self._days)
        if self.one_day and 0 < near <= _A_WEEK_OFF and not says_next(chunk.text, chunk.day or ""):
            return near  # its "Friday" is one of another week
        if near < 1 and self._words and all(map(counts.get, self._words)):
            return max(near, float(self._has_words(chunk.text)))
        return near

    def _has_words(self, text: str) -> bool:
        """Whether ``text`` has all words of the times outside of headings."""
        matches = _analyser().matches(_without_headings(text), self._words)
        return self._words == frozenset().union(*[tokens for _, _, tokens in matches])

    def of(self, found: Iterable[Found]) -> Iterator[StoredChunk]:
        """The chunks among ``found`` that are of the times."""
        return (item.chunk for item in found if self.has(item.chunk.day))

    def has(self, day: str | None) -> bool:
        """Whether ``day`` (ISO) is in one of the times."""
        return day is not None and nearness(self._days, day) >= 1

    def has_topic(self, chunk: StoredChunk) -> bool:
        """Whether ``chunk`` has a word of the query beside those of the times."""
        return not self._topic or not self._topic.isdisjoint(chunk.body.split())

    def names_task(self, chunk: StoredChunk) -> bool:
        """Whether ``chunk`` has a word that may stand beside the time, as "due"."""
        return bool(self.foreseen) and not self._instead.isdisjoint(chunk.body.split())

    def has_word(self, item: Found) -> bool:
        """Whether ``item`` has such a word, or one in its place: in its text, or where it counted.

        A heading, the name of a note and its title are searched, too, and not in the ``body``.
        """
        if not self._accepted.isdisjoint(item.chunk.body.split()):
            return True
        return any(gave > 0 and token in self._accepted for token, gave in item.words)

    def named_in(self, chunk: StoredChunk) -> bool:
        """Whether the text of ``chunk`` names one of the times."""
        return self._names is not None and self._names(chunk.text, chunk.day)

    def names_coming(self, chunk: StoredChunk) -> bool:
        """Whether ``chunk`` names days to come of a time that other days are of, too."""
        if self._coming_names is None or (self.has(chunk.day) and not self.foreseen):
            return False
        text = _without_headings(chunk.text) if chunk.day else chunk.text  # those have its own day
        return self._coming_names(text, chunk.day)

    def is_gone_by(self, chunk: StoredChunk) -> bool:
        """Whether ``chunk`` is of days gone by alone, where what will be is asked for."""
        if not self.foreseen or self.names_coming(chunk):
            return False
        is_of_them = self.has(chunk.day)
        return (chunk.day or "") < self.foreseen if is_of_them else self.named_in(chunk)

    def evidence_alone(self, chunk: StoredChunk) -> float:
        """The evidence of a chunk where the query is a time alone; 0: it is of another time."""
        if self.has(chunk.day):
            return _OF_A_DAY
        return _NAMES_A_DAY if self.named_in(chunk) else 0.0

    def evidence(self, words: float, near: float) -> float:
        """The share (0..1) of what was asked that a chunk has, of the query's words and its time.

        ``words`` is the evidence by words, ``near`` the nearness.
        """
        near = min(1.0, near) if near >= 1 else _BESIDE * near
        asked = self._asked_words
        share = (asked * words + self.weight * near) / (asked + self.weight)
        return share if words else min(_OF_A_DAY_ALONE, share)


def _without_headings(text: str) -> str:
    return "\n".join([line for line in text.split("\n") if not line.startswith("#")])


def _words_in(tokens: Collection[str]) -> float:
    """How many words ``tokens`` are: a pair of letters of scripts without spaces is part of one."""
    if all(map(str.isascii, tokens)):
        return len(tokens)
    from commonplace.text.unspaced import script_weights

    weights = script_weights(sorted(tokens))
    return fsum(_OF_A_WORD * weights[token] if has_unspaced(token) else 1 for token in tokens)


def nearness(days: Sequence[Days], day: str) -> float:
    """How near ``day`` (ISO) is to one of ``days``: 1 within it, 1.5 where that is a single day.

    A day beside it has 0.75, halved with every 5 days more.
    """
    number, year = _number(day), int(day[:4])
    nearest = 0.0
    for first, last in days:
        if not is_yearly(first):
            spans = [(first, last)]
        else:  # a day of any year: those around the day's, as far as the calendar has them
            years = range(max(1, year - 1), min(9999, year + 1) + 1)
            spans = [(f"{near_year}{first}", f"{near_year}{last}") for near_year in years]
        within = _OF_ONE_DAY if first == last else 1.0
        for start, end in spans:
            beyond = max(_number(start) - number, number - _number(end), 0)
            near = _BEYOND * 0.5 ** ((beyond - 1) / _HALF_LIFE_DAYS) if beyond else within
            nearest = max(nearest, near)
    return nearest


@lru_cache(maxsize=1024)
def _number(day: str) -> int:
    year, month, number = map(int, day.split("-"))
    return date(year, month, min(number, 28)).toordinal() + max(0, number - 28)


def with_days(
    arm: Arm,
    store: Store,
    query: KeywordQuery,
    where: Where,
    limit: int,
    deadline: Deadline,
    *,
    alone: bool = True,
) -> Arm:
    """The ``arm`` of keywords with what is of the days that the query names.

    That comes first where the query asks for a time alone. Otherwise it stands behind what words
    found; of a time of more than a week it is listed only where none of what words found of it has
    another word than the time's, and three of its chunks have places among the first ones. Other
    arms are left as they are. ``alone`` says that no vectors are searched beside the words.
    """
    if arm.name != "keyword" or query.plain or query.must:
        return arm
    times = Times(query)
    needed = query.listed or times.short or query.coming
    if not needed and any(map(times.has_topic, times.of(arm.found))):
        return arm
    if "days" not in store.capabilities:
        note = "the index cannot list the notes of a day: add a word to search for"
        return arm._replace(note=note) if query.listed and not arm.found else arm
    try:
        listed = _chunks_of(times, cast("DayStore", store), query, where, limit, deadline)
    except DeadlineExceededError:
        if not arm.found:
            raise
        return arm
    if query.listed and not (arm.found or listed):
        named = ", ".join(_shown(*days) for days in query.days)
        return arm._replace(note=f"no note is of the days that the query names: {named}")
    # A word that many notes have may not have found all of these.
    listed.sort(key=lambda item: not times.has_topic(item.chunk))
    without_words = _without_words(times, arm, listed, about_times=query.listed)
    found, others = list(arm.found), list[Found]()
    if query.listed:
        found, others = _about_times(times, arm.found)
    elif not needed:
        found, without_words = _with_places(times, arm.found, without_words)
        of_times = [item for item in (*found, *without_words) if times.has(item.chunk.day)]
        all_seen = len(listed) < limit or len(arm.found) < limit
        if alone and all_seen and of_times and not any(map(times.has_word, (*of_times, *listed))):
            named = ", ".join(_shown(*days) for days in query.days)
            none = f"no note of {named} has another word of the query"
            alone_note = "search for the time alone to see all of its notes"
            arm = arm._replace(incomplete=f"{none}: {alone_note}")
    found, without_words = _by_tense(times, found, without_words, listed=query.listed)
    found = found[: max(limit // 2, limit - len(without_words))]
    return arm._replace(found=(*found, *without_words, *others)[:limit])


def _without_words(
    times: Times, arm: Arm, listed: Iterable[Found], *, about_times: bool
) -> list[Found]:
    """Those of ``listed`` that words have not found, each with its evidence."""
    beside_words = times.evidence(0.0, 1.0)
    known = {item.chunk.id for item in arm.found}
    without_words, in_document = list[Found](), Counter[tuple[str, str]]()
    for item in listed:
        if item.chunk.id in known:
            continue
        document = item.chunk.source, item.chunk.path
        beside = beside_words * _ANOTHER_OF_IT ** in_document[document]
        in_document[document] += 1
        evidence = times.evidence_alone(item.chunk) if about_times else beside
        of_day = item._replace(score=0.0, note="of a day that the query names")
        without_words.append(_with_evidence(of_day, evidence))
    return without_words


def _with_places(
    times: Times, found: Sequence[Found], without_words: Sequence[Found]
) -> tuple[list[Found], list[Found]]:
    """``found`` with places among the first ones for chunks of the times; the rest of these.

    None that was found has a word beside those of the time.
    """
    others = [item for item in found if not times.has(item.chunk.day)]
    of_times = [*(item for item in found if times.has(item.chunk.day)), *without_words]
    of_times.sort(key=_by_evidence)  # stable: the newest first
    best = sorted(others, key=_by_evidence)[_BEFORE_PLACES : _BEFORE_PLACES + 1]
    for item in best:
        least = item.evidence or 0.0
        for at, of_time in enumerate(of_times[:_PLACES]):
            raised = min(1.0, least * (1 + _A_LITTLE * (_PLACES - at)))
            of_times[at] = _with_evidence(of_time, max(of_time.evidence or 0.0, raised))
    return [*of_times[:_PLACES], *others], of_times[_PLACES:]


def _by_evidence(item: Found) -> float:
    return -(item.evidence or 0.0)


def _about_times(times: Times, found: Iterable[Found]) -> tuple[list[Found], list[Found]]:
    """The chunks of the times that a query is about alone, and the others."""
    of_times, others = list[Found](), list[Found]()
    for item in found:
        evidence = item.evidence or 0.0
        if alone := times.evidence_alone(item.chunk):
            of_times.append(_with_evidence(item, alone))  # the newest first
        elif item.chunk.day is None and not times.one_day:
            # "October" is in many logs, and what is called "Plans for October" may be meant.
            of_times.append(_with_evidence(item, min(_OF_A_DAY, evidence)))  # behind them
        else:
            others.append(_with_evidence(item, _OF_ANOTHER_DAY * evidence))
    return of_times, others


def _by_tense(
    times: Times, found: Sequence[Found], without_words: Sequence[Found], *, listed: bool
) -> tuple[list[Found], list[Found]]:
    """Both lists, with chunks of days gone by lowered where what will be is asked for.

    Those that name days to come are raised where the query is about a time alone (``listed``):
    where what will be is asked for all of them, else the first.
    """
    both = (*found, *without_words) if listed else ()
    naming = [item.chunk.id for item in both if times.names_coming(item.chunk)]
    del naming[len(naming) if times.foreseen else _PLACES :]

    def weighed(item: Found) -> Found:
        if item.chunk.id in naming:
            evidence = _NAMES_A_TASK if times.names_task(item.chunk) else _NAMES_A_COMING_DAY
            return _with_evidence(item, evidence)._replace(note="names a coming day of the query")
        if times.is_gone_by(item.chunk):
            evidence, coverage = (_GONE_BY * (of or 0.0) for of in (item.evidence, item.coverage))
            note = f"{item.note}; evidence x {_GONE_BY}: what will be is asked for"
            return item._replace(evidence=evidence, coverage=coverage, note=note)
        return item

    behind = [*map(weighed, without_words)]
    return [*map(weighed, found)], sorted(behind, key=_by_evidence) if naming else behind


def _with_evidence(item: Found, evidence: float) -> Found:
    """``item`` with the same for both: beside vectors, what counts is the coverage."""
    return item._replace(evidence=evidence, coverage=evidence)


def _chunks_of(
    times: Times,
    store: DayStore,
    query: KeywordQuery,
    where: Where,
    limit: int,
    deadline: Deadline,
) -> list[Found]:
    """The chunks of the times, the newest first, and those that name times yet to come."""
    listed = list(store.of_days(query, where=where, limit=limit, deadline=deadline))
    if not query.coming:
        return listed
    coming = KeywordQuery(should=query.coming, must_not=query.must_not, plain=True)
    found = store.keyword(coming, where=where, limit=_MOST_NAMING, deadline=deadline).found
    # Words as "tomorrow" name it in logs of the week before.
    first = max(days[0] for days in query.days if not is_yearly(days[0]))
    week = (date.fromisoformat(first) - timedelta(_WEEK)).isoformat(), first
    before = query._replace(days=(week,))
    recent = store.of_days(before, where=where, limit=_MOST_NAMING, deadline=deadline)
    known = {item.chunk.id for item in listed}
    for item in (*recent, *found):
        if item.chunk.id not in known and times.named_in(item.chunk):
            known.add(item.chunk.id)
            listed.append(item)
    return listed


@cache
def _analyser() -> Analyser:
    return make_analyser()


def _shown(first: str, last: str) -> str:
    first, last = first.lstrip("-"), last.lstrip("-")
    if first == BEGINNING:
        return f"the days until {last}"
    return first if first == last else f"{first} to {last}"
