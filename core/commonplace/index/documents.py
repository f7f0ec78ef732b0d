"""From documents of the sources to the changes that a store applies."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING, Literal, cast

from commonplace.index.planning import is_unsettled, settled_stamp
from commonplace.model.chunks import (
    AnalysedChunk,
    AppendDocument,
    PutDocument,
    TouchDocument,
    embedding_text,
)
from commonplace.model.tuples import NamedTuple
from commonplace.text.analyse import title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.model.documents import Document, DocumentRef, Segment, Stamp
    from commonplace.protocols.sources import Chunker
    from commonplace.text.analyse import Analyser

__all__ = [
    "Fate",
    "GrowingDocument",
    "Maker",
    "Outcome",
    "Resume",
    "analyse_chunks",
    "analyse_document",
    "resume_of",
]


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from commonplace.model.chunks import Change
    from commonplace.model.documents import Document, DocumentRef, Segment, Stamp
    from commonplace.model.store import StoredDocument
    from commonplace.protocols.sources import Chunker, GrowingSource, Source
    from commonplace.resilience.deadline import Deadline
    from commonplace.text.analyse import Analyser

    Put = Callable[[Change], None]


_AT_ONCE = 1 << 20
"""Characters of a document that grows which are made at once, if there are so many."""

Fate = Literal["added", "updated", "unchanged", "vanished", "unreadable", "unfinished"]


class Outcome(NamedTuple):
    """What became of a document, and why where it could not be read."""

    fate: Fate
    reason: str = ""


class _Racy(NamedTuple):
    """A document that was written in the very moment in which it was read."""

    ref: DocumentRef
    digest: str
    place: str


class _Job(NamedTuple):
    """A document to be made. ``now_ns`` is a time at which nothing of it had been looked at."""

    ref: DocumentRef
    old: StoredDocument | None
    recipe: str
    put: Put
    deadline: Deadline
    now_ns: int

    def is_done_by(self, document: Document) -> bool:
        """Whether the index has it as it is."""
        old = self.old
        return old is not None and old.digest == document.digest and old.recipe == self.recipe

    def touch(self, stamp: Stamp) -> Outcome:
        """Renew its stamp."""
        if self.old is not None and stamp != self.old.stamp:
            self.put(TouchDocument(self.ref.source, self.ref.path, stamp))
        return Outcome("unchanged")

    def made(self, change: Change) -> Outcome:
        """Put the last of its changes."""
        self.put(change)
        return Outcome("added" if self.old is None else "updated")


class Maker:
    """Reads, cuts and analyses documents.

    A document of a `GrowingSource` is made from where it was left, if the
    store ``appends``; a long one in several changes, each of which leaves it as it would be if it
    ended there.
    """

    def __init__(
        self,
        *,
        sources: Mapping[str, Source],
        chunker: Chunker,
        analyser: Analyser,
        clock_ns: Callable[[], int],
        appends: bool,
    ) -> None:
        self._sources = sources
        self._chunker = chunker
        self._analyser = analyser
        self._clock_ns = clock_ns
        self._appends = appends
        self._racy: list[_Racy] = []

    def make(
        self,
        ref: DocumentRef,
        old: StoredDocument | None,
        recipe: str,
        put: Put,
        *,
        deadline: Deadline,
        largest: int | None = None,
    ) -> Outcome:
        """Give ``put`` whatever leads from ``old`` to the document as it is now.

        A long document that grows is left unfinished at ``deadline``; one of more than ``largest``
        bytes that has to be made from its beginning is left alone.
        """
        growing = _growing(self._sources[ref.source])
        job = _Job(ref, old, recipe, put, deadline, self._clock_ns())
        try:
            if growing is None:
                return self._whole(job)
            resume = resume_of(old.resume) if old is not None and old.recipe == recipe else Resume()
            if resume.place:
                with growing.segments(ref, resume.place) as segments:
                    if segments is not None:
                        return self._follow(job, segments, resume)
            if largest is not None and ref.stamp[0] > largest:
                return Outcome("unfinished")  # it was thought to have grown, and has not
            with growing.segments(ref) as segments:
                if segments is None:
                    return Outcome("vanished")
                return self._follow(job, segments, Resume())
        except OSError as error:
            return Outcome("unreadable", error.strerror or str(error))

    def settle(self) -> list[Change]:
        """Touches for racy documents that are the same when they are read once more."""
        touches: list[Change] = []
        for ref, digest, place in self._racy:
            now_ns = self._clock_ns()
            try:
                document = self._read_again(ref, place)
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
        document = self._sources[job.ref.source].read(job.ref)
        if document is None:
            return Outcome("vanished")
        stamp = self._stamp(document, job.now_ns, "")
        if job.is_done_by(document):
            return job.touch(stamp)
        put = analyse_document(
            document,
            chunker=self._chunker,
            analyser=self._analyser,
            recipe=job.recipe,
            stamp=stamp,
        )
        return job.made(put)

    def _follow(self, job: _Job, segments: Iterable[Segment], resume: Resume) -> Outcome:
        analyse = partial(analyse_chunks, chunker=self._chunker, analyser=self._analyser)
        growing = GrowingDocument(job.ref, job.recipe, resume, analyse)
        held: list[Segment] = []
        size = 0
        written = False
        for segment in segments:
            held.append(segment)
            size += len(segment.document.text)
            if segment.place and self._appends and size >= _AT_ONCE:
                job.put(growing.change(held, segment.document.ref.stamp, resumable=True))
                held, size, written = [], 0, True
                if job.deadline.expired:
                    return Outcome("unfinished")
        document = held[-1].document
        stamp = self._stamp(document, job.now_ns, resume.place)
        if not written and job.is_done_by(document):
            return job.touch(stamp)
        return job.made(growing.change(held, stamp, resumable=self._appends))

    def _stamp(self, document: Document, now_ns: int, place: str) -> Stamp:
        stamp = settled_stamp(document.ref.stamp, now_ns)
        if is_unsettled(stamp):
            self._racy.append(_Racy(document.ref, document.digest, place))
        return stamp

    def _read_again(self, ref: DocumentRef, place: str) -> Document | None:
        source = self._sources[ref.source]
        growing = _growing(source)
        if growing is None:
            return source.read(ref)
        with growing.segments(ref, place) as segments:
            document: Document | None = None
            for segment in segments or ():
                document = segment.document
            return document


def _growing(source: Source) -> GrowingSource | None:
    return cast("GrowingSource", source) if hasattr(source, "segments") else None


def analyse_document(
    document: Document, *, chunker: Chunker, analyser: Analyser, recipe: str, stamp: Stamp
) -> PutDocument:
    """Cut ``document`` into chunks, analyse each, and put all into the form stores take."""
    ref = document.ref
    return PutDocument(
        source=ref.source,
        path=ref.path,
        digest=document.digest,
        stamp=stamp,
        recipe=recipe,
        day=document.day.isoformat() if document.day else None,
        trust=document.trust,
        chunks=analyse_chunks(document, chunker=chunker, analyser=analyser),
    )


def analyse_chunks(
    document: Document, *, chunker: Chunker, analyser: Analyser
) -> tuple[AnalysedChunk, ...]:
    """The chunks of ``document``, analysed."""
    # The names of transcripts are ids and dates of archiving: they say nothing of what was said.
    title = "" if document.trust == "session" else title_of(document.ref.path)
    return tuple(
        AnalysedChunk(
            chunk=chunk,
            terms=analyser.chunk(chunk.text, heading=chunk.heading, title=title),
            digest=_digest(embedding_text(chunk)),
        )
        for chunk in chunker.chunk(document)
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Resume(NamedTuple):
    """Where to go on: ``keep`` chunks were made of what lies before ``place``."""

    keep: int = 0
    place: str = ""

    @property
    def text(self) -> str:
        """As it is stored; ``""`` is the beginning."""
        return f"{self.keep} {self.place}" if self.place else ""


def resume_of(text: str) -> Resume:
    """The inverse of :attr:`Resume.text`; the beginning for what nobody wrote so."""
    keep, _, place = text.partition(" ")
    return Resume(int(keep), place) if keep.isdecimal() and place else Resume()


class GrowingDocument:
    """What is made of one document from ``resume`` on, change by change.

    With each change the index holds the document as it would be if it ended there. ``analyse``
    gives the chunks of a text.
    """

    def __init__(
        self,
        ref: DocumentRef,
        recipe: str,
        resume: Resume,
        analyse: Callable[[Document], Sequence[AnalysedChunk]],
    ) -> None:
        self._ref = ref
        self._recipe = recipe
        self._resume = resume
        self._analyse = analyse

    def change(
        self, segments: Sequence[Segment], stamp: Stamp, *, resumable: bool
    ) -> PutDocument | AppendDocument:
        """The next change, of one or more segments; all but the very last must have a place."""
        before = self._resume
        chunks: list[AnalysedChunk] = []
        for segment in segments:
            chunks += self._analyse(segment.document)
            if segment.place:
                self._resume = Resume(before.keep + len(chunks), segment.place)
        document = segments[-1].document
        day = document.day.isoformat() if document.day else None
        if before.place:
            return AppendDocument(
                source=self._ref.source,
                path=self._ref.path,
                keep=before.keep,
                digest=document.digest,
                stamp=stamp,
                day=day,
                chunks=tuple(chunks),
                resume=self._resume.text,
            )
        return PutDocument(
            source=self._ref.source,
            path=self._ref.path,
            digest=document.digest,
            stamp=stamp,
            recipe=self._recipe,
            day=day,
            trust=document.trust,
            chunks=tuple(chunks),
            resume=self._resume.text if resumable else "",
        )
