"""The times that the words of a question name: "in May", "on 3 May 2023", "last week", 上周.

Imported only for a query that may name one; see :func:`may_name_days` in ``languages.py``.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from commonplace.text.dates import ASKED, KEPT, RELATIVE, seen_from
from commonplace.text.day_spans import Time, narrowed, refined
from commonplace.text.day_words import BARE_WEEKDAY, WEEKDAYS
from commonplace.text.languages import SEEN
from commonplace.text.questions import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from commonplace.text.day_spans import Days


_MOST, _MOST_READ = 8, 40
_LONGEST = 1_000

# By month, in English, German, French, Spanish, Italian, Portuguese and Russian.
_MONTHS = """
january jan januar jänner janvier enero gennaio janeiro январь января январе
february feb februar février febrero febbraio fevereiro февраль февраля феврале
march mar märz mars marzo março март марта марте
april apr avril abril aprile апрель апреля апреле
may mai mayo maggio maio май мая мае
june jun juni juin junio giugno junho июнь июня июне
july jul juli juillet julio luglio julho июль июля июле
august aug août agosto август августа августе
september sept sep septembre septiembre settembre setembro сентябрь сентября сентябре
october oct oktober octobre octubre ottobre outubro октябрь октября октябре
november nov novembre noviembre novembro ноябрь ноября ноябре
december dec dezember décembre diciembre dicembre dezembro декабрь декабря декабре
"""
MONTHS = {number: names.split() for number, names in enumerate(_MONTHS.strip().split("\n"), 1)}
"""The names of each month (1..12), in lower case."""
_NUMBERS = {name: number for number, names in MONTHS.items() for name in names}
# Thai, which has no spaces between words and marks that are no letters: "\b" says nothing there.
_THAI_MONTHS = (
    *("มกราคม", "กุมภาพันธ์", "มีนาคม", "เมษายน", "พฤษภาคม", "มิถุนายน", "กรกฎาคม", "สิงหาคม"),
    *("กันยายน", "ตุลาคม", "พฤศจิกายน", "ธันวาคม"),
)
_THAI_SHORT = ("ม.ค", "ก.พ", "มี.ค", "เม.ย", "พ.ค", "มิ.ย", "ก.ค", "ส.ค", "ก.ย", "ต.ค", "พ.ย", "ธ.ค")
_THAI = {
    name: number for names in (_THAI_MONTHS, _THAI_SHORT) for number, name in enumerate(names, 1)
}
_BUDDHIST = 543
"""Years by which the Buddhist era, which Thailand counts in, is ahead."""

# Words and names of people, too: by themselves they are months only behind such a word.
AMBIGUOUS = {"may", "mar", "mars", "march", "april", "june", "jan", "sep", "sept", "oct", "dec"}
AMBIGUOUS |= {"mai", "mayo", "julio"}
_WITHIN = (
    "in|during|since|until|early|late|mid|im|en|em|nel|début|fin|mi|depuis|avant|desde|hasta"
    "|anfang|mitte|ende|seit|bis|ab|в"
)
_BEFORE = rf"(?P<before>{_WITHIN}|of|by|last|this|next|mois\s+de)"
_IN_A_YEAR = (
    r"in|during|im\s+jahre?|en|em|nel|в|early|late|mid|(?:beginning|start|middle|end)\s+of|anfang"
    r"|mitte|ende|début|fin|(?:principios|mediados|finales)\s+de|inizio|metà|early\s+in"
)
# What may stand before "3 may" where that is a day.
_ON = re.compile(
    r"\b(?:on|of|since|until|till|by|before|after|from|am|vom|bis|seit|le|du|au|el|del|al|il)\s+$",
    re.IGNORECASE,
)
_FIRST_NAMES = {"may", "mai", "mar", "april", "june", "jan", "august", "julio", "juli", "avril"}
_OTHER_WORDS = {"may", "march", "mars", "sept"}
_NEXT_WORD = re.compile(r"\s+([^\W\d_]\w*)")

# "hier" is "yesterday" in French, and "here" in German.
_GERMAN = re.compile(
    r"\b(?:ist|sind|war|wir|ich|wo|wie|der|das|und|nicht|gibt|von|mit|für|wer|kann|es|was)\b"
)


_NAMED_WEEKDAY = re.compile(  # as headings have them, beside WEEKDAYS
    rf"mon|tues?|wed|thu(?:rs)?|fri|sat|sun|среда|пятница|суббота|{BARE_WEEKDAY}"
    "|[月火水木金土日월화수목금토일]"
)
_ANY_DAY = date(2026, 1, 15)


def named_days(text: str, today: Callable[[], date]) -> tuple[Days, ...]:
    """The times that ``text`` names, at most eight; ``today`` is the user's day. Raises nothing."""
    return days_of_times(times_of(text, today))


