"""Registers the chunkers of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Registration, hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import Chunker, ChunkerContext, Registry

__all__ = ["commonplace_register_chunkers"]


def _markdown(context: ChunkerContext) -> Chunker:
    from commonplace_chunkers.markdown import MarkdownChunker

    return MarkdownChunker(context.size, context.overlap)


def _lines(context: ChunkerContext) -> Chunker:
    from commonplace_chunkers.lines import LinesChunker

    return LinesChunker(context.size, context.overlap)


@hookimpl
def commonplace_register_chunkers(registry: Registry) -> None:
    """Offer ``markdown`` and ``lines``."""
    registry.add(
        Registration(
            id="markdown",
            summary="follows headings, lists, tables and fences of Markdown",
            factory=_markdown,
        )
    )
    registry.add(
        Registration(id="lines", summary="whole lines up to a size, of any text", factory=_lines)
    )
