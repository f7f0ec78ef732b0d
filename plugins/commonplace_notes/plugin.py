"""Offers the notes of a workspace as a source of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import Source, SourceContext, SourceRegistrar


@hookimpl
def commonplace_register_sources(register: SourceRegistrar) -> None:
    """Add the source ``memory``."""
    register.source(
        "memory",
        _notes,
        summary="MEMORY.md and memory/, or all Markdown of a folder that has neither; extra paths",
    )


def _notes(context: SourceContext) -> Source:
    from commonplace_notes.source import NotesSource

    return NotesSource(context.workspace, context.extra_paths, context.notes)
