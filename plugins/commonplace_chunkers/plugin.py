"""Registers the chunkers `markdown`, which follows the structure of a text, and `lines`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import hookimpl
from commonplace_chunkers import SMALLEST_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.plugin import Chunk, Chunker, ChunkerContext, ChunkerRegistrar, Document


class MarkdownChunker:
    """A new chunk at every heading; within a section chunks of up to ``size`` characters.

    Cuts fall on the borders of blocks where possible, then on lines, and only inside a line where
    it is too long by itself or beside its heading. Chunks of one section overlap by the fewest
    whole lines that hold ``overlap`` characters, as long as they fill no more than half a chunk;
    ``overlap`` itself is never more than a quarter of ``size``. A size below 32 is 32. Front matter
    belongs to the first section; the title in it is the outermost heading.
    """

    def __init__(self, size: int, overlap: int) -> None:
        self._size = max(size, SMALLEST_SIZE)
        self._overlap = max(0, min(overlap, self._size // 4))
        self.fingerprint = f"markdown-4(size={self._size},overlap={self._overlap})"
        """Id, version and parameters."""

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """The chunks of ``document``; none for a blank one."""
        # Imported here: a search compares fingerprints, and cuts nothing where nothing changed.
        from commonplace_chunkers.lines import TextLines, to_chunks
        from commonplace_chunkers.scanner import outline
        from commonplace_chunkers.sections import Packer, sections, titled

        lines = TextLines(document.text)
        found = outline(lines.contents)
        packer = Packer(lines, found.borders, size=self._size, overlap=self._overlap)
        parts = sections(found.blocks, lines, self._size)
        pieces = (piece for section in parts for piece in packer.pack(section))
        chunks = to_chunks(document, lines, pieces)
        return titled(chunks, document.title) if document.title else chunks


def _markdown(context: ChunkerContext) -> Chunker:
    return MarkdownChunker(context.size, context.overlap)


def _lines(context: ChunkerContext) -> Chunker:
    from commonplace_chunkers.lines import LinesChunker

    return LinesChunker(context.size, context.overlap)


@hookimpl
def commonplace_register_chunkers(register: ChunkerRegistrar) -> None:
    """Offer ``markdown`` and ``lines``."""
    register.chunker(
        "markdown", _markdown, summary="follows headings, lists, tables and fences of Markdown"
    )
    register.chunker("lines", _lines, summary="whole lines up to a size, of any text")
