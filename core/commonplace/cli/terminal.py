"""Text for people: counts, sizes, tables, lines of a width, and its decoration."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import partialmethod
from typing import TYPE_CHECKING, TextIO
from unicodedata import category, east_asian_width

from commonplace.cli.streams import escape_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


_WITHOUT_LINKS = frozenset({"", "linux", "cons25", "ansi", "vt100", "vt102", "vt220", "screen"})


class Style:
    """Decorates text, or leaves it alone where ``colour`` is off. ``width`` is in cells.

    ``links`` says whether text may be a link; ``escape`` begins a decoration.
    """

    __slots__ = ("colour", "escape", "links", "width")

    def __init__(
        self, *, colour: bool, width: int = 80, links: bool = False, escape: str = "\x1b"
    ) -> None:
        self.colour = colour
        self.escape = escape
        self.width = width
        self.links = links

    def _paint(self, code: str, text: str) -> str:
        if not self.colour or not text:
            return text
        return f"{self.escape}[{code}m{text}{self.escape}[0m"

    strong = partialmethod(_paint, "1")  # what the eye should find first
    faint = partialmethod(_paint, "2")  # what it may skip
    match = partialmethod(_paint, "1;33")  # a word that was searched for
    path = partialmethod(_paint, "36")
    good = partialmethod(_paint, "32")  # all is well
    warning = partialmethod(_paint, "33")  # could be better
    bad = partialmethod(_paint, "31")  # something is wrong

    def link(self, text: str, url: str) -> str:
        """``text`` as a link (OSC 8) to ``url``, which is printable ASCII; ``""`` is no link."""
        if not self.links or not url:
            return text
        start, end = f"{self.escape}]8;;", f"{self.escape}\\"
        return f"{start}{url}{end}{text}{start}{end}"

    def state(self, name: str) -> Callable[[str], str]:
        """The colour of a finding's state, or of a fix's."""
        good, bad = {"ok", "fixed"}, {"problem", "failed"}
        return self.good if name in good else self.bad if name in bad else self.warning


def style_of(stream: TextIO, env: Mapping[str, str]) -> Style:
    """How ``stream`` may be decorated: colours on a terminal, unless ``NO_COLOR`` is set.

    Links, too, but for terminals that would print what they do not know.
    """
    terminal = stream.isatty()
    colour = terminal and not env.get("NO_COLOR") and env.get("TERM") != "dumb"
    columns = env.get("COLUMNS", "")
    width = int(columns) if columns.isdigit() else 0
    if terminal and not width:
        with suppress(OSError, ValueError):
            width = os.get_terminal_size(stream.fileno()).columns
    links = colour and env.get("TERM", "") not in _WITHOUT_LINKS and not env.get("INSIDE_EMACS")
    escape = escape_of(stream)
    return Style(colour=colour, width=max(30, width or 80), links=links, escape=escape)


def cells(text: str) -> int:
    """How many columns ``text`` takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_cells(char) for char in text)


def _cells(char: str) -> int:
    if category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def pad(text: str, width: int) -> str:
    """``text`` filled up with blanks to ``width`` cells."""
    return text + " " * max(0, width - cells(text))


def fit(text: str, width: int) -> str:
    """``text`` cut to ``width`` cells, with an ellipsis where something is missing."""
    if cells(text) <= width:
        return text
    used = 0
    for position, char in enumerate(text):
        used += _cells(char)
        if used > width - 1:
            return text[:position] + "…"
    return text


def wrap(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Start and end offsets of the lines that ``text`` takes when it is ``width`` cells wide.

    Lines break at line ends, else after the last blank that fits, else where the width is used up.
    """
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        yield from _wrap_line(text, start, end, width)
        start = end + 1


def _wrap_line(text: str, start: int, end: int, width: int) -> Iterator[tuple[int, int]]:
    begin, blank, used = start, -1, 0
    position = start
    while position < end:
        used += _cells(text[position])
        if used > width and position > begin:
            if text[position] == " ":
                stop, following = position, position + 1
            elif blank > begin:
                stop, following = blank, blank + 1
            else:
                stop, following = position, position
            yield begin, stop
            begin, blank, used, position = following, -1, 0, following
            continue
        if text[position] == " ":
            blank = position
        position += 1
    if begin < end or begin == start:
        yield begin, end


def highlighted(
    text: str, start: int, end: int, spans: Sequence[tuple[int, int]], style: Style
) -> str:
    """``text[start:end]`` with the parts inside ``spans`` shown as matches."""
    parts, position = [], start
    for first, last in sorted(spans):
        begin, stop = max(first, position), min(last, end)
        if begin < stop:
            parts += [text[position:begin], style.match(text[begin:stop])]
            position = stop
    parts.append(text[position:end])
    return "".join(parts)


def size(number: int) -> str:
    """A number of bytes with its unit, such as ``1.5 MB``."""
    if number < 1000:
        return f"{number} B"
    amount = number / 1000
    for unit in ("kB", "MB"):
        if amount < 1000:
            return f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def timestamp(seconds: float) -> str:
    """A moment in epoch seconds, as local time."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def since(seconds: float | None) -> str:
    """`` since 2026-10-07 12:00:00``; nothing where that is not known."""
    return f" since {timestamp(seconds)}" if seconds else ""


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """``rows`` as lines with aligned columns, two spaces apart; the last one is not padded."""
    widths = [max(cells(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
