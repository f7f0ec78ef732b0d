"""Documents: where they are, and what a source found of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from datetime import date


Trust = Literal["memory", "session", "external"]
"""Who wrote a text: the agent's own notes, a conversation, or the files of others."""

Stamp = tuple[int, int, int, int]
"""What ``stat`` says of a file: size in bytes, mtime_ns, ctime_ns, inode."""


class DocumentRef(NamedTuple):
    """A document as a scan saw it, before anything was read.

    ``path`` is the name it is stored and cited under: relative to the workspace where that is
    possible, with forward slashes. ``(source, path)`` identifies a document. ``location`` is for
    the source alone (for files: the absolute path). ``stamp`` changes whenever the text may have.
    """

    source: str
    path: str
    location: str
    stamp: Stamp


class Document(NamedTuple):
    """One document as text.

    ``digest`` is the SHA-256 of the bytes it was read from, as hex. ``day`` is the date the
    document is about, taken from its path, or ``None`` for evergreen notes. ``line_map``, where
    present, gives for each line of ``text`` the 1-based line of the file it came from (for
    transcripts, whose lines are not the file's).
    """

    ref: DocumentRef
    text: str
    digest: str
    day: date | None = None
    trust: Trust = "memory"
    line_map: tuple[int, ...] | None = None


class Segment(NamedTuple):
    """A piece of a document that grows at its end.

    ``document`` is the document as it would be if it ended here, except that its ``text`` and
    ``line_map`` are those of the piece alone, and that no file has its stamp: the size is that up
    to here, the times are -1. ``place`` says where this is, in the words of the source. The last
    piece has the file's own stamp and no place: it may be ``""`` and is cut again if more follows.
    """

    document: Document
    place: str = ""


class RootFailure(NamedTuple):
    """A root that could not be scanned to its end: its documents are hidden, never deleted.

    ``source`` is filled in by the host; ``""`` means every source.
    """

    root: str
    reason: str
    source: str = ""


class ScanReport(NamedTuple):
    """What a source found.

    ``complete_roots`` and ``failed_roots`` name path prefixes of stored paths: a document that is
    no longer found is forgotten only if its path lies under a complete root and under no failed
    one (see :func:`commonplace.index.planning.plan_changes`). ``""`` is the prefix of everything.
    ``absent_roots`` are not there, and perhaps never were: failures where the index holds documents
    below them, else merely empty. ``skipped_symlinks`` counts the links that were refused.
    """

    documents: tuple[DocumentRef, ...]
    complete_roots: tuple[str, ...]
    failed_roots: tuple[RootFailure, ...] = ()
    skipped_symlinks: int = 0
    absent_roots: tuple[RootFailure, ...] = ()


class WatchedPath(NamedTuple):
    """A place where documents may appear, change or go.

    ``location`` is absolute, a file or a folder, and need not be there yet. ``recursive`` says that
    what lies below a folder's folders counts, too. Files whose names do not end in ``suffix`` are
    of no interest.
    """

    location: str
    recursive: bool = True
    suffix: str = ""
