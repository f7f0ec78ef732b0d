"""Finds the times that a text names: "in May", "on 3 May 2023", "last week", 上周.

A text is read in four passes:

1. :func:`times_of` finds times of the calendar ("3 May"), and times seen from today ("last week").
2. ``fit_to_words`` in ``day_spans.py`` fits each time of the calendar to the words about it: "mid"
   May, "3 to" 9 May.
3. ``fit_together`` there fits all times to each other: "on Tuesday last week" is one day.
4. For a query, ``open_spans.py`` makes spans of those beside "since" and its like, and
   ``asked_times.py`` adds days to come: for "on Monday" the next one, too.

``day_words.py`` has the words, ``dates.py`` the days that those seen from today mean. A day without
a year is written ``-05-07``; ``is_yearly`` in ``day_spans.py`` tells.

Imported only for a query that may name one; see :func:`may_name_days` in ``time_hints.py``.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import islice
from string import digits
from typing import TYPE_CHECKING

from commonplace.text.dates import QUERY_ONLY, RELATIVE, is_used_in_notes, number_of, seen_from
from commonplace.text.day_names import (
    NONE,
    compiled_spaced,
    compiled_unspaced,
    opening,
)
from commonplace.text.day_spans import (
    AMBIGUOUS,
    BUDDHIST,
    PART_OF_YEAR,
    THAI_MONTHS,
    Time,
    compiled,
    fit_to_words,
    fit_together,
    in_words,
    is_yearly,
    quarter_days,
)
from commonplace.text.day_words import BARE_WEEKDAY, WEEKDAYS
from commonplace.text.questions import STOP_WORDS
from commonplace.text.tenses import MONTH_NUMBERS, THAI_NUMBERS
from commonplace.text.time_hints import may_have, names_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from commonplace.text.day_spans import Days

_MAX_TIMES, _MAX_MATCHES = 8, 40  # that a text names; of the calendar, before they are checked
_MOST_QUARTERS = 8
_LONGEST = 1_000  # characters of a text in which times seen from today are searched for

# Words that open a span are those of ``day_names.py``: see ``open_spans.py``.
_WITHIN = (
    "in|during|early|late|mid|im|en|em|nel|début|fin|mi|anfang|mitte|ende|в|"
    f"{opening(marks='+', articles=False)}"
)
_MONTH_BEFORE = (
    rf"(?P<before>{_WITHIN}|of|by|last|this|next|mois\s+de"
    r"|(?:principios|comienzos|inicios|mediados|fines|finales|final|fin)\s+de)"
)
# Beside these, in queries; the second ones only where another month is named, as "to June" may be
# to a person.
_OPENING = f"through|{opening(marks=' ')}"
_BEHIND_DE = r"(?=\s+\w+\s+[àa]\s)"
_JOINING = (
    rf"from|between|and|to|von|zwischen|und|et|y|à|a|entre|tra|fra|между|de{_BEHIND_DE}|da|с|по"
)
_ASKED_MONTH_BEFORE = _MONTH_BEFORE.replace("(?P<before>", f"(?P<before>{_OPENING}|{_JOINING}|")
_YEAR_BEFORE = in_words(f"in|during|im-jahre?|en|em|nel|в|{PART_OF_YEAR}")
# "Up to 2000" is an amount.
_OPENING_A_YEAR = rf"(?!up\s|до\s)(?:{opening(marks=' +')})"
_NO_AMOUNT = r"(?!\s*[€$£%]|\s+(?:(?-i:[A-ZÄÖÜ])|(?:euros?|dollars?|km|m|kg|[mg]b|kwh|w|rpm)\b))"
# What may stand before "3 may" where that is a day.
_ON = rf"\b(?:on|of|by|from|am|vom|le|du|au|el|del|al|il|{opening(marks=' +')})\s+$"
_FIRST_NAMES = {"may", "mai", "mar", "april", "june", "jan", "august", "julio", "juli", "avril"}
_OTHER_WORDS = {"may", "march", "mars", "sept"}
_NO_MONTH = {"this", "last", "next", "en", "before", "after"}
"""Between such a word and another one "may" is a verb."""
_NEXT_WORD = re.compile(r"\s+([^\W\d_]\w*)")

# "hier" is "yesterday" in French, and "here" in German.
_GERMAN = re.compile(
    r"\b(?:ist|sind|war|wir|ich|wo|wie|der|das|und|nicht|gibt|von|mit|für|wer|kann|es|was)\b"
)

_VERSIONED = "version", "release", "kernel", "firmware", "macos", "python"
"""Beside these "10.11." is no day."""
_SURNAMES = {"sabato", "domenica", "heuer"}
_TITLE = re.compile(r"\b(?:frau|herrn?|familie|dr\.?|signora?)\s+$", re.IGNORECASE)
_NAMED_WEEKDAY = re.compile(  # as headings have them, beside WEEKDAYS
    rf"mon|tues?|wed|thu(?:rs)?|fri|sat|sun|среда|пятница|суббота|{BARE_WEEKDAY}"
    "|[月火水木金土日월화수목금토일]"
)
_ANY_DAY = date(2026, 1, 15)


def times_of(text: str, today: Callable[[], date], *, asked: bool = False) -> list[Time]:
    """Where ``text`` names times: first those of the calendar, then those seen from ``today``.

    Of a query (``asked``), "in two days" and "upcoming" are times as well.
    """
    calendar = _times_of_calendar(text, today, asked=asked)
    times = [_from_month(fit_to_words(time, text), text) for time in calendar]
    if len(text) <= _LONGEST:
        times += _times_seen_from(today, text, asked=asked)
    return fit_together(times, text) if times else times


def _times_of_calendar(text: str, today: Callable[[], date], *, asked: bool) -> Iterator[Time]:
    lowered = text.lower()
    months = tuple(name for name in (*MONTH_NUMBERS, *THAI_NUMBERS) if not asked or name in lowered)
    if asked and not months and "月" not in text and not any(map(str.isdigit, text)):
        yield from quarters_in(text)
        return
    years = not asked or "19" in lowered or "20" in lowered
    pattern = _calendar_pattern(
        months, years=years, asian=not (asked and text.isascii()), asked=asked
    )
    for match in islice(pattern.finditer(text), _MAX_MATCHES):
        if days := _days_of_match(match):
            yield Time(*match.span(), _in_year(match, days, today))
    yield from quarters_in(text)


def _from_month(time: Time, text: str) -> Time:
    """``time``, if it is a month of a year, with those from one before: "March to" May 2025."""
    first, last = time.days
    is_month = not is_yearly(first) and first < last and first[:-2] == last[:-2]
    months = _two_months().search(text, max(0, time.start - 20), time.end) if is_month else None
    if months is None or not months.start() < time.start <= months.end():
        return time
    number = MONTH_NUMBERS[months[1].lower()]
    year = int(first[:4]) - (number > int(first[5:7]))
    return time._replace(start=months.start(), days=(f"{year}-{number:02}-01", last))


@cache
def _two_months() -> re.Pattern[str]:
    joined = r"(?:\s*[-–/]\s*|\s+(?:to|till|until|through|and|bis|und|à|au|a|y|e|et|ao|по)\s+)"
    name = f"({'|'.join(MONTH_NUMBERS)})"
    return re.compile(rf"\b{name}\b\.?{joined}(?={name}\b)", re.IGNORECASE)


def _in_year(match: re.Match[str], days: Days, today: Callable[[], date]) -> Days:
    """``days``, those without a year in the year that a "last", "this" or "next" before means."""
    before = (match.groupdict().get("before") or "").lower()
    if not is_yearly(days[0]) or before not in {"last", "this", "next"}:
        return days
    now, month = today(), int(days[0][1:3])
    year = now.year
    if before == "last":
        year -= month >= now.month
    elif before == "next":
        year += month <= now.month
    end = monthrange(year, month)[1]
    return f"{year}{days[0]}", f"{year}{days[1][:4]}{min(int(days[1][4:]), end):02}"


def is_only_a_time(text: str) -> bool:
    """Whether ``text`` is a date and nothing more: "Wednesday, 2 September 2026"."""
    times = times_of(text, lambda: _ANY_DAY)
    rest = re.findall(r"[^\W_]+", without(text, times).lower())
    return bool(times) and all(
        word in WEEKDAYS or word in STOP_WORDS or _NAMED_WEEKDAY.fullmatch(word) for word in rest
    )


def days_of_times(times: Iterable[Time]) -> tuple[Days, ...]:
    """The days of ``times``, at most eight of them."""
    return tuple(dict.fromkeys(time.days for time in times))[:_MAX_TIMES]


def _times_seen_from(today: Callable[[], date], text: str, *, asked: bool) -> Iterator[Time]:
    lowered = text.lower()
    # The names in one query are few. Other texts are many: for these all are compiled, once.
    names = RELATIVE
    if asked:
        names = names_for(lowered, RELATIVE + QUERY_ONLY)
    patterns = [compiled_spaced(names)] if names else []
    if names and not text.isascii():
        patterns.append(compiled_unspaced(names))
    for match in (match for pattern in patterns for match in pattern.finditer(text)):
        words = match["time"].lower()
        if words == "hier" and _GERMAN.search(lowered):
            continue
        may_be_name = words in _SURNAMES and match.start() > 0
        if may_be_name and (words != match["time"] or _TITLE.search(text, 0, match.start())):
            continue
        possible = [name for name in names if may_have(name, words)]
        if days := seen_from(today(), words, possible):
            first, last = days
            if _SINCE_A_DAY.match(words) or _SINCE.search(text, 0, match.start()):
                last = max(last, today())
            in_notes = (
                "-" in words or last - first > _A_MONTH or is_used_in_notes("-".join(words.split()))
            )
            yield Time(*match.span(), (first.isoformat(), last.isoformat()), not in_notes)


def _days_of_match(match: re.Match[str]) -> Days | None:
    """The days of a match of :func:`_calendar_pattern`; ``None``: no calendar has them."""
    groups = {name.rstrip(digits): value for name, value in match.groupdict().items() if value}
    year, day = groups.get("year", "").translate(_HAN_YEAR), groups.get("day")
    if year.startswith(("25", "๒๕")):
        year = f"{int(year) - BUDDHIST}"
    if quarter := groups.get("quarter"):
        return quarter_days(int(quarter), year)
    if "month" not in groups:
        return f"{year}-01-01", f"{year}-12-31"
    name = groups["month"].lower()
    is_number = name.isdigit() or name[0] in _HAN_MONTH
    month = number_of(name) if is_number else MONTH_NUMBERS.get(name) or THAI_NUMBERS.get(name, 0)
    if not 1 <= month <= 12 or not (year or is_number or _is_month(match, groups)):
        return None
    end = monthrange(int(year) if year else 2024, month)[1]
    if day is None:
        return f"{year}-{month:02}-01", f"{year}-{month:02}-{end}"
    only = f"{year}-{month:02}-{number_of(day):02}"
    return (only, only) if 1 <= number_of(day) <= end else None


def _is_month(match: re.Match[str], groups: dict[str, str]) -> bool:
    """Whether a name of a month means that: "in May", not "August Meyer" or "step 3 may fail"."""
    month, before = groups["month"], groups.get("before", "").lower()
    next_word = _NEXT_WORD.match(match.string, match.end())
    after = next_word[1] if next_word else ""
    if month.lower() in AMBIGUOUS and before and not (groups.get("day") or groups.get("year")):
        if re.fullmatch(_JOINING.replace(_BEHIND_DE, ""), before):
            return len(MONTH_NUMBERS.keys() & set(re.findall(r"\w+", match.string.lower()))) > 1
        does = month[0].isupper() and after.islower() and after not in STOP_WORDS
        if does and re.fullmatch(_OPENING, before):  # "before April joined"
            return False
    if month.lower() in _OTHER_WORDS and after.islower() and (month.islower() or month == "Mars"):
        if groups.get("day"):
            before_it = match.string[: match.start()]
            is_day = groups.get("nth") or re.search(_ON, before_it, re.IGNORECASE)
            return bool(is_day) or match[0][:1].isalpha()
        return before not in _NO_MONTH
    is_name = month.lower() in _FIRST_NAMES and month[0].isupper() and after[:1].isupper()
    return not is_name or bool(groups.get("day")) or re.fullmatch(_WITHIN, before) is not None


def without(text: str, times: Iterable[Time]) -> str:
    """``text`` with blanks where ``times`` are named."""
    for time in times:
        text = text[: time.start] + " " * (time.end - time.start) + text[time.end :]
    return text


_HAN = "一二三四五六七八九"
_HAN_MONTH, _HAN_DAY = f"十[一二]?|[{_HAN}]", f"[二三]?十[{_HAN}]?|[{_HAN}]"
_HAN_YEAR = str.maketrans(f"〇零○{_HAN}", "000123456789")
# Months of the moon, years of other eras, "once a month", and what is called by a month.
_NO_HAN_MONTH = rf"(?<![\d{_HAN}十〇零百千万几幾数數个個历曆暦])(?<![{_HAN}十元]年)"
_NOT_BEHIND_HAN_MONTH = (
    f"(?!初?[{_HAN}十廿]|[间間余餘ぶ前后後天花河雨病半兔党黨]|革命|[怀懷]胎|に[一1]|さん)"
)


@lru_cache(maxsize=128)
def _calendar_pattern(
    months: tuple[str, ...], *, years: bool, asian: bool, asked: bool
) -> re.Pattern[str]:
    """Times of the calendar in a text that names these ``months``: to compile all takes long.

    ``years`` says whether it may name a year, ``asian`` a time in a script of Asia, ``asked``
    whether the text is a query.
    The group ``before`` is a word before a month, ``nth`` the end of an ordinal number. ``year``,
    ``quarter``, ``month`` and ``day`` have a number behind their names.
    """

    def named(names: Iterable[str]) -> str:
        longest_first = "|".join(sorted(names, key=len, reverse=True))
        return rf"(?P<month{{0}}>{longest_first or NONE})\b\.?"

    thai = "|".join(re.escape(name) for name in months if name in THAI_NUMBERS) or NONE
    thai_in_full = "|".join(name for name in months if name in THAI_MONTHS) or NONE
    names = frozenset(MONTH_NUMBERS.keys() & months)
    name, unambiguous_name = named(names), named(names - AMBIGUOUS)
    year, day = r"(?P<year{0}>(?:19|20)\d\d)(?!\d)", r"(?P<day{0}>\d\d?)(?!\d)"
    month, quarter = r"(?P<month{0}>\d\d?)", r"(?P<quarter{0}>[1-4])"
    han_year = rf"(?P<year{{0}}>(?:19|20)\d\d|[一二][〇零○九][〇零○{_HAN}]{{{{2}}}})"
    han_month, han_day = f"(?P<month{{0}}>{_HAN_MONTH})", f"(?P<day{{0}}>{_HAN_DAY})"
    nth, of = r"(?P<nth>st|nd|rd|th|er|\.)", r"(?:\s+(?:of|de|del))?"
    thai_year = r"\s*(?:พ\.?ศ\.?|ค\.?ศ\.?|ปี)?\s*(?P<year{0}>(?:19|20|25|๒๕)\d\d)(?!\d)"
    before = _ASKED_MONTH_BEFORE if asked else _MONTH_BEFORE
    dayless = r"(?!\s+\d\d?(?!\d))"
    forms: tuple[str, ...] = (
        rf"(?<!\d){year}-{month}(?:-{day})?(?![\d-])",
        rf"(?<![\w.])(?:d[ií]a\s+)?{day}{nth}?{of}\s+{name}(?:,?{of}\s+{year})?",
        rf"\b{name}\s+{day}(?:st|nd|rd|th)?(?:,?\s+{year})?",
        rf"\b{name},?{of}\s+{year}",
        rf"\b{before}[\s-]+{name}{dayless}(?:,?{of}\s+{year})?",
        rf"\b{unambiguous_name}",
        rf"(?<![\w./-]){year}/{month}/{day}(?![\w/-])",
        rf"(?<![\w.]){day}\.\s?{month}\.\s?{year}(?![\w-]|\.\d)",
        rf"(?<![a-z0-9_])q{quarter}(?:(?:[\s/-]+|{of}\s+){year})?(?![a-z0-9_])",
        rf"(?<!\d){year}-?q{quarter}\b",
        rf"\b(?:am|vom|zum|bis|seit|den|dem|der)\s+{day}\.\s?{month}\.(?!\d)",
        rf"\b{name}(?=\s+(?:of\s+)?(?:last|this|next)\s+year\b)",
    )
    if years:
        # "in 2000 steps" is no year.
        steps = r"(?!['’]?s\b)(?![\w/.:-]*\d)(?!\s+(?!was|is|has|does)[a-z]*s\b)"
        forms += (
            rf"\b(?:{_YEAR_BEFORE})[\s-]+{year}{steps}",
            rf"(?<!\d){year}\s*(?:[年년](?!\s*\d)|год[ау]?\b)",
        )
    if asked:  # by itself "3.12." may be a version
        none_before = "".join([rf"(?<!\b{word}\s)" for word in _VERSIONED])
        none_behind = rf"(?!\s+(?:{'|'.join(_VERSIONED)})\b)"
        alone = rf"(?:(?<=\s){none_before}(?=\d\d\.\s?\d\d)|\A\s*)"
        late, early = r"(?:1[3-9]|2\d|3[01])", r"(?:0?[1-9]|1[0-2])"  # "12/10" may be of two months
        forms += (
            rf"{alone}{day}\.\s?{month}\.(?![\w-]|\s?\d){none_behind}",
            rf"(?<![\w./-])(?P<month{{0}}>{early})/(?P<day{{0}}>{late})(?:/{year})?(?![\w/-]|\.\d)",
            rf"(?<![\w./-])(?!24/7\b)(?P<day{{0}}>{late})/(?P<month{{0}}>{early})(?:/{year})?(?![\w/-]|\.\d)",
        )
    if years and asked:
        # Nor is "bis 2000 Euro".
        forms += (rf"\b(?:{_OPENING_A_YEAR})\s+{year}{steps}{_NO_AMOUNT}",)
    if asian:
        forms += (
            rf"(?<!\d){year}\s*[年년]\s*{month}\s*[月월](?:\s*{day}\s*[日号號일])?",
            rf"(?<!\d){month}\s*[月월](?:\s*{day}\s*[日号號일])?",
            rf"{han_year}年{han_month}月(?:{han_day}[日号號])?",
            rf"{_NO_HAN_MONTH}{han_month}月(?:{han_day}[日号號]|{_NOT_BEHIND_HAN_MONTH})",
            rf"(?<![\d.,/-]){day}\s*(?P<month{{0}}>{thai})\.?(?:{thai_year})?",
            rf"(?P<month{{0}}>{thai})\.?{thai_year}",
            rf"(?P<month{{0}}>{thai_in_full})",
        )
    # A group's name may stand once in a pattern: the number of its form makes it another.
    possible = enumerate(form for form in forms if NONE not in form)
    numbered = "|".join(form.format(number) for number, form in possible)
    return re.compile(numbered, re.IGNORECASE)


_SINCE_A_DAY = re.compile(rf"(?:{opening('since')})\s")
_SINCE = re.compile(rf"\b(?:{opening('since', '+', articles=False)})\s+$", re.IGNORECASE)
_A_MONTH = timedelta(31)
"""Notes, too, name what is longer as it is seen from their day: "the trip last year"."""

_ORDINALS = """
first erste erstes ersten premier primer primo primeiro первый первого первом i
second zweites zweite zweiten deuxième segundo secondo второй второго втором ii
third drittes dritte dritten troisième tercer terzo terceiro третий третьего третьем iii
fourth viertes vierte vierten quatrième cuarto quarto четвертый четвёртый четвертого четвёртого
"""
_ORDINAL_NUMBERS = {
    name: number
    for number, names in enumerate(_ORDINALS.strip().split("\n"), 1)
    for name in names.split()
} | dict.fromkeys(
    ("четвертом", "четвёртом", "iv", "last", "letztes", "letzten", "último", "ultimo", "dernier"), 4
)
_OF_QUARTERS = ("quart", "trimest", "кварт", "季度", "四半期", "분기")
_IN_YEAR = r"(?:19|20)\d\d(?!\d)"
_OF_YEAR = ",?(?:-(?:of|in|de|del|do|des-jahres))?-"
_NUMBERED = r"[1-4](?:\.|st|nd|rd|th|er|e|ème|º|°|-?(?:й|го|м))?"
# A quarter of a year by its number; the last one only of a year. Those of a game, of the moon and
# of a pregnancy are others; "3四半期連続" is three of them in a row.
_QUARTER = (
    r"(?<![\w-])(?:im-)?(?!(?:[1-4]|i+v?)\s+(?!кварт))"
    rf"(?!(?:last|letzte[ns]|[úu]ltimo|dernier)-(?!\w+{_OF_YEAR}{_IN_YEAR}))"
    rf"(?P<quarter>{'|'.join(_ORDINAL_NUMBERS)}|{_NUMBERED})-?(?:quarter(?![\w-])|quartals?\b|trimestre\b"
    rf"|квартал[аеу]?\b)(?:{_OF_YEAR}(?P<of>{_IN_YEAR})|(?!-(?:of|in)-(?:the|an?)-(?!year)"
    r"|-(?:moon|century|mile)|-(?:de|del|di|da)-(?:la-)?(?:embarazo|grossesse|grav|gest)))"
    rf"|(?:(?P<in>{_IN_YEAR})-?[年년][の的]?-?)?(?<![前续續十\d第])(?<!年度)(?<!年度の)(?!.四半期)"
    r"(?:[第제]-?)?(?P<wide>[1-4一二三四])-?"
    r"(?:季度(?!假|一次)|四半期(?!連続)|분기(?!-?(?:연속|동안|째|만에|마다)))"
)


def quarters_in(text: str) -> Iterator[Time]:
    """Where ``text`` names a quarter of a year by an ordinal number; "Q3" is found elsewhere."""
    lowered = text.lower()
    if not any(map(lowered.__contains__, _OF_QUARTERS)):
        return
    for match in islice(compiled(_QUARTER).finditer(text), _MOST_QUARTERS):
        name = (match["quarter"] or match["wide"]).lower()
        number = _ORDINAL_NUMBERS.get(name) or number_of(name[0])
        yield Time(*match.span(), quarter_days(number, match["of"] or match["in"] or ""))
