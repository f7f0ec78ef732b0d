"""The times that the words of a question name: "in May", "on 3 May 2023", "last week", 上周.

Imported only for a query that may name one; see :func:`may_name_days` in ``query.py``.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import permutations
from typing import TYPE_CHECKING

from commonplace.model.tuples import NamedTuple
from commonplace.text.dates import KEPT, RELATIVE, seen_from
from commonplace.text.day_words import BARE_WEEKDAY, WEEKDAYS
from commonplace.text.languages import STOP_WORDS
from commonplace.text.query import SEEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from commonplace.model.search import KeywordQuery
    from commonplace.text.analyse import Analyser
    from commonplace.text.query import ParsedQuery

Days = tuple[str, str]
"""First and last day (ISO); without the year, ``-05-07``, where every year will do."""

_HALF_LIFE_DAYS, _BEYOND, _OF_ONE_DAY = 5, 0.75, 1.5
_WEEK = 7

_MOST = 8
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
_NUMBERS = {
    name: number
    for number, names in enumerate(_MONTHS.strip().split("\n"), 1)
    for name in names.split()
}
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
_AMBIGUOUS = {"may", "mar", "mars", "march", "april", "june", "jan", "sep", "sept", "oct", "dec"}
_AMBIGUOUS |= {"mai", "mayo", "julio"}
_WITHIN = (
    "in|during|since|until|early|late|mid|im|en|em|nel|début|fin|mi|depuis|avant|desde|hasta"
    "|anfang|mitte|ende|seit|bis|ab|в"
)
_BEFORE = rf"(?P<before>{_WITHIN}|of|by|last|this|next|mois\s+de)"
_IN_A_YEAR = r"in|during|im\s+jahre?|en|em|nel|в"
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


class Time(NamedTuple):
    """Where in a text a time is named, and its days.

    ``seen_from_today`` says that notes will hardly name it so: "yesterday", and not "3 May".
    """

    start: int
    end: int
    days: Days
    seen_from_today: bool = False


def named_days(text: str, today: Callable[[], date]) -> tuple[Days, ...]:
    """The times that ``text`` names, at most eight; ``today`` is the user's day. Raises nothing."""
    return _days_of(times_of(text, today))


def may_be_seen_from_today(text: str) -> bool:
    """Whether ``text`` may name a time such as "last week": few that do not are read in vain."""
    return any(map(f" {text.lower()}".__contains__, SEEN))


def times_of(text: str, today: Callable[[], date]) -> list[Time]:
    """Where ``text`` names times: first those of the calendar, then those seen from today."""
    found = []
    for match in _calendar_pattern().finditer(text):
        try:
            found += [Time(*match.span(), days) for days in _days(match)]
        except ValueError:  # a day that no calendar has
            continue
    if len(text) <= _LONGEST:
        found += _relative(text, today)
    return _narrowed(found, text) if len(found) > 1 else found


def _narrowed(times: list[Time], text: str) -> list[Time]:
    """``times``, of which two that name one, as "on Tuesday last week" does, both have its days."""
    for inner, outer in permutations(times, 2):
        words = re.findall(r"\w+", text[inner.start : inner.end].lower())
        if days := _inside(inner.days, outer.days, weekday=not WEEKDAYS.keys().isdisjoint(words)):
            both = inner, outer
            return [time._replace(days=days) if time in both else time for time in times]
    return times


def _inside(inner: Days, outer: Days, *, weekday: bool) -> Days | None:
    """Where in the year or week ``outer`` a month without year or a weekday lies."""
    (first, last), (begin, end) = inner, outer
    if begin[0] == "-":
        return None
    if first[0] == "-":
        whole = (begin[4:], end[4:]) == ("-01-01", "-12-31") and begin[:4] == end[:4]
        return (begin[:4] + first, begin[:4] + last) if whole else None
    if not weekday or first != last or _number(end) - _number(begin) != _WEEK - 1:
        return None
    start = date.fromisoformat(begin)
    day = (start + timedelta((date.fromisoformat(first) - start).days % _WEEK)).isoformat()
    return day, day


