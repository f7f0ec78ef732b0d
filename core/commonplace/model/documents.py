"""Documents as sources find them and as stores hold them, and the state of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date


Trust = Literal["memory", "session", "external"]
"""Who wrote a text: the agent's own notes, a conversation, or the files of others."""

CURATED = ("MEMORY.md", "memory.md")
"""The paths of curated memory; the first that is there counts."""

CURATED_IN_PLAIN = ("commonplace/MEMORY.md",)
"""The same where the workspace is a plain folder of notes."""

Stamp = str
"""A version of a document, in the words of its source: another text has another stamp.

Of files it is what :func:`~commonplace.plugin.stamp_of` gives. Any other source takes what its
service gives (an ETag, a revision, a time of change) or a checksum; no other part reads it.
"""


class DocumentRef(NamedTuple):
    """A document as a scan saw it, before anything was read.

    ``path`` is the name it is stored and cited under: relative to the workspace where that is
    possible, with forward slashes. ``(source, path)`` identifies a document. ``location`` is for
    the source alone (for files: the absolute path). ``stamp`` changes whenever the text may have,
    and is not empty.
    """

    source: str
    path: str
    location: str
    stamp: Stamp


class Document(NamedTuple):
    """One document as text.

    ``digest`` is the SHA-256 of the bytes it was read from, as hex (where it is not a file, of
    whatever the text was made of). ``day`` is the date the
    document is about, or ``None`` for evergreen notes. ``line_map``, where present, gives for each
    line of ``text`` the 1-based line of the file it came from (for transcripts, whose lines are not
    the file's). ``title`` and further ``names`` are what the document calls itself; ``tags`` are as
    :func:`~commonplace.plugin.note_facts` gives them.
    """

    ref: DocumentRef
    text: str
    digest: str
    day: date | None = None
    trust: Trust = "memory"
    line_map: tuple[int, ...] | None = None
    title: str = ""
    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


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

    ``source`` is filled in by the host; ``""`` means every source. ``source_failed`` says that all
    of the source failed, which ``reason`` then names.
    """

    root: str
    reason: str
    source: str = ""
    source_failed: bool = False

    def words(self, whole: str, verb: str = "") -> str:
        """The root and the reason in a line for people; ``whole`` stands for a root of all."""
        return self.reason if self.source_failed else f"{self.root or whole}{verb}: {self.reason}"


class ScanReport(NamedTuple):
    """What a source found.

    ``complete_roots`` and ``failed_roots`` name path prefixes of stored paths: a document that is
    no longer found is forgotten only if its path lies under a complete root and under no failed
    one (see :func:`~commonplace.plugin.plan_changes`). ``""`` is the prefix of everything.
    ``absent_roots`` are not there, and perhaps never were: failures where the index holds documents
    below them, else merely empty. ``skipped_symlinks`` counts the links that were refused.
    ``empty`` says, where there are no documents, what was looked for and what was left out.
    """

    documents: tuple[DocumentRef, ...]
    complete_roots: tuple[str, ...]
    failed_roots: tuple[RootFailure, ...] = ()
    skipped_symlinks: int = 0
    absent_roots: tuple[RootFailure, ...] = ()
    empty: tuple[str, ...] = ()


class NoteRules(NamedTuple):
    """Which files are notes: ``text`` takes ``.txt``, ``gitignore`` leaves out what git ignores."""

    text: bool = False
    gitignore: bool = False


NOTE_RULES = NoteRules()
"""Those of a configuration that says nothing of it."""


class WatchedPath(NamedTuple):
    """A place where documents may appear, change or go.

    ``location`` is absolute, a file or a folder, and need not be there yet. ``recursive`` says that
    what lies below a folder's folders counts, too. Files whose names do not end in ``suffix`` are
    of no interest; several suffixes are a tuple.
    """

    location: str
    recursive: bool = True
    suffix: str | tuple[str, ...] = ""


class StoredDocument(NamedTuple):
    """A document as a store remembers it, for finding out what has changed.

    ``resume`` is what was put, in stores that declare ``append``; others need not remember it.
    """

    source: str
    path: str
    digest: str
    stamp: Stamp
    fingerprint: str
    resume: str = ""


class Lookup(NamedTuple):
    """What a build holds of the documents that were asked for, and ``total``: of all, how many."""

    documents: tuple[StoredDocument, ...]
    total: int


class Build(NamedTuple):
    """One whole index inside a store: ``live`` is searched, ``filling`` is being made beside it.

    ``identity`` names what cannot be changed document by document (schema, tokenizer).
    """

    id: int
    identity: str
    state: Literal["live", "filling"]


class VectorSupport(NamedTuple):
    """What a store searches vectors with.

    ``library`` is ``loaded`` from ``path`` in this ``version``, or not: for ``reason``, or as
    it is not ``enabled``. ``plan`` is one line for people on what is used.
    """

    library: str
    loaded: bool
    version: str = ""
    path: str = ""
    reason: str = ""
    plan: str = ""
    enabled: bool = True


class StoreHealth(NamedTuple):
    """Counts of the live build, and what is wrong.

    ``location`` is a path or URI for people (``""``: nowhere). ``size`` is bytes on disk; 0 where
    the store does not know it, and there that of a file at ``location`` is shown.
    ``notices`` are lines about what the store repaired or cannot do (set aside a damaged file, is
    read-only, ...); ``problems`` are findings of a deep check that were not repaired. ``findings``
    are all that a deep check looked at, well or not, of stores that tell. ``vectors`` is what it
    searches vectors with, of stores that tell.
    """

    location: str
    documents: int
    chunks: int
    size: int = 0
    writable: bool = True
    documents_by_source: tuple[tuple[str, int], ...] = ()
    chunks_by_source: tuple[tuple[str, int], ...] = ()
    notices: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    vectors: VectorSupport | None = None


class SpaceInfo(NamedTuple):
    """A space of vectors in the live build: ``covered`` of ``chunks`` chunks have a vector."""

    space: str
    dims: int
    covered: int
    chunks: int


class Fix(NamedTuple):
    """How to fix a finding: ``text`` says it in the imperative.

    With ``run``, ``commonplace doctor --fix`` does it: ``run`` returns one line on what it did, or
    raises a :class:`~commonplace.errors.CommonplaceError` or ``OSError``. It may be called while
    the part is open that reported the finding. No fix changes a note. ``on_request`` marks a fix
    that deletes what costs money to make again: it runs only with ``--drop-unused``.
    """

    text: str
    run: Callable[[], str] | None = None
    on_request: bool = False

    @property
    def hint(self) -> str:
        """One line for people: ``text``, behind the command that does it where there is one."""
        if self.run is None:
            return self.text
        option = " --drop-unused" if self.on_request else ""
        return f"`commonplace doctor --fix{option}`: {self.text}"


class Finding(NamedTuple):
    """The result of one check.

    ``state`` is ``problem`` where results may be wrong or missing, ``warning`` where it should be
    looked into. ``name`` is stable, one or two words; ``text`` is one line for people.
    """

    state: Literal["ok", "warning", "problem"]
    name: str
    text: str
    fix: Fix | None = None


def is_day(day: object) -> bool:
    """Whether it is a day in ISO form; by hand, as importing datetime takes a millisecond."""
    if type(day) is not str or not day.isascii():
        return False
    year, month, number = day[:4], day[5:7], day[8:]
    whole = len(year) == 4 and all(map(str.isdecimal, (year, month, number)))
    if not whole or day != f"{year}-{month}-{number}" or not "01" <= month <= "12":
        return False
    leap = int(year) % 4 == 0 and (int(year) % 100 != 0 or int(year) % 400 == 0)
    last = 31 - (month in {"04", "06", "09", "11"}) if month != "02" else 28 + leap
    return year != "0000" and 1 <= int(number) <= last
