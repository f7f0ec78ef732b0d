"""The lines of a note that say something by themselves.

Plugins that compare what notes say (proposals of lines to keep, audits, drafts of queries) share
one reading of them: what is outside front matter and code, which lines are facts, and which were
superseded. Which part of such a line is its value: :mod:`commonplace.text.values`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+|^\s*#{1,6}\s+")
_BESIDE = re.compile(r"<!--.*?-->|\(Source: [^()]*\)\s*$")
_SUPERSEDED = re.compile(r"~~(.*?)~~\s*\(superseded (\d{4}-\d{2}-\d{2})?", re.DOTALL)
_NO_FACT = re.compile(r"^\s*(?:#{1,6}\s|```|~~~|>|\||---|<!--)")
_FENCES = ("```", "~~~")
_SOURCE = re.compile(r"\(Source: ([^()]*)#L(\d+)\)\s*$")
_SHORTEST = 12  # characters of a line that can say something by itself
_LONGEST_SUCCESSOR = 80
"""Characters of the successor that a superseded text names."""


class NoteLine(NamedTuple):
    """One line of a note; ``day`` is that of its daily log, ``""`` for another note.

    ``number`` is 1-based, as in citations; ``text`` is without marks of lists, comments and source.
    ``source`` cites the line of a log that it was taken from, if it says so.
    """

    path: str
    number: int
    text: str
    day: str = ""
    source: str = ""

    @property
    def citation(self) -> str:
        """``path#L3``."""
        return f"{self.path}#L{self.number}"


def plain_line(line: str) -> str:
    """``line`` without marks of lists and headings, comments, its source, and needless spaces."""
    if "<!--" in line or "(Source: " in line:
        line = _BESIDE.sub("", line)
    mark = _LIST_MARK.match(line)
    return " ".join(line[mark.end() if mark else 0 :].split())


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    r"""Number (1-based) and text of each line outside front matter and fenced code.

    They are counted as citations count them: only ``\n`` ends a line. Front matter and code that do
    not end are none and reach to the end of the note, respectively.
    """
    lines = text.split("\n")
    start = 0
    if lines[0].rstrip() in ("---", "+++"):
        ends = {lines[0].rstrip(), "..."} if lines[0][0] == "-" else {lines[0].rstrip()}
        start = next((at for at, line in enumerate(lines[1:], 2) if line.rstrip() in ends), 0)
    fence = ""
    for number, line in enumerate(lines[start:], start + 1):
        words = line.strip()
        if fence:
            # As long a mark ends it, with nothing behind: a longer fence may hold shorter ones.
            fence = "" if words.startswith(fence) and not words.strip(fence[0]) else fence
        elif words.startswith(_FENCES) and (words[0] == "~" or "`" not in words.lstrip("`")):
            fence = words[: len(words) - len(words.lstrip(words[0]))]
        else:
            yield number, line.removesuffix("\r")


def facts(path: str, text: str, day: str = "") -> list[NoteLine]:
    """The lines of a note that say something by themselves.

    Headings, quotes, code, tables, lines that are superseded, and those of fewer than 12
    characters say nothing by themselves.
    """
    found = []
    for number, line in prose_lines(text):
        if not _NO_FACT.match(line) and not _SUPERSEDED.search(line):
            plain = plain_line(line)
            if len(plain) >= _SHORTEST:
                cited = _SOURCE.search(line)
                source = f"{cited[1]}#L{cited[2]}" if cited else ""
                found.append(NoteLine(path, number, plain, day, source))
    return found


def superseded_mark(day: str, successor: str) -> str:
    """What stands behind a text that is struck out (``~~old~~``) since ``successor`` replaced it.

    ``(superseded 2026-11-01 by: new…)``; :func:`superseded_in` and :func:`successor_in` read it.
    """
    words = " ".join(successor.split())
    words = words if len(words) <= _LONGEST_SUCCESSOR else f"{words[: _LONGEST_SUCCESSOR - 1]}…"
    return f"(superseded {day} by: {words})"


def superseded_in(text: str) -> tuple[str, str] | None:
    """What of ``text`` is struck out as superseded, and the day, ``""`` where none is named.

    ``None`` where nothing has the mark; one that was written by hand may lack the day.
    """
    found = _SUPERSEDED.search(text)
    return None if found is None else (found[1], found[2] or "")


def successor_in(line: str) -> str | None:
    """How the text that replaced ``line`` begins, by the mark at its end; ``None`` without one."""
    found = _successor().search(line)
    return None if found is None else found[1]


@cache
def _successor() -> re.Pattern[str]:
    return re.compile(r"\(superseded \S+ by: (.*?)…?\)[ \t\r]*\Z")


_LEAST_ITEMS = 5
_SHORT = 3  # letters of a stem that is left as it is
_BULLETS = ("- ", "* ")
_BESIDE_ITEMS = "-* \t`_\"'“[("


def item_about(
    text: str, tokens: Iterable[str], weights: Mapping[str, float]
) -> tuple[list[str], float]:
    """Which of ``tokens`` the best item of a list has, and its share (0..1) of ``text``.

    It is an item that begins with one of them ("- Plumber: Ilhan Koç"), with the most by weight;
    of equal ones the shortest. None, and 0, where less than half of the lines are items, or fewer
    than five. An item has a token where a word begins with its letters.
    """
    # In this order, as most texts have no items.
    items = (text.count("\n- ") or text.count("\n* ")) + text.startswith(_BULLETS)
    if items < _LEAST_ITEMS or 2 * items <= text.count("\n"):
        return [], 0.0
    lowered = text.lower()
    tokens_by_line: dict[int, list[str]] = {}
    begun = set[int]()
    for token in tokens:
        # The stemmer makes "polici" of "policy".
        letters = token[:-1] if token.endswith("i") and len(token) > _SHORT else token
        at = _word_with(letters, lowered, 0)
        while at >= 0:
            start = lowered.rfind("\n", 0, at) + 1
            tokens_by_line.setdefault(start, []).append(token)
            if lowered.startswith(_BULLETS, start) and not lowered[start:at].strip(_BESIDE_ITEMS):
                begun.add(start)
            end = lowered.find("\n", at)
            at = _word_with(letters, lowered, end) if end >= 0 else -1
    best, most, share = list[str](), 0.0, 0.0
    for start in sorted(begun):
        weight = sum([weights[token] for token in tokens_by_line[start]])
        length = len(lowered[start:].partition("\n")[0]) / len(lowered)
        if weight > most or (weight == most and length < share):
            best, most, share = tokens_by_line[start], weight, length
    return best, share


def _word_with(letters: str, text: str, start: int) -> int:
    """Where from ``start`` on a word begins with ``letters``, or -1; in other scripts, anywhere."""
    at = text.find(letters, start)
    while at > 0 and letters.isascii() and text[at - 1].isalnum():
        at = text.find(letters, at + 1)
    return at
