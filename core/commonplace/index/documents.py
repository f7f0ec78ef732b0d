"""From documents of the sources to the changes that a store applies."""

from __future__ import annotations

import hashlib
import re
from errno import EILSEQ
from functools import partial
from typing import TYPE_CHECKING, Literal, cast

from attrs import Factory, define

from commonplace.host.answers import read_of
from commonplace.index.planning import is_same_file, is_unsettled, settled_stamp, size_of
from commonplace.model.chunks import (
    AnalysedChunk,
    AppendDocument,
    DeleteDocument,
    PutDocument,
    TouchDocument,
    embedding_text,
)
from commonplace.model.documents import Segment
from commonplace.model.tuples import NamedTuple
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from commonplace.index.planning import Plan
    from commonplace.model.chunks import Change
    from commonplace.model.documents import Document, DocumentRef, Stamp, StoredDocument
    from commonplace.model.reports import SyncReport
    from commonplace.protocols.parts import Chunker, GrowingSource, Source
    from commonplace.text.analyse import Analyser

    Put = Callable[[Change], None]


_SCAN_SECONDS = 0.5

_AT_ONCE = 1 << 20
"""Characters of a growing document that are processed at once, if there are so many."""

Result = Literal["added", "updated", "unchanged", "vanished", "unreadable", "unfinished"]


class Outcome(NamedTuple):
    """The result of processing a document; ``reason`` says why it is unreadable."""

    result: Result
    reason: str = ""


def _done(old: StoredDocument | None) -> Outcome:
    return Outcome("added" if old is None else "updated")


class Resume(NamedTuple):
    """Where to continue a growing document: before ``position`` it has ``keep`` chunks."""

    keep: int = 0
    position: str = ""

    @property
    def text(self) -> str:
        """The stored form; ``""`` is the beginning."""
        return f"{self.keep} {self.position}" if self.position else ""


def resume_of(text: str) -> Resume:
    """The inverse of :attr:`Resume.text`; the beginning for any invalid text."""
    keep, _, position = text.partition(" ")
    return Resume(int(keep), position) if keep.isdecimal() and position else Resume()


@define
class GrowingDocument:
    """The changes of one document from ``resume`` on.

    With each change the index holds the document as if it ended there. ``analyse`` gives the chunks
    of a text.
    """

    _ref: DocumentRef
    _fingerprint: str
    _resume: Resume
    _analyse: Callable[[Document], Sequence[AnalysedChunk]]

    def change(
        self, segments: Sequence[Segment], stamp: Stamp, *, resumable: bool
    ) -> PutDocument | AppendDocument:
        """The next change, of one or more segments; all but the very last have a position."""
        before = self._resume
        chunks: list[AnalysedChunk] = []
        for segment in segments:
            chunks += self._analyse(segment.document)
            if segment.place:
                self._resume = Resume(before.keep + len(chunks), segment.place)
        document = segments[-1].document
        make: Callable[..., PutDocument | AppendDocument]
        if before.position:
            make = partial(AppendDocument, keep=before.keep)
        else:
            make = partial(
                PutDocument,
                fingerprint=self._fingerprint,
                trust=document.trust,
                tags=document.tags,
            )
        return make(
            source=self._ref.source,
            path=self._ref.path,
            digest=document.digest,
            stamp=stamp,
            day=document.day.isoformat() if document.day else None,
            chunks=tuple(chunks),
            resume=self._resume.text if resumable or before.position else "",
        )


class _Racy(NamedTuple):
    """A document that was written in the very moment in which it was read."""

    ref: DocumentRef
    digest: str
    position: str


class _Job(NamedTuple):
    """A document to process; ``now_ns`` is a time before anything of it was read."""

    ref: DocumentRef
    old: StoredDocument | None
    fingerprint: str
    put: Put
    deadline: Deadline
    now_ns: int

    def is_stored(self, document: Document) -> bool:
        """Whether the index has it as it is."""
        old = self.old
        if old is None or old.digest != document.digest:
            return False
        return old.fingerprint == self.fingerprint

    def touch(self, stamp: Stamp) -> Outcome:
        """Renew its stamp."""
        if self.old is not None and stamp != self.old.stamp:
            self.put(TouchDocument(self.ref.source, self.ref.path, stamp))
        return Outcome("unchanged")

    def finish(self, change: Change) -> Outcome:
        """Put the last of its changes."""
        self.put(change)
        return _done(self.old)


