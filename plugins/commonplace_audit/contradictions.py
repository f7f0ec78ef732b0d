"""Finds facts that two notes state with different values, and facts that were superseded elsewhere.

The aim is few false alarms. A fact counts only if its value stands after "is", "are", "=" or ":",
its subject has two words of its own at least, and no note has two values for it. Two notes without
a day may each be about a subject of their own, and need more. What changes from day to day
(measurements, what happened "today") is no contradiction.
"""

from __future__ import annotations

import re
from shlex import quote
from typing import TYPE_CHECKING

from commonplace.plugin import (
    NamedTuple,
    NoteLine,
    WriteRefusedError,
    own_words,
    plain_line,
    prose_lines,
    split_lines,
    statement_of,
    superseded,
    superseded_in,
    without_aside,
)
from commonplace_audit.findings import AuditFinding, NoteEdit, argument, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from commonplace_audit.findings import AuditedNote

_MOST_VALUES = 3  # of one fact: what has more is a series, such as a weight or a price
_OWN_WORDS_OF_NOTES = 3  # of a subject, where two notes of subjects of their own are compared
_VAGUE = "default main name project version number type size total"
_OF_ANYTHING = frozenset(_VAGUE.split())  # words that need a note's subject to be specific
_OF_THE_DAY = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|this|last|next|morning|evening|afternoon|night|week|"
    r"month|here|now|currently|current|latest|yet|still|todo|done|met|talked|called|asked|said|"
    r"attendees|agenda|topic|mood|weather|weight|steps|sleep|slept|lunch|dinner|breakfast|spent|"
    r"paid|bought|ran|walked|score|temperature|progress|status|heute|gestern|morgen)\b",
    re.IGNORECASE,
)
# What was done on a day: "Updated the dependencies of the proxy: 87 packages".
_EVENT = re.compile(
    r"(?:[a-z]{2,}ed|built|made|sent|set|took|wrote)\s+(?:the|an?|all|my|our)\s"
    r"(?!.*\b(?:is|are)\s)",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\A(?:the|an?)\s+(?=\S)")
_HOUR = re.compile(r"\b0(?=\d:\d\d\b)")
_VERSION = re.compile(r"\Av(?=\d)")


class Stated(NamedTuple):
    """A line, the fact that it states, and the value that it gives."""

    line: NoteLine
    fact: tuple[object, ...]
    value: str


def contradictions(notes: Sequence[AuditedNote]) -> Iterator[AuditFinding]:
    """For each fact with several values: the newest statement against those before it."""
    by_path = {note.path: note for note in notes}
    stated: dict[tuple[object, ...], list[Stated]] = {}
    for note in notes:
        for line in note.facts:
            if (one := statement(line)) is not None:
                stated.setdefault(one.fact, []).append(one)
    for those in stated.values():
        if _differ(those):
            yield from _against_the_newest(those, by_path)


def statement(line: NoteLine) -> Stated | None:
    """The fact that ``line`` states and its value; ``None`` if it states none that can be compared.

    What changes from day to day cannot, nor what was done: see
    :func:`commonplace.plugin.statement_of` for the rest.
    """
    text = without_aside(line.text)
    passing = _OF_THE_DAY.search(text) or _EVENT.match(text)
    found = None if passing else statement_of(text)
    return None if found is None else Stated(line, *found)


def restated(notes: Sequence[AuditedNote]) -> Iterator[AuditFinding]:
    """Lines that were superseded in one note and are still stated in another, or in the same."""
    old: dict[str, tuple[str, str]] = {}
    for note in notes:
        for number, line in prose_lines(note.text):
            struck, day = superseded_in(line) or ("", "")
            if struck and day:
                old[_folded(struck)] = day, f"{note.path}#L{number}"
    if not old:
        return
    for note in notes:
        for fact in note.facts:
            since, where = old.get(_folded(fact.text), ("", ""))
            if since and not (note.day and note.day <= since):  # a log says what was true then
                yield AuditFinding(
                    "stale",
                    "warning",
                    fact.citation,
                    f"{quoted(fact.text)} was superseded on {since} in {where}",
                    f'commonplace correct {argument(fact.citation)} "…" with what is true now',
                    (where,),
                    _marked(note, fact.number, since, where),
                )


def compared(value: str) -> str:
    """``value`` without what makes no other value: case, an article, v20, the zero of 09:00."""
    return _HOUR.sub("", _VERSION.sub("", _ARTICLE.sub("", value.casefold())))


def _differ(those: Sequence[Stated]) -> bool:
    values = {compared(one.value) for one in those}
    if not 1 < len(values) <= _MOST_VALUES:
        return False
    of_note: dict[str, str] = {}
    return all(
        of_note.setdefault(one.line.path, compared(one.value)) == compared(one.value)
        for one in those
    )


def _against_the_newest(
    those: list[Stated], by_path: Mapping[str, AuditedNote]
) -> Iterator[AuditFinding]:
    *before, newest = sorted(those, key=lambda one: (_day(one.line), one.line.path))
    since = _day(newest.line)
    # Lines without a day come first: an agent takes them to hold now, so each has to be corrected.
    # Of the logs with a value one is enough, and none is needed beside such a line.
    before.sort(key=lambda one: bool(one.line.day), reverse=True)
    reported: set[str] = set()
    for older in reversed(before):
        undated = not older.line.day
        outdated = undated and bool(since)
        if _is_part(older.value, newest.value):
            continue
        if compared(older.value) in reported and not outdated:
            continue
        if undated and not outdated and not _is_specific(older, newest):
            continue
        reported.add(compared(older.value))
        says = f"{quoted(older.line.text)}; {newest.line.citation} says {quoted(newest.line.text)}"
        if outdated:
            yield AuditFinding(
                "contradiction",
                "warning",
                older.line.citation,
                f"{says} ({since})",
                f"if the newer holds: commonplace correct {argument(older.line.citation)} "
                f"--supersede --since {since} {_as_text(newest.line.text)}",
                (newest.line.citation,),
                _superseded(by_path[older.line.path], older.line.number, since, newest.line),
            )
        elif undated:
            yield AuditFinding(
                "contradiction",
                "warning",
                older.line.citation,
                f"{says}; neither has a day",
                f"correct the one that is wrong: commonplace correct "
                f"{argument(older.line.citation)}, or {argument(newest.line.citation)}",
                (newest.line.citation,),
            )
        else:
            yield AuditFinding(
                "contradiction",
                "info",
                older.line.citation,
                f"{says}, which is newer",
                "a log keeps what was true on its day: write what holds now to MEMORY.md",
                (newest.line.citation,),
            )


def _as_text(text: str) -> str:
    """``text`` as an argument, in the quotes that leave a shell nothing to read in it."""
    return quote(text) if re.search(r'["$`\\!]', text) else f'"{text}"'


def _is_part(one: str, other: str) -> bool:
    """Whether one value begins with the other, and says more of the same."""
    words, others = compared(one).split(), compared(other).split()
    shared = min(len(words), len(others))
    return words[:shared] == others[:shared]


def _is_specific(one: Stated, other: Stated) -> bool:
    """Whether a subject is likely the same in two notes without a day.

    ``MEMORY.md`` is about everything. Another note may mean "of what this note is about": two
    words are enough only if it lies beside MEMORY.md or in ``memory/`` itself, and none is vague.
    """
    own = own_words(re.sub(re.escape(one.value), " ", one.line.text))
    if len(own) >= _OWN_WORDS_OF_NOTES:
        return True
    paths = one.line.path, other.line.path
    return (
        "MEMORY.md" in paths
        and all("/" not in path.removeprefix("memory/") for path in paths)
        and bool(own)
        and not own & _OF_ANYTHING
    )


def _day(line: NoteLine) -> str:
    """The day of a line: that of its log, or of the log that it was taken from."""
    found = re.search(r"\d{4}-\d{2}-\d{2}", line.source)
    return line.day or (found[0] if found else "")


def _superseded(note: AuditedNote, number: int, since: str, newest: NoteLine) -> NoteEdit | None:
    """The change that strikes a line out, with the newest one and its source below it."""
    new = f"{newest.text} (Source: {newest.citation})"
    struck = _struck(note, number, since, new)
    return NoteEdit(note.path, number, number, "".join(struck)) if struck else None


def _marked(note: AuditedNote, number: int, since: str, where: str) -> NoteEdit | None:
    """The change that strikes a line out, with where it was superseded."""
    struck = _struck(note, number, since, f"see {where}")
    return NoteEdit(note.path, number, number, struck[0]) if struck else None


def _struck(note: AuditedNote, number: int, since: str, new: str) -> list[str]:
    """A line struck out as superseded ``since`` a day, and ``new`` below it.

    No lines where that would break the Markdown of the note.
    """
    lines = split_lines(note.text)
    end = "\r\n" if lines[number - 1].endswith("\r\n") else "\n"
    try:
        changed = superseded(lines, number - 1, number, new, day=since, end=end)
    except WriteRefusedError:
        return []
    return changed[number - 1 : len(changed) - len(lines[number:])]


def _folded(text: str) -> str:
    return plain_line(text).rstrip(" .").casefold()
