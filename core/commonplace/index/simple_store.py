"""A base for stores: builds, lease, filters, order, BM25 and health over a few primitives."""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import evolve

from commonplace.errors import IndexUnavailableError
from commonplace.index.bm25 import (
    bm25,
    counts_of,
    hit_order,
    holders_of,
    matches_terms,
    term_counts,
    where_filter,
    words_of,
)
from commonplace.model.chunks import AppendDocument, DeleteDocument, PutDocument, TouchDocument
from commonplace.model.documents import Build, StoredDocument, StoreHealth
from commonplace.model.search import Found, KeywordMatches, StoredChunk, TermCounts
from commonplace.model.tuples import NamedTuple
from commonplace.resilience.deadline import current_deadline
from commonplace.resilience.lock import Lease

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from commonplace.model.chunks import AnalysedChunk, Change
    from commonplace.model.documents import Stamp
    from commonplace.model.search import ChunkId, KeywordQuery, Where
    from commonplace.resilience.deadline import Deadline


_CHECK_EVERY = 256
"""Rows between two checks of the deadline: well under a millisecond of work."""


class StoredRow(NamedTuple):
    """A chunk in memory, ready to be searched; ``place`` is its position in its document."""

    id: int
    document: PutDocument
    place: int
    analysed: AnalysedChunk
    counts: Mapping[str, float]
    length: int

    def found(self, score: float) -> Found:
        """The chunk as an answer with that score."""
        put, chunk = self.document, self.analysed.chunk
        body = self.analysed.terms.body
        return Found(
            StoredChunk(self.id, put.source, put.path, *chunk, put.day, put.trust, body), score
        )

    def order(self, score: float) -> tuple[float, int, str, str, int]:
        """What answers are sorted by, if the chunk has this score."""
        put = self.document
        return hit_order(score, put.day, put.source, put.path, self.place)


class StoredEntry(NamedTuple):
    """A document, the stamp it was last seen with, and its chunks."""

    document: PutDocument
    stamp: Stamp
    rows: tuple[StoredRow, ...]

    @property
    def stored(self) -> StoredDocument:
        """The document as ``Store.documents`` gives it."""
        put = self.document
        return StoredDocument(
            put.source, put.path, put.digest, self.stamp, put.fingerprint, put.resume
        )

    @property
    def size(self) -> int:
        """How many chunks it has; a store may know it without its rows."""
        return len(self.rows)


class Contents:
    """Documents of a build by (source, path): a value that is replaced, never changed.

    A store on a database overrides :attr:`documents`, :meth:`candidates` and :meth:`totals`, which
    then read no more of a build than is needed.
    """

    def __init__(self, documents: Mapping[tuple[str, str], Any] | None = None) -> None:
        self._documents = documents or {}

    @property
    def documents(self) -> Mapping[tuple[str, str], Any]:
        """Entries with ``stored``, a `StoredDocument`, and ``size``, in chunks."""
        return self._documents

    def rows(self) -> Iterator[StoredRow]:
        """All chunks."""
        for entry in self.documents.values():
            yield from entry.rows

    def candidates(self, tokens: Collection[str]) -> Iterable[StoredRow]:
        """The chunks that hold any of ``tokens``, with their ``counts`` of these.

        An override may give others, too; this one gives all.
        """
        del tokens
        return self.rows()

    def totals(self) -> tuple[int, float]:
        """How many chunks there are, and their mean length in tokens (0 if there are none)."""
        lengths = [row.length for row in self.rows()]
        return len(lengths), sum(lengths) / len(lengths) if lengths else 0.0

    def after(self, changes: Sequence[Change], new_id: Callable[[], int]) -> Contents:
        """The contents after ``changes``, applied in their order.

        Deletes and touches of unknown documents are ignored. Raises ``TypeError`` for a value that
        is not a change, and ``ValueError`` for an append to fewer chunks than it keeps.
        """
        documents = dict(self.documents)
        for change in changes:
            match change:
                case PutDocument(source=source, path=path, stamp=stamp):
                    rows = _rows(change, new_id)
                    documents[source, path] = StoredEntry(change, stamp, rows)
                case AppendDocument(source=source, path=path):
                    old = documents.get((source, path))
                    documents[source, path] = _appended(old, change, new_id)
                case DeleteDocument(source=source, path=path):
                    documents.pop((source, path), None)
                case TouchDocument(source=source, path=path, stamp=stamp):
                    if old := documents.get((source, path)):
                        documents[source, path] = old._replace(stamp=stamp)
                case other:
                    raise TypeError(f"not a change: {other!r}")
        return Contents(documents)


