"""From pieces of a text to chunks with line numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.plugin import Document
    from commonplace_chunkers.text_lines import TextLines

__all__ = ["Piece", "to_chunks"]


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
