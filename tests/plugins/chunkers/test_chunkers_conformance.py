from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.testing import ChunkerConformance
from commonplace_chunkers.lines import LinesChunker
from commonplace_chunkers.plugin import MarkdownChunker

if TYPE_CHECKING:
    from commonplace.plugin import Chunker, ChunkerContext


class TestMarkdown(ChunkerConformance):
    def make_chunker(self, context: ChunkerContext) -> Chunker:
        return MarkdownChunker(context.size, context.overlap)


class TestLines(ChunkerConformance):
    def make_chunker(self, context: ChunkerContext) -> Chunker:
        return LinesChunker(context.size, context.overlap)
