"""From a document as read to a document as stored."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from commonplace.model.chunks import AnalysedChunk, PutDocument, embedding_text
from commonplace.text.analyse import title_of

if TYPE_CHECKING:
    from commonplace.model.documents import Document, Stamp
    from commonplace.protocols.sources import Chunker
    from commonplace.text.analyse import Analyser

__all__ = ["analyse_chunks", "analyse_document"]


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
