"""The seam of sources, where documents come from, and of chunkers, which cut them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from commonplace.model.chunks import Chunk
    from commonplace.model.documents import (
        Document,
        DocumentRef,
        ScanReport,
        Segment,
        Stamp,
        WatchedPath,
    )


class ConfiguredPath(Protocol):
    """A file or folder that the configuration names beside the workspace's own."""

    @property
    def path(self) -> str:
        """Absolute or relative to the workspace; may leave it by ``..``, or begin with ``~``."""
        ...

    @property
    def pattern(self) -> str | None:
        """A glob below ``path``, where that is a folder; ``None`` wants all Markdown in it."""
        ...


class Source(Protocol):
    """Where documents come from."""

    @property
    def id(self) -> str:
        """Stands in hits as ``source``."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever ``read`` would give another text for the same bytes.

        So it does when the pieces of a document that grows would end elsewhere.
        """
        ...

    @property
    def capabilities(self) -> frozenset[str]:
        """``watched`` for a :class:`WatchedSource`, ``growing`` for a :class:`GrowingSource`.

        Only the methods of a declared capability are called.
        """
        ...

    def scan(self) -> ScanReport:
        """All documents there are, by ``stat`` alone: no file is opened."""
        ...

    def read(self, ref: DocumentRef) -> Document | None:
        """The document, or ``None`` if it has vanished since the scan.

        Raises ``OSError`` if it is there and cannot be read. The ``ref`` of the answer carries the
        stamp of what was really read.
        """
        ...


class WatchedSource(Source, Protocol):
    """Declares ``watched``: it names the paths to watch. Any other source is scanned regularly."""

    def watched(self) -> Sequence[WatchedPath]:
        """Where a change of any document would show; asked again whenever it may have changed."""
        ...


class GrowingSource(Source, Protocol):
    """Declares ``growing``: its documents grow at their end. Others are replaced as a whole."""

    def due(self, ref: DocumentRef, indexed: Stamp) -> bool:
        """Whether what was added since ``indexed`` is enough for an automatic sync to read it.

        ``indexed`` is the stamp with which the document was read, its times perhaps -1. What is
        new, has shrunk or was replaced is always due, and so is what cannot be looked at.
        """
        ...

    def segments(
        self, ref: DocumentRef, after: str = ""
    ) -> AbstractContextManager[Iterator[Segment] | None]:
        """The document piece by piece, from its beginning or ``after`` a place that was given.

        Where a piece ends depends on what is in it and before it, never on what follows: all but
        the last are the same however much is added. Their texts make up that of ``read``.
        ``None`` if the document has vanished, or if what lies before ``after`` is no longer the
        same, byte by byte. Raises ``OSError``, also on the way, if it cannot be read.
        """
        ...


class Chunker(Protocol):
    r"""Cuts documents into chunks.

    Laws: every character that is not white space is in a chunk; a chunk's text is a contiguous
    piece of its lines; chunks come in the order of the text; time is linear in its length. Lines
    end at ``\\n`` or ``\\r\\n``.
    """

    @property
    def fingerprint(self) -> str:
        """Id, version and parameters; changes whenever the chunks of any text would."""
        ...

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """The chunks of ``document``; none for a blank one."""
        ...