def may_be_seen_from_today(text: str) -> bool:
    """Whether ``text`` may name a time such as "last week": few that do not are read in vain."""
    return any(map(f" {text.lower()}".__contains__, SEEN))


def times_of(text: str, today: Callable[[], date], *, asked: bool = False) -> list[Time]:
    """Where ``text`` names times: first those of the calendar, then those seen from today.

    Where it is ``asked``, "in two days" and "upcoming" are times as well.
    """
    found = []
    lowered = text.lower()
    months = tuple(name for name in (*_NUMBERS, *_THAI) if not asked or name in lowered)
    for match in islice(_calendar_pattern(months).finditer(text), _MOST_READ):
        try:
            found += [
                refined(Time(*match.span(), _in_year(match, days, today)), text)
                for days in _days(match)
            ]
        except ValueError:  # a day that no calendar has
            continue
    if len(text) <= _LONGEST:
        found += _relative(text, today, asked=asked)
    return narrowed(found, text) if found else found


def _in_year(match: re.Match[str], days: Days, today: Callable[[], date]) -> Days:
    """``days`` without a year in the one that "last", "this" or "next" before the month means."""
    before = (match["before"] or "").lower()
    if days[0][0] != "-" or before not in {"last", "this", "next"}:
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
    return tuple(dict.fromkeys(time.days for time in times))[:_MOST]


def _relative(text: str, today: Callable[[], date], *, asked: bool) -> Iterator[Time]:
    lowered = text.lower()
    # Of many texts each would need others: for these all are compiled, once.
    some = tuple(one for one in RELATIVE + ASKED if _may_be(one, lowered)) if asked else RELATIVE
    patterns = [_latin_pattern(some)] if some else []
    if some and not text.isascii():
        patterns.append(_wide_pattern(some))
    for match in (match for pattern in patterns for match in pattern.finditer(text)):
        words = match["time"].lower()
        if words == "hier" and _GERMAN.search(text.lower()):
            continue
        if days := seen_from(today(), words):
            first, last = days
            if words.startswith(_SINCE_A_DAY) or _SINCE.search(text, 0, match.start()):
                last = max(last, today())
            kept = (
                "-" in words
                or last - first > _SHORT
                or re.fullmatch(KEPT, "-".join(words.split())) is not None
            )
            yield Time(*match.span(), (first.isoformat(), last.isoformat()), not kept)


def _days(match: re.Match[str]) -> Iterator[Days]:
    groups = {name.rstrip("_"): value for name, value in match.groupdict().items() if value}
    year, day = groups.get("y", ""), groups.get("d")
    if year.startswith("25"):
        year = f"{int(year) - _BUDDHIST}"
    if quarter := groups.get("q"):
        last = 3 * int(quarter)
        yield f"{year}-{last - 2:02}-01", f"{year}-{last:02}-{monthrange(2023, last)[1]}"
        return
    if "m" not in groups:
        yield f"{year}-01-01", f"{year}-12-31"
        return
    month = groups["m"].lower()
    number = int(month) if month.isdigit() else _NUMBERS.get(month) or _THAI.get(month, 0)
    if not 1 <= number <= 12 or not (year or month.isdigit() or _is_month(match, groups)):
        return
    end = monthrange(int(year) if year else 2024, number)[1]
    if day is not None and not 1 <= int(day) <= end:
        return
    first, last = (int(day), int(day)) if day else (1, end)
    yield f"{year}-{number:02}-{first:02}", f"{year}-{number:02}-{last:02}"


