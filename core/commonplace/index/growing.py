"""The changes that a document makes piece by piece, so that what it grows by costs no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.model.chunks import AppendDocument, PutDocument
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.model.chunks import AnalysedChunk
    from commonplace.model.documents import Document, DocumentRef, Segment, Stamp

__all__ = ["GrowingDocument", "Resume", "resume_of"]


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
