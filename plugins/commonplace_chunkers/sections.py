"""Sections of a Markdown text, and the pieces that each is cut into."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import is_boundary
from commonplace_chunkers.lines import Piece, cut_inside, fit_characters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.plugin import Chunk
    from commonplace_chunkers.lines import TextLines
    from commonplace_chunkers.scanner import Block


_LONGEST_HEADING = 200


class Section(NamedTuple):
    """The lines ``start`` to ``stop`` (0-based, half-open) under one path of headings.

    ``body`` is the first line after the front matter and the headings that it opens with.
    """

    start: int
    body: int
    stop: int
    heading: tuple[str, ...]


def sections(blocks: Sequence[Block], lines: TextLines, size: int) -> list[Section]:
    """The sections of a text, in order; every line is in exactly one.

    A section begins at every heading that is not inside a list or a quote, but a heading with
    nothing below it is put to the section after it (while such headings together stay below half
    of ``size`` characters), since a heading alone says nothing. So is front matter: its title and
    tags are about the text below it, which is what a reader looks for.
    """
    found: list[Section] = []
    path: list[tuple[int, str]] = []
    front = next((block.stop for block in blocks if block.kind == "front matter"), 0)
    start, body, names = 0, front, tuple[str, ...]()
    headings = [block for block in blocks if block.kind == "heading" and not block.depth]
    for block in headings:
        bare = lines.text[lines.starts[body] : lines.starts[block.start]].isspace()
        opening = lines.starts[block.start] - lines.starts[max(start, front)]
        long = opening * 2 > size
        if (block.start > body and not bare) or long:
            found.append(Section(start, body, block.start, names))
            start = block.start
        body = block.stop
        while path and path[-1][0] >= block.level:
            path.pop()
        path.append((block.level, block.text[:_LONGEST_HEADING].rstrip()))
        names = tuple(name for _, name in path if name)
    found.append(Section(start, body, len(lines), names))
    return found


def titled(chunks: Sequence[Chunk], title: str) -> list[Chunk]:
    """``chunks`` with ``title`` as their outermost heading, unless they stand under it already."""
    title = title[:_LONGEST_HEADING].rstrip()
    return [
        chunk
        if chunk.heading and chunk.heading[0].casefold() == title.casefold()
        else chunk._replace(heading=(title, *chunk.heading))
        for chunk in chunks
    ]


_NOT_SPACE = re.compile(r"\S")


class Packer:
    """Cuts sections of ``lines`` into pieces of up to ``size`` characters.

    ``borders`` ranks each line as a place to cut before (see :mod:`~commonplace_chunkers.scanner`).
    A piece repeats the last whole lines of the one before it, ``overlap`` characters or a little
    more.
    """

    def __init__(self, lines: TextLines, borders: bytearray, *, size: int, overlap: int) -> None:
        self._lines = lines
        self._borders = borders
        self._size = size
        self._overlap = overlap

    def pack(self, section: Section) -> Iterator[Piece]:
        """The pieces of ``section``, in order; none for a blank one."""
        starts, ends = self._lines.starts, self._lines.ends
        line, stop, heading = section.start, section.stop, section.heading
        while stop > line and self._lines.is_blank(stop - 1):
            stop -= 1
        if stop == line:
            return
        line = self._next_text(line, stop)
        # A piece ends after the line ``fresh``, or inside it: so it says something new, and its
        # headings stay with the first line of their text.
        fresh = self._next_text(section.body, stop)
        position = starts[line]
        while ends[stop - 1] - position > self._size:
            full = bisect_right(ends, position + self._size, line, stop)
            if full > fresh:
                cut = self._best_cut(fresh + 1, full, position)
                yield Piece(position, ends[cut - 1], heading)
                fresh = self._next_text(cut, stop)
                line = self._overlap_start(line, cut, fresh)
                position = starts[line]
            elif line < full < max(fresh, section.body):
                # Headings that are too long even without their text.
                yield Piece(position, ends[full - 1], heading)
                line = self._next_text(full, stop)
                position = starts[line]
            else:
                end = self._cut_line(position, ends[full])
                yield Piece(position, end, heading)
                position = self._next_position(end)
                line = self._lines.number_at(position)
                fresh = max(fresh, line)
        yield Piece(position, ends[stop - 1], heading)

    def _best_cut(self, least: int, full: int, position: int) -> int:
        """The best line in ``least..full`` to cut before: it leaves a piece at least half full.

        Of lines of one rank the last is the best.
        """
        half = bisect_left(self._lines.starts, position + self._size // 2, least, full)
        ranks = self._borders[half : full + 1]
        return half + ranks.rfind(min(ranks))

    def _overlap_start(self, line: int, cut: int, fresh: int) -> int:
        """Where the piece after one of the lines ``line`` to ``cut`` begins.

        It repeats the fewest lines that hold the overlap, as far as they fill no more than half a
        piece and leave room for the line ``fresh``; where there are none such, it begins there.
        """
        if not self._overlap:
            return fresh
        starts, ends = self._lines.starts, self._lines.ends
        enough = ends[cut - 1] - self._overlap
        earliest = max(ends[cut - 1] - self._size // 2, ends[fresh] - self._size)
        at = cut
        while at - 1 > line and starts[at] > enough and starts[at - 1] >= earliest:
            at -= 1
        while at < cut and self._lines.is_blank(at):
            at += 1
        return fresh if at == cut else at

    def _cut_line(self, position: int, line_end: int) -> int:
        rest = line_end - position
        # A little too long: cut so that what is left over is not a crumb.
        room = self._size if rest > self._size * 5 // 4 else self._size * 3 // 4
        return cut_inside(self._lines.text, position, line_end, room, fit_characters)

    def _next_position(self, end: int) -> int:
        """Where to go on after a cut at ``end``: at the next word, or at the start of its line."""
        text = self._lines.text
        word = _NOT_SPACE.search(text, end)
        position = word.start() if word else end
        line_start = self._lines.starts[self._lines.number_at(position)]
        if line_start >= end:
            return line_start
        # A mark after a space leans on the space.
        return position if is_boundary(text, position, end) else position - 1

    def _next_text(self, line: int, stop: int) -> int:
        """The first line from ``line`` on that is not blank, at most the last before ``stop``."""
        while line < stop - 1 and self._lines.is_blank(line):
            line += 1
        return min(line, stop - 1)