class StoredBuild(NamedTuple):
    """A build and its contents."""

    build: Build
    contents: Contents


class SimpleStore:
    """A :class:`~commonplace.plugin.Store` whose index fits in memory, or lies in a database.

    A backend implements :meth:`load` and :meth:`save`, and where it needs them :meth:`new_id` and
    :meth:`release`. Everything else is built on these: builds, the writer lease, batches that apply
    as a whole, filters, BM25 with phrases, health. A change makes the next value of the contents
    and then saves it, so that a change that fails leaves no trace and a search goes on with the
    value it began with. ``lease`` is by default one for the threads that share this object;
    ``location`` is shown by :meth:`health`, with ``notices``.

    A store that does not hold its documents in memory loads builds with a subclass of
    :class:`Contents` that reads documents when they are needed, and saves the builds alone. It
    implements :meth:`put_documents`, and :meth:`moment`, in which all reads see one state.
    """

    capabilities = frozenset(("keyword", "phrases", "append", "counts", "term_counts"))
    notices: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *, lease: Lease | None = None, location: str = "") -> None:
        self._lock = threading.RLock()
        self._lease = lease or Lease()
        self._location = location
        self._closed = False

    def load(self) -> Mapping[int, StoredBuild]:
        """The builds by id, the older first, as they were saved last; ``{}`` at first.

        Called for each read. Raises :class:`~commonplace.errors.UnavailableError` where they
        cannot be read.
        """
        raise NotImplementedError

    def save(self, builds: Mapping[int, StoredBuild]) -> None:
        """Keep ``builds``: all of it from one moment on, or nothing and an error."""
        raise NotImplementedError

    def new_id(self) -> int:
        """A number for a build or a chunk that is never given twice; by default a random one."""
        return secrets.randbits(62)

    def release(self) -> None:
        """Free what the store holds; called once, by :meth:`close`."""

    def moment(self) -> AbstractContextManager[object]:
        """A context whose reads see one state, such as a transaction; here it does nothing."""
        return nullcontext()

    def writer(self, *, wait: float) -> AbstractContextManager[object]:
        """Hold the lease."""
        self._snapshot()
        return self._lease.held(wait)

    def builds(self) -> tuple[Build, ...]:
        """All builds, the older first."""
        return tuple(stored.build for stored in self._snapshot().values())

    def open_build(self, identity: str) -> Build:
        """The unfinished build of this identity, or a new empty one."""
        builds = self._writable()
        for stored in list(builds.values()):
            if stored.build.state == "filling":
                if stored.build.identity == identity:
                    return stored.build
                del builds[stored.build.id]
        build = Build(self.new_id(), identity, "filling")
        self._swap(builds | {build.id: StoredBuild(build, Contents())})
        return build

    def activate(self, build: Build) -> None:
        """Make ``build`` the live one and the only one."""
        self._writable()
        stored = self._held(build)
        self._swap({build.id: stored._replace(build=stored.build._replace(state="live"))})

    def drop(self, build: Build) -> None:
        """Delete a build; an unknown one is ignored."""
        builds = self._writable()
        builds.pop(build.id, None)
        self._swap(builds)

    def documents(self, build: Build | None = None) -> Iterable[StoredDocument]:
        """What ``build`` or the live one holds."""
        with self.moment():
            contents = self._live() if build is None else self._held(build).contents
            return [entry.stored for entry in contents.documents.values()]

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        """Apply all of ``changes`` or none."""
        builds = self._writable()
        stored = self._held(build)
        contents = stored.contents.after(changes, self.new_id)
        self._swap(builds | {build.id: stored._replace(contents=contents)})

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        """The best matches in the live build, by looking at every candidate.

        What a token weighs is counted over the whole build, whatever the filters.
        """
        tokens = set(query.terms)
        deadline.check("the keyword search")
        with self.moment():
            contents = self._live()
            total, average = contents.totals()
            rows = list(_timed(contents.candidates(words_of(tokens)), deadline))
        ids: list[ChunkId] = [row.id for row in rows]
        counts = dict(zip(ids, counts_of(rows, tokens), strict=True))
        scores = bm25(query.terms, counts, total=total, average=average)
        hits = [
            (row, scores[row.id])
            for row in _timed(rows, deadline)
            if row.id in scores and matches_terms(row.analysed.terms, query)
        ]
        holders = holders_of(tokens, counts.values())
        found = best_found(hits, where, limit)
        return KeywordMatches(
            found,
            chunks=total,
            holders={token: holders[token] for token in tokens},
            terms=tuple(_only(tokens, counts[item.chunk.id]) for item in found),
            average=average,
        )

    def holders(self, tokens: Collection[str]) -> Mapping[str, int]:
        """How many chunks of the live build hold each of ``tokens``."""
        with self.moment():
            rows = self._live().candidates(words_of(tokens))
            counts = counts_of(_timed(rows, current_deadline()), tokens)
        holders = holders_of(set(tokens), counts)
        return {token: holders[token] for token in tokens}

    def health(self, *, deep: bool = False, counts: bool = True) -> StoreHealth:
        """Counts of the live build; a deep check also names who else writes."""
        documents: Counter[str] = Counter()
        chunks: Counter[str] = Counter()
        with self.moment():
            for (source, _), entry in self._live().documents.items() if counts else ():
                documents[source] += 1
                chunks[source] += entry.size
        return StoreHealth(
            location=self._location,
            documents=documents.total(),
            chunks=chunks.total(),
            documents_by_source=tuple(sorted(documents.items())),
            chunks_by_source=tuple(sorted(chunks.items())),
            notices=(*self.notices, *(self._lease.notices() if deep else ())),
        )

    def close(self) -> None:
        """Refuse everything from now on, and free what is held."""
        with self._lock:
            closed, self._closed = self._closed, True
        if not closed:
            self.release()

    def _snapshot(self) -> dict[int, StoredBuild]:
        with self._lock:
            self._check_open()
            return dict(self.load())

    def _swap(self, builds: dict[int, StoredBuild]) -> None:
        with self._lock:
            self._check_open()
            self.save(builds)

    def _writable(self) -> dict[int, StoredBuild]:
        self._check_open()
        self._lease.check()
        return self._snapshot()

    def _check_open(self) -> None:
        if self._closed:
            raise IndexUnavailableError("the store is closed", hint="open it again")

    def _live(self) -> Contents:
        for stored in self._snapshot().values():
            if stored.build.state == "live":
                return stored.contents
        return Contents()

    def _held(self, build: Build) -> StoredBuild:
        stored = self._snapshot().get(build.id)
        if stored is None:
            raise IndexUnavailableError(
                f"there is no build {build.id} ({build.identity})", hint="open a build again"
            )
        return stored