def _is_month(match: re.Match[str], groups: dict[str, str]) -> bool:
    """Whether a name of a month means that: "in May", not "August Meyer" or "step 3 may fail"."""
    month, before = groups["m"], groups.get("before", "").lower()
    found = _NEXT_WORD.match(match.string, match.end())
    after = found[1] if found else ""
    if month.lower() in _OTHER_WORDS and after.islower() and (month.islower() or month == "Mars"):
        if groups.get("d"):
            said = groups.get("nth") or _ON.search(match.string, 0, match.start())
            return bool(said) or match[0][:1].isalpha()
        return before not in {"this", "last", "next", "en"}
    named = month.lower() in _FIRST_NAMES and month[0].isupper() and after[:1].isupper()
    return not named or bool(groups.get("d")) or re.fullmatch(_WITHIN, before) is not None


def without(text: str, times: Iterable[Time]) -> str:
    """``text`` with blanks where ``times`` are named."""
    for time in times:
        text = text[: time.start] + " " * (time.end - time.start) + text[time.end :]
    return text


_NONE = "(?!)"
"""A pattern that nothing matches."""


@lru_cache(maxsize=128)
def _calendar_pattern(months: tuple[str, ...]) -> re.Pattern[str]:
    """Times of the calendar in a text that names these ``months``: to compile all takes long."""

    def names(month: str, some: Iterable[str]) -> str:
        longest_first = "|".join(sorted(some, key=len, reverse=True))
        return rf"(?P<{month}>{longest_first or _NONE})\b\.?"

    thai = "|".join(re.escape(name) for name in months if name in _THAI) or _NONE
    thai_in_full = "|".join(name for name in months if name in _THAI_MONTHS) or _NONE
    every = frozenset(_NUMBERS.keys() & months)
    year, day = r"(?P<y{0}>(?:19|20)\d\d)(?!\d)", r"(?P<d{0}>\d\d?)(?!\d)"
    of = r"(?:\s+(?:of|de|del))?"
    era = r"\s*(?:พ\.?ศ\.?|ค\.?ศ\.?|ปี)?\s*(?P<y{0}>(?:19|20|25)\d\d)(?!\d)"
    dayless = r"(?!\s+\d\d?(?!\d))"
    before, nth = _BEFORE, r"(?P<nth>st|nd|rd|th|\.)"
    forms = (
        rf"(?<!\d){year}-(?P<m>\d\d?)(?:-{day})?(?![\d-])",
        rf"(?<!\d){year}\s*[年년]\s*(?P<m_>\d\d?)\s*[月월](?:\s*{day}\s*[日号號일])?",
        rf"(?<!\d)(?P<m__>\d\d?)\s*[月월](?:\s*{day}\s*[日号號일])?",
        rf"(?<![\w.]){day}{nth}?{of}\s+{names('m___', every)}(?:,?{of}\s+{year})?",
        rf"\b{names('m____', every)}\s+{day}(?:st|nd|rd|th)?(?:,?\s+{year})?",
        rf"\b{names('m_____', every)},?{of}\s+{year}",
        rf"\b{before}[\s-]+{names('m______', every)}{dayless}(?:,?{of}\s+{year})?",
        rf"\b{names('m_______', every - AMBIGUOUS)}",
        rf"(?<![\w./-]){year}/(?P<m________>\d\d?)/{day}(?![\w/-])",
        rf"(?<![\w.]){day}\.\s?(?P<m_________>\d\d?)\.\s?{year}(?![\w-]|\.\d)",
        rf"\bq(?P<q>[1-4])(?:[\s-]+{year})?\b",
        rf"(?<!\d){year}-?q(?P<q_>[1-4])\b",
        rf"\b(?:am|vom|zum|bis|seit|den|dem|der)\s+{day}\.\s?(?P<m_____________>\d\d?)\.(?!\d)",
        rf"\b{names('m______________', every)}(?=\s+(?:of\s+)?(?:last|this|next)\s+year\b)",
        rf"(?<![\d.,/-]){day}\s*(?P<m__________>{thai})\.?(?:{era})?",
        rf"(?P<m___________>{thai})\.?{era}",
        rf"(?P<m____________>{thai_in_full})",
        # "in 2000 steps" is no year.
        rf"\b(?:{_IN_A_YEAR})[\s-]+{year}(?!['’]?s\b)(?![\w/.:-]*\d)(?!\s+(?!was|is|has|does)[a-z]*s\b)",
        rf"(?<!\d){year}\s*[年년](?!\s*\d)",
    )
    # A group's name stands once in a pattern: those of later forms end in more underscores.
    numbered = "|".join(form.format("_" * at) for at, form in enumerate(forms))
    return re.compile(numbered, re.IGNORECASE)


