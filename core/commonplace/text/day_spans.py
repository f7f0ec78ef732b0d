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
from commonplace.text.day_words import BARE_WEEKDAY, WEEKDAYS

Days = tuple[str, str]
"""First and last day (ISO); without the year, ``-05-07``, where every year will do."""

BEGINNING = "0001-01-01"
"""The first day of what has no other one: "until March"."""


def is_yearly(day: str) -> bool:
    """Whether ``day``, the first or last of :data:`Days`, is one of every year: ``-05-07``."""
    return day[0] == "-"


# By month, in English, German, French, Spanish, Italian, Portuguese, Dutch and Russian.
_MONTHS = """
january jan januar jänner jän janvier janv enero ene gennaio janeiro januari январь января \
январе янв
february feb februar feber février févr fév febrero febbraio fevereiro \
februari февраль февраля феврале фев
march mar märz mars marzo março maart март марта марте
april apr avril avr abril abr aprile апрель апреля апреле апр
may mai mayo maggio maio mei май мая мае
june jun juni juin junio giugno junho июнь июня июне
july jul juli juillet juil julio luglio julho июль июля июле
august aug août agosto augustus август августа августе авг
september sept sep septembre septiembre settembre setembro сентябрь сентября сентябре сен сент
october oct oktober okt octobre octubre ottobre ott outubro октябрь октября октябре окт
november nov novembre noviembre novembro ноябрь ноября ноябре ноя
december dec dezember dez décembre déc diciembre dic dicembre dezembro декабрь декабря декабре дек
"""
MONTHS = {number: names.split() for number, names in enumerate(_MONTHS.strip().split("\n"), 1)}
"""The names of each month (1..12), in lower case."""
AMBIGUOUS = {"may", "mar", "mars", "march", "april", "june", "jan", "sep", "sept", "oct", "dec"}
AMBIGUOUS |= {"mai", "mayo", "mei", "julio", "augustus", "ene", "abr", "ott", "dez", "dic"}
"""Names of months that by themselves are other words, too, or names of people."""

