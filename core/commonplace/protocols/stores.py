"""The seam of stores: they keep chunks and vectors, and answer keyword and vector queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from commonplace.model.chunks import Change
    from commonplace.model.search import ChunkId, KeywordMatches, KeywordQuery, Nearest, Where
    from commonplace.model.store import Build, SpaceInfo, StoredDocument, StoreHealth
    from commonplace.resilience.deadline import Deadline


class Store(Protocol):
    """Keeps chunks and answers keyword queries.

    Everything is synchronous and safe to call from several threads. Methods raise
    :class:`~commonplace.errors.UnavailableError` (or a subclass) when the store cannot work, and
    :class:`~commonplace.errors.DeclinedError` when it cannot answer a given query honestly; they
    never return an empty answer in place of a failure. Reading needs no lease; ``open_build``,
    ``activate``, ``drop`` and ``put_documents`` are called inside ``writer()``.
    """

    @property
    def capabilities(self) -> frozenset[str]:
        """Of ``keyword``, ``phrases``, ``vectors``, ``append``, ``persistent``.

        Who declares ``append`` takes :class:`~commonplace.model.chunks.AppendDocument` and
        remembers what to resume with; others are given grown documents as a whole.
        """
        ...

    def writer(self, *, wait: float) -> AbstractContextManager[object]:
        """Hold the one writer lease; it dies with the process. Re-entrant in a thread.

        :class:`commonplace.plugin.Lease` is such a lease, for those who have no better one. Waits
        up to ``wait`` seconds, then raises :class:`~commonplace.errors.IndexBusyError`;
        raises :class:`~commonplace.errors.IndexReadOnlyError` where nothing can be written.
        """
        ...

    def builds(self) -> tuple[Build, ...]:
        """All builds; at most one is ``live``, at most one ``filling``."""
        ...

    def open_build(self, identity: str) -> Build:
        """The ``filling`` build of this identity: the one left unfinished, or a new empty one.

        An unfinished build of another identity is dropped.
        """
        ...

    def activate(self, build: Build) -> None:
        """Make ``build`` the live one and drop the old, in one transaction."""
        ...

    def drop(self, build: Build) -> None:
        """Delete a build and all it holds."""
        ...

    def documents(self, build: Build | None = None) -> Iterable[StoredDocument]:
        """What ``build`` (default: the live one) holds, in any order; nothing if there is none."""
        ...

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        """Apply all of ``changes`` in one transaction: all, or none and an error.

        What is not there is neither deleted nor touched, without an error; to append to it, or to
        keep more chunks than there are, is a ``ValueError``.
        """
        ...

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        """The best ``limit`` matches in the live build and their BM25 scores (above 0), best first.

        Scores and chunks are read in one transaction, so that all of them are of one moment.
        Filters are resolved before ranking: ``limit`` matches come back if there are that many.
        Equal scores are ordered by source, path and position in the document.
        """
        ...

    def health(self, *, deep: bool = False, counts: bool = True) -> StoreHealth:
        """Counts and condition; ``deep`` also checks the index against itself (may take long).

        Without ``counts``, the numbers of documents and chunks may be left 0: a sync asks so, which
        needs the location and the notices.

        A store that can fix what a deep check finds reports it in ``findings``: each has a fix
        that ``commonplace doctor --fix`` runs. A rebuild of the index fixes what is in
        ``problems``; the fix of a finding that is a ``problem`` is the last resort after that.
        """
        ...

    def close(self) -> None:
        """Let go of everything. Closing twice is fine; using it afterwards is an error."""
        ...


class VectorStore(Store, Protocol):
    """A store that also keeps vectors (capability ``vectors``).

    A vector is ``4 * dims`` bytes: float32, little-endian, of unit length. A *space* is the string
    that names where vectors are comparable; several live side by side in a build, each with its
    own coverage, and no answer ever mixes two. Vectors belong to chunk digests: chunks with equal
    text share one, and a vector goes when the last chunk of its digest goes.
    """

    def spaces(self) -> tuple[SpaceInfo, ...]:
        """The spaces of the live build, with how many of its chunks each covers."""
        ...

    def missing_vectors(self, build: Build, space: str) -> Iterable[tuple[str, str]]:
        """(digest, text to embed) of chunks without a vector in ``space``, each digest once."""
        ...

    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        """Attach vectors by chunk digest, all in one transaction; unknown digests are left out.

        Raises ``ValueError`` if a vector is not ``4 * dims`` bytes or not of unit length (see
        :func:`commonplace.embedding.vectors.check_units`), or if ``space`` already holds vectors
        of other dimensions.
        """
        ...

    def drop_space(self, space: str) -> None:
        """Forget all vectors of ``space``."""
        ...

    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        """The best ``limit`` chunks of the live build by cosine similarity to ``vector``.

        Scores and chunks are read in one transaction. Filters are resolved before the search. Equal
        scores are ordered by source, path and position in the document. Raises ``ValueError`` if
        ``vector`` has other dimensions than ``space``.
        """
        ...

    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        """The vectors of these chunks, where there are any (for rankers that compare hits)."""
        ...
