"""The chunker that counts lines and knows nothing of Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from commonplace_chunkers.cutting import cut_inside, next_border
from commonplace_chunkers.pieces import Piece, to_chunks
from commonplace_chunkers.sizes import SMALLEST_SIZE
from commonplace_chunkers.text_lines import TextLines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.plugin import Chunk, Document

__all__ = ["LinesChunker", "fit_weighted", "weight"]

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
    """A line, or (``part``) a piece of one that is too long; ``cost`` is with its line end."""

    start: int
    stop: int
    weight: int
    cost: int
    part: bool
    blank: bool


def _segment(text: str, start: int, stop: int, *, part: bool) -> _Segment:
    piece = text[start:stop]
    own = weight(piece)
    cost = own + (2 if text.startswith("\r\n", stop) else 1)
    return _Segment(start, stop, own, cost, part, not piece or piece.isspace())


class LinesChunker:
    """Fills chunks with whole lines up to ``size``; each repeats up to ``overlap`` of the last.

    Both are in characters, of which a Chinese, Japanese or Korean one counts four; a size below
    32 is 32. A line that alone is too long is cut at word borders, and its tail may be repeated.
    """

    def __init__(self, size: int, overlap: int) -> None:
        self._size = max(size, SMALLEST_SIZE)
        self._overlap = max(overlap, 0)

    @property
    def fingerprint(self) -> str:
        """Id, version and parameters."""
        return f"lines-1(size={self._size},overlap={self._overlap})"

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """The chunks of ``document``; none for a blank one."""
        lines = TextLines(document.text)
        return to_chunks(document, lines, self._pieces(lines))

    def _pieces(self, lines: TextLines) -> Iterator[Piece]:
        held: list[_Segment] = []
        cost, fresh = 0, False
        for segment in self._segments(lines):
            if held and cost + segment.cost > self._size:
                if fresh:
                    yield Piece(held[0].start, held[-1].stop)
                room = min(self._overlap, self._size - segment.cost)
                held = self._carried(lines.text, held, room)
                cost, fresh = sum(kept.cost for kept in held), False
            if held or not segment.blank:
                held.append(segment)
                cost += segment.cost
                fresh = fresh or not segment.blank
        if fresh:
            yield Piece(held[0].start, held[-1].stop)

    def _segments(self, lines: TextLines) -> Iterator[_Segment]:
        text = lines.text
        for start, stop in zip(lines.starts, lines.ends, strict=True):
            segment = _segment(text, start, stop, part=False)
            if segment.weight <= self._size:
                yield segment
                continue
            at = start
            while at < stop:
                end = cut_inside(text, at, stop, self._size, fit_weighted)
                yield _segment(text, at, end, part=True)
                at = end

    def _carried(self, text: str, held: list[_Segment], room: int) -> list[_Segment]:
        """What of ``held`` the next chunk repeats, of a cost up to ``room``; never all of it."""
        first, left = len(held), room
        while first > 1 and held[first - 1].cost <= left:
            first -= 1
            left -= held[first].cost
        while first < len(held) and held[first].blank:
            first += 1
        last = held[-1]
        if first < len(held) or not last.part:
            return held[first:]
        start, left = last.stop, room - 1
        while start > last.start + 1 and weight(text[start - 1]) <= left:
            start -= 1
            left -= weight(text[start])
        start = next_border(text, start, last.stop, last.start)
        tail = _segment(text, start, last.stop, part=True)
        return [] if tail.blank else [tail]
