"""A ranker for the words of time in a question: when, now, after the move.

Days that a question names by themselves ("in May", "last week") are the keyword search's to weigh;
this is about what has no date of its own. Everything here is soft: no hit is dropped.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from commonplace.plugin import (
    STOP_WORDS,
    NamedTuple,
    make_analyser,
    newest_first,
    with_step,
    words_of_now,
)
from commonplace_ranking.adjustments import raised
from commonplace_ranking.patterns import pattern

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Literal

    from commonplace.plugin import Analyser, Candidate, RankContext, StoredChunk

# In English, German, French, Spanish, Italian and Portuguese, then Chinese, Japanese and Korean.
_WHEN = r"""(?ix)
    \b(?: when\ (?:did|do|does|was|were|is|are|will|has|have|had)
        | (?:what|which|on\ what)\ (?:day|date|month|year) | since\ when | how\ long\ ago
        | wann | seit\ wann | an\ welchem\ tag | quand | depuis\ quand | à\ quelle\ date
        | cuándo | en\ qué\ fecha | quando | em\ que\ dia )\b
    | 什么时候 | 什麼時候 | 何时 | 何時 | 哪一?天 | 几号 | いつ(?!も) | 언제 | 며칠
    """
_EVENT = r"(?:the|a|an|my|our|we|i|dem|der|den|die|das|wir|la|le|l'|el|nous|de)"
# A name of a group may stand once: that of the event, and its side, have a number behind them.
_AFTER = rf"""(?ix)
    \b(?P<after1>after|since|following|nach|seit|nachdem|après|depuis|después\ de|desde|depois\ de)
    \ (?:{_EVENT}\ )*(?P<event1>[^,.;:?!]{{2,60}})
    | \b(?P<before2>before|prior\ to|until|vor|bevor|bis\ zu|avant|antes\ de|hasta)
    \ (?:{_EVENT}\ )*(?P<event2>[^,.;:?!]{{2,60}})
    | (?P<event3>[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]{{2,12}}?)
    (?: (?P<after3>之后|之後|以后|以後|の後|以降|\ ?이후|\ 후에?)
        | (?P<before3>之前|以前|の前|\ ?이전|\ 전에?) )
    """
_DATE = r"(?<!\d)((?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?!\d)"
_YEAR = r"\b(?:19|20)\d\d\b"
_MONTHS = (
    "(?:january|jan|february|feb|march|april|apr|may|june|july|august|aug|september|sept?|october"
    "|oct|november|nov|december|dec|januar|februar|märz|mai|juni|juli|oktober|dezember|janvier"
    "|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo"
    "|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)"
)
_DAY_OF_A_MONTH = rf"\b\d\d?(?:st|nd|rd|th|\.)? (?:of |de )?{_MONTHS}\b|\b{_MONTHS} \d\d?\b"
_ENDS = ("", ".", ",", ";", ":", "?", "!", ")")
_NAMES = """
yesterday tomorrow today tonight ago monday tuesday wednesday thursday friday saturday sunday
january february april june july august september october november december
gestern heute morgen vorgestern montag dienstag mittwoch donnerstag freitag samstag sonntag
januar februar märz juni juli oktober dezember hier demain janvier février avril juin juillet août
septembre octobre novembre décembre ayer mañana enero febrero marzo abril junio julio agosto
septiembre octubre noviembre diciembre
"""
_TIME_NAMES = frozenset(name + end for name in _NAMES.split() for end in _ENDS)
_PHRASES = ("last week", "last month", "last year", "last night", "next week", "next month")
_OTHER_TIMES = (
    r"\d\s*[年月일월년]|[昨今明前]天|[上下]个?[周週月]|去年|昨日|明日|先[週月]|어제|오늘|내일|지난"
)
_DEPTH = 10
"""Times the limit: a hit beyond that could not come among the hits that are shown."""

_STEM = 4
_MOST_WORDS = 4


class Anchor(NamedTuple):
    """An event that the query names, as ``typed``, and the ``day`` (ISO) of the line that dates it.

    ``words`` are the beginnings of its words, which the line has.
    """

    words: tuple[str, ...]
    day: str
    after: bool
    typed: str = ""


class TimeWords:
    """Raises the scores of what fits the words of time in the query, by up to ``weight``.

    - ``when``: a question for a time prefers passages that name one (weight), and those of a dated
      note (half of it).
    - ``now``: a question for the present prefers the newest of a series: of the dated passages that
      hold the same words of the query as the best of them, the newest gets the weight, and each
      older one half as much as the one before it.
    - ``after``: "after the move" prefers notes after the day of the best dated line that names the
      move; "before" those before it.

    Scores end at 1. Each of the three can be switched off.
    """

    id = "time_words"
    stage: Literal["adjust"] = "adjust"
    needs: frozenset[str] = frozenset({"dates"})

    def __init__(
        self, weight: float = 0.2, *, when: bool = True, now: bool = True, after: bool = True
    ) -> None:
        if not 0 <= weight <= 1:
            raise ValueError("a weight is 0 to 1")
        self._weight = weight
        self._when = when
        self._now = now
        self._after = after

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Apply what the query asks for."""
        text = context.query.words or context.query.text
        when = self._when and bool(pattern(_WHEN).search(text))
        by_day = series(hits, context) if self._now and words_of_now(text) else {}
        anchor = anchor_of(text, hits) if self._after else None
        if not hits or not (when or by_day or anchor):
            return [with_step(hit, self.id, hit.score, "no words of time") for hit in hits]
        scores = sorted((hit.score for hit in hits), reverse=True)
        least = scores[min(len(scores), _DEPTH * context.limit) - 1]
        ranked = []
        for at, hit in enumerate(hits):
            shares, notes = [], []
            if when and hit.score >= least and (share := _names_a_time(hit.chunk)):
                shares.append(share)
                notes.append("names a time" if share == 1 else "of a dated note")
            if at in by_day:
                shares.append(0.5 ** by_day[at])
                notes.append(f"number {by_day[at] + 1} of its series, by day")
            if anchor is not None and _fits(hit.chunk.day, anchor):
                shares.append(1.0)
                side = "after" if anchor.after else "before"
                notes.append(f"{side} {anchor.typed} ({anchor.day})")
            ranked.append(self._raised(hit, shares, notes))
        return ranked

    def _raised(self, hit: Candidate, shares: Sequence[float], notes: Sequence[str]) -> Candidate:
        if not shares:
            return with_step(hit, self.id, hit.score, "does not fit the words of time")
        factor = 1 + self._weight * max(shares)
        return raised(hit, self.id, factor, ", ".join(notes))


