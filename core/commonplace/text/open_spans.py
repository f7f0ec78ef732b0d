"""Reads "since October", "until March", "before May", "after 3 August" as spans of days.

:func:`open_spans` takes the times that :mod:`commonplace.text.days` has found in a query, and looks
at the words before and behind each of them. What is since a time runs to today, what is until or
before it comes from :data:`BEGINNING`. Two times with "to" between them are one span.

Imported only for a query that names a time and has one of these words; see :func:`may_have_some`.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from commonplace.text.day_names import OPENING, opening
from commonplace.text.day_spans import BEGINNING, digitless, is_yearly
from commonplace.text.day_words import WEEKDAYS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.text.day_spans import Days, Time

# "_" is white space. Behind a time, in Chinese, Japanese, Korean.
_WORDS_BEHIND = {
    "since": "以来|以來|以降|开始|開始|起(?![来來])|から|부터|이래로?|이후로?",
    "until": "まで|[为為]止|까지",
    "before": "之前|以前|より前|の前|이전",
    "after": "之[后後]|以[后後]|の後(?!半)|より後",
}
_FROM = (
    r"(?:from|starting|von|vom|since|between|zwischen|entre|tra|fra|между|du|del?|d['’]|desde|dal?|со?"
    "|从|從|自|由)"
)
_ON = r"_(?:on|onwards?|an)(?!\w)(?!_(?:the|my|our|\d))"
_ONWARDS_FROM = r"\b(?:from|starting|von|vom)(?:_the)?\s*$"
_TO = (
    r"[-–—~]|to|until|till|through|up_to|bis(?:_zum?)?|à|au|jusqu['’](?:à|en|au)|al?|hasta|até"
    "|fino_al?|по|до|至|到|から|부터"
)
_YEARS_AGO = r"vor_(?!letzt|vorig|vergangen|dies|de[mnr]\b)\w+_jahr"
_AND = "and|und|et|y|e|и|和|と"
_BETWEEN = r"(?:between|zwischen|entre|tra|fra|между)"
# "The day before 3 May" is that day.
_PORTUGUESE = re.compile(
    r"semana|últim|próxim|manhã|segunda|terça|qu[ai][rn]ta|sexta", re.IGNORECASE
)
"""Behind these "da" is "of the"."""
_COUNTED = re.compile(
    rf"(?:\b(?:{'|'.join(WEEKDAYS)}|week-?ends?|wochenende"
    r"|days?|weeks?|months?|years?|hours?|night|morning|evening|tage?|wochen?|monate?|jahre?"
    r"|jours?|semaines?|mois|ans?|d[ií]as?|semanas?|mes(?:es|i|e)?|años?|giorn[oi]|settiman[ae]"
    r"|ann[oi]|anos?|день|дн(?:я|ей)|недел[юиь]|месяц(?:а|ев)?|года?|лет)\s+)$",
    re.IGNORECASE,
)
_LOOKED_AT = 40
"""Characters before a time that are searched for words about it."""
_AHEAD = timedelta(30)
"""What is behind a day to come is so long: further ahead, notes are not looked for."""


def may_have_some(text: str) -> bool:
    """Whether ``text`` has a word that may open a span."""
    behind = "|".join(_WORDS_BEHIND.values())
    words = opening(within=text.lower())  # to compile all of them takes long
    latin = rf"(?<!\w)(?:{words}|{_FROM}|{_TO}|{_AND}|on|onwards?|an)"
    pattern = _compiled(rf"{latin}|{behind}|[-–—~至到从從自由]|[为為]止|截|と|から|부터")
    return pattern.search(text) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("_", r"\s+"), re.IGNORECASE)


@lru_cache(maxsize=16)
def _kinds(text: str) -> str:
    """A pattern of such words in ``text``: the groups have the names of their kinds."""
    lowered = text.lower()
    return "|".join(f"(?P<{kind}>{opening(kind, within=lowered)})" for kind in OPENING)


def _before(text: str, start: int) -> re.Match[str] | None:
    """The words that end before ``start``."""
    pattern = _compiled(rf"(?<![\w.'’/-])(?:{_kinds(text)})\s*$")
    return pattern.search(text, max(0, start - _LOOKED_AT), start)


def _inside(time: Time, text: str) -> re.Match[str] | None:
    """Such words in a time that was read with them: "until" March."""
    return _compiled(rf"(?:{_kinds(text)})(?:\s+|(?<=['’]))").match(text, time.start, time.end)


def _behind(time: Time, text: str) -> re.Match[str] | None:
    kinds = [f"(?P<{kind}>{words})" for kind, words in _WORDS_BEHIND.items()]
    return _compiled(rf"\s*(?:{'|'.join(kinds)})").match(text, time.end)


def _ends_with(pattern: str, text: str, end: int) -> re.Match[str] | None:
    return _compiled(pattern).search(text, max(0, end - _LOOKED_AT), end)


class _Open:
    """A time with the words about it: ``kind`` is that of these, ``""`` of none.

    ``start`` and ``end`` are those of the time with these words, ``own`` is where itself begins.
    """

    def __init__(self, time: Time, text: str) -> None:
        self.time, self.kind = time, ""
        self.start = self.own = time.start
        self.end = time.end
        self.text = text[time.start : time.end]
        words = re.findall(r"\w+", self.text.lower())
        self.is_weekday = not WEEKDAYS.keys().isdisjoint(words)
        named = not time.seen_from_today or self.is_weekday
        if _compiled(_YEARS_AGO).match(self.text):
            return
        inside = _inside(time, text) if named else None
        if inside is None:
            joining = rf"(?:{_FROM}|{_TO}|{_AND})\s+"
            if named and (neutral := _compiled(joining).match(text, time.start, time.end)):
                self.own = neutral.end()
            self._look_around(text)
        else:
            self.own = inside.end()
            self.kind = "" if _is_counted(text, time.start) else str(inside.lastgroup)
        self.text = text[self.own : time.end]

    def _look_around(self, text: str) -> None:
        start, end = self.own, self.time.end
        if (behind := _behind(self.time, text)) is not None:
            self.kind, self.end = str(behind.lastgroup), behind.end()
            prefix = _ends_with(rf"(?:{_FROM}|到)\s*$", text, start)
            self.start = prefix.start() if prefix else start
        elif (before := _before(text, start)) is not None:
            is_of = before[0].lower().strip() == "da" and _PORTUGUESE.match(text, start)
            if not (is_of or _is_counted(text, before.start())):
                self.kind, self.start = str(before.lastgroup), before.start()
        elif (on := _compiled(_ON).match(text, end)) is not None:
            prefix = _ends_with(_ONWARDS_FROM, text, start)
            if prefix or "onward" in on[0].lower():
                self.kind, self.end = "since", on.end()
                self.start = prefix.start() if prefix else start


def _is_counted(text: str, end: int) -> bool:
    """Whether what ends there counts days, as those "before 3 May" in "two days before 3 May"."""
    return _COUNTED.search(text, max(0, end - _LOOKED_AT), end) is not None


def open_spans(
    times: Sequence[Time], text: str, today: date, *, past: bool, coming: bool
) -> list[Time]:
    """``times`` of ``text``, those beside words such as "since" as the spans that these mean.

    ``past`` says that the text asks for what was, ``coming`` that it asks for what will be. Of
    other texts "before December" is both, where the next one is near.
    """
    found = [_Open(time, text) for time in sorted(times, key=lambda time: time.start)]
    result: list[Time] = []
    at = 0
    while at < len(found):
        one, *following = found[at : at + 2]
        if following and (span := _joined(one, following[0], text, today)):
            result.append(span)
            at += 2
            continue
        result += _opened(one, today, past=past, coming=coming) if one.kind else [one.time]
        at += 1
    return _intersected(result, found)


def _joined(one: _Open, other: _Open, text: str, today: date) -> Time | None:
    """The span from one time to another; ``None``: the text says no such thing."""
    gap = text[one.time.end : other.own].strip()
    between = _ends_with(rf"\b{_BETWEEN}(?:_the)?\s*$", text, one.own)
    joining = rf"(?:{_TO})" + (rf"|(?:{_AND})" if between else "")
    if not _compiled(rf"(?:{joining})(?:_(?:the|dem|le|el|il|o))?").fullmatch(gap):
        return None
    days = _from_to(one.time.days, other.time.days, today)
    if days is None:
        return None
    prefix = _ends_with(rf"(?<!\w){_FROM}(?:_(?:the|el|le|dem))?\s*$", text, one.own)
    start = prefix.start() if prefix else min(one.start, one.time.start)
    seen = one.time.seen_from_today or other.time.seen_from_today
    words = digitless(f"{one.text} {other.text}")
    return one.time._replace(
        start=start, end=other.end, days=days, seen_from_today=seen, words=words
    )


def _from_to(one: Days, other: Days, today: date) -> Days | None:
    first, last = one[0], other[1]
    if is_yearly(first) != is_yearly(last):
        if is_yearly(last):
            last = f"{int(first[:4]) + (last < first[4:])}{last}"
        else:
            first = f"{int(last[:4]) - (first > last[4:])}{first}"
    elif is_yearly(first) and first > last:
        last = _dated((last, last), today)[1]
        first = f"{int(last[:4]) - 1}{first}"
    return (first, last) if first < last else None


def _opened(one: _Open, today: date, *, past: bool, coming: bool) -> list[Time]:
    """The span that ``one`` means, or both of them."""
    if one.is_weekday and one.kind in ("before", "after") and not (past or coming):
        return []  # "no deploys after Thursday" is of every week
    days = one.time.days
    candidates = [days]
    if is_yearly(days[0]):
        candidates = _of_years(one.kind, days, today, past=past, coming=coming)
    elif one.is_weekday and days[0] == days[1]:
        ahead = not past if one.kind in ("until", "before") else coming
        week = timedelta(7 if ahead and days[0] <= today.isoformat() else 0)
        day = (date.fromisoformat(days[0]) + week).isoformat()
        candidates = [(day, day)]
    spans = [span for one_of in candidates if (span := _span(one.kind, one_of, today))]
    # "Valid until March" may stand in a note that is of no day; "March" is in notes of any time.
    said = one.kind in ("since", "until") and not one.time.seen_from_today
    words = digitless(one.text) if said else ""
    return [
        one.time._replace(
            start=one.start, end=one.end, days=span, seen_from_today=True, words=words
        )
        for span in spans
    ] or [one.time]


_NEAR = timedelta(31)


def _of_years(kind: str, days: Days, today: date, *, past: bool, coming: bool) -> list[Days]:
    """Of which years the ``days`` without one are."""
    last = _dated(days, today)
    following = _in_year(days, int(last[0][:4]) + 1)
    running = last[1] >= today.isoformat()
    if kind == "after" and running and not coming:
        return [_in_year(days, int(last[0][:4]) - 1)]
    if coming and not running:
        return [following]
    is_near = date.fromisoformat(following[0]) - today <= _NEAR
    both = kind in ("until", "before") and is_near and not past
    return [last, following] if both else [last]


def _dated(days: Days, today: date) -> Days:
    """The last ones of ``days``, which have no year, that have begun."""
    this = _in_year(days, today.year)
    return this if this[0] <= today.isoformat() else _in_year(days, today.year - 1)


def _in_year(days: Days, year: int) -> Days:
    first, last = (
        f"{year}{day[:4]}{min(int(day[4:]), monthrange(year, int(day[1:3]))[1]):02}" for day in days
    )
    return first, last


def _span(kind: str, days: Days, today: date) -> Days | None:
    """The days since, until, before or after ``days``; ``None``: there are none."""
    first, last = map(date.fromisoformat, days)
    try:
        if kind in ("since", "after"):
            start = first if kind == "since" else last + timedelta(1)
            end = max(last, today) if start <= today else start + _AHEAD
            return start.isoformat(), end.isoformat()
        end = last if kind == "until" else first - timedelta(1)
    except OverflowError:  # the first or the last day of the calendar
        return None
    start_of_it = today.isoformat() if first > today and end >= today else BEGINNING
    return start_of_it, end.isoformat()


def _intersected(times: list[Time], found: Sequence[_Open]) -> list[Time]:
    """``times``, or the one that is both: "after" August "and before" October."""
    kinds = sorted(one.kind for one in found)
    if kinds[1:] and len(times) == len(found) == 2 and all(kinds):
        (first, last), (other_first, other_last) = (time.days for time in times)
        opening = {"since", "after"}
        if len(opening.intersection(kinds)) == 1:
            days = max(first, other_first), min(last, other_last)
            if days[0] <= days[1]:
                return [time._replace(days=days) for time in times]
    return times
