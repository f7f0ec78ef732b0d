"""What ``after:`` and ``before:`` understand: days, weeks, months, quarters, years, and words.

Imported only for a query that has such a filter.
"""

from __future__ import annotations

import re
import time
from calendar import monthrange
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

Days = tuple[date, date]
"""The first and the last day of a time."""

EXAMPLES = "2026-01-31, 2026-01, 2026-Q3, 7d, yesterday, last-week, 上周"
"""For a note on what was not understood."""


def today_at(now: float, zone: str = "") -> date:
    """The day of ``now`` (epoch seconds) in the time zone of an IANA name, ``""``: the system's.

    Raises ``ValueError`` for a name that is not known.
    """
    if not zone:
        return date(*time.localtime(now)[:3])
    from zoneinfo import ZoneInfo

    try:
        return datetime.fromtimestamp(now, ZoneInfo(zone)).date()
    except (OSError, KeyError, ValueError) as error:
        raise ValueError(f"there is no time zone {zone!r}") from error


def days_of(text: str, today: date) -> Days | None:
    """The days that ``text`` stands for, ``None`` if that is not understood.

    A month or weekday without a year or week is the last one that has begun; weeks begin on Monday.
    """
    word = re.sub(r"[\s_-]+", "-", text.strip().lower()).strip("-")
    for pattern, meaning in _FORMS:
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
    only = date(int(year), int(month), int(day))
    return only, only


def _ago(today: date, match: re.Match[str]) -> Days:
    count, unit = int(match[1]), _unit(match[2])
    if unit in "dw":
        day = today - timedelta(count * (7 if unit == "w" else 1))
    else:
        day = _months_ago(today, count * (12 if unit == "y" else 1))
    return day, day


def _named(today: date, match: re.Match[str]) -> Days:
    """The month of a name: of the year that is given, else the last one that has begun."""
    name, year = match[1], match[2]
    if name.isdigit():
        name, year = match[2], match[1]
    month = _MONTHS[name[:3]]
    if not year:
        return _month(today.year - (month > today.month), month)
    return _month(int(year), month)


def _weekday(today: date, match: re.Match[str]) -> Days:
    weekday = _WEEKDAYS.index(match[1][:3])
    day = today - timedelta((today.weekday() - weekday) % 7 or (7 if match[0] != match[1] else 0))
    return day, day


def _month_of_this_year(today: date, match: re.Match[str]) -> Days:
    month, day = int(match[1]), match[2]
    year = today.year - ((month, int(day or 1)) > (today.month, today.day))
    if day:
        return date(year, month, int(day)), date(year, month, int(day))
    return _month(year, month)


def _recent_quarter(today: date, match: re.Match[str]) -> Days:
    quarter = int(match[1])
    return _quarter(today.year - (3 * quarter - 2 > today.month), quarter)


def _unit(word: str) -> str:
    """``d``, ``w``, ``m`` or ``y``."""
    return next(unit for unit, names in _UNITS.items() if re.fullmatch(names, word))


