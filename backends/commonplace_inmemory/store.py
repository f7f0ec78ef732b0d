"""The in-memory store: the shortest one that keeps every promise of a store."""

from __future__ import annotations

import threading
from collections import Counter
from itertools import count
from typing import TYPE_CHECKING

from attrs import frozen

from commonplace.plugin import (
    Build,
    Found,
    IndexUnavailableError,
    KeywordMatches,
    Lease,
    Nearest,
    StoredChunk,
    StoredDocument,
    StoreHealth,
    embedding_text,
)
from commonplace_inmemory.index import EMPTY, Index, apply, search
from commonplace_inmemory.vectors import NOTHING, Vectors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from commonplace.plugin import Change, ChunkId, Deadline, KeywordQuery, SpaceInfo, Where
    from commonplace_inmemory.index import Row

__all__ = ["InMemoryStore"]


@frozen
class _Held:
    """A build and what it holds now."""

    build: Build
    index: Index


class InMemoryStore:
    """Keeps everything in this object; see :class:`~commonplace.plugin.VectorStore`.

    A build's contents are a value. A change makes the next value and then swaps it in, so that a
    change which fails leaves no trace, and a search goes on with the value it began with. Ids of
    builds and chunks are never given twice.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lease = Lease()
        self._builds: dict[int, _Held] = {}
        self._vectors = NOTHING
        self._build_ids = count(1)
        self._chunk_ids = count(1)
        self._closed = False

    @property
    def capabilities(self) -> frozenset[str]:
        """Keyword queries, with phrases, and vectors; nothing outlives the process."""
        return frozenset({"keyword", "phrases", "vectors", "append"})

    def writer(self, *, wait: float) -> AbstractContextManager[object]:
        """Hold the lease of this object; there is no other process that could want it."""
        self._snapshot()
        return self._lease.held(wait)

    def builds(self) -> tuple[Build, ...]:
        """All builds, the older first."""
        return tuple(held.build for held in self._snapshot().values())

    def open_build(self, identity: str) -> Build:
        """The unfinished build of this identity, or a new empty one."""
        self._lease.check()
        builds = self._snapshot()
        for held in list(builds.values()):
            if held.build.state == "filling":
                if held.build.identity == identity:
                    return held.build
                del builds[held.build.id]
        build = Build(next(self._build_ids), identity, "filling")
        self._swap(builds | {build.id: _Held(build, EMPTY)})
        return build

    def activate(self, build: Build) -> None:
        """Make ``build`` the live one and the only one."""
        self._lease.check()
        held = self._held(build)
        self._swap({build.id: _Held(held.build._replace(state="live"), held.index)})

    def drop(self, build: Build) -> None:
        """Delete a build; one that is gone already stays gone."""
        self._lease.check()
        builds = self._snapshot()
        builds.pop(build.id, None)
        self._swap(builds)

    def documents(self, build: Build | None = None) -> Iterable[StoredDocument]:
        """What ``build`` or the live one holds."""
        index = self._live() if build is None else self._held(build).index
        return [
            StoredDocument(
                entry.document.source,
                entry.document.path,
                entry.document.digest,
                entry.stamp,
                entry.document.fingerprint,
                entry.document.resume,
            )
            for entry in index.documents.values()
        ]

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        """Apply all of ``changes`` or none."""
        self._lease.check()
        held = self._held(build)
        index = apply(held.index, changes, self._chunk_ids.__next__)
        self._swap(self._snapshot() | {build.id: _Held(held.build, index)})

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        """The best matches in the live build, by looking at every chunk."""
        index = self._live()
        deadline.check("the keyword search")
        return KeywordMatches(
            _found(search(index, query, where=where, limit=limit, deadline=deadline))
        )

    def spaces(self) -> tuple[SpaceInfo, ...]:
        """What each space covers of the live build."""
        return self._vectors.infos(self._live())

    def missing_vectors(self, build: Build, space: str) -> Iterable[tuple[str, str]]:
        """What of ``build`` has no vector in ``space``."""
        held = self._vectors.spaces.get(space, {})
        missing = {
            row.analysed.digest: embedding_text(row.analysed.chunk)
            for row in self._held(build).index.rows()
            if row.analysed.digest not in held
        }
        return list(missing.items())

    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        """Attach all of ``vectors`` or none."""
        self._lease.check()
        index = self._held(build).index
        self._keep(self._vectors.with_vectors(index, space, dims, vectors))

    def drop_space(self, space: str) -> None:
        """Forget ``space``; one that is not there stays gone."""
        self._lease.check()
        self._keep(self._vectors.without(space))

    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        """The nearest of the live build, by looking at every vector."""
        index = self._live()
        deadline.check("the vector search")
        found = self._vectors.nearest(
            index, space, vector, where=where, limit=limit, deadline=deadline
        )
        return Nearest(_found(found), exact=True, plan="every vector")

    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        """The vectors of these chunks of the live build."""
        held = self._vectors.spaces.get(space, {})
        wanted = set(ids)
        return {
            row.id: held[row.analysed.digest]
            for row in self._live().rows()
            if row.id in wanted and row.analysed.digest in held
        }

    def health(self, *, deep: bool = False) -> StoreHealth:
        """Counts; there is nothing that a deep check could find."""
        del deep
        entries = self._live().documents.values()
        documents = Counter(entry.document.source for entry in entries)
        chunks = Counter(dict.fromkeys(documents, 0))
        for entry in entries:
            chunks[entry.document.source] += len(entry.rows)
        return StoreHealth(
            location="",
            documents=documents.total(),
            chunks=chunks.total(),
            documents_by_source=tuple(sorted(documents.items())),
            chunks_by_source=tuple(sorted(chunks.items())),
            notices=("kept in memory only: gone when the process ends",),
        )

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._closed = True
            self._builds = {}
            self._vectors = NOTHING

    def _snapshot(self) -> dict[int, _Held]:
        with self._lock:
            self._check_open()
            return dict(self._builds)

    def _swap(self, builds: dict[int, _Held]) -> None:
        used = {row.analysed.digest for held in builds.values() for row in held.index.rows()}
        with self._lock:
            self._check_open()
            self._builds = builds
            self._vectors = self._vectors.only(used)

    def _keep(self, vectors: Vectors) -> None:
        with self._lock:
            self._check_open()
            self._vectors = vectors

    def _check_open(self) -> None:
        if self._closed:
            raise IndexUnavailableError("the store is closed", hint="open it again")

    def _live(self) -> Index:
        for held in self._snapshot().values():
            if held.build.state == "live":
                return held.index
        return EMPTY

    def _held(self, build: Build) -> _Held:
        held = self._snapshot().get(build.id)
        if held is None:
            raise IndexUnavailableError(
                f"there is no build {build.id} ({build.identity})", hint="open a build again"
            )
        return held


def _found(ranked: Iterable[tuple[Row, float]]) -> tuple[Found, ...]:
    return tuple(Found(_stored(row), score) for row, score in ranked)


def _stored(row: Row) -> StoredChunk:
    chunk = row.analysed.chunk
    return StoredChunk(
        id=row.id,
        source=row.document.source,
        path=row.document.path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        text=chunk.text,
        heading=chunk.heading,
        day=row.document.day,
        trust=row.document.trust,
        body=row.analysed.terms.body,
    )
