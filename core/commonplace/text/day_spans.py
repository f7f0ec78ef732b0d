"""Fits the times found in a text to the words about them: "mid" May, "3 to" 9 May.

The second and the third pass of :mod:`commonplace.text.days`, with which alone it is imported:
:func:`fit_to_words` fits each time of the calendar to the words about it, :func:`fit_together` all
times to each other.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta
from functools import cache
from itertools import permutations

from commonplace.model.tuples import NamedTuple
from commonplace.text.day_words import WEEKDAYS

Days = tuple[str, str]
"""First and last day (ISO); without the year, ``-05-07``, where every year will do."""


def is_yearly(day: str) -> bool:
    """Whether ``day``, the first or last of :data:`Days`, is one of every year: ``-05-07``."""
    return day[0] == "-"


_WEEK = 7
_BEFORE = 60
"""Characters before a time that are searched for words about it."""
_LEAP_YEAR = "2024"


def dates_of(days: Days) -> tuple[date, date]:
    """The first and the last day; those without a year as in a leap year."""
    first, last = (f"{_LEAP_YEAR}{day}" if is_yearly(day) else day for day in days)
    return date.fromisoformat(first), date.fromisoformat(last)


class Time(NamedTuple):
    """Where in a text a time is named, and its days.

    ``seen_from_today`` says that notes will hardly name it so: "yesterday", and not "3 May".
    """

    start: int
    end: int
    days: Days
    seen_from_today: bool = False


class _Part(NamedTuple):
    """What words before a month or a year say: which of its days are meant.

    ``words`` is a pattern; ``of_year`` are the first and the last day of that part of a year, if
    the words can say it of one.
    """

    words: str
    first: int
    last: int
    of_year: tuple[str, str] | None = None


_EARLY = "(?:beginning|start)-of|early(?:-in)?|anfang|début|principios-de|inizio(?:-di)?"
_MIDDLE = "mid(?:dle-of)?|mitte|mi|mediados-de|metà(?:-di)?"
_LATE = "end-of|late(?:-in)?|ende|fin|finales-de|fine(?:-di)?"
_PARTS = (
    _Part(_EARLY, 1, 10, ("01-01", "04-30")),
    _Part(_MIDDLE, 11, 20, ("05-01", "08-31")),
    _Part(_LATE, 21, 31, ("09-01", "12-31")),
    _Part("(?:first|1st|erste[nr]?)-(?:week|woche)-(?:of|in|im|des)", 1, 7),
    _Part("(?:second|2nd|zweite[nr]?)-(?:week|woche)-(?:of|in|im|des)", 8, 14),
    _Part("(?:third|3rd|dritte[nr]?)-(?:week|woche)-(?:of|in|im|des)", 15, 21),
    _Part("(?:last|letzte[nr]?)-(?:week|woche)-(?:of|in|im|des)", 25, 31),
)
_TO = "[-–—]|to|until|till|through|bis|au|al"
_UNTIL = rf"\s*(?:{_TO}|a)\s*(?:the\s+)?"
_FROM = r"\b(?:from|between|vom?|zwischen|entre|du|del|dal|desde)\s+(?:the\s+|el\s+|le\s+|dem\s+)?"


@cache
def _compiled_parts() -> list[tuple[re.Pattern[str], _Part]]:
    return [
        (re.compile(rf"\b(?:{part.words})-$".replace("-", r"[\s-]+"), re.IGNORECASE), part)
        for part in _PARTS
    ]


@cache
def _first_day_before() -> re.Pattern[str]:
    """The first day of a time that stands behind it: "3 to" 9 May, "between 3 and" 9 May."""
    day = r"(?<![\w.:/-])(\d\d?)(?:st|nd|rd|th|\.)?"
    both = rf"{_FROM}{day}\s*(?:and|und|et|y|e)\s*(?:the\s+)?"
    return re.compile(rf"(?:{both}|(?:{_FROM})?{day}{_UNTIL})$", re.IGNORECASE)


@cache
def _last_day_behind() -> re.Pattern[str]:
    """The last day of a time that stands before it: May 3 "to 9"."""
    day = r"(\d\d?)(?:st|nd|rd|th|\.)?"
    return re.compile(rf"{_UNTIL}{day}(?![\w:/-]|\.\d)", re.IGNORECASE)


_STARTS_WITH_YEAR = re.compile(r"\d{4}")
_YEAR_DIGITS = 4
_MONTH_NAME = re.compile(r"[^\W\d]+\.?(?:,?\s+(?:of\s+|de\s+|del\s+)?\d{4})?$")
"""The name of a month at the end of a text, with its year where that is named."""


def fit_to_words(time: Time, text: str) -> Time:
    """``time``, which is of the calendar, as the words about it in ``text`` narrow or widen it."""
    first, last = time.days
    if first == last:
        return time if _STARTS_WITH_YEAR.match(text, time.start) else _range_of_days(time, text)
    if first[4:] == "-01-01" and last[4:] == "-12-31":
        return _part_of_year(time, text)
    if first[-2:] == "01" and first[:-2] == last[:-2]:
        return _part_of_month(time, text)
    return time


def _range_of_days(time: Time, text: str) -> Time:
    """A single day, with the days from or to another of its month: "3 to" 9 May, May 3 "to 9"."""
    (day, _), start, end = time.days, time.start, time.end
    if before := _first_day_before().search(text, max(0, start - _BEFORE), start):
        first = _day_of_same_month(day, next(filter(None, before.groups())))
        widened = time._replace(start=before.start(), days=(first, day))
        return widened if "" < first < day else time
    if text[end - 1].isdigit() and (behind := _last_day_behind().match(text, end)):
        last = _day_of_same_month(day, behind[1])
        widened = time._replace(end=behind.end(), days=(day, last))
        return widened if last > day else time
    return time


def _day_of_same_month(day: str, number: str) -> str:
    """The day of the month of ``day`` with this ``number``; ``""``: it has none."""
    year, month = day[:-6].strip("-") or _LEAP_YEAR, int(day[-5:-3])
    is_one = 1 <= int(number) <= monthrange(int(year), month)[1]
    return f"{day[:-2]}{int(number):02}" if is_one else ""


def _part_of_year(time: Time, text: str) -> Time:
    year = time.days[0][:_YEAR_DIGITS]
    for pattern, part in _compiled_parts():
        if part.of_year and pattern.search(text, time.start, time.end - _YEAR_DIGITS):
            first, last = part.of_year
            return time._replace(days=(f"{year}-{first}", f"{year}-{last}"))
    return time


def _part_of_month(time: Time, text: str) -> Time:
    first, last = time.days
    name = _MONTH_NAME.search(text[time.start : time.end])
    name_start = time.start + name.start() if name else time.start
    for pattern, part in _compiled_parts():
        if words := pattern.search(text, max(0, name_start - _BEFORE), name_start):
            last_day = min(f"{part.last:02}", last[-2:])
            days = f"{first[:-2]}{part.first:02}", f"{last[:-2]}{last_day}"
            return time._replace(start=min(time.start, words.start()), days=days)
    return time


def fit_together(times: list[Time], text: str) -> list[Time]:
    """``times``, of which two that name one time get the same days: "on Tuesday last week".

    A weekday beside a week is one of its days: "last week Tuesday". So are those up to another one:
    "from Monday to Friday last week". Of times that overlap the longest is kept.
    """
    times = [_until_weekday(time, text) for time in times]
    times = _longest([_weekday_of_week(time, text, times) for time in times])
    for inner, outer in permutations(times, 2):
        words = re.findall(r"\w+", text[inner.start : inner.end].lower())
        has_weekday = not WEEKDAYS.keys().isdisjoint(words)
        if days := _days_within(inner.days, outer.days, weekday=has_weekday):
            both = inner, outer
            return [time._replace(days=days) if time in both else time for time in times]
    return times


@cache
def _to_weekday() -> re.Pattern[str]:
    spanish = r"\s+a\s+(?=[lmjvsd]\w+s\b|s[áa]bado|dom)"  # an English "a" is none
    return re.compile(rf"(?:\s*(?:{_TO})\s*|{spanish})({'|'.join(WEEKDAYS)})\b", re.IGNORECASE)


def _until_weekday(time: Time, text: str) -> Time:
    """``time``, if it is a weekday with another one behind it, with the days up to that."""
    last_word = text[time.start : time.end].rpartition(" ")[2].lower()
    if last_word not in WEEKDAYS or (until := _to_weekday().match(text, time.end)) is None:
        return time
    first = date.fromisoformat(time.days[0])
    last = first + timedelta((WEEKDAYS[until[1].lower()] - first.weekday()) % _WEEK)
    return time._replace(end=until.end(), days=(first.isoformat(), last.isoformat()))


_WORD_BEHIND = re.compile(r"\s*,?\s*(?:on\s+|am\s+)?(?P<word>[^\W\d_]+)")
_WORD_BEFORE = re.compile(r"\b(?P<word>[^\W\d_]+)\s+(?:of\s+)?$")
_A_MONDAY = date(2024, 1, 1)


def _weekday_of_week(time: Time, text: str, times: list[Time]) -> Time:
    """``time``, if it is a week with a weekday beside it, as that day.

    The weekday must be in none of the other ``times``.
    """
    if is_yearly(time.days[0]) or time.days[0] == time.days[1]:
        return time
    behind = _WORD_BEHIND.match(text, time.end)
    before = _WORD_BEFORE.search(text, 0, time.start)
    for match in (behind, before):
        if match and (number := WEEKDAYS.get(match["word"].lower())) is not None:
            at = match.start("word")
            if any(other != time and other.start <= at < other.end for other in times):
                continue
            day = (_A_MONDAY + timedelta(number)).isoformat()
            if days := _days_within((day, day), time.days, weekday=True):
                start, end = min(time.start, match.start()), max(time.end, match.end())
                return Time(start, end, days, True)
    return time


def _longest(times: list[Time]) -> list[Time]:
    """``times`` without those that begin or end inside of a longer one."""
    kept = list[Time]()
    for time in sorted(times, key=lambda time: time.start - time.end):
        if all(time.end <= other.start or other.end <= time.start for other in kept):
            kept.append(time)
    return [time for time in times if time in kept]


def _days_within(inner: Days, outer: Days, *, weekday: bool) -> Days | None:
    """The days of ``outer`` that ``inner`` means; ``None``: it means none of them.

    Only a year has those of a month that is named without one, and only a week those of weekdays.
    """
    (first, last), (outer_first, outer_last) = inner, outer
    if is_yearly(outer_first):
        return None
    if is_yearly(first):
        year = outer_first[:_YEAR_DIGITS]
        is_whole_year = outer == (f"{year}-01-01", f"{year}-12-31")
        return (f"{year}{first}", f"{year}{last}") if is_whole_year else None
    if not weekday:
        return None
    length = date.fromisoformat(last) - date.fromisoformat(first)
    start = date.fromisoformat(outer_first)
    outer_length = date.fromisoformat(outer_last) - start
    if length >= timedelta(_WEEK - 1) or outer_length != timedelta(_WEEK - 1):
        return None
    day = start + timedelta((date.fromisoformat(first) - start).days % _WEEK)
    return day.isoformat(), (day + length).isoformat()
