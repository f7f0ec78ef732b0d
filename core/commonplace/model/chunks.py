"""Chunks: runs of lines of a document, the unit of retrieval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from commonplace.model.documents import Stamp, Trust
    from commonplace.model.search import StoredChunk


class Chunk(NamedTuple):
    """A contiguous piece of a document.

    Lines are 1-based and inclusive. ``text`` is a contiguous piece of those lines (all of them,
    unless one line alone is longer than a chunk may be). ``heading`` is the path of headings the
    piece stands under, outermost first, without the marks.
    """

    start_line: int
    end_line: int
    text: str
    heading: tuple[str, ...] = ()


class Terms(NamedTuple):
    """The analysed form of a chunk: tokens joined by single spaces, ready for any keyword index.

    ``body`` the words of the text in their order; ``head`` those of heading path and file name;
    ``extra`` parts of identifiers, compounds and single characters of scripts without spaces.
    A token holds no white space. Stores index the three as columns of one record.
    """

    body: str
    head: str = ""
    extra: str = ""


class AnalysedChunk(NamedTuple):
    """A chunk with its terms, as a store keeps it.

    ``digest`` is the SHA-256, as hex, of exactly the text an embedding would be made of (heading
    path, a blank line, text): equal digests share a vector whatever file they stand in.
    """

    chunk: Chunk
    terms: Terms
    digest: str


@frozen
class PutDocument:
    """Insert a document, or replace it with all its chunks.

    ``fingerprint`` tells how the document became its chunks (source, chunker, analyser and their
    parameters): a document whose fingerprint differs from today's is indexed again. ``day`` is an
    ISO date or ``None``. ``resume`` is opaque to stores and tells the indexer where to continue
    when the document grows; ``""`` if it is always indexed as a whole. ``tags`` hold no white
    space, and of a nested one those around it, too: ``tag:`` filters compare whole ones.
    """

    source: str
    path: str
    digest: str
    stamp: Stamp
    fingerprint: str
    day: str | None
    trust: Trust
    chunks: tuple[AnalysedChunk, ...]
    resume: str = ""
    tags: tuple[str, ...] = ()


@frozen
class AppendDocument:
    """Continue a document that has grown: its first ``keep`` chunks stay, ``chunks`` follow.

    Its other chunks are removed. Source, path, fingerprint, trust and tags stay, the rest is as in
    :class:`PutDocument`. For stores that declare ``append``.
    """

    source: str
    path: str
    keep: int
    digest: str
    stamp: Stamp
    day: str | None
    chunks: tuple[AnalysedChunk, ...]
    resume: str = ""


@frozen
class DeleteDocument:
    """Forget a document and its chunks."""

    source: str
    path: str


@frozen
class TouchDocument:
    """Renew the stamp of a document whose text has not changed."""

    source: str
    path: str
    stamp: Stamp


Change = PutDocument | AppendDocument | DeleteDocument | TouchDocument


def embedding_text(chunk: Chunk | StoredChunk) -> str:
    """What an embedding of ``chunk`` is made of: its heading path, a blank line, its text.

    The path of the file is left out, so that moving a file costs no embedding.
    """
    return f"{' > '.join(chunk.heading)}\n\n{chunk.text}" if chunk.heading else chunk.text