def is_only_a_time(text: str) -> bool:
    """Whether ``text`` is a date and nothing more: "Wednesday, 2 September 2026"."""
    times = times_of(text, lambda: _ANY_DAY)
    rest = re.findall(r"[^\W_]+", _without(text, times).lower())
    return bool(times) and all(
        word in WEEKDAYS or word in STOP_WORDS or _NAMED_WEEKDAY.fullmatch(word) for word in rest
    )


def _days_of(times: Iterable[Time]) -> tuple[Days, ...]:
    return tuple(dict.fromkeys(time.days for time in times))[:_MOST]


def _relative(text: str, today: Callable[[], date]) -> Iterator[Time]:
    patterns = [_latin_pattern()] if text.isascii() else [_latin_pattern(), _wide_pattern()]
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


# What questions for a time consist of, beside stop words.
_ASKING_WORDS = """
happened happen happens happening new news notes note log logs entry entries diary journal work
worked working done going anything everything something summary summarize summarise recap review
show list give find went write wrote written recorded day days date things events habe haben hat
hast ich wir man war waren was ist sind wurde gemacht getan passiert geschehen los gearbeitet
erledigt gab gibt notizen notiz eintrag einträge tagebuch alles neues zeig zeige mir im in am an
der die das den dem von vom zu seit que qu quoi est ce qui s c j l d passé passe ai je fait faits
faisait on avons montre moi tout neuf travaillé le la les au du de se hice hicimos hiciste pasó
pasado ha he hemos hecho notas muestra todo sucedió ocurrió trabajé cosa ho fatto abbiamo è
successo tutto fiz fizemos fizeste aconteceu tudo делал делала делали сделал сделала случилось
произошло заметки
"""
_ASKING = frozenset(_ASKING_WORDS.split())
_ASKING_WIDE = re.compile(
    "(?:发生|發生|做|干|幹|了|过|過|什么|什麼|啥|哪些|事情|事|情况|我们|我們|我|都|的|在|有|些|呢|吗|嗎|是|里"
    "|记录|記錄|笔记|筆記|日志|日誌|日记|日記|工作|忙|进展|進展"
    "|何|なに|を|した|して|しました|いた|の|は|が|に|で|と|も|あった|ありました|起きた|起こった|出来事|こと|か|私|メモ"
    "|やった|やりました|記録|ノート|作業"
    "|뭐|뭘|무엇|무슨|어떤|일|을|를|이|가|은|는|의|에|했지|했어|했나|했나요|했는지|했습니까|했|한|하|있었|었|나|내|우리|어|지|요"
    "|일어났|메모|노트|기록)+"
)


def read_times(
    parsed: ParsedQuery, keyword: KeywordQuery, analyser: Analyser, today: Callable[[], date]
) -> tuple[KeywordQuery, tuple[str, ...]]:
    """``keyword``, the analysed query, with the times that it names, and what else it says.

    Words for times that are seen from today ("last week") are searched for only where they are
    quoted: no note says them of the days that are meant. A question for a time alone asks for what
    is of its days.
    """
    named = [times_of(words, today) for words in parsed.words]
    days = _days_of(time for times in named for time in times)
    if not days:
        return keyword, (*parsed.words, *parsed.phrases)
    said = [_without(words, times) for words, times in zip(parsed.words, named, strict=True)]
    listed = not parsed.phrases and not any(map(_asks_for_more, said))
    if listed:
        kept = [
            word
            for words, times in zip(parsed.words, named, strict=True)
            for time in times
            for word in words[time.start : time.end].split()
            if not (time.seen_from_today or word.lower() in STOP_WORDS)
        ]
        keyword = analyser.query(parsed._replace(words=(" ".join(kept),) if kept else ()))
        return keyword._replace(days=days, listed=True), ()
    seen = [[time for time in times if time.seen_from_today] for times in named]
    if any(seen):
        words = tuple(_without(*one) for one in zip(parsed.words, seen, strict=True))
        keyword = analyser.query(parsed._replace(words=words))
    return keyword._replace(days=days), (*said, *parsed.phrases)


