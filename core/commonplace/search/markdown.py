"""What a piece cut out of Markdown needs to be valid by itself: its fence, its table's header."""

from __future__ import annotations

import re
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_FENCE = r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})[ \t]*([^\n]*)"
_DELIMITERS = r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?::?-+:?[ \t]*)?"


def fitted(
    text: str, cut: Callable[[int], tuple[int, int]], limit: int
) -> tuple[str, int, int, str]:
    """What must stand before a piece of ``text``, its start and end, and what must stand after it.

    All is at most ``limit`` characters; ``cut`` takes the piece for as many as it is given. What is
    too long even beside a piece of half of them is left out.
    """
    room = limit
    while True:
        start, end = cut(room)
        start = row_start(text, start)
        before, after = completed(text, start, end)
        size = len(before) + end - start + len(after)
        if size <= limit:
            return before, start, end, after
        if room <= limit // 2:  # a header too wide to be repeated
            return "", start, end, ""
        room = max(limit // 2, room - (size - limit))


def completed(text: str, start: int, end: int) -> tuple[str, str]:
    """What must stand before and after ``text[start:end]`` for it to be valid Markdown."""
    fences = list(re.compile(_FENCE, re.MULTILINE).finditer(text))
    # The line that opened the fence we are in, and its mark.
    opened = mark = fences[0][1] if len(fences) % 2 and _ends_a_fence(text, fences[0]) else ""
    at_start = opened
    for fence in fences:
        if fence.start() >= end:
            break
        if not mark:
            opened, mark = fence[0].strip(), fence[1]
        elif fence[1].startswith(mark) and not fence[2]:
            opened = mark = ""
        if fence.end() <= start:
            at_start = opened
    before = f"{at_start}\n" if at_start else _header(text, start)
    return before, f"\n{mark}" if mark else ""


def _ends_a_fence(text: str, first: re.Match[str]) -> bool:
    """Whether the first mark of a text most likely ends what began before the text."""
    above = text[: first.start()].removesuffix("\n").rpartition("\n")[2].strip()
    below = text[first.end() :].removeprefix("\n").partition("\n")[0].strip()
    return bool(above) and not above.endswith(":") and not first[2] and not below


def _header(text: str, start: int) -> str:
    """The lines above ``start`` that make its line a row of a table; empty if there are none."""
    *lines, beginning = text[:start].split("\n")
    row = beginning + text[start:].partition("\n")[0]
    if beginning or "|" not in row:
        return ""
    rows = list(takewhile(lambda line: "|" in line, reversed(lines)))
    if rows and re.fullmatch(_DELIMITERS, row):
        return f"{rows[0]}\n"
    for below, header in pairwise(rows):
        if re.fullmatch(_DELIMITERS, below):
            return f"{header}\n{below}\n"
    return ""


def row_start(text: str, start: int) -> int:
    """The beginning of the line in which ``start`` is, if it is a row of a table."""
    line = text.rfind("\n", 0, start) + 1
    return line if text.startswith("|", line) else start
