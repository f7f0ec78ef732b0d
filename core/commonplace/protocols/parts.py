"""The protocols of what an index is made of: sources and chunkers, and stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from commonplace.model.chunks import Change, Chunk
    from commonplace.model.documents import (
        Build,
        Document,
        DocumentRef,
        Lookup,
        ScanReport,
        Segment,
        SpaceInfo,
        Stamp,
        StoredDocument,
        StoreHealth,
        WatchedPath,
    )
    from commonplace.model.search import (
        ChunkId,
        Found,
        KeywordMatches,
        KeywordQuery,
        Nearest,
        Where,
    )
    from commonplace.resilience.deadline import Deadline


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
        """``watched``, ``partial``, ``growing``, ``readable``.

        They are for a :class:`WatchedSource`, :class:`PartialSource` or :class:`GrowingSource`.
        Only the methods of a declared capability are called. ``readable``: what ``read`` gives can
        be read on by the path and the lines that hits cite, by everyone who may search.
        """
        ...

    def scan(self) -> ScanReport:
        """All documents there are, each with the stamp that it has now.

        It is called for every sync and many searches, so let it be cheap: of files by ``stat``
        alone, none is opened; of a service one request, say. What cannot be reached is reported as
        a failed root, never as an empty one.
        """
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


class PartialSource(WatchedSource, Protocol):
    """Declares ``partial`` beside ``watched``: it can look at a few paths alone.

    Where a source that is watched does not, each change lets all sources be scanned.
    """

    def scan_paths(self, paths: Collection[str]) -> ScanReport | None:
        """What a scan would find now at ``paths``, absolute, of which some may be other sources'.

        ``complete_roots`` are the stored paths that were looked for; those that are not among the
        ``documents`` are gone. ``None`` where only a scan can tell, as for a folder that came or
        went, a root, or any failure.
        """
        ...


class GrowingSource(Source, Protocol):
    """Declares ``growing``: its documents are files that grow at their end.

    Others are replaced as a whole.
    """

    def due(self, ref: DocumentRef, indexed: Stamp) -> bool:
        """Whether what was added since ``indexed`` is enough for an automatic sync to read it.

        ``indexed`` is the stamp with which the document was read, its times perhaps -1
        (:func:`~commonplace.plugin.file_stamp` reads it). What is new, has shrunk or was replaced
        is always due, and so is what cannot be looked at.
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
        """What it can do, of the following words.

        ``keyword``, ``phrases``, ``counts``, ``vectors``, ``append``, ``persistent``, ``eventual``,
        ``lookup``, ``holds``, ``days``.

        Who declares ``counts`` may also declare ``term_counts``, see
        :class:`~commonplace.plugin.KeywordMatches`, and ``vocabulary``, see
        :class:`~commonplace.plugin.VocabularyStore`.

        Who declares ``append`` takes :class:`~commonplace.plugin.AppendDocument` and
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
        Equal scores are ordered by day, the newest first and undated chunks last, then by source,
        path and position in the document.
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


class CountingStore(Store, Protocol):
    """A store that counts the chunks that hold a token (capability ``counts``).

    It also fills the counts of :class:`~commonplace.plugin.KeywordMatches`.
    """

    def holders(self, tokens: Collection[str]) -> Mapping[str, int]:
        """How many chunks of the live build hold each of ``tokens``.

        Of frequent tokens nearly so many; 0 for what no chunk holds. It is called after an answer,
        by :func:`~commonplace.plugin.current_deadline`: where it fails, that answer holds.
        """
        ...


class VocabularyStore(CountingStore, Protocol):
    """A store that knows its tokens by how they begin (capability ``vocabulary``).

    What notes have instead of a word that none of them has is then found: for "kube" the
    "Kubernetes" of a note.
    """

    def tokens_beginning(self, text: str, limit: int) -> Mapping[str, int]:
        """Up to ``limit`` tokens that begin with ``text``, and how many chunks hold each.

        Of the live build; those that most chunks hold, and these counts, may be nearly right. It is
        called as ``holders`` is.
        """
        ...


class LookupStore(Store, Protocol):
    """A store that quickly finds single documents (capability ``lookup``).

    Where a store does not, each sync compares all documents.
    """

    def lookup(self, build: Build, keys: Collection[tuple[str, str]]) -> Lookup:
        """The documents of ``build`` with these sources and paths, in any order, and the total.

        Read in one transaction.
        """
        ...


class HoldsStore(Store, Protocol):
    """A store that quickly compares all its documents (capability ``holds``).

    Most searches find nothing new: where a store does not, all documents are read to know that.
    """

    def holds(self, build: Build, documents: Mapping[tuple[str, str], Mapping[str, Stamp]]) -> bool:
        """Whether ``build`` holds these documents and no others, as they are.

        ``documents`` are stamps by path, by (source, fingerprint). ``False`` says nothing: it may
        also be given for documents that take long to compare.
        """
        ...


class DayStore(Store, Protocol):
    """A store that lists the chunks of some days (capability ``days``).

    Where a store does not, a question for a time alone ("what happened yesterday?") finds nothing
    but its words.
    """

    def of_days(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Found, ...]:
        """The first ``limit`` chunks of documents of the query's ``days``, each with a score of 1.

        Of the live build, without chunks that have one of ``must_not``, in the order of equal
        scores: by day, the newest first, then by source, path and position.
        """
        ...


class EventualStore(Store, Protocol):
    """A store that finds a moment later what was written (capability ``eventual``).

    Until then ``keyword``, ``nearest`` and ``holders`` answer as before the write, all of it;
    ``documents``, ``builds`` and ``health`` know it at once.
    """

    def refresh(self, *, deadline: Deadline) -> None:
        """Return once all that was written is found; called at the end of a sync.

        Raises :class:`~commonplace.errors.UnavailableError` where that cannot be waited for.
        """
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
        :func:`~commonplace.plugin.check_units`), or if ``space`` already holds vectors
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
        scores are ordered as in ``keyword``. Raises ``ValueError`` if ``vector`` has other
        dimensions than ``space``, or numbers that are not finite.
        """
        ...

    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        """The vectors of these chunks, where there are any (for rankers that compare hits).

        A search calls it after its answer, by :func:`~commonplace.plugin.current_deadline`.
        """
        ...
