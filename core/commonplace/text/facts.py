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
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+|^\s*#{1,6}\s+")
_BESIDE = re.compile(r"<!--.*?-->|\(Source: [^()]*\)\s*$")
_SUPERSEDED = re.compile(r"~~(.*?)~~\s*\(superseded (\d{4}-\d{2}-\d{2})?", re.DOTALL)
_NO_FACT = re.compile(r"^\s*(?:#{1,6}\s|```|~~~|>|\||---|<!--)")
_FENCES = ("```", "~~~")
_SOURCE = re.compile(r"\(Source: ([^()]*)#L(\d{1,9})\)\s*$")
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
    return None if found is None else found[1].replace(r"\|", "|")


@cache
def _successor() -> re.Pattern[str]:
    return re.compile(r"\(superseded \S+ by: (.*?)…?\)[ \t\r|]*\Z")


_MARKS = re.compile(r"(?:[^\S\n]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=\s)(?:\s+\[[ xX]\](?=\s))?))*\s*")
_QUOTE = re.compile(r"(?:[^\S\n]{0,3}>[ \t]?)*")
_CELL = re.compile(r"(?<!\\)\|")  # between two cells of a table
_DELIMITERS = re.compile(r"\s{0,3}(?=[^|]*\|)\|?(?:\s*:?-+:?\s*\|)*(?:\s*:?-+:?)?\s*$")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-+)\s*$")
_OTHER_BLOCK = re.compile(r"\s{0,3}(?:#{1,6}\s|>|[-*+]\s|\d{1,9}[.)]\s|```|~~~|<)")
_UNSTRIKABLE = (
    ("a heading", re.compile(r"#{1,6}\s")),
    ("code", re.compile(r"```|~~~")),
    ("a line of marks", re.compile(r"[=\-*_|:>\s]+$")),
    ("HTML", re.compile(r"<(?:[!?]|/?[A-Za-z][\w-]*[\s/>])")),
    ("the target of links", re.compile(r"\[[^\]]+\]:\s")),
)


def quote_of(text: str) -> str:
    """The marks of a quote (``> ``) that ``text`` begins with, or ``""``."""
    found = _QUOTE.match(text)
    return found[0] if found else ""


def struck_out(line: str, mark: str, *, row: bool) -> str:
    """``line`` without its end, struck out, with ``mark`` behind its text.

    A ``row`` of a table is struck out cell by cell, and has the mark in its last one.
    """
    line = line.rstrip()
    if not row:
        found = _MARKS.match(line)
        text = line[found.end() :] if found else line
        lead = line[: len(line) - len(text)]
        return f"{lead}{_struck(text)}{mark and ' '}{mark}" if text else line
    cells = _CELL.split(line)
    filled = [at for at, cell in enumerate(cells) if cell.strip()]
    for at in filled:
        cell = cells[at].strip()
        marked = f" {mark}" if mark and at == filled[-1] else ""
        cells[at] = cells[at].replace(cell, _struck(cell) + marked)
    return "|".join(cells)


def _struck(text: str) -> str:
    """``~~text~~``, whose ends are escaped where they would join these marks."""
    if text.startswith("~"):
        text = f"\\{text}"
    if text.endswith("~"):
        text = rf"{text[:-1]}\~"
    elif (len(text) - len(text.rstrip("\\"))) % 2:
        text += "\\"
    return f"~~{text}~~"


def unstrikable(
    lines: Sequence[str], said: Sequence[int], rows: frozenset[int]
) -> Iterator[tuple[int, str]]:
    """Which of the positions ``said`` cannot be struck out without breaking Markdown, and why."""
    prose = {number - 1 for number, _ in prose_lines("".join(lines))}
    for number in said:
        line, below = lines[number], "".join(lines[number + 1 : number + 2])
        found = _MARKS.match(line)
        text = line[found.end() :] if found else line
        if number not in prose:
            yield number, "code or front matter"
        elif number in rows:
            continue
        elif "|" in line and _DELIMITERS.match(below):
            yield number, "the head of a table"
        elif text == line.lstrip() and _UNDERLINE.match(below):
            yield number, "a heading"
        else:
            kinds = (kind for kind, form in _UNSTRIKABLE if form.match(text or line))
            yield from ((number, kind) for kind in kinds)


def struck_already(lines: Sequence[str], said: Sequence[int]) -> tuple[str, str] | None:
    """What of the positions ``said`` is struck out, as a message and a hint; ``None``: nothing."""
    struck = next((number for number in said if "~~" in lines[number]), None)
    if struck is None:
        return None
    if superseded_in("".join(lines[number] for number in said)) is None:
        hint = "correct the line, with what is to stay struck out in the new text"
        return f"line {struck + 1} is struck out in part already", hint
    successor = ""
    holds = struck
    while holds < len(lines) and "~~" in lines[holds]:
        successor = successor_in(lines[holds].rstrip("\n")) or successor
        holds += 1
    hint = "cite the line that took its place"
    if successor and successor[:20] in " ".join("".join(lines[holds : holds + 3]).split()):
        hint = f"cite what took its place: line {holds + 1}"
    return f"line {struck + 1} is superseded already", hint


def table_rows(lines: Sequence[str]) -> frozenset[int]:
    """The positions of the rows of tables, without their heads and delimiters."""
    rows = set()
    inside = False
    for number, line in enumerate(lines):
        if inside and line.strip() and not _OTHER_BLOCK.match(line):
            rows.add(number)
        else:
            before = lines[number - 1] if number else ""
            inside = "|" in before and _DELIMITERS.match(line) is not None
    return frozenset(rows)


def columns_of(line: str) -> int:
    """How many cells a row of a table has; 0 for what is none."""
    cells = _CELL.split(line.strip())
    return len(cells) - (not cells[0]) - (not cells[-1]) if len(cells) > 1 else 0


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
        end = lowered.find("\n", start)
        length = ((end if end >= 0 else len(lowered)) - start) / len(lowered)
        if weight > most or (weight == most and length < share):
            best, most, share = tokens_by_line[start], weight, length
    return best, share


def _word_with(letters: str, text: str, start: int) -> int:
    """Where from ``start`` on a word begins with ``letters``, or -1; in other scripts, anywhere."""
    at = text.find(letters, start)
    while at > 0 and letters.isascii() and text[at - 1].isalnum():
        at = text.find(letters, at + 1)
    return at
