"""A text as lines: cutting inside long ones, chunks with line numbers, and the chunker `lines`."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from commonplace.plugin import Chunk, floor_boundary, is_boundary
from commonplace_chunkers import SMALLEST_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from commonplace.plugin import Document


class TextLines:
    r"""Line ``i`` (0-based) is ``text[starts[i]:ends[i]]``, its line end left out.

    There are as many lines as ``text.split("\n")`` has: a text that ends in a line end has an
    empty last line. A carriage return that the text ends in counts as a line end cut short.
    """

    __slots__ = ("contents", "ends", "starts", "text")

    def __init__(self, text: str) -> None:
        lines = text.split("\n")
        after = list(accumulate(len(line) + 1 for line in lines))
        self.text = text
        self.starts = [0, *after[:-1]]
        self.ends = [end - 1 for end in after]
        self.contents = lines
        if "\r" in text:
            self.contents = [line.removesuffix("\r") for line in lines]
            pairs = zip(self.starts, self.contents, strict=True)
            self.ends = [start + len(line) for start, line in pairs]

    def __len__(self) -> int:
        return len(self.starts)

    def number_at(self, offset: int) -> int:
        """The line in which the character at ``offset`` stands."""
        return bisect_right(self.starts, offset) - 1

    def is_blank(self, line: int) -> bool:
        """Whether the line holds nothing but white space."""
        content = self.contents[line]
        return not content or content.isspace()


class Piece(NamedTuple):
    """The characters ``start`` to ``stop`` of a text, under a path of headings."""

    start: int
    stop: int
    heading: tuple[str, ...] = ()


def to_chunks(document: Document, lines: TextLines, pieces: Iterable[Piece]) -> list[Chunk]:
    """Chunks of the pieces that are not blank, without the blank lines at both of their ends.

    Line numbers are those of the file where the document has a ``line_map``.
    """
    chunks = []
    for start, stop, heading in pieces:
        text = lines.text[start:stop]
        blank = len(text) - len(text.lstrip())
        if blank == len(text):
            continue
        begin = text.rfind("\n", 0, blank) + 1
        line_end = text.find("\n", len(text.rstrip()))
        text = text[begin:] if line_end < 0 else text[begin:line_end].removesuffix("\r")
        first = lines.number_at(start + begin)
        last = first + text.count("\n")
        start_line, end_line = _line_in_file(document, first), _line_in_file(document, last)
        chunks.append(Chunk(start_line, end_line, text, heading))
    return chunks


def _line_in_file(document: Document, line: int) -> int:
    """The 1-based line of the file that the 0-based ``line`` of the document came from."""
    if document.line_map is not None and line < len(document.line_map):
        return document.line_map[line]
    return line + 1


LONGEST_GRAPHEME: Final = 4
"""How many budgets a single grapheme may cost before it is cut."""

_WORD_BORDER = re.compile(r"(?<=\s)(?=\S)|(?<=[。！？；，、．…])(?=[^\s。！？；，、．…])")


def fit_characters(_text: str, start: int, stop: int, budget: int) -> int:
    """The last place up to which a text costs no more than ``budget``, one for a character."""
    return min(stop, start + budget)


def cut_inside(
    text: str, start: int, stop: int, budget: int, fit: Callable[[str, int, int, int], int]
) -> int:
    """A place after ``start``, not after ``stop``, within ``budget`` as measured by ``fit``.

    That is ``stop`` if all fits, else the last word border in the last quarter, else the last
    border between graphemes. Where one grapheme alone costs more than the budget it is the end of
    that grapheme, or the place where it has cost :data:`LONGEST_GRAPHEME` budgets. ``start`` is
    taken for a border.
    """
    limit = fit(text, start, stop, budget)
    if limit >= stop:
        return stop
    near = limit - (limit - start) // 4
    borders = [match.start() for match in _WORD_BORDER.finditer(text, near, limit + 1)]
    for border in reversed(borders):
        if is_boundary(text, border, start):
            return border
    border = floor_boundary(text, limit, start)
    if border > start:
        return border
    longest = fit(text, start, stop, budget * LONGEST_GRAPHEME)
    ends = (at for at in range(limit + 1, longest) if is_boundary(text, at, start))
    return next(ends, longest)


def next_border(text: str, at: int, stop: int, start: int) -> int:
    """The first word border in ``at..stop``, else the first grapheme border, else ``stop``.

    ``start`` is a known border before ``at``.
    """
    for match in _WORD_BORDER.finditer(text, at, stop):
        if is_boundary(text, match.start(), start):
            return match.start()
    return next((border for border in range(at, stop) if is_boundary(text, border, start)), stop)


# Characters of which a model makes about one token each, where four Latin letters make one.
_WIDE = re.compile(r"[\u2e80-\ua4ff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002fa1f]+")
_WIDE_COST = 4


def weight(text: str) -> int:
    """What ``text`` costs: 4 for a Chinese, Japanese or Korean character, 1 for any other."""
    if text.isascii():
        return len(text)
    return len(text) + (_WIDE_COST - 1) * sum(map(len, _WIDE.findall(text)))


def fit_weighted(text: str, start: int, stop: int, budget: int) -> int:
    """The last place up to which ``text[start:stop]`` weighs no more than ``budget``."""
    stop = min(stop, start + budget)
    at, left = start, budget
    for wide in _WIDE.finditer(text, start, stop):
        narrow, cost = wide.start() - at, _WIDE_COST * (wide.end() - wide.start())
        if narrow + cost > left:
            return at + left if narrow > left else wide.start() + (left - narrow) // _WIDE_COST
        left -= narrow + cost
        at = wide.end()
    return min(stop, at + left)


class _Segment(NamedTuple):
    """A line, or a piece of one that is too long; ``cost`` is with its line end."""

    start: int
    stop: int
    weight: int
    cost: int
    blank: bool


def _segment(text: str, start: int, stop: int) -> _Segment:
    piece = text[start:stop]
    own = weight(piece)
    cost = own + (2 if text.startswith("\r\n", stop) else 1)
    return _Segment(start, stop, own, cost, not piece or piece.isspace())


class LinesChunker:
    """Fills chunks with whole lines up to ``size``; each repeats up to ``overlap`` of the last.

    Both are in characters, of which a Chinese, Japanese or Korean one counts four; a size below
    32 is 32. A line that alone is too long is cut at word borders. Where the last line costs more
    than the overlap, its tail is repeated, from a word border on if there is one.
    """

    def __init__(self, size: int, overlap: int) -> None:
        self._size = max(size, SMALLEST_SIZE)
        self._overlap = max(overlap, 0)

    @property
    def fingerprint(self) -> str:
        """Id, version and parameters."""
        return f"lines-2(size={self._size},overlap={self._overlap})"

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """The chunks of ``document``; none for a blank one."""
        lines = TextLines(document.text)
        return to_chunks(document, lines, self._pieces(lines))

    def _pieces(self, lines: TextLines) -> Iterator[Piece]:
        segments: list[_Segment] = []
        cost, fresh = 0, False
        for segment in self._segments(lines):
            if segments and cost + segment.cost > self._size:
                if fresh:
                    yield Piece(segments[0].start, segments[-1].stop)
                room = min(self._overlap, self._size - segment.cost)
                segments = self._carried(lines.text, segments, room)
                cost, fresh = sum(kept.cost for kept in segments), False
            if segments or not segment.blank:
                segments.append(segment)
                cost += segment.cost
                fresh = fresh or not segment.blank
        if fresh:
            yield Piece(segments[0].start, segments[-1].stop)

    def _segments(self, lines: TextLines) -> Iterator[_Segment]:
        text = lines.text
        for start, stop in zip(lines.starts, lines.ends, strict=True):
            segment = _segment(text, start, stop)
            if segment.weight <= self._size:
                yield segment
                continue
            at = start
            while at < stop:
                end = cut_inside(text, at, stop, self._size, fit_weighted)
                yield _segment(text, at, end)
                at = end

    def _carried(self, text: str, segments: list[_Segment], room: int) -> list[_Segment]:
        """What of ``segments`` the next chunk repeats, costing at most ``room``; never all."""
        first, left = len(segments), room
        while first > 1 and segments[first - 1].cost <= left:
            first -= 1
            left -= segments[first].cost
        whole = segments[first:]
        if all(segment.blank for segment in whole):
            tail = self._tail(text, segments[first - 1], left)
            return [tail, *whole] if tail is not None else []
        while segments[first].blank:
            first += 1
        return segments[first:]

    def _tail(self, text: str, last: _Segment, room: int) -> _Segment | None:
        """The end of ``last`` of a cost up to ``room``; ``None`` if nothing of it fits."""
        start, left = last.stop, room - 1
        while start > last.start + 1 and weight(text[start - 1]) <= left:
            start -= 1
            left -= weight(text[start])
        start = next_border(text, start, last.stop, last.start)
        tail = _segment(text, start, last.stop)
        return None if tail.blank else tail
