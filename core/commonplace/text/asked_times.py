"""What a query asks of the times that it names: for which days, and for what else.

:func:`read_times` has :mod:`commonplace.text.days` find the times. Here is the last of the passes
that are listed there: it adds days to come, for "on Monday" the next one.

Imported only for a query that may name a time; see :func:`may_name_days` in ``time_hints.py``.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from commonplace.text.dates import ANY_DAY_OF_MONTH, IN_SOME_DAYS, LAST_WEEKDAY, match_of
from commonplace.text.day_spans import Time, is_yearly
from commonplace.text.days import days_of_times, times_of, without
from commonplace.text.languages import composed
from commonplace.text.query import ParsedQuery
from commonplace.text.questions import STOP_WORDS
from commonplace.text.tenses import (
    PAST_VERBS,
    PLANNED,
    PRESENT,
    asks_for_habit,
    habits_in,
    is_foreseen,
    is_habit_of_a_weekday,
    next_asked,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.model.search import KeywordQuery
    from commonplace.text.analyse import Analyser
    from commonplace.text.day_spans import Days

_WEEK, _LONGEST_MONTH = 7, 31  # days
_WORD = r"[^\W_]+"

# The words of questions for a time alone, beside stop words.
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
произошло заметки steht stehen an vor on coming upcoming up will schedule doing machen mache macht
tun wird kommt passiert läuft hacemos hago hay vamos voy hacer viene pasa facciamo faccio fare
programmi programma viene succede temos fazemos faço vou fazer marcado está há tem acontece faisons
allons faire va vais quoi programme y будет будем делаем делать предстоит есть какие che per
"""
# Those of what is to be done at a time: what names a day and has one of them comes first.
_TASKS_WORDS = """
due deadline deadlines plans planned scheduled appointments agenda fällig geplant termine pläne
frist fristen planes citas impegni appuntamenti planos compromissos prévu prévus planifié échéances
vencimientos plazos scadenze prazos планы запланировано дела сроки
"""
_TASKS = frozenset(_TASKS_WORDS.split())
_ASKING = frozenset(_ASKING_WORDS.split()) | _TASKS
_ASKING_WIDE = re.compile(
    "(?:发生|發生|做|干|幹|了|过|過|什么|什麼|啥|哪些|事情|事|情况|我们|我們|我|都|的|在|有|些|呢|吗|嗎|是|里"
    "|记录|記錄|笔记|筆記|日志|日誌|日记|日記|工作|忙|进展|進展"
    "|安排|计划|計劃|打算|要|将|會|会|活动|活動|行程|日程"
    "|何|なに|を|した|して|しました|いた|の|は|が|に|で|と|も|あった|ありました|起きた|起こった|出来事|こと|か|私|メモ"
    "|やった|やりました|記録|ノート|作業|予定|する|します|ある|あります|教えて|スケジュール"
    "|뭐|뭘|무엇|무슨|어떤|일|을|를|이|가|은|는|의|에|했지|했어|했나|했나요|했는지|했습니까|했|한|하|있었|었|나|내|우리|어|지|요"
    "|일어났|메모|노트|기록|일정|예정|계획|할|있|나요|니)+"
)


def read_times(
    parsed: ParsedQuery, analyser: Analyser, today: Callable[[], date]
) -> tuple[KeywordQuery, tuple[str, ...]]:
    """The analysed query with the days of its times; and the rest of its texts.

    Words for times that are seen from today ("last week") are searched for only where they are
    quoted: no note says them of the days that are meant. A question for a time alone asks for what
    is of its days. The words of a query are analysed once.
    """
    texts = tuple(map(composed, parsed.words))
    times_by_text = [_times_in(text, today) for text in texts]
    days = days_of_times(time for times in times_by_text for time in times)
    if not days:
        keyword, rest = _of_next(analyser.query(parsed), texts, analyser, today)
        return keyword, (*rest, *parsed.phrases)
    texts_and_times = list(zip(texts, times_by_text, strict=True))
    rest = tuple(without(text, times) for text, times in texts_and_times)
    alone = not parsed.phrases and not any(map(_asks_for_more, rest))
    coming = _names_of_coming(days, today(), analyser)
    ahead = bool(coming) and is_foreseen(" ".join(texts), alone=alone)
    foreseen = today().isoformat() if ahead else ""
    if alone:
        in_notes = " ".join(
            word
            for text, times in texts_and_times
            for time in times
            for word in _said(time, text, alone=True).split()
            if word.lower() not in STOP_WORDS
        )
        asked = re.findall(_WORD, " ".join(rest).lower())
        tasks = " ".join(word for word in asked if word in _TASKS and foreseen)
        in_notes = f"{in_notes} {tasks}".strip()
        keyword = analyser.query(parsed._replace(words=(in_notes,) if in_notes else ()))
        if tasks:  # no note need have them
            instead = frozenset(_tokens(tasks, (), analyser)[1])
            keyword = keyword._replace(beside=keyword.beside | instead, instead=instead)
        return keyword._replace(days=days, listed=True, coming=coming, foreseen=foreseen), ()
    said = [(_as_said(text, times), times) for text, times in texts_and_times]
    keyword = analyser.query(parsed._replace(words=tuple(text for text, _ in said)))
    # Nothing is missing where a note of the day does not name it.
    tokens = [_tokens(text, times, analyser) for text, times in said]
    in_times, others = (set[str]().union(*some) for some in zip(*tokens, strict=True))
    timed = in_times.intersection(keyword.should) - others - keyword.beside
    instead, beside = keyword.beside, keyword.beside | timed
    if any(map(_has_digit, timed)):  # a date, in whichever order its numbers are
        timed = set()
    keyword = keyword._replace(days=days, beside=beside, timed=frozenset(timed), coming=coming)
    return keyword._replace(instead=instead, foreseen=foreseen), (*rest, *parsed.phrases)


