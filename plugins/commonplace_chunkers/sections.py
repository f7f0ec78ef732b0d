"""The sections of an outline: runs of lines that stand under one heading."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace_chunkers.blocks import Block
    from commonplace_chunkers.text_lines import TextLines

__all__ = ["Section", "sections"]

_LONGEST_HEADING = 200


class Section(NamedTuple):
    """The lines ``start`` to ``stop`` (0-based, half-open) under one path of headings.

    ``body`` is the first line after the headings that the section opens with.
    """

    start: int
    body: int
    stop: int
    heading: tuple[str, ...]


def sections(blocks: Sequence[Block], lines: TextLines, size: int) -> list[Section]:
    """The sections of a text, in order; every line is in exactly one.

    A section begins at every heading that is not inside a list or a quote, but a heading with
    nothing below it is put to the section after it (while such headings together stay below half
    of ``size`` characters), since a heading alone says nothing.
    """
    found: list[Section] = []
    path: list[tuple[int, str]] = []
    start, body, names = 0, 0, tuple[str, ...]()
    headings = [block for block in blocks if block.kind == "heading" and not block.depth]
    for block in headings:
        bare = lines.text[lines.starts[body] : lines.starts[block.start]].isspace()
        long = (lines.starts[block.start] - lines.starts[start]) * 2 > size
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
