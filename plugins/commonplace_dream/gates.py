"""The gates: which lines of daily logs are worth keeping, and which kept lines they contradict.

Every decision is a count or a comparison of words, so that the same notes and the same recalls give
the same proposal. A line is proposed if agents recalled it often, on several days, by different
questions, it is not superseded, and it stands on the word of the owner or an agent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonplace.plugin import (
    NUMBER,
    STOP_WORDS,
    NamedTuple,
    fact_of,
    line_digest,
    plain_line,
    without_aside,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from commonplace.plugin import NoteLine, Recalled

_DAILY = re.compile(r"(?:^|/)(\d{4}-\d{2}-\d{2})[^/]*\.md$")
_WORDS = re.compile(r"\w+").findall
_NEGATED = re.compile(r"n['\u2019]t\b", re.IGNORECASE)
# Stop words that change what a line says: another of them corrects it.
_TELLS = """
no nor not off on out in up down over under above below before after until from to all each every
few more most only can could may might must should would was were did will i you he she him her his
we us our they them their my your não ne не нет без sem لا لم
"""
_EMPTY = STOP_WORDS.difference(_TELLS.split())


class Gates(NamedTuple):
    """How often a line must have been recalled."""

    recalls: int = 3
    days: int = 2
    questions: int = 2


USUAL = Gates()


class Step(NamedTuple):
    """One change of the proposal: ``text`` is kept; it takes the place of ``replaces``, if any.

    ``recalled`` says how often the line was recalled, for the person who reviews.
    """

    source: NoteLine
    text: str
    recalled: Recalled
    replaces: NoteLine | None = None


def day_of_log(path: str, folder: str) -> str:
    """The day of a daily log, which is below ``folder``; ``""`` for any other note."""
    return _day(path) if path.startswith(f"{folder}/") else ""


def propose(
    logs: Iterable[NoteLine],
    kept: Sequence[NoteLine],
    recalls: Mapping[str, Recalled],
    *,
    trusted: Callable[[NoteLine], bool],
    gates: Gates = USUAL,
    budget: int = 2000,
) -> list[Step]:
    """The steps that the gates let through, the most recalled first, in ``budget`` characters.

    Of lines that differ in their value alone the newest day counts. It takes the place of the kept
    line that has an older value, or nearly the same words; what is kept already, or is older than
    such a kept line, is not proposed. ``trusted`` is asked last, for lines that passed all else.
    """
    newest: dict[_Fact, tuple[NoteLine, Recalled]] = {}
    seen: dict[_Fact, NoteLine] = {}
    for line in sorted(logs, key=_when):
        fact = _fact(line)
        seen[fact] = line
        recalled = recalls.get(line_digest(line.text))
        if recalled is not None and _passes(recalled, gates):
            newest[fact] = (line, recalled)
    same = {line.text.casefold() for line in kept}
    steps: list[Step] = []
    for fact, (line, recalled) in newest.items():
        current = seen[fact]  # a later log may say another value, and was recalled less
        if current.text.casefold() in same or _is_kept(current, kept):
            continue
        older = _contradicted(current, kept)
        if any(_when(one) > _when(current) for one in older):
            continue
        # Of several it is not clear which one is meant: all stay.
        replaces = older[0] if len(older) == 1 else None
        if trusted(line) and (current is line or trusted(current)):
            steps.append(Step(current, current.text, recalled, replaces))
    steps = _one_for_each_place(steps)
    steps.sort(key=lambda step: (-step.recalled.times, step.source.path, step.source.number))
    return _within(steps, budget)


def never_recalled(kept: Sequence[NoteLine], recalls: Mapping[str, Recalled]) -> list[NoteLine]:
    """The kept lines that no question recalled while the log was on: perhaps stale."""
    return [line for line in kept if line_digest(line.text) not in recalls]


def worded(text: str, wording: str) -> str:
    """``wording``, where a model made it of ``text`` and added no word or number; else ``text``."""
    allowed = {word.casefold() for word in _WORDS(text)} | set(NUMBER.findall(text))
    used = [word.casefold() for word in _WORDS(wording) if len(word) > 3]
    line = plain_line(wording)
    if "\n" in wording.strip() or not line or len(line) > len(text) * 2:
        return text
    return line if allowed.issuperset([*used, *NUMBER.findall(wording)]) else text


def _passes(recalled: Recalled, gates: Gates) -> bool:
    return (
        recalled.times >= gates.recalls
        and len(recalled.days) >= gates.days
        and len(recalled.questions) >= gates.questions
    )


_Fact = tuple[tuple[str, ...], ...]


def _fact(line: NoteLine) -> _Fact:
    """What a line is about; since when or why its value holds is no part of it."""
    return fact_of(without_aside(line.text))


def _words_of(text: str) -> frozenset[str]:
    """The words of a line, without its numbers."""
    plain = _NEGATED.sub(" not", NUMBER.sub(" ", text))
    return frozenset(word.casefold() for word in _WORDS(plain))


def _is_kept(line: NoteLine, kept: Sequence[NoteLine]) -> bool:
    """Whether a kept line has the same numbers, and the same words but for empty ones.

    Since when or why its value holds is not compared.
    """
    text = without_aside(line.text)
    words, numbers = _words_of(text), NUMBER.findall(text)
    others = (without_aside(one.text) for one in kept)
    return any(
        NUMBER.findall(other) == numbers and _meaning(_words_of(other)) == _meaning(words)
        for other in others
    )


def _meaning(words: frozenset[str]) -> frozenset[str]:
    return words - _EMPTY or words


def _contradicted(line: NoteLine, kept: Sequence[NoteLine]) -> list[NoteLine]:
    """The kept lines with another value of the fact; without any, those of nearly its words."""
    fact = _fact(line)
    found = [one for one in kept if _fact(one) == fact]
    if found:
        return found
    words, numbers = _words_of(line.text), NUMBER.findall(line.text)
    return [
        one
        for one in kept
        if NUMBER.findall(one.text) == numbers
        and len(words & _words_of(one.text)) * 5 >= len(words | _words_of(one.text)) * 4
    ]


def _one_for_each_place(steps: Sequence[Step]) -> list[Step]:
    """Of steps that replace the same kept line the newest; all others stay."""
    last: dict[NoteLine, Step] = {}
    for step in steps:
        if step.replaces is not None:
            other = last.get(step.replaces, step)
            last[step.replaces] = max(other, step, key=lambda one: _when(one.source))
    return [step for step in steps if step.replaces is None or last[step.replaces] is step]


def _when(line: NoteLine) -> tuple[str, str, int]:
    """Where in the logs a line stands or was taken from, by day; what is of no log comes first."""
    path, _, number = line.source.rpartition("#L")
    if path and not line.day:
        return _day(path), path, int(number)
    return line.day, line.path, line.number


def _day(path: str) -> str:
    found = _DAILY.search(path)
    return found[1] if found else ""


def _within(steps: Sequence[Step], budget: int) -> list[Step]:
    kept, used = [], 0
    for step in steps:
        size = len(step.text) + len(step.source.citation) + 15
        if used + size <= budget:
            kept.append(step)
            used += size
    return kept