@define
class DocumentProcessor:
    """Reads, cuts and analyses documents.

    A document of a `GrowingSource` is continued where the index ends, if the store ``appends``. A
    long one is put in several changes; after each the index holds it as if it ended there.
    """

    _sources: Mapping[str, Source]
    _chunker: Chunker
    _analyser: Analyser
    _clock_ns: Callable[[], int]
    _appends: bool
    _racy: list[_Racy] = Factory(list)

    def process(
        self,
        ref: DocumentRef,
        old: StoredDocument | None,
        fingerprint: str,
        put: Put,
        *,
        deadline: Deadline,
        largest: int | None = None,
    ) -> Outcome:
        """Call ``put`` with the changes from ``old`` to the document as it is now.

        A long document that grows is left unfinished at ``deadline``; one of more than ``largest``
        bytes that has to be read from its beginning is not touched.
        """
        growing = _growing(self._sources[ref.source])
        job = _Job(ref, old, fingerprint, put, deadline, self._clock_ns())
        try:
            if growing is None:
                return self._whole(job)
            same = old is not None and old.fingerprint == fingerprint
            resume = resume_of(old.resume) if old is not None and same else Resume()
            if resume.position:
                with growing.segments(ref, resume.position) as segments:
                    if segments is not None:
                        return self._continue(job, segments, resume)
            if largest is not None and size_of(ref.stamp) > largest:
                return Outcome("unfinished")  # it seemed to have grown, and has been replaced
            with growing.segments(ref) as segments:
                if segments is None:
                    return Outcome("vanished")
                return self._continue(job, segments, Resume())
        except OSError as error:
            if error.errno == EILSEQ and old is not None:
                put(DeleteDocument(ref.source, ref.path))  # it was text, and is not any more
            return Outcome("unreadable", error.strerror or str(error))

    def failure(self, ref: DocumentRef) -> str:
        """Why the document cannot be read; ``""`` if it can, or is gone."""
        return _failure(self._sources[ref.source], ref)

    def settle(self) -> list[Change]:
        """Touches for racy documents that are unchanged when they are read again."""
        touches: list[Change] = []
        for ref, digest, position in self._racy:
            now_ns = self._clock_ns()
            try:
                document = self._read_again(ref, position)
            except OSError:
                continue
            if document is None or document.digest != digest:
                continue
            stamp = settled_stamp(document.ref.stamp, now_ns)
            if not is_unsettled(stamp):
                touches.append(TouchDocument(ref.source, ref.path, stamp))
        self._racy.clear()
        return touches

    @property
    def is_racy(self) -> bool:
        """Whether there is anything to settle."""
        return bool(self._racy)

    def _whole(self, job: _Job) -> Outcome:
        document = read_of(self._sources[job.ref.source], job.ref)
        if document is None:
            return Outcome("vanished")
        stamp = self._stamp(document, job.now_ns, "")
        if job.is_stored(document):
            return job.touch(stamp)
        whole = self._growing_document(job, Resume())
        return job.finish(whole.change([Segment(document)], stamp, resumable=False))

    def _growing_document(self, job: _Job, resume: Resume) -> GrowingDocument:
        analyse = partial(analyse_chunks, chunker=self._chunker, analyser=self._analyser)
        return GrowingDocument(job.ref, job.fingerprint, resume, analyse)

    def _continue(self, job: _Job, segments: Iterable[Segment], resume: Resume) -> Outcome:
        growing = self._growing_document(job, resume)
        unwritten: list[Segment] = []
        size = 0
        written = False
        for segment in segments:
            unwritten.append(segment)
            size += len(segment.document.text)
            if segment.place and self._appends and size >= _AT_ONCE:
                job.put(growing.change(unwritten, segment.document.ref.stamp, resumable=True))
                unwritten, size, written = [], 0, True
                if job.deadline.expired:
                    return Outcome("unfinished")
        if not unwritten:  # a source ends with a segment that has no place, unless it is empty
            return _done(job.old) if written else Outcome("vanished")
        document = unwritten[-1].document
        stamp = self._stamp(document, job.now_ns, resume.position)
        if not written and job.is_stored(document):
            return job.touch(stamp)
        return job.finish(growing.change(unwritten, stamp, resumable=self._appends))

    def _stamp(self, document: Document, now_ns: int, position: str) -> Stamp:
        stamp = settled_stamp(document.ref.stamp, now_ns)
        if is_unsettled(stamp):
            self._racy.append(_Racy(document.ref, document.digest, position))
        return stamp

    def _read_again(self, ref: DocumentRef, position: str) -> Document | None:
        source = self._sources[ref.source]
        growing = _growing(source)
        if growing is None:
            return read_of(source, ref)
        with growing.segments(ref, position) as segments:
            document: Document | None = None
            for segment in segments or ():
                document = segment.document
            return document


