"""From documents at their sources to the changes that bring them into a store."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from commonplace.index.changes import is_unsettled, settled_stamp
from commonplace.index.documents import analyse_chunks, analyse_document
from commonplace.index.growing import GrowingDocument, Resume, resume_of
from commonplace.model.chunks import TouchDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from commonplace.deadline import Deadline
    from commonplace.model.chunks import Change
    from commonplace.model.documents import Document, DocumentRef, Segment, Stamp
    from commonplace.model.store import StoredDocument
    from commonplace.spec import Chunker, GrowingSource, Source
    from commonplace.text.analyse import Analyser

    Put = Callable[[Change], None]

__all__ = ["Fate", "Maker", "Outcome"]

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


class Maker:
    """Reads, cuts and analyses documents.

    A document of a :class:`~commonplace.spec.GrowingSource` is made from where it was left, if the
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
        try:
            if growing is None:
                return self._whole(ref, old, recipe, put)
            resume = resume_of(old.resume) if old is not None and old.recipe == recipe else Resume()
            if resume.place:
                with growing.segments(ref, resume.place) as segments:
                    if segments is not None:
                        return self._follow(segments, ref, old, recipe, resume, put, deadline)
            if largest is not None and ref.stamp[0] > largest:
                return Outcome("unfinished")  # it was thought to have grown, and has not
            with growing.segments(ref) as segments:
                if segments is None:
                    return Outcome("vanished")
                return self._follow(segments, ref, old, recipe, Resume(), put, deadline)
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

    def _whole(
        self, ref: DocumentRef, old: StoredDocument | None, recipe: str, put: Put
    ) -> Outcome:
        now_ns = self._clock_ns()
        document = self._sources[ref.source].read(ref)
        if document is None:
            return Outcome("vanished")
        stamp = self._stamp(document, now_ns, "")
        if old is not None and old.digest == document.digest and old.recipe == recipe:
            return _touched(old, stamp, put)
        put(
            analyse_document(
                document,
                chunker=self._chunker,
                analyser=self._analyser,
                recipe=recipe,
                stamp=stamp,
            )
        )
        return Outcome("added" if old is None else "updated")

    def _follow(
        self,
        segments: Iterable[Segment],
        ref: DocumentRef,
        old: StoredDocument | None,
        recipe: str,
        resume: Resume,
        put: Put,
        deadline: Deadline,
    ) -> Outcome:
        now_ns = self._clock_ns()
        analyse = partial(analyse_chunks, chunker=self._chunker, analyser=self._analyser)
        growing = GrowingDocument(ref, recipe, resume, analyse)
        held: list[Segment] = []
        size = 0
        written = False
        for segment in segments:
            held.append(segment)
            size += len(segment.document.text)
            if segment.place and self._appends and size >= _AT_ONCE:
                put(growing.change(held, segment.document.ref.stamp, resumable=True))
                held, size, written = [], 0, True
                if deadline.expired:
                    return Outcome("unfinished")
        document = held[-1].document
        stamp = self._stamp(document, now_ns, resume.place)
        if (
            not written
            and old is not None
            and old.digest == document.digest
            and old.recipe == recipe
        ):
            return _touched(old, stamp, put)
        put(growing.change(held, stamp, resumable=self._appends))
        return Outcome("added" if old is None else "updated")

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


def _touched(old: StoredDocument, stamp: Stamp, put: Put) -> Outcome:
    if stamp != old.stamp:
        put(TouchDocument(old.source, old.path, stamp))
    return Outcome("unchanged")