_WIDE = re.compile("[\u0e00-\u0e7f\u3000-\ud7ff]")
_SINCE_A_DAY = ("since ", "seit ", "depuis ", "desde ")
_SINCE = re.compile(r"\b(?:since|seit|depuis|desde)\s+$", re.IGNORECASE)
_SHORT = timedelta(31)
"""What happened within some years is named so in notes, too: "the trip last year"."""

_LETTER = "[a-z0-9_\u00c0-\u024f\u0400-\u04ff]"


def _may_be(pattern: str, lowered: str) -> bool:
    """Whether ``lowered`` may have what ``pattern`` matches: to compile all takes long."""
    return any(map(lowered.__contains__, _hints(pattern)))


@cache
def _hints(pattern: str) -> frozenset[str]:
    """Letters of which each match of ``pattern`` has some: those outside of groups, or else any."""
    # Without escapes, classes of what is no letter, and what may be missing.
    plain = re.sub(r"\\.|\[\^[^]]*]|\{[^}]*}|[^\W\d_][?*]", " ", pattern)
    plain = re.sub(r"\[([^]]*)]", lambda found: f"({' '.join(found[1])})", plain)
    depth, outside, every = 0, [""], [""]
    for sign in plain:
        depth += (sign in "([") - (sign in ")]")
        for runs, goes_on in ((outside, depth == 0), (every, True)):
            if sign.isalpha() and goes_on:
                runs[-1] += sign
            elif runs[-1]:
                runs.append("")
    longest = max(outside, key=len)
    return frozenset([longest] if longest else filter(None, every))


@lru_cache(maxsize=128)
def _latin_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(_latin(names) or _NONE, re.IGNORECASE)


@lru_cache(maxsize=128)
def _wide_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(_wide(names) or _NONE)


def names_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Where a text has one of ``names``, patterns as those of times that are seen from today."""
    some = [part for part in (_latin(names), _wide(names)) if part]
    return re.compile("|".join(some).replace("?P<time>", "?:"), re.IGNORECASE)


def _latin(names: Iterable[str]) -> str:
    some = "|".join(_apart(names, wide=False))
    return (
        rf"(?<!{_LETTER})(?<![./-])(?P<time>{some})(?:['’]s)?(?!{_LETTER}|/|[.-]\w)" if some else ""
    )


def _wide(names: Iterable[str]) -> str:
    some = "|".join(_apart(names, wide=True))
    return f"(?P<time>{some})" if some else ""


def _apart(names: Iterable[str], *, wide: bool) -> Iterator[str]:
    """The patterns of words in scripts without spaces, or the others, words parted by spaces."""
    apart = {"-?": r"[\s-]*", "-": r"[\s-]+"}
    for pattern in names:
        if (_WIDE.search(pattern) is not None) == wide:
            yield re.sub(r"\[[^]]*]|-\??", lambda m: apart.get(m[0], m[0]), pattern)
