"""What all laws of sources stand on: a source over files that the laws write."""

from __future__ import annotations

import os
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

from commonplace.index.changes import SourceScan, plan_changes
from commonplace.model.store import StoredDocument
from commonplace.protocols.contexts import SourceContext
from commonplace.testing.law import Laws, law
from commonplace.testing.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.index.changes import Plan
    from commonplace.model.documents import Document, DocumentRef, ScanReport
    from commonplace.protocols.sources import Source

__all__ = ["SourceLaws", "found", "law", "planned"]


class SourceLaws(Laws):
    """What all laws of sources stand on.

    A document is a file. For other files than Markdown below ``memory/``, define ``file_of`` and
    ``bytes_of`` too.
    """

    subject: ClassVar[str] = "source"

    files: Workspace
    """The workspace of the source that a law is looking at."""

    def make_source(self, context: SourceContext) -> Source:
        """Make the source, as its registration's factory does."""
        raise NotImplementedError(f"{type(self).__name__} has to define make_source(context)")

    def file_of(self, name: str) -> str:
        """Where below the workspace a document lies that is called ``name``."""
        return f"memory/{name}.md"

    def bytes_of(self, text: str) -> bytes:
        """What a document's file holds whose text has ``text`` in it."""
        return text.encode()

    def declared(self, subject: Any) -> frozenset[str]:
        """``watched``, if it tells where its changes show; ``grows``, if its documents do."""
        told = {"watched": "watched", "segments": "grows"}
        return frozenset(word for name, word in told.items() if hasattr(subject, name))

    @contextmanager
    def opened(self) -> Iterator[Source]:
        """A source of no documents."""
        with TemporaryDirectory(prefix="commonplace-") as directory:
            self.files = Workspace(f"{os.path.realpath(directory)}/workspace")
            yield self.make_source(SourceContext(self.files.path, "main"))

    def write(self, name: str, text: str) -> str:
        """Write a document; its file's path below the workspace."""
        file = self.file_of(name)
        self.files.write(file, self.bytes_of(text))
        return file

    def read(self, source: Source, file: str) -> Document:
        """The document of a file that is there."""
        document = source.read(self.ref(source, file))
        assert document is not None, "a document that is there is said to have vanished"
        return document

    def ref(self, source: Source, file: str) -> DocumentRef:
        """What a scan says of a file that is there."""
        location = os.path.join(self.files.path, file)
        refs = [ref for ref in source.scan().documents if ref.location == location]
        assert len(refs) == 1, f"{file!r} is found {len(refs)} times"
        return refs[0]


def found(source: Source) -> list[str]:
    """Where the documents of a scan lie."""
    return sorted(ref.location for ref in source.scan().documents)


def planned(source: Source, known: ScanReport) -> Plan:
    """What the host would do to an index that holds what was ``known``."""
    stored = [StoredDocument(ref.source, ref.path, "", ref.stamp, "") for ref in known.documents]
    return plan_changes(stored, [SourceScan(source.id, source.scan(), "")])
