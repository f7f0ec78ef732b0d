"""What ``after:`` and ``before:`` understand: days, weeks, months, quarters, years, and words.

Imported only for a query that has such a filter, and where a time zone is configured.
"""

from __future__ import annotations

import re
import time
from calendar import monthrange
from datetime import date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from commonplace.errors import ConfigError, suggest
from commonplace.text import day_words as words
from commonplace.text.day_spans import MONTHS
from commonplace.text.time_hints import may_have

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from zoneinfo import ZoneInfo

    _Form = tuple[str, Callable[[date, re.Match[str]], "Days"]]

Days = tuple[date, date]
"""The first and the last day of a time."""

EXAMPLES = "2026-01-31, 2026-01, 2026-Q3, 7d, yesterday, last-week, 上周"
"""For a note on what was not understood."""


def today_at(now: float, zone: str = "") -> date:
    """The day of ``now`` (epoch seconds) in the time zone of an IANA name, ``""``: the system's.

    Raises :class:`~commonplace.errors.ConfigError` for a name that is not known.
    """
    if not zone:
        return date(*time.localtime(now)[:3])
    return datetime.fromtimestamp(now, zone_of(zone)).date()


def zone_of(name: str) -> ZoneInfo:
    """The time zone ``name``.

    Raises :class:`~commonplace.errors.ConfigError`, with what was probably meant.
    """
    from zoneinfo import ZoneInfo  # takes two milliseconds to import

    try:
        return ZoneInfo(name)
    except (OSError, KeyError, ValueError) as error:
        wrong = f"there is no time zone {name[:60]!r}"
        raise ConfigError(wrong, hint=_hint(name)) from error


def are_there_zones() -> bool:
    """Whether this machine knows any: where it does not, no name is wrong."""
    from zoneinfo import available_timezones

    return bool(available_timezones())


def _hint(name: str) -> str:
    from zoneinfo import available_timezones

    zones = {zone.lower(): zone for zone in available_timezones()}
    if not zones:
        return "this machine has no time zones: install the package tzdata"
    close = zones.get(suggest(name.lower(), zones, 0.75))
    return f"did you mean {close!r}?" if close else "use one such as Europe/Berlin"


def days_of(text: str, today: date) -> Days | None:
    """The days that ``text`` stands for, ``None`` if that is not understood.

    A month or weekday without a year or week is the last one that has begun; weeks begin on Monday.
    """
    return _read(_FORMS, text, today)


def _read(forms: Sequence[_Form], text: str, today: date) -> Days | None:
    word = re.sub(r"[\s_-]+", "-", text.strip().lower()).strip("-")
    for pattern, meaning in forms:
        if match := re.fullmatch(pattern, word):
            try:
                return meaning(today, match)
            except (ValueError, OverflowError):  # a day that no calendar has
                return None
    return None


