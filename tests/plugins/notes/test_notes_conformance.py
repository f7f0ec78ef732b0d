from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.testing import SourceConformance
from commonplace_notes.source import NotesSource

if TYPE_CHECKING:
    from commonplace.plugin import Source, SourceContext


class TestNotes(SourceConformance):
    def make_source(self, context: SourceContext) -> Source:
        return NotesSource(context.workspace, context.extra_paths)


class TestExtraFolder(SourceConformance):
    def make_source(self, context: SourceContext) -> Source:
        return NotesSource(context.workspace, ["docs"])

    def file_of(self, name: str) -> str:
        return f"docs/{name}.md"