def best_found(
    hits: Iterable[tuple[StoredRow, float]], where: Where, limit: int
) -> tuple[Found, ...]:
    """The best ``limit`` of the chunks with their scores, of those that pass ``where``, in order.

    The order is that of :func:`~commonplace.plugin.hit_order`.
    """
    passes = where_filter(where)
    kept = [
        (row.order(score), row, score)
        for row, score in hits
        if passes(row.document.source, row.document.path, row.document.day, row.document.tags)
    ]
    kept.sort(key=lambda hit: hit[0])
    return tuple(row.found(score) for _, row, score in kept[: max(0, limit)])


def _appended(
    old: StoredEntry | None, change: AppendDocument, new_id: Callable[[], int]
) -> StoredEntry:
    keep = change.keep
    if old is None or not 0 <= keep <= len(old.rows):
        raise ValueError(f"{change.path} has no {keep} chunks to keep")
    document = evolve(
        old.document,
        digest=change.digest,
        stamp=change.stamp,
        day=change.day,
        chunks=(*old.document.chunks[:keep], *change.chunks),
        resume=change.resume,
    )
    kept = tuple(row._replace(document=document) for row in old.rows[:keep])
    return StoredEntry(document, change.stamp, kept + _rows(document, new_id, keep))


def _rows(
    document: PutDocument, new_id: Callable[[], int], first: int = 0
) -> tuple[StoredRow, ...]:
    return tuple(
        StoredRow(new_id(), document, place, analysed, *term_counts(analysed.terms))
        for place, analysed in enumerate(document.chunks[first:], first)
    )


def _only(tokens: Collection[str], chunk: TermCounts) -> TermCounts:
    counts = {token: chunk.counts[token] for token in tokens if token in chunk.counts}
    return TermCounts(counts, chunk.length)


def _timed(rows: Iterable[StoredRow], deadline: Deadline) -> Iterator[StoredRow]:
    deadline.check("the keyword search")
    for number, row in enumerate(rows):
        if number % _CHECK_EVERY == 0:
            deadline.check("the keyword search")
        yield row