def _of_next(
    keyword: KeywordQuery, texts: Sequence[str], analyser: Analyser, today: Callable[[], date]
) -> tuple[KeywordQuery, Sequence[str]]:
    """``keyword`` of a query without a time; of "when is the next …" as one for what will be.

    And of "what do I do on Mondays" as one for what is again and again. Also ``texts`` without the
    word that says so: no note need have it.
    """
    for at, text in enumerate(texts):
        again = asks_for_habit(text) and is_habit_of_a_weekday(text)
        asked = None if again else next_asked(text)
        if again or asked:
            spans = [asked] if asked else habits_in(text)
            said = [Time(start, end, ("", ""), True) for start, end in spans]
            beside = keyword.beside | _tokens(text, said, analyser)[0]
            foreseen = today().isoformat() if asked else ""
            rest = (*texts[:at], without(text, said), *texts[at + 1 :])
            return keyword._replace(beside=beside, foreseen=foreseen, again=again), rest
    return keyword, texts


def _tokens(text: str, times: Sequence[Time], analyser: Analyser) -> tuple[set[str], set[str]]:
    """The tokens of ``text`` that stand in ``times``, and the others."""
    in_times, others = set[str](), set[str]()
    for start, end, tokens in analyser.spans(text):
        in_time = any(start < time.end and time.start < end for time in times)
        (in_times if in_time else others).update(" ".join(tokens).split())
    return in_times, others


def _times_in(text: str, today: Callable[[], date]) -> list[Time]:
    """The times that ``text`` names, each with the particle behind it.

    Those beside "since" and its like are spans, and for "on Monday" the next one is there, too.
    """
    times = times_of(text, today, asked=True)
    if times and asks_for_habit(text):  # "what do I usually do on Monday" is of no Monday
        times = [time for time in times if not _is_weekday(time, text)]
    if not times:
        return times
    from commonplace.text.open_spans import may_have_some, open_spans

    past = PAST_VERBS.search(text) is not None
    planned = not past and PLANNED.search(text) is not None
    coming = planned or (not past and PRESENT.search(text) is not None)
    if may_have_some(text):
        times = open_spans(times, text, today(), past=past, coming=coming)
    times = _with_days_to_come(times, text, today(), past=past, coming=coming, planned=planned)
    return [_with_particle(time, text) for time in times]


def _is_weekday(time: Time, text: str) -> bool:
    words = "-".join(text[time.start : time.end].lower().split())
    return time.words is None and match_of(LAST_WEEKDAY, words) is not None


def _said(time: Time, text: str, *, alone: bool = False) -> str:
    """The words of ``time`` that notes may have; ``alone``: where they are all that is asked."""
    if time.words is not None and (alone or not time.seen_from_today):
        return time.words
    return "" if time.seen_from_today else text[time.start : time.end]


def _as_said(text: str, times: Sequence[Time]) -> str:
    """``text`` with only such words of its ``times`` as notes may have."""
    for time in sorted(times, key=lambda time: -time.start):
        said = _said(time, text)  # of two times by the same words, the second finds these gone
        blank = " " * (time.end - time.start - len(said))
        text = text[: time.start] + said + blank + text[time.end :]
    return text


# What stands behind a time and says nothing: "지난주에", "先週の会議", "上周的会议", "2025 года".
_PARTICLE = (
    r"\s?(?:한\s?달)?\s?(?:동안|사이|(?<=달))(?:에|의)?(?![가-힣])"
    r"|(?:에서|에는|에도|에|의|은|는|이|가|을|를|도|부터|까지|쯤|경)(?![가-힣])"
    r"|(?:には|の|に|は|も)(?![ぁ-ゖ])|(?:份(?![量额額子])[的里裡]?|[的里裡])(?![士确確])|\s(?:год[ау]?|г\.)(?!\w)"
)


def _with_particle(time: Time, text: str) -> Time:
    """``time`` with the particle behind it in ``text``: no note is asked for that alone."""
    if text.isascii():
        return time
    particle = re.compile(_PARTICLE).match(text, time.end)
    return time._replace(end=particle.end()) if particle else time


_has_digit = re.compile(r"\d").search