def _without(text: str, times: Iterable[Time]) -> str:
    for time in times:
        text = text[: time.start] + " " * (time.end - time.start) + text[time.end :]
    return text


def _asks_for_more(text: str) -> bool:
    """Whether ``text`` has a word that a question for a time does not consist of."""
    words = re.findall(r"[^\W_]+", text.lower())
    return not all(
        word in STOP_WORDS or word in _ASKING or _ASKING_WIDE.fullmatch(word) for word in words
    )


@cache
def _calendar_pattern() -> re.Pattern[str]:
    def names(month: str, some: Iterable[str]) -> str:
        return rf"(?P<{month}>{'|'.join(sorted(some, key=len, reverse=True))})\b\.?"

    thai = "|".join(map(re.escape, _THAI))
    every = frozenset(_NUMBERS)
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
        rf"\b{before}\s+{names('m______', every)}{dayless}(?:,?{of}\s+{year})?",
        rf"\b{names('m_______', every - _AMBIGUOUS)}",
        rf"(?<![\w./-]){year}/(?P<m________>\d\d?)/{day}(?![\w/-])",
        rf"(?<![\w.]){day}\.\s?(?P<m_________>\d\d?)\.\s?{year}(?![\w-]|\.\d)",
        rf"\bq(?P<q>[1-4])(?:[\s-]+{year})?\b",
        rf"(?<!\d){year}-?q(?P<q_>[1-4])\b",
        rf"(?<![\d.,/-]){day}\s*(?P<m__________>{thai})\.?(?:{era})?",
        rf"(?P<m___________>{thai})\.?{era}",
        rf"(?P<m____________>{'|'.join(_THAI_MONTHS)})",
        # "in 2000 steps" is no year.
        rf"\b(?:{_IN_A_YEAR})\s+{year}(?![\w/.:-]*\d)(?!\s+(?!was|is|has|does)[a-z]*s\b)",
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


@cache
def _latin_pattern() -> re.Pattern[str]:
    some = "|".join(_apart(wide=False))
    return re.compile(
        rf"(?<!{_LETTER})(?<![./-])(?P<time>{some})(?:['’]s)?(?!{_LETTER}|/|[.-]\w)", re.IGNORECASE
    )


@cache
def _wide_pattern() -> re.Pattern[str]:
    return re.compile(f"(?P<time>{'|'.join(_apart(wide=True))})")


def _apart(*, wide: bool) -> Iterator[str]:
    """The patterns of words in scripts without spaces, or the others, words parted by spaces."""
    apart = {"-?": r"[\s-]*", "-": r"[\s-]+"}
    for pattern in RELATIVE:
        if (_WIDE.search(pattern) is not None) == wide:
            yield re.sub(r"\[[^]]*]|-\??", lambda m: apart.get(m[0], m[0]), pattern)


def nearness(days: Sequence[Days], day: str) -> float:
    """How near ``day`` (ISO) is to one of ``days``: 1 within it, 1.5 where that is a single day.

    A day beside it has 0.75, halved with every 5 days more.
    """
    here, year = _number(day), int(day[:4])
    nearest = 0.0
    for first, last in days:
        if first[0] != "-":
            spans = [(first, last)]
        else:  # every year will do: those around the day's, as far as the calendar has them
            years = range(max(1, year - 1), min(9999, year + 1) + 1)
            spans = [(f"{one}{first}", f"{one}{last}") for one in years]
        within = _OF_ONE_DAY if first == last else 1.0
        for start, end in spans:
            beyond = max(_number(start) - here, here - _number(end), 0)
            near = _BEYOND * 0.5 ** ((beyond - 1) / _HALF_LIFE_DAYS) if beyond else within
            nearest = max(nearest, near)
    return nearest


@lru_cache(maxsize=1024)
def _number(day: str) -> int:
    year, month, number = map(int, day.split("-"))
    return date(year, month, min(number, 28)).toordinal() + max(0, number - 28)