def _names_a_time(chunk: StoredChunk) -> float:
    """1 where the text names a time, one half where only its note is dated, else 0.

    The day of the note itself, which is the heading of a daily log, dates the note.
    """
    text = chunk.text.lower()
    if chunk.day is not None:
        text = text.replace(chunk.day, "")
    words = text.split()
    if not _TIME_NAMES.isdisjoint(words):
        return 1.0
    if ("20" in text or "19" in text) and pattern(_YEAR).search(text):
        return 1.0
    if any(map(str.isdigit, text)) and pattern(_DAY_OF_A_MONTH).search(text):
        return 1.0
    if ("last" in words or "next" in words) and any(phrase in text for phrase in _PHRASES):
        return 1.0
    if not text.isascii() and pattern(_OTHER_TIMES).search(text):
        return 1.0
    return 0.5 if chunk.day is not None else 0.0


def _fits(day: str | None, anchor: Anchor) -> bool:
    if day is None:
        return False
    return day > anchor.day if anchor.after else day < anchor.day


def series(hits: Sequence[Candidate], context: RankContext) -> dict[int, int]:
    """The dated hits that hold the words of the query that the best line holds: 0 is the newest.

    That line is one of the best hit. Stop words and the words of time are not among its words.
    """
    dated = [at for at, hit in enumerate(hits) if hit.chunk.day is not None]
    if not dated:
        return {}
    wanted = {term for term in context.query.keyword.should if term not in STOP_WORDS}
    now = " ".join(words_of_now(context.query.words or context.query.text))
    wanted -= {term for term in wanted if (f" {term}" if term.isascii() else term) in f" {now}"}
    best = min(dated, key=lambda at: (-hits[at].score, hits[at].chunk.path, str(hits[at].chunk.id)))
    words = _of_one_line(wanted, hits[best].chunk)
    if not words:
        return {}
    alike = [at for at in dated if words <= set(hits[at].chunk.body.split())]
    days = sorted({hits[at].chunk.day for at in alike}, key=newest_first)
    return {at: days.index(hits[at].chunk.day) for at in alike}


def _of_one_line(wanted: Collection[str], chunk: StoredChunk) -> set[str]:
    """The most of ``wanted`` that a line of ``chunk`` holds."""
    lines = chunk.text.split("\n")
    bodies = [_analyser().chunk(line).body for line in lines] if len(lines) > 1 else [chunk.body]
    return max((set(wanted).intersection(body.split()) for body in bodies), key=len)


@cache
def _analyser() -> Analyser:
    return make_analyser()


def anchor_of(text: str, hits: Sequence[Candidate]) -> Anchor | None:
    """The event that ``text`` names after "after" or "before", if a dated line of a hit names it.

    A line is dated by an ISO date in it, or else by the day of its note. Of several the one of the
    best hit counts, of that the first.
    """
    match = pattern(_AFTER).search(text)
    if match is None:
        return None
    groups = {name.rstrip("123"): value for name, value in match.groupdict().items() if value}
    words, typed = _event_words(groups["event"])
    order = sorted(hits, key=lambda hit: (-hit.score, hit.chunk.path, hit.chunk.start_line))
    for hit in order if words else ():
        for line in hit.chunk.text.split("\n"):
            lowered = line.lower()
            if all(word in lowered for word in words):
                date = pattern(_DATE).search(line)
                day = date[1] if date else hit.chunk.day
                if day:
                    return Anchor(words, day, "after" in groups, typed)
    return None


def _event_words(event: str) -> tuple[tuple[str, ...], str]:
    """The beginnings of the first words of an event, and these words as they stand in it.

    "moved to Berlin" is found by "move" and "berl".
    """
    matches = list(re.finditer(r"[^\W_]+", event))
    matches = ([match for match in matches if len(match[0]) > 2] or matches)[:_MOST_WORDS]
    words = [match[0].lower() for match in matches]
    typed = event[matches[0].start() : matches[-1].end()] if matches else ""
    return tuple(
        word if not word.isascii() else word[: max(_STEM, len(word) - 2)] for word in words
    ), typed