def _growing(source: Source) -> GrowingSource | None:
    return cast("GrowingSource", source) if "growing" in source.capabilities else None


def day_from(source: Source, ref: DocumentRef) -> str:
    """The ISO day that ``source`` gives a document, or ``""``.

    Of a document that grows only the beginning is read. Raises ``OSError`` if the document is gone
    or cannot be read.
    """
    document = _beginning_of(source, ref)
    if document is None:
        raise OSError("it is gone")
    return document.day.isoformat() if document.day else ""


def with_unreadable(
    report: SyncReport, plan: Plan, sources: Mapping[str, Source], chunker: Chunker
) -> SyncReport:
    """``report``, where nothing of ``plan`` is done yet, with what of it cannot be read or cut.

    It reads for half a second: all that a sync leaves is what it could not read, and that is soon
    found. New documents among it are not counted as remaining, as after a sync.
    """
    deadline = Deadline.after(_SCAN_SECONDS)
    unreadable: list[tuple[str, str]] = []
    new, cuts = 0, False
    for ref, old in plan.read:
        source = sources[ref.source]
        # The same was read, and is only to be cut in another way, which is tried once.
        same = is_same_file(ref, old)
        if deadline.expired or (same and (cuts or _failure(source, ref))):
            continue
        if reason := _failure(source, ref, chunker):
            unreadable.append((ref.path, reason))
            new += old is None
        cuts = cuts or not reason
    return report.replace(unreadable=tuple(unreadable), remaining=report.remaining - new)


def _failure(source: Source, ref: DocumentRef, chunker: Chunker | None = None) -> str:
    try:
        document = _beginning_of(source, ref)
        if chunker is not None and document is not None:
            chunker.chunk(document)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _beginning_of(source: Source, ref: DocumentRef) -> Document | None:
    """The document, or of one that grows only the beginning; ``None`` if it is gone."""
    growing = _growing(source)
    if growing is None:
        return read_of(source, ref)
    with growing.segments(ref) as segments:
        return next((segment.document for segment in segments or ()), None)


def analyse_chunks(
    document: Document, *, chunker: Chunker, analyser: Analyser
) -> tuple[AnalysedChunk, ...]:
    """The chunks of ``document`` with their terms."""
    without = "\n".join((path_words(document.ref.path, document.trust), *document.names))
    title = f"{document.title}\n{without}" if document.title else without
    return tuple(
        AnalysedChunk(
            chunk=chunk,
            terms=analyser.chunk(
                chunk.text,
                heading=chunk.heading,
                title=without if document.title in chunk.heading[:1] else title,
            ),
            digest=hashlib.sha256(
                embedding_text(chunk).encode("utf-8", "surrogatepass")
            ).hexdigest(),
        )
        for chunk in chunker.chunk(document)
    )


def path_words(path: str, trust: str) -> str:
    """What is searched of a document's path: :func:`title_of`, but of a transcript nothing.

    The names of transcripts are ids and dates of archiving: they say nothing of their content.
    """
    return "" if trust == "session" else title_of(path)


def title_of(path: str) -> str:
    """The words of a document's stored path that say what it is about; may be ``""``.

    Left out are the ``memory`` that all notes lie under, the extension, and dates: of
    ``memory/2026-01-31-deploy.md`` there is left ``deploy``.
    """
    folders, _, name = path.rpartition("/")
    stem, _, extension = name.rpartition(".")
    parts = [*filter(None, folders.split("/")), stem if stem and extension else name]
    if parts[0].lower() == "memory":
        del parts[0]
    words = (re.sub(r"^\d{4}-\d\d(?:-\d\d)?+(?![0-9A-Za-z])[-_ .]*", "", part) for part in parts)
    return " ".join(word for word in words if word)