def _month(year: int, month: int) -> Days:
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def _months_ago(today: date, months: int) -> date:
    """The same day so many months ago, or the last of that month."""
    number = today.year * 12 + today.month - 1 - months
    first, last = _month(number // 12, number % 12 + 1)
    return min(last, first + timedelta(today.day - 1))


def _year(year: int) -> Days:
    return date(year, 1, 1), date(year, 12, 31)


def _quarter(year: int, quarter: int) -> Days:
    return date(year, 3 * quarter - 2, 1), _month(year, 3 * quarter)[1]


def _week(today: date, ago: int) -> Days:
    monday = today - timedelta(today.weekday() + 7 * ago)
    return monday, monday + timedelta(6)


def _iso_week(year: int, week: int) -> Days:
    monday = date.fromisocalendar(year, week, 1)
    return monday, monday + timedelta(6)


def _calendar(_today: date, match: re.Match[str]) -> Days:
    year, month, day = match.groups()
    if month is None:
        return _year(int(year))
    if day is None:
        return _month(int(year), int(month))
    return _one_day(date(int(year), int(month), int(day)), 0)


def _day_ago(today: date, count: int, unit: str) -> date:
    if unit in "dw":
        return today - timedelta(count * (7 if unit == "w" else 1))
    return _months_ago(today, count * (12 if unit == "y" else 1))


def _ago(today: date, match: re.Match[str]) -> Days:
    return _one_day(_day_ago(today, int(match[1]), _unit(match[2])), 0)


def _named(today: date, match: re.Match[str]) -> Days:
    """A month or a day of one: of the year that is given, else the last one that has begun."""
    month, day, year = map(match.groupdict().get, "mdy")
    number = _MONTHS.get(str(month)) or int(str(month))
    if not year:
        year = str(today.year - ((number, int(day or 1)) > (today.month, today.day)))
    if not day:
        return _month(int(year), number)
    return _one_day(date(int(year), number, int(day)), 0)


def _named_quarter(today: date, match: re.Match[str]) -> Days:
    quarter = int(match[1])
    return _quarter(int(match[2] or today.year - (3 * quarter - 2 > today.month)), quarter)


def _unit(word: str) -> str:
    """``d``, ``w``, ``m`` or ``y``."""
    return next(unit for unit, names in _UNITS.items() if re.fullmatch(names, word))


_MONTHS = {name: number for number, names in MONTHS.items() for name in names}
_MONTH = rf"(?P<m>{'|'.join(_MONTHS)})\.?"
_DAY, _OF_YEAR = r"(?P<d>\d\d?)", r"(?:,?-(?:of-|de-|del-)?(?P<y>\d{4}))?"
_SHORT_WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_DAY_NAME = "((?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)"
_UNITS = {
    "d": f"d|{words.UNITS['d']}|วัน",
    "w": f"w|wk|{words.UNITS['w']}|สัปดาห์",
    "m": f"m|mo|{words.UNITS['m']}|เดือน",
    "y": f"y|{words.UNITS['y']}|ปี",
}
_AGO = r"(?:-?ago|前|以前|之前|전|ที่แล้ว|ก่อน)?"


def number_of(word: str) -> int:
    """What a numeral stands for: 3, three, drei, 十二. Raises ``ValueError`` for another word."""
    if word.isdecimal():
        return int(word)
    word = word.rstrip("-")
    if "十" in word:
        tens, ones = word.split("十")
        return 10 * words.NUMBERS.get(tens, 1) + words.NUMBERS.get(ones, 0)
    if word not in words.NUMBERS:
        raise ValueError(f"{word} is no number")
    return words.NUMBERS[word]


def _groups_of(match: re.Match[str]) -> list[str]:
    """The groups of the one alternative that matched."""
    return [group for group in match.groups() if group]


def _count_and_unit(match: re.Match[str]) -> tuple[str, str]:
    """What stands for the number and the unit of a length of time; a unit alone is one of it."""
    *number, unit = _groups_of(match)
    if not number and re.fullmatch(words.PLURALS, unit):
        number = [next(iter(words.VAGUE))]
    if unit in words.KOREAN_DAYS:
        return words.KOREAN_DAYS[unit], "d"
    return (number[0].rstrip("-") if number else "1"), _unit(unit)


def _counted(today: date, match: re.Match[str], *, ahead: bool = False) -> Days:
    """A day some days ago, or ahead; the days about what is weeks, months or years off.

    "A few" are two to seven.
    """
    number, unit = _count_and_unit(match)
    counts = (2, 7) if number in words.VAGUE else (number_of(number),)
    spans = [_off(today, -count if ahead else count, unit) for count in counts]
    return min(first for first, _ in spans), max(last for _, last in spans)


def _off(today: date, count: int, unit: str) -> Days:
    if unit in "my":
        return _whole_month(today, count) if unit == "m" else _year(today.year - count)
    day, around = _day_ago(today, count, unit), timedelta(3 if unit == "w" else 0)
    return day - around, day + around


def _until_then(today: date, match: re.Match[str]) -> Days:
    """From today on; a month counts as 30 days."""
    number, unit = _count_and_unit(match)
    return today, today + timedelta(number_of(number) * {"d": 1, "w": 7, "m": 30, "y": 365}[unit])


def _day_of_month(today: date, match: re.Match[str]) -> Days:
    """The last day of that number that has come."""
    number = int(_groups_of(match)[0])
    return next(
        (day, day) for day, _ in map(partial(_one_day, today), range(62)) if day.day == number
    )


def _numbered_week(today: date, match: re.Match[str]) -> Days:
    """The week of this year, or of the last one where it is far ahead."""
    week, year = int(match[1]), today.isocalendar().year
    first, last = _iso_week(year, week)
    return (first, last) if first - today < timedelta(182) else _iso_week(year - 1, week)


def _season(today: date, match: re.Match[str], *, over: bool = False) -> Days:
    """The last one of that name that has begun, or is ``over``; or that of a year."""
    name, *year = _groups_of(match)
    month = 3 + 3 * words.SEASONS[name]

    def of(year: int) -> Days:
        _, last = _month(year + (month == 12), (month + 1) % 12 + 1)
        return date(year, month, 1), last

    if year:
        return of(int(year[0]))
    seasons = map(of, range(today.year, today.year - 3, -1))
    return next((first, last) for first, last in seasons if (last if over else first) <= today)


def _until_today(today: date, match: re.Match[str]) -> Days:
    number, unit = _count_and_unit(match)
    return _day_ago(today, number_of(number), unit), today


def _weekday(today: date, match: re.Match[str], *, least: int = 0) -> Days:
    """The last day of that name, at least so many days ago; below 0: the next one."""
    name = _groups_of(match)[0]
    weekday = words.WEEKDAYS.get(name)
    if weekday is None:
        weekday = _SHORT_WEEKDAYS.index(name[:3])
    if least < 0:
        return _one_day(today, -((weekday - today.weekday()) % 7 or 7))
    return _one_day(today, least + (today.weekday() - weekday - least) % 7)


def _weeks_from(today: date, match: re.Match[str], *, ahead: bool = False) -> Days:
    """So many weeks before the last such weekday, or today; or ahead, behind the next one."""
    day, *number = sorted(_groups_of(match), key=lambda group: group not in words.DAYS)
    weeks, weekday = number_of(number[0] if number else "1"), words.WEEKDAYS.get(day)
    days_off = 0 if weekday is None else today.weekday() - weekday
    return _one_day(today, -(-days_off % 7 + 7 * weeks) if ahead else days_off % 7 + 7 * weeks)


def _asian_weekday(today: date, match: re.Match[str]) -> Days:
    *week, name = _groups_of(match)
    weekday = words.ASIAN_WEEKDAYS[name]
    if not week:
        return _one_day(today, (today.weekday() - weekday) % 7)
    monday, _ = _week(today, words.ASIAN_WEEKS.get(week[0].replace("-", ""), 0))
    return _one_day(monday, -weekday)


def _one_day(today: date, ago: int) -> Days:
    day = today - timedelta(ago)
    return day, day


def _weekend(today: date, ago: int) -> Days:
    _, sunday = _week(today, ago)
    return sunday - timedelta(1), sunday


def _whole_month(today: date, ago: int) -> Days:
    start = _months_ago(today.replace(day=1), ago)
    return _month(start.year, start.month)


def _whole_quarter(today: date, ago: int) -> Days:
    first, _ = _whole_month(today, 3 * ago)
    return _quarter(first.year, (first.month + 2) // 3)


TABLES: tuple[tuple[dict[int, str], Callable[[date, int], Days]], ...] = (
    (words.DAYS_AGO, _one_day),
    (words.WEEKENDS_AGO, _weekend),
    (words.WEEKS_AGO, _week),
    (words.MONTHS_AGO, _whole_month),
    (words.QUARTERS_AGO, _whole_quarter),
    (words.YEARS_AGO, lambda today, ago: _year(today.year - ago)),
)
"""Patterns by how many days, weeks, … ago they name, and the days that so many ago are."""


_RELATIVE: list[_Form] = [
    (words.WEEKS_BEFORE, _weeks_from),
    (words.WEEKS_AFTER, partial(_weeks_from, ahead=True)),
    (words.ASIAN_WEEKDAY, _asian_weekday),
    (f"last-{_DAY_NAME} {words.WEEKDAY_BEFORE}", partial(_weekday, least=1)),
    (words.WEEKDAY_NEXT, partial(_weekday, least=-1)),
    (words.WEEKDAY_LAST, _weekday),
    *(
        (patterns, lambda today, _, ago=ago, of=meaning: of(today, ago))
        for table, meaning in TABLES
        for ago, patterns in table.items()
    ),
    (words.AGO, _counted),
    (f"{words.SINCE} {words.PAST}", _until_today),
    (words.WEEK_NUMBER, _numbered_week),
    (words.SEASON_BEFORE, partial(_season, over=True)),
    (words.SEASON, _season),
]
_ASKED: list[_Form] = [
    (words.WEEKDAY_ALONE, _weekday),
    (words.AHEAD, partial(_counted, ahead=True)),
    (words.UNTIL_THEN, _until_then),
    (words.DAY_OF_MONTH, _day_of_month),
    (words.AFTER_SEASON, _season),
    (words.UPCOMING, lambda today, _: (today, today + timedelta(30))),
]
_UNIT = "|".join(_UNITS.values())
_FORMS: list[_Form] = [
    (r"(\d{4})(?:-(\d\d?)(?:-(\d\d?))?)?", _calendar),
    (r"(\d{4})[/.](\d\d?)(?:[/.](\d\d?))?", _calendar),
    (r"(\d{4})[年년]", lambda _, match: _year(int(match[1]))),
    (r"(?:(?P<y>\d{4})[年년]-?)?(?P<m>\d\d?)[月월](?:-?(?P<d>\d\d?)[日号號일])?", _named),
    (r"(\d{4})-?q([1-4])", lambda _, match: _quarter(int(match[1]), int(match[2]))),
    (r"q([1-4])(?:-?(\d{4}))?", _named_quarter),
    (r"(\d{4})-?w(\d\d?)", lambda _, match: _iso_week(int(match[1]), int(match[2]))),
    (rf"(\d{{1,4}})-?({_UNIT}){_AGO}", _ago),
    (rf"(?:{_DAY}(?:\.|st|nd|rd|th|er)?-(?:of-|de-|di-)?)?{_MONTH}{_OF_YEAR}", _named),
    (rf"{_MONTH}-{_DAY}(?:st|nd|rd|th)?{_OF_YEAR}", _named),
    (rf"(?P<y>\d{{4}})-{_MONTH}", _named),
    (rf"{_DAY}\.-?(?P<m>\d\d?)\.(?:-?(?P<y>\d{{4}}))?", _named),
    (f"{_DAY_NAME}|({'|'.join(words.WEEKDAYS)})", _weekday),
    *(("|".join(patterns.split()), meaning) for patterns, meaning in (*_RELATIVE, *_ASKED)),
]

_MEANINGS = {part: of for patterns, of in (*_RELATIVE, *_ASKED) for part in patterns.split()}
RELATIVE = tuple(part for patterns, _ in _RELATIVE for part in patterns.split())
"""Patterns of the times seen from today, words joined by hyphens; :func:`seen_from` reads them."""

QUERY_ONLY = tuple(part for patterns, _ in _ASKED for part in patterns.split())
"""Patterns of the times that only queries name: in a note "in 30 days" is a length of time."""

IN_SOME_DAYS = words.AHEAD.split()
"""Patterns of "in two days", which also says how long something took."""

LAST_WEEKDAY = f"{words.WEEKDAY_LAST} {words.WEEKDAY_ALONE} {words.BARE_WEEKDAY}".split()
"""Patterns of "on Monday", which may mean the last one or, beside other words, the next one."""

ANY_DAY_OF_MONTH = words.DAY_OF_MONTH.split()
"""Patterns of "on the 23rd", which may mean the last one or the next one."""

_IN_NOTES = [*LAST_WEEKDAY, *" ".join(words.WEEKENDS_AGO.values()).split()]
_IN_NOTES += f"{words.WEEK_NUMBER} {words.SEASON} {words.AFTER_SEASON}".split()


def is_used_in_notes(text: str) -> bool:
    """Whether notes, too, name such a time seen from their day: "on Monday", "last weekend"."""
    return match_of(_IN_NOTES, text) is not None


def match_of(names: Iterable[str], text: str, *, whole: bool = True) -> re.Match[str] | None:
    """The match of the first of ``names``, patterns, with ``text``, or with its beginning."""
    match = re.fullmatch if whole else re.match
    found = (match(name, text) for name in names if may_have(name, text))
    return next(filter(None, found), None)


def seen_from(today: date, text: str, names: Sequence[str]) -> Days | None:
    """The days of what one of ``names``, patterns, matches; ``None`` if no calendar has them."""
    return _read([(name, _MEANINGS[name]) for name in names], text, today)
