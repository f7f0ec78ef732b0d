"""What stands about a time in a text narrows or widens it: "mid" May, "3 to" 9 May.

Imported with :mod:`commonplace.text.days` only.
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

_WEEK = 7
_BEFORE = 60
"""Characters before a time that are looked at."""
_LEAP_YEAR = "2024"


def dates_of(days: Days) -> tuple[date, date]:
    """The first and the last day; those without a year as in a leap year."""
    first, last = (f"{_LEAP_YEAR}{one}" if one[0] == "-" else one for one in days)
    return date.fromisoformat(first), date.fromisoformat(last)


class Time(NamedTuple):
    """Where in a text a time is named, and its days.

    ``seen_from_today`` says that notes will hardly name it so: "yesterday", and not "3 May".
    """

    start: int
    end: int
    days: Days
    seen_from_today: bool = False


# What before the name of a month says which part of it is meant: the days.
_PARTS = {
    r"(?:beginning|start)-of|early(?:-in)?|anfang|début|principios-de|inizio(?:-di)?": (1, 10),
    r"mid(?:dle-of)?|mitte|mi|mediados-de|metà(?:-di)?": (11, 20),
    r"end-of|late(?:-in)?|ende|fin|finales-de|fine(?:-di)?": (21, 31),
    r"(?:first|1st|erste[nr]?)-(?:week|woche)-(?:of|in|im|des)": (1, 7),
    r"(?:second|2nd|zweite[nr]?)-(?:week|woche)-(?:of|in|im|des)": (8, 14),
    r"(?:third|3rd|dritte[nr]?)-(?:week|woche)-(?:of|in|im|des)": (15, 21),
    r"(?:last|letzte[nr]?)-(?:week|woche)-(?:of|in|im|des)": (25, 31),
}
_OF_A_YEAR = {10: ("01-01", "04-30"), 20: ("05-01", "08-31"), 31: ("09-01", "12-31")}
"""The part of a year that such a word means, by the last day that it means in a month."""
_TO = "[-–—]|to|until|till|through|bis|au|al"
_UNTIL = rf"\s*(?:{_TO}|a)\s*(?:the\s+)?"
_FROM = r"\b(?:from|between|vom?|zwischen|entre|du|del|dal|desde)\s+(?:the\s+|el\s+|le\s+|dem\s+)?"


@cache
def _parts() -> list[tuple[re.Pattern[str], int, int]]:
    return [
        (re.compile(rf"\b(?:{words})-$".replace("-", r"[\s-]+"), re.IGNORECASE), first, last)
        for words, (first, last) in _PARTS.items()
    ]


@cache
def _since_day() -> re.Pattern[str]:
    """The first day of a time that stands behind it: "3 to" 9 May, "between 3 and" 9 May."""
    day = r"(?<![\w.:/-])(\d\d?)(?:st|nd|rd|th|\.)?"
    both = rf"{_FROM}{day}\s*(?:and|und|et|y|e)\s*(?:the\s+)?"
    return re.compile(rf"(?:{both}|(?:{_FROM})?{day}{_UNTIL})$", re.IGNORECASE)


@cache
def _until_day() -> re.Pattern[str]:
    day = r"(\d\d?)(?:st|nd|rd|th|\.)?"
    return re.compile(rf"{_UNTIL}{day}(?![\w:/-]|\.\d)", re.IGNORECASE)


def _other_day(day: str, number: str) -> str:
    """The day of the month of ``day`` with this ``number``; ``""``: it has none."""
    year, month = day[:-6].strip("-") or _LEAP_YEAR, int(day[-5:-3])
    is_one = 1 <= int(number) <= monthrange(int(year), month)[1]
    return f"{day[:-2]}{int(number):02}" if is_one else ""


_ISO = re.compile(r"\d{4}")


def refined(time: Time, text: str) -> Time:
    """``time`` as what stands about it narrows or widens it: "mid" May, "3 to" 9 May."""
    (first, last), start, end = time.days, time.start, time.end
    if first == last and not _ISO.match(text, start):
        if since := _since_day().search(text, max(0, start - _BEFORE), start):
            begin = _other_day(first, next(filter(None, since.groups())))
            widened = time._replace(start=since.start(), days=(begin, last))
            return widened if "" < begin < last else time
        if text[end - 1].isdigit() and (until := _until_day().match(text, end)):
            until_day = _other_day(last, until[1])
            widened = time._replace(end=until.end(), days=(first, until_day))
            return widened if until_day > last else time
    elif first[4:] == "-01-01" and last[4:] == "-12-31":
        for pattern, _, end_day in _parts():
            if end_day in _OF_A_YEAR and pattern.search(text, start, end - len("2024")):
                begin_month, end_month = _OF_A_YEAR[end_day]
                return time._replace(days=(f"{first[:4]}-{begin_month}", f"{last[:4]}-{end_month}"))
    elif first != last and first[-2:] == "01" and first[:-2] == last[:-2]:
        name = re.search(r"[^\W\d]+\.?(?:,?\s+(?:of\s+|de\s+|del\s+)?\d{4})?$", text[start:end])
        at = start + name.start() if name else start
        for pattern, begin_day, end_day in _parts():
            if part := pattern.search(text, max(0, at - _BEFORE), at):
                stop = min(f"{end_day:02}", last[-2:])
                days = f"{first[:-2]}{begin_day:02}", f"{last[:-2]}{stop}"
                return time._replace(start=min(start, part.start()), days=days)
    return time


def narrowed(times: list[Time], text: str) -> list[Time]:
    """``times``, of which two that name one, as "on Tuesday last week" does, both have its days.

    A weekday beside a week is one of its days: "last week Tuesday". So are those up to another one:
    "from Monday to Friday last week".
    """
    times = [_until_weekday(time, text) for time in times]
    times = _longest([_weekday_of(time, text, times) for time in times])
    for inner, outer in permutations(times, 2):
        words = re.findall(r"\w+", text[inner.start : inner.end].lower())
        if days := _inside(inner.days, outer.days, weekday=not WEEKDAYS.keys().isdisjoint(words)):
            both = inner, outer
            return [time._replace(days=days) if time in both else time for time in times]
    return times


def _longest(times: list[Time]) -> list[Time]:
    """``times`` without those that begin or end inside of a longer one."""
    kept = list[Time]()
    for time in sorted(times, key=lambda one: one.start - one.end):
        if all(time.end <= other.start or other.end <= time.start for other in kept):
            kept.append(time)
    return [time for time in times if time in kept]


_BESIDE = (
    re.compile(r"\s*,?\s*(?:on\s+|am\s+)?(?P<day>[^\W\d_]+)"),
    re.compile(r"\b(?P<day>[^\W\d_]+)\s+(?:of\s+)?$"),
)


@cache
def _other_weekday() -> re.Pattern[str]:
    spanish = r"\s+a\s+(?=[lmjvsd]\w+s\b|s[áa]bado|dom)"  # an English "a" is none
    return re.compile(rf"(?:\s*(?:{_TO})\s*|{spanish})({'|'.join(WEEKDAYS)})\b", re.IGNORECASE)


def _until_weekday(time: Time, text: str) -> Time:
    """``time``, if it is a weekday with another one behind it, with the days up to that."""
    first = text[time.start : time.end].rpartition(" ")[2].lower()
    if first not in WEEKDAYS or (until := _other_weekday().match(text, time.end)) is None:
        return time
    begin = date.fromisoformat(time.days[0])
    last = begin + timedelta((WEEKDAYS[until[1].lower()] - begin.weekday()) % _WEEK)
    return time._replace(end=until.end(), days=(begin.isoformat(), last.isoformat()))


def _weekday_of(time: Time, text: str, others: list[Time]) -> Time:
    """``time``, if it is a week with a weekday beside it, in none of ``others``, as that day."""
    start, end = time.start, time.end
    if time.days[0][0] == "-" or time.days[0] == time.days[1]:
        return time
    behind, before = _BESIDE[0].match(text, end), _BESIDE[1].search(text, 0, start)
    for match in (behind, before):
        if match and (number := WEEKDAYS.get(match["day"].lower())) is not None:
            if any(one != time and one.start <= match.start("day") < one.end for one in others):
                continue
            day = (date(2024, 1, 1) + timedelta(number)).isoformat()  # a Monday
            if days := _inside((day, day), time.days, weekday=True):
                return Time(min(start, match.start()), max(end, match.end()), days, True)
    return time


def _inside(inner: Days, outer: Days, *, weekday: bool) -> Days | None:
    """Where in the year or week ``outer`` a month without year or a weekday lies."""
    (first, last), (begin, end) = inner, outer
    if begin[0] == "-":
        return None
    if first[0] == "-":
        whole = (begin[4:], end[4:]) == ("-01-01", "-12-31") and begin[:4] == end[:4]
        return (begin[:4] + first, begin[:4] + last) if whole else None
    if not weekday:
        return None
    length = date.fromisoformat(last) - date.fromisoformat(first)
    start = date.fromisoformat(begin)
    if length >= timedelta(_WEEK - 1) or date.fromisoformat(end) - start != timedelta(_WEEK - 1):
        return None
    day = start + timedelta((date.fromisoformat(first) - start).days % _WEEK)
    return day.isoformat(), (day + length).isoformat()
