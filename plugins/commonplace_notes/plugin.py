"""Offers the notes of a workspace as a source of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Registration, hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import Registry, Source, SourceContext


@hookimpl
def commonplace_register_sources(registry: Registry) -> None:
    """Add the source ``memory``."""
    registry.add(
        Registration(
            id="memory",
            summary="MEMORY.md, memory/**/*.md and the Markdown of configured extra paths",
            factory=_notes,
        )
    )


def _notes(context: SourceContext) -> Source:
    from commonplace_notes.source import NotesSource

    return NotesSource(context.workspace, context.extra_paths)