_MONTH_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_MONTH = (
    "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    "sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_DAY_NAME = "((?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)"
_UNITS = {
    "d": r"d|days?|天|日|일|วัน",
    "w": r"w|weeks?|wk|周|週|个星期|個星期|星期|週間|주|สัปดาห์",
    "m": r"m|mo|months?|个月|個月|か月|ヶ月|カ月|개월|เดือน",
    "y": r"y|years?|年|년|ปี",
}
_AGO = r"(?:-?ago|前|以前|之前|전|ที่แล้ว|ก่อน)?"

# What day, week, month or year (0: this one) a word stands for.
_DAYS_AGO = {
    0: "today|今天|今日|きょう|오늘|วันนี้",
    1: "yesterday|昨天|昨日|きのう|어제|เมื่อวาน|เมื่อวานนี้",
    2: "day-before-yesterday|前天|一昨日|おととい|그저께|그제|เมื่อวานซืน",
    -1: "tomorrow|明天|明日|あした|내일|พรุ่งนี้",
}
_WEEKS_AGO = {
    0: "this-?week|本周|本週|这周|這週|这个星期|這個星期|今週|이번-?주|สัปดาห์นี้",
    1: "last-?week|上周|上週|上[个個]?星期|上个?礼拜|上個?禮拜|先週|지난-?주|สัปดาห์(?:ที่แล้ว|ก่อน)",
    2: "上上周|上上週|先々週|지지난-?주",
}
_MONTHS_AGO = {
    0: "this-?month|本月|这个?月|這個?月|今月|이번-?달|เดือนนี้",
    1: "last-?month|上个?月|上個?月|先月|지난-?달|เดือนที่แล้ว|เดือนก่อน",
    2: "上上个?月|上上個?月|先々月",
}
_YEARS_AGO = {
    0: "this-?year|今年|올해|ปีนี้",
    1: "last-?year|去年|昨年|작년|ปีที่แล้ว|ปีก่อน",
    2: "前年|一昨年|おととし|재작년",
}


def _alternatives(pattern: str) -> list[str]:
    """The parts of ``a|b(?:c|d)|e``: split where no bracket is open."""
    parts, depth = [""], 0
    for letter in pattern:
        depth += (letter in "([") - (letter in ")]")
        if letter == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _forms() -> list[tuple[str, Callable[[date, re.Match[str]], Days]]]:
    def words(
        names: dict[int, str], meaning: Callable[[date, int], Days]
    ) -> list[tuple[str, Callable[[date, re.Match[str]], Days]]]:
        return [
            (pattern, lambda today, _match, ago=ago: meaning(today, ago))  # type: ignore[misc]
            for ago, pattern in names.items()
        ]

    def one_day(today: date, ago: int) -> Days:
        day = today - timedelta(ago)
        return day, day

    def whole_month(today: date, ago: int) -> Days:
        start = _months_ago(today.replace(day=1), ago)
        return _month(start.year, start.month)

    units = "|".join(_UNITS.values())
    return [
        (r"(\d{4})(?:-(\d\d?)(?:-(\d\d?))?)?", _calendar),
        (r"(\d{4})[/.](\d\d?)(?:[/.](\d\d?))?", _calendar),
        (r"(\d{4})年(?:(\d\d?)月(?:(\d\d?)[日号號])?)?", _calendar),
        (r"(\d{4})-?q([1-4])", lambda _, match: _quarter(int(match[1]), int(match[2]))),
        (r"q([1-4])-?(\d{4})", lambda _, match: _quarter(int(match[2]), int(match[1]))),
        (r"q([1-4])", _recent_quarter),
        (r"(\d{4})-?w(\d\d?)", lambda _, match: _iso_week(int(match[1]), int(match[2]))),
        (rf"(\d{{1,4}})-?({units}){_AGO}", _ago),
        (rf"{_MONTH}(?:-(\d{{4}}))?", _named),
        (rf"(\d{{4}})-{_MONTH}", _named),
        (rf"(?:last-)?{_DAY_NAME}", _weekday),
        (r"(\d\d?)月(?:(\d\d?)[日号號])?", _month_of_this_year),
        *words(_DAYS_AGO, one_day),
        *words(_WEEKS_AGO, _week),
        *words(_MONTHS_AGO, whole_month),
        *words(_YEARS_AGO, lambda today, ago: _year(today.year - ago)),
    ]


_FORMS = _forms()

_AGES = "|".join(_UNITS.values())
RELATIVE = (
    *(
        part
        for names in (_DAYS_AGO, _WEEKS_AGO, _MONTHS_AGO, _YEARS_AGO)
        for pattern in names.values()
        for part in _alternatives(pattern)
    ),
    r"\d{1,3}-(?:days?|weeks?|months?|years?)-ago",
    r"\d{1,3}(?:天|周|週|个月|個月|か月|ヶ月|年|日|週間)(?:前|以前|之前)",
    r"\d{1,3}(?:일|주|개월|년)-?전",
    rf"last-{_DAY_NAME}",
)
"""Patterns of the times seen from today, words joined by hyphens; :func:`days_of` reads them."""