def _with_days_to_come(
    times: list[Time], text: str, today: date, *, past: bool, coming: bool, planned: bool
) -> list[Time]:
    """``times``, each "on Monday" with the next one behind it, unless ``text`` asks for what was.

    "On the 23rd" is treated alike, and "in December" where that begins within a month. "In two
    days" is a time only where ``text`` asks for what will be, or says nothing or little else.
    """
    result: list[Time] = []
    for time in times:
        if time.words is not None:  # a span
            result.append(time)
            continue
        words = "-".join(text[time.start : time.end].lower().split())
        if match_of(IN_SOME_DAYS, words) and not coming:
            rest = text[: time.start] + text[time.end :]
            if past or not _is_only_an_appointment(words, rest):
                continue
            if _asks_for_more(rest):  # its words are searched for, too
                result.append(time._replace(seen_from_today=False))
                continue
        result.append(time)
        if is_yearly(time.days[0]) and not past:
            if soon := _soon(time.days, today, planned=planned):
                result.append(time._replace(days=soon))
            continue
        of_a_week = sum(time.days == other.days for other in times) > 1  # "on Monday last week"
        if not (past or of_a_week or is_yearly(time.days[0])):
            first, last = map(date.fromisoformat, time.days)
            if ahead := _ahead(first, last, words):
                days = (first + ahead).isoformat(), (last + ahead).isoformat()
                result.append(time._replace(days=days))
    return result


# Of days only such numbers: "in 30 days" is how long something takes.
_APPOINTED = (
    {"in", "dans", "en", "fra", "tra", "em", "daqui", "dentro"},
    ("week", "woche", "semain", "semana", "settiman", "month", "monat", "mois", "mes"),
    ("day", "tag", "jour", "día", "dia", "giorn"),
    {"8", "10", "14", "15"},
)
_LASTING = re.compile(r"\b(?:expir|renew|tak|last|finish|learn|within|abl[aä]uf|dauer|caduc|scad)")
_MOST_BESIDE = 2
"""Words beside the time of an appointment, "concert in two weeks"."""


def _is_only_an_appointment(words: str, rest: str) -> bool:
    """Whether a text says "in two weeks", as the ``words`` of a time, and little else."""
    *before_it, number, unit = ("", *words.split("-"))
    before, long_units, days, numbers_of_days = _APPOINTED
    if before.isdisjoint(before_it) or not (
        unit.startswith(long_units)
        or (unit.startswith(days) and (number.isalpha() or number in numbers_of_days))
    ):
        return False
    typed = re.findall(_WORD, rest.lower())
    telling = [word for word in typed if word not in STOP_WORDS]
    few = len(typed) <= 2 * _MOST_BESIDE and len(telling) <= _MOST_BESIDE
    return few and _LASTING.search(rest.lower()) is None


def _soon(days: Days, today: date, *, planned: bool) -> Days | None:
    """The next of ``days`` of every year, if they begin within 31 days; not those that last.

    Where plans are asked for, those that last and those further ahead, too.
    """
    for year in (today.year, today.year + 1):
        first, last = (_day_of(year, day) for day in days)
        if first <= today <= last and not planned:
            return None
        if last >= today:
            near = planned or first - today <= timedelta(_LONGEST_MONTH)
            return (first.isoformat(), last.isoformat()) if near else None
    return None


def _day_of(year: int, day: str) -> date:
    """That ``day`` of every year in ``year``: of 29 February, the 28th where there is no other."""
    month, number = int(day[1:3]), int(day[4:])
    return date(year, month, min(number, monthrange(year, month)[1]))


def _ahead(first: date, last: date, words: str) -> timedelta | None:
    """How far ahead the next time is that ``words`` may mean too; ``None``: they mean no other."""
    weekday = match_of(LAST_WEEKDAY, words, whole=False)
    if weekday is not None:
        behind = words[weekday.end() :]  # "last", or a date, names one day; "to Friday" several
        if behind in ("", "'s", "’s") if first == last else behind:
            return timedelta(_WEEK)
    if first == last and match_of(ANY_DAY_OF_MONTH, words):
        steps = map(timedelta, range(1, 2 * _LONGEST_MONTH + 1))
        return next(step for step in steps if (last + step).day == last.day)
    return None


def _names_of_coming(days: tuple[Days, ...], today: date, analyser: Analyser) -> tuple[str, ...]:
    """Tokens of texts that may name those of ``days`` that are yet to come."""
    to_come = tuple(span for span in days if not is_yearly(span[0]) and span[1] > today.isoformat())
    if not to_come:
        return ()
    from commonplace.text.day_names import spelled_out

    return _analysed(spelled_out(to_come), analyser.query)


@lru_cache(maxsize=32)  # they are many to analyse, and "tomorrow" is asked for again and again
def _analysed(words: str, analyse: Callable[[ParsedQuery], KeywordQuery]) -> tuple[str, ...]:
    return analyse(ParsedQuery("", (words,))).should


def _asks_for_more(text: str) -> bool:
    """Whether ``text`` has a word that a question for a time alone has not."""
    words = re.findall(_WORD, text.lower())
    return not all(
        word in STOP_WORDS or word in _ASKING or _ASKING_WIDE.fullmatch(word) for word in words
    )