_THAI = """
มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน ธันวาคม
ม.ค ก.พ มี.ค เม.ย พ.ค มิ.ย ก.ค ส.ค ก.ย ต.ค พ.ย ธ.ค
"""
THAI_MONTHS, THAI_SHORT = (names.split() for names in _THAI.strip().split("\n"))
BUDDHIST = 543
"""Years by which the Buddhist era, which Thailand counts in, is ahead."""
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
    ``words`` are those that notes of its days may have, ``None`` all that it is named by: "May" of
    "3 to 9 May", as notes of these days have other numbers. Where the time is also seen from today
    (since March), they are searched for only if nothing else is asked.
    """

    start: int
    end: int
    days: Days
    seen_from_today: bool = False
    words: str | None = None


def digitless(text: str) -> str:
    """``text`` without the words that have digits."""
    return " ".join(word for word in text.split() if not any(map(str.isdigit, word)))


class _Part(NamedTuple):
    """What words about a month or a year say: which of its days are meant.

    ``before`` is a pattern of words before it, ``behind`` of words behind it; ``of_year`` are the
    first and the last day of that part of a year, if the words can say it of one.
    """

    before: str
    behind: str
    first: int
    last: int
    of_year: tuple[str, str] | None = None


_MONTH_OF = "(?:-(?:mois|mes|mês|mese))?(?:-(?:de|di))?"
_OF = f"(?:-(?:de|du|di|do|del){_MONTH_OF})?"
_EARLY = (
    "(?:beginning|start)-of|early(?:-in)?|anfang(?:-des-monats)?|начал[еао]"
    f"|(?:début|principios|comienzos|inicios|inicio|início|começo|inizio){_OF}"
)
_MIDDLE = f"mid(?:dle-of)?|mitte(?:-des-monats)?|середин[еыу]|(?:milieu|mediados|meados|metà){_OF}"
_LATE = (
    f"end-of|late(?:-in)?|ende(?:-des-monats)?|конц[еа]|конец|fin{_OF}|fine-(?:di|del)"
    f"|(?:fines|final|finales|fim|finais)-(?:de|do|del){_MONTH_OF}"
)
PART_OF_YEAR = f"{_EARLY}|{_MIDDLE}|{_LATE}|half-of"
"""A pattern of words before a year: which part of it is meant."""

_FIRST = "first|1st|erste[nr]?|première|primera|primeira|prima|перв(?:ую|ой|ая)"
_SECOND = "second|2nd|zweite[nr]?|deuxième|segunda|seconda|втор(?:ую|ой|ая)"
_THIRD = "third|3rd|dritte[nr]?|troisième|tercera|terceira|terza|трет(?:ью|ьей|ья)"
_LAST = "last|letzte[nr]?|dernière|última|ultima|последн(?:юю|ей|яя)"
_WEEK_OF = (
    "-(?:week-(?:of|in)|woche-(?:of|in|im|des)|недел[юия]|(?:semaine|semana|settimana)(?:-d[ei])?)"
)
# A syllable of Korean is a word for a part only where no other syllables than particles follow.
_KOREAN_END = r"(?=(?:에|에는|에도|의|부터|까지|쯤|경)?(?![가-힣]))"
_KOREAN_WEEK = rf"번?째?-?주{_KOREAN_END}"
_PARTS = (
    _Part(
        _EARLY,
        "の?初(?:め|旬|頭)?(?![一二三四五六七八九十版次级級步回夏冬春秋雪稿診心始期])|のはじめ|上旬"
        f"|-?(?:초순?|상순){_KOREAN_END}",
        1,
        10,
        ("01-01", "04-30"),
    ),
    _Part(
        f"{_MIDDLE}|mi", f"の?半ば|中旬|-?(?:중순|중반){_KOREAN_END}", 11, 20, ("05-01", "08-31")
    ),
    _Part(
        f"{_LATE}|fine",
        f"[底末](?![部层座线端尾裔特片盘价稿])|下旬|の(?:終|お)わり|-?(?:말|하순){_KOREAN_END}",
        21,
        31,
        ("09-01", "12-31"),
    ),
    _Part("first-half-of", f"上半[年月]|の?前半|-?상반기{_KOREAN_END}", 1, 15, ("01-01", "06-30")),
    _Part(
        "second-half-of", f"下半[年月]|の?後半|-?하반기{_KOREAN_END}", 16, 31, ("07-01", "12-31")
    ),
    _Part(f"(?:{_FIRST}){_WEEK_OF}", f"[の的]?第[一1][周週]目?|-?(?:첫|1){_KOREAN_WEEK}", 1, 7),
    _Part(f"(?:{_SECOND}){_WEEK_OF}", f"[の的]?第[二2][周週]目?|-?(?:둘|2){_KOREAN_WEEK}", 8, 14),
    _Part(f"(?:{_THIRD}){_WEEK_OF}", f"[の的]?第[三3][周週]目?|-?(?:셋|3){_KOREAN_WEEK}", 15, 21),
    _Part(f"(?:{_LAST}){_WEEK_OF}", f"[の的]?最[后後]一?[周週]|-?마지막-?주{_KOREAN_END}", 25, 31),
)


def quarter_days(number: int, year: str) -> Days:
    """The days of the quarter of that number (1 to 4) of ``year``; ``""``: of any."""
    last_month = 3 * number
    end = monthrange(2023, last_month)[1]
    return f"{year}-{last_month - 2:02}-01", f"{year}-{last_month:02}-{end}"


_TO = "[-–—]|to|until|till|through|bis|au|al"
_UNTIL = rf"\s*(?:{_TO}|a)\s*(?:the\s+)?"
_FROM = r"\b(?:from|between|vom?|zwischen|entre|du|del|dal|desde)\s+(?:the\s+|el\s+|le\s+|dem\s+)?"

_WORDS = re.compile(r"[^\W\d_]+")
_CONNECTING = "of in im des de du di do del d mois mes mês mese monats week woche"
_HINTS = [tuple({*_WORDS.findall(part.before)} - {*_CONNECTING.split()}) for part in _PARTS]
"""Beginnings of the words before a month or a year: to compile all patterns takes long."""
_HINT_WORDS = 5


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """``pattern``, in words as :func:`in_words` takes them."""
    return re.compile(in_words(pattern), re.IGNORECASE)


def in_words(pattern: str) -> str:
    """``pattern`` with ``-`` for blanks or hyphens, ``-?`` for these or nothing."""
    spaces = {"-?": r"[\s-]*", "-": r"[\s-]+"}
    return re.sub(r"\[[^]]*]|-\??", lambda part: spaces.get(part[0], part[0]), pattern)


def _part_about(text: str, start: int, end: int, named_from: int) -> tuple[int, int, _Part] | None:
    """The part of the month or year named from ``named_from`` to ``end`` that words about it name.

    With the first and the last position of these words and ``start`` to ``end``.
    """
    first = max(0, named_from - _BEFORE)
    words_before = _WORDS.findall(text[first:named_from].lower())[-_HINT_WORDS:]
    is_asian = text[end : end + 2].strip()[:1] > "\u3000"
    for part, hints in zip(_PARTS, _HINTS, strict=True):
        if any(word.startswith(hints) for word in words_before):
            before = compiled(rf"\b(?:{part.before})-(?:d['’])?$")
            if words := before.search(text, first, named_from):
                return min(start, words.start()), end, part
        if is_asian and (words := compiled(part.behind).match(text, end)):
            return start, words.end(), part
    return None


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
_YEAR = re.compile(r"(?:19|20)\d\d")
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
    before = _first_day_before().search(text, max(0, start - _BEFORE), start)
    if before and not text[start : start + 3].isalpha():  # in "1 until September 20" it ends a date
        first = _day_of_same_month(day, next(filter(None, before.groups())))
        words = digitless(text[start:end])
        widened = time._replace(start=before.start(), days=(first, day), words=words)
        return widened if "" < first < day else time
    if text[end - 1].isdigit() and (behind := _last_day_behind().match(text, end)):
        last = _day_of_same_month(day, behind[1])
        words = digitless(text[start:end])
        widened = time._replace(end=behind.end(), days=(day, last), words=words)
        return widened if last > day else time
    return time


def _day_of_same_month(day: str, number: str) -> str:
    """The day of the month of ``day`` with this ``number``; ``""``: it has none."""
    year, month = day[:-6].strip("-") or _LEAP_YEAR, int(day[-5:-3])
    is_one = 1 <= int(number) <= monthrange(int(year), month)[1]
    return f"{day[:-2]}{int(number):02}" if is_one else ""


def _part_of_year(time: Time, text: str) -> Time:
    year = _YEAR.search(text, time.start)
    found = _part_about(text, time.start, time.end, year.start() if year else time.start)
    if found is None or found[2].of_year is None:
        return time
    start, end, part = found
    first, last = (f"{time.days[0][:_YEAR_DIGITS]}-{day}" for day in part.of_year or ())
    return time._replace(start=start, end=end, days=(first, last))


def _part_of_month(time: Time, text: str) -> Time:
    first, last = time.days
    name = _MONTH_NAME.search(text[time.start : time.end])
    named_from = time.start + name.start() if name else time.start
    found = _part_about(text, time.start, time.end, named_from)
    if found is None:
        return time
    start, end, part = found
    last_day = min(f"{part.last:02}", last[-2:])
    days = f"{first[:-2]}{part.first:02}", f"{last[:-2]}{last_day}"
    return time._replace(start=start, end=end, days=days)


def fit_together(times: list[Time], text: str) -> list[Time]:
    """``times``, of which two that name one time get the same days: "on Tuesday last week".

    A weekday beside a week is one of its days: "last week Tuesday". So are those up to another one:
    "from Monday to Friday last week". Of times that overlap the longest is kept.
    """
    times = [_until_weekday(time, text) for time in times]
    times = _longest([_weekday_of_week(time, text, times) for time in times])
    for inner, outer in permutations(times, 2):
        words = re.findall(r"\w+", text[inner.start : inner.end].lower())
        has_weekday = not WEEKDAYS.keys().isdisjoint(words) or _is_asian_weekday(inner, text)
        if has_weekday and outer.days[0] == outer.days[1] and _are_one_day(inner, outer, text):
            start, end = min(inner.start, outer.start), max(inner.end, outer.end)
            whole = outer._replace(start=start, end=end)
            return [whole if time == outer else time for time in times if time != inner]
        if days := _days_within(inner.days, outer.days, weekday=has_weekday):
            return [time._replace(days=days) if time in (inner, outer) else time for time in times]
    return times


def _are_one_day(weekday: Time, day: Time, text: str) -> bool:
    """Whether a ``day`` of the calendar stands beside its ``weekday``: "mardi 3 mars"."""
    gap = text[weekday.end : day.start] or text[day.end : weekday.start]
    digits = re.search(r"\d", text[day.start : day.end])
    return digits is not None and re.fullmatch(_BETWEEN_ONE_DAY, gap) is not None


_BETWEEN_ONE_DAY = r"[\s,，、（(]*(?:(?:the|den|dem|le|il|el|d[ií]a)\s+)?"


def _is_asian_weekday(time: Time, text: str) -> bool:
    bare = compiled(rf"[の\s]*(?:{BARE_WEEKDAY})")
    return bare.fullmatch(text, time.start, time.end) is not None


@cache
def _to_weekday() -> re.Pattern[str]:
    spanish = r"\s+a\s+(?=[lmjvsdg]\w+(?:s|dì)\b|s[áa]ba[dt]o|dom)"  # an English "a" is none
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
_WORD_BEFORE = re.compile(r"\b(?P<word>[^\W\d_]+)(?:-feira)?\s+(?:(?:of|de|da|della)\s+)?$")
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
    if is_yearly(first):
        year = outer_first[:_YEAR_DIGITS]
        if outer != (f"{year}-01-01", f"{year}-12-31"):
            return None
        end = monthrange(int(year), int(last[1:3]))[1]  # 29 February is of few years
        days = f"{year}{first}", f"{year}{last[:4]}{min(int(last[4:]), end):02}"
        return days if int(first[4:]) <= end else None
    if outer == (f"{first[:_YEAR_DIGITS]}-01-01", f"{first[:_YEAR_DIGITS]}-12-31"):
        return inner if inner[1] <= outer[1] and inner != outer else None
    if not weekday or is_yearly(outer_first):
        return None
    length = date.fromisoformat(last) - date.fromisoformat(first)
    start = date.fromisoformat(outer_first)
    outer_length = date.fromisoformat(outer_last) - start
    if length >= timedelta(_WEEK - 1) or outer_length != timedelta(_WEEK - 1):
        return None
    day = start + timedelta((date.fromisoformat(first) - start).days % _WEEK)
    return day.isoformat(), (day + length).isoformat()
