"""How texts name given days: "28 November", 2026-11-28, "tomorrow" in the log of the day before.

The reverse of :mod:`commonplace.text.days`, which finds any time in a text: used on the passages
that a search has found, that would take a hundred times as long.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from commonplace.text.dates import TABLES
from commonplace.text.day_spans import (
    AMBIGUOUS,
    BUDDHIST,
    MONTHS,
    THAI_MONTHS,
    THAI_SHORT,
    dates_of,
    in_words,
    is_yearly,
)
from commonplace.text.day_words import ASIAN_WEEKDAYS, WEEKDAYS
from commonplace.text.tenses import tells_of_past
from commonplace.text.time_hints import is_unspaced, may_have

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from commonplace.text.day_spans import Days

NONE = "(?!)"
"""A pattern that nothing matches."""
_WEEK = 7
_HALF_A_YEAR = timedelta(183)
_SOON, _MAY_BE_OVER = range(1, 4), range(4, _WEEK)
"""Days ahead to weekdays: to the next ones, and to those of which the last one was nearer."""
_YEAR = 8
"""Characters behind a date in which its year stands."""
_MONTHS, _TWO_DIGITS = 12, 10
_THAI_DIGITS = str.maketrans("0123456789", "๐๑๒๓๔๕๖๗๘๙")
_BLANKS = "", " ", "\n", "\t", "\xa0", "\u202f"
"""What stands between the numbers of "3. 11."; the last two keep them in one line."""
_MONTH = 31
"""Days of a time that is named as a whole; of a longer one too much is named."""


class DayNames:
    """Whether a text names a day of one of ``days``, the times of a query of a month at the most.

    A month is named by its name, days and weeks by their days; where days are yet to come, as
    ``coming`` says, the last of ``days`` by weekdays, too, in texts before: "Sunday: market". A
    date without a year is that nearest to the day of its text: "in November" of September 2025 is
    not November 2026.
    """

    def __init__(self, days: Sequence[Days], *, coming: bool = False) -> None:
        self._spans = [dates_of(span) for span in days if not is_yearly(span[0])]
        self._coming = max(self._spans, default=None) if coming else None
        self._spelled = [spelled for span in days for spelled in _compiled(span)]

    def __call__(self, text: str, day: str | None) -> bool:
        """``text``, of ``day`` (ISO) where it has one: words as "tomorrow" are seen from there."""
        lowered = text.lower()
        for first, hints, spelled in self._spelled:
            if any(map(lowered.__contains__, hints)) and any(
                _is_near(first, day) or _has_year(match, first)
                for match in spelled.finditer(lowered)
            ):
                return True
        return day is not None and any(
            is_seen_from(day, text, span, coming=span == self._coming) for span in self._spans
        )


@lru_cache(maxsize=64)
def _compiled(days: Days) -> list[tuple[date | None, Sequence[str], re.Pattern[str]]]:
    """For one time its first day, if it has a year, and the hints and patterns of its days."""
    first = None if is_yearly(days[0]) else dates_of(days)[0]
    return [(first, hints, re.compile("|".join(patterns))) for hints, patterns in _spelled(days)]


def _is_near(first: date | None, day: str | None) -> bool:
    """Whether a date without a year in a text of ``day`` may be in the year of ``first``."""
    if first is None or day is None:
        return True
    return abs(first - date.fromisoformat(day)) <= _HALF_A_YEAR


def _has_year(match: re.Match[str], first: date | None) -> bool:
    """Whether a year stands in a date or behind it: patterns match none of another year."""
    date_and_year = match.string[match.start() : match.end() + _YEAR]
    return first is None or any(
        str(year) in date_and_year for year in (first.year, first.year + BUDDHIST)
    )


def spelled_out(days: Sequence[Days]) -> str:
    """Words of texts that may name ``days``, to search for; none for more than a month."""
    words: list[str] = []
    for first, last in map(dates_of, days):
        if (last - first).days >= _MONTH:
            continue
        if (last - first).days < _WEEK:
            for at in range((last - first).days + 1):
                day = first + timedelta(at)
                words += [
                    str(day.day),
                    day.isoformat(),
                    f"{day:%d.%m}",
                    f"{day.month}月{day.day}日",
                    f"{_han(day.month)}月{_han(day.day)}日",
                ]
        else:  # "May" alone is no word to search for
            words += map(str, range(1, _MONTH + 1))
            words += (f"{_han(day.month)}月" for day in (first, last))
        words += MONTHS[first.month] + MONTHS[last.month]
    return " ".join(dict.fromkeys(words))


def _next(weekday: int) -> frozenset[str]:
    name = f"(?:{'|'.join(name for name, number in WEEKDAYS.items() if number == weekday)})"
    before = "(?:next|nächste[nrms]?|kommende[nrms]?|(?:el-)?próximo|prossim[oa])"
    return frozenset((f"{before}-{name}", f"{name}-(?:prochain|que-viene|prossim[oa])"))


def _spelled(days: Days) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """How the days of one time are written out in lower case: hints and patterns.

    A text that matches one of the patterns has one of the hints, which takes less time to see.
    """
    first, last = dates_of(days)
    length = (last - first).days + 1
    if length > _MONTH:
        return
    named: dict[tuple[str, int], list[int]] = {}
    for at in range(length):
        day = first + timedelta(at)
        year = r"\d{4}" if is_yearly(days[0]) else str(day.year)
        named.setdefault((year, day.month), []).append(day.day)
    for (year, month), numbers in named.items():
        names, of_another_year = MONTHS[month], rf"(?!,?\s+(?!{year})(?:19|20)\d\d)"
        name, number = f"(?:{'|'.join(names)})", f"(?:{'|'.join(map(str, numbers))})"
        padded, of = f"0?{number}", r"(?:\s+(?:of|de|del))?"
        yield from _by_number(year, month, numbers)
        yield _in_thai(year, month, numbers)
        if late := [number for number in numbers if number > _MONTHS]:
            yield _by_slash(year, month, late, few=length <= _WEEK)
        if length > _WEEK:
            sure = [name for name in names if name not in AMBIGUOUS]
            yield (
                names,
                (
                    rf"\b(?:{'|'.join(sure)})\b\.?{of_another_year}",
                    rf"\b{name}\.?\s+\d\d?(?!\d){of_another_year}",
                    rf"\b(?:in|of|by|until|since|en|de)\s+{name}\b{of_another_year}",
                    rf"\d(?:st|nd|rd|th|\.)?(?:\s+of)?\s+{name}\b{of_another_year}",
                ),
            )
            of_month = rf"(?<!\d){year}-{month:02}(?!\d)", rf"(?<!\d)0?{month}\s*[月월]"
            yield (f"-{month:02}", "月", "월"), of_month
            continue
        yield (
            names,
            (
                rf"(?<![\w.:/]){padded}(?:st|nd|rd|th|\.)?{of}\s+{name}\b{of_another_year}",
                rf"\b{name}\.?\s+{padded}(?:st|nd|rd|th)?(?![\w:]){of_another_year}",
            ),
        )


def _by_number(
    year: str, month: int, days: Sequence[int]
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """The same of ``days`` of a ``month`` in numbers: hints and patterns."""
    numbers, two_digits = "|".join(map(str, days)), "|".join(f"{day:02}" for day in days)
    day, short_year = f"0?(?:{numbers})", year[2:] if year.isdigit() else r"\d\d"
    either = str(month), f"{month:02}"
    hints = [f"{mark}{name}{end}" for mark, end in (("-", "-"), ("/", "/")) for name in either]
    hints += [f".{blank}{name}." for blank in _BLANKS for name in either]
    yield (
        hints,
        (
            rf"(?<!\d){year}(?:-{month:02}-|/{month:02}/){day}(?!\d)",
            # "3.11." by itself may be a version at the end of a sentence; "03.11." begins an item.
            rf"(?<![\w.]){day}\.\s?0?{month}\.\s?(?:{year}|{short_year})(?!\d)",
            rf"(?<![\w./]){day}/0?{month}/{year}",
            rf"(?:\A|(?<=[\n(|])|(?<=[-*:,|]\s))(?:{two_digits})\.\s?{month:02}\.(?![\w-]|\s?\d)",
            rf"\b(?:am|vom|zum|bis|seit|den|dem|der)\s+{day}\.\s?0?{month}\.(?!\s?\d)",
        ),
    )
    han = "|".join(map(_han, days))
    yield (
        ("月", "월"),
        (
            rf"(?<!\d)0?{month}\s*[月월]\s*{day}\s*[日号號일]",
            rf"(?<![〇零一二三四五六七八九十]){_han(month)}月(?:{han})[日号號]",
        ),
    )


def _in_thai(year: str, month: int, days: Sequence[int]) -> tuple[Sequence[str], Sequence[str]]:
    """The same in Thai, whose years are often of the Buddhist era: 10 ธันวาคม 2569, 5 ธ.ค. 69."""
    in_full, short = THAI_MONTHS[month - 1], THAI_SHORT[month - 1]
    numbers = "|".join([f"0?{day}|{str(day).translate(_THAI_DIGITS)}" for day in days])
    era, years = r"\s*(?:พ\.?ศ\.?|ค\.?ศ\.?|ปี)?\s*", r"\d{2,4}"
    if year.isdigit():
        own = [year, f"{int(year) + BUDDHIST}", f"{int(year) + BUDDHIST - 2500}"]
        years = "|".join([*own, *(one.translate(_THAI_DIGITS) for one in own[1:])])
    month_name = rf"(?:{in_full}|{re.escape(short)}\.?)"
    no_other = rf"(?!{era}(?!(?:{years})(?!\d))(?:19|20|25|๒๕)\d\d)"
    return (in_full, short), (
        rf"(?<![\d.,/-])(?:{numbers})\s*{month_name}{no_other}(?:{era}(?:{years})(?!\d))?",
    )


def _by_slash(
    year: str, month: int, days: Sequence[int], *, few: bool
) -> tuple[Sequence[str], Sequence[str]]:
    """The same as 12/18 or 18/12, of ``days`` that can be no months; ``few``: of a week or less.

    3/18 may be "done: 3 of 18": a month of one digit needs a word before that says when.
    """
    number = "|".join(map(str, days))
    end = rf"(?:/{year})?(?![\w/-]|\.\d|\s*(?:of|von|de|di)\b|\s*[%\"″])"
    before = r"(?<![\w./-])"
    when = r"(?:on|due|by|until|till|before|after|since|from|starts?|begins?|ends?|am|bis|ab|le)\s+"
    us = rf"{before}{month}/(?:{number}){end}"
    if month < _TWO_DIGITS:
        us = rf"(?:{before}0|{when}|{before}0?(?=\d/\d\d/{year})){month}/(?:{number}){end}"
    day_first = rf"{before}(?!24/7(?!\d))(?:{number})/0?{month}{end}"
    hints = [f"{month}/", f"/{month}", f"/0{month}"]
    if few:
        hints = [f"{month}/{day}" for day in days]
        hints += [f"{day}/{zero}{month}" for day in days for zero in ("", "0")]
    return hints, (us, day_first)


def _han(number: int) -> str:
    """A number below 40 in Chinese: 二十一."""
    tens, ones = divmod(number, 10)
    digits = " 一二三四五六七八九"
    return f"{digits[tens] if tens > 1 else ''}{'十' if tens else ''}{digits[ones]}".strip()


def _names_seen_from(day: date, days: tuple[date, date]) -> frozenset[str]:
    """Patterns that name a time within ``days`` where they are seen from ``day``.

    Only such as count nothing: "tomorrow", and not "in three days".
    """
    found = set[str]()
    for table, meaning in TABLES:
        for ago, patterns in table.items():
            first, last = meaning(day, ago)
            if days[0] <= first and last <= days[1]:
                found.update(patterns.split())
    return frozenset(found)


def is_seen_from(day: str, text: str, span: tuple[date, date], *, coming: bool) -> bool:
    """Whether ``text`` of ``day`` (ISO) names ``span`` as it is seen from there."""
    if (patterns := _relative(span, day, coming=coming)) is None:
        return False
    sure, doubtful = patterns
    return sure.search(text) is not None or (
        doubtful is not None
        and any(not tells_of_past(text, *match.span()) for match in doubtful.finditer(text))
    )


@lru_cache(maxsize=256)
def _relative(
    span: tuple[date, date], written: str, *, coming: bool
) -> tuple[re.Pattern[str], re.Pattern[str] | None] | None:
    """What names ``span`` in a text of the day ``written`` (ISO), if that is within a week of it.

    Of days that are yet to come weekdays do, too. The second pattern is of weekdays which were not
    long before: "on Sunday", written on a Monday, may be the day before.
    """
    (first, last), day = span, date.fromisoformat(written)
    if not -_WEEK <= (day - first).days <= (last - first).days + _WEEK:
        return None
    names = _names_seen_from(day, span)
    ahead = range((first - day).days, (last - day).days + 1) if coming else ()
    near, far = (
        frozenset((day.weekday() + days) % _WEEK for days in ahead if days in some)
        for some in (_SOON, _MAY_BE_OVER)
    )
    if _WEEK in ahead:  # of the weekday that the text was written on
        names |= _next(day.weekday())
    if not (names or near or far):
        return None
    return _any_of(names, near), _any_of(frozenset(), far) if far else None


def says_next(text: str, day: str) -> bool:
    """Whether ``text`` of ``day`` (ISO) names the same weekday of the next week: "next Friday"."""
    return _any_of(_next(date.fromisoformat(day).weekday()), frozenset()).search(text) is not None


@cache
def _any_of(names: frozenset[str], weekdays: frozenset[int]) -> re.Pattern[str]:
    words = [name for name, number in WEEKDAYS.items() if number in weekdays]
    marks = "".join(sign for sign, number in ASIAN_WEEKDAYS.items() if number in weekdays)
    asian = [rf"(?:[周週]|星期|礼拜|禮拜)[{marks}]", rf"[{marks}](?:曜|요일)"] if marks else []
    return names_pattern([*names, *words, *asian])


_LETTER = "[a-z0-9_\u00c0-\u024f\u0400-\u04ff]"


# English, German, French, Spanish, Italian, Portuguese, Russian, Chinese. "_" is white space, "%"
# an article, "@" a word for "of" with one. Behind "+" stand words that notes have before a month,
# too, behind "~" those of many meanings: they open a span before what is known to be a time.
OPENING = {
    "since": r"+since% as_of% starting(?:_(?:from|in|on|with))?% +seit% +ab% +depuis% d[eè]s%"
    r" [àa]_partir_@ a_partire_da(?:l(?:l['’]|la)?)? +desde% dal(?:l['’])? ~da начиная_со? ~со?",
    "until": r"+until% till% up_to% +bis(?:_zu[mr]?)?% jusqu['’](?:à|en|aux?)% +hasta%"
    r" até(?:_(?:ao?|à))?% fino_a(?:l|lla)? ~по ~截至 ~截止到? ~直到",
    "before": "before% prior_to% earlier_than% vor% +avant% antes_@ prima_@ до перед",
    "after": "after% later_than% nach% après% despu[eé]s_@ depois_@ após% dopo% после",
}
"""The words that open a span of days, by its kind; :func:`opening` makes patterns of them."""
_ARTICLE = r"(?:_(?:the|de[mnr]|l[aeo]|l['’]|el|o|a|il))?"
_OF = r"d(?:e(?:_(?:la|el|l['’]))?|u|el(?:la)?|os?|as?|i|['’]|ell['’])"


def opening(
    kind: str = "", marks: str = " +~", *, articles: bool = True, within: str | None = None
) -> str:
    """The pattern of the words of ``kind``, by default of all, that have one of ``marks``.

    A blank in ``marks`` stands for those without one. ``articles`` may follow the words. Of those
    that a text ``within``, in lower case, cannot have, none is there.
    """
    words = (OPENING[kind] if kind else " ".join(OPENING.values())).split()
    chosen = [one.lstrip("+~") for one in words if (one[0] if one[0] in "+~" else " ") in marks]
    if within is not None:
        chosen = [word for word in chosen if may_have(word, within)] or [NONE]
    pattern = "|".join(chosen).replace("%", _ARTICLE if articles else "").replace("@", _OF)
    return pattern.replace("_", r"\s+")


@lru_cache(maxsize=128)
def compiled_spaced(names: tuple[str, ...]) -> re.Pattern[str]:
    """Where a text has one of ``names`` of scripts with spaces, as the group ``time``."""
    return re.compile(_spaced(names) or NONE, re.IGNORECASE)


@lru_cache(maxsize=128)
def compiled_unspaced(names: tuple[str, ...]) -> re.Pattern[str]:
    """Where a text has one of ``names`` of the other scripts, as the group ``time``."""
    return re.compile(_unspaced(names) or NONE)


def names_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Where a text has one of ``names``, patterns as those of times that are seen from today."""
    both = "|".join(filter(None, (_spaced(names), _unspaced(names))))
    return re.compile(both.replace("?P<time>", "?:") or NONE, re.IGNORECASE)


def _spaced(names: Iterable[str]) -> str:
    """The pattern of those of ``names`` whose script has spaces between words; ``""``: of none."""
    times = "|".join(_patterns(names, unspaced=False))
    before, behind = rf"(?<!{_LETTER})(?<![./-])", rf"(?:['’]s)?(?!{_LETTER}|/|[.-]\w)"
    return f"{before}(?P<time>{times}){behind}" if times else ""


def _unspaced(names: Iterable[str]) -> str:
    """The pattern of the other ones of ``names``; ``""``: of none."""
    times = "|".join(_patterns(names, unspaced=True))
    return f"(?P<time>{times})" if times else ""


def _patterns(names: Iterable[str], *, unspaced: bool) -> Iterator[str]:
    """The patterns of ``names`` in scripts without spaces, or else of the others."""
    for name in names:
        if is_unspaced(name) == unspaced:
            yield in_words(name)
