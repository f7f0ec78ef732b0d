"""The in-memory store: everything in this object, gone when the process ends."""

from __future__ import annotations

from collections import Counter
from itertools import count
from math import fsum, sqrt
from operator import mul
from typing import TYPE_CHECKING, ClassVar

from commonplace.plugin import (
    Lookup,
    Nearest,
    SimpleStore,
    SpaceInfo,
    best_found,
    check_numbers,
    check_units,
    embedding_text,
    floats,
    has_phrase,
    matches_days,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from commonplace.plugin import Build, ChunkId, Deadline, Found, KeywordQuery, StoredBuild, Where


class InMemoryStore(SimpleStore):
    """The model that other stores are compared with; see :class:`~commonplace.plugin.VectorStore`.

    Builds and chunks are numbered, and no number is given twice. The vectors, by space and digest,
    are never changed, only replaced: a search goes on with those that it began with.
    """

    capabilities = frozenset(
        {"keyword", "phrases", "counts", "term_counts", "vectors", "append", "lookup", "days"}
        | {"vocabulary"}
    )
    notices: ClassVar = ("kept in memory only: gone when the process ends",)

    def __init__(self) -> None:
        super().__init__()
        self._builds: Mapping[int, StoredBuild] = {}
        self._vectors: Mapping[str, Mapping[str, bytes]] = {}
        self._ids = count(1)

    def load(self) -> Mapping[int, StoredBuild]:
        """The builds."""
        return self._builds

    def save(self, builds: Mapping[int, StoredBuild]) -> None:
        """Keep ``builds``, and the vectors that they still use."""
        used = {row.analysed.digest for held in builds.values() for row in held.contents.rows()}
        kept = {
            space: {digest: vector for digest, vector in held.items() if digest in used}
            for space, held in self._vectors.items()
        }
        self._builds = builds
        self._vectors = {space: held for space, held in kept.items() if held}

    def new_id(self) -> int:
        """The next number."""
        return next(self._ids)

    def release(self) -> None:
        """Forget everything."""
        self._builds, self._vectors = {}, {}

    def spaces(self) -> tuple[SpaceInfo, ...]:
        """What each space covers of the live build."""
        digests = [row.analysed.digest for row in self._live().rows()]
        return tuple(
            SpaceInfo(space, _dims(held), sum(map(held.__contains__, digests)), len(digests))
            for space, held in self._vectors.items()
        )

    def lookup(self, build: Build, keys: Collection[tuple[str, str]]) -> Lookup:
        """What of ``build`` has these sources and paths."""
        documents = list(self.documents(build))
        found = [one for one in documents if (one.source, one.path) in keys]
        return Lookup(tuple(found), len(documents))

    def of_days(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Found, ...]:
        """The chunks of the query's days."""
        deadline.check("the keyword search")
        of_the_days = matches_days(query.days)
        rows = [row for row in self._live().rows() if of_the_days(row.document.day)]
        hits = [(row, 1.0) for row in rows if not has_phrase(row.analysed.terms, query.must_not)]
        return best_found(hits, where, limit)

    def tokens_beginning(self, text: str, limit: int) -> Mapping[str, int]:
        """Up to ``limit`` tokens that begin with ``text``, and how many chunks hold each."""
        tokens = (token for row in self._live().rows() for token in row.counts)
        counts = Counter(token for token in tokens if text and token.startswith(text))
        first = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return dict(first[: max(0, limit)])

    def missing_vectors(self, build: Build, space: str) -> Iterable[tuple[str, str]]:
        """What of ``build`` has no vector in ``space``."""
        vectors = self._vectors.get(space, {})
        missing = {
            row.analysed.digest: embedding_text(row.analysed.chunk)
            for row in self._held(build).contents.rows()
            if row.analysed.digest not in vectors
        }
        return list(missing.items())

    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        """Attach all of ``vectors`` or none."""
        self._writable()
        known = {row.analysed.digest for row in self._held(build).contents.rows()}
        before = self._vectors.get(space, {})
        check_units(vectors.values(), dims)
        if before and _dims(before) != dims:
            raise ValueError(f"the space {space!r} has {_dims(before)} dimensions, not {dims}")
        new = {digest: bytes(vector) for digest, vector in vectors.items() if digest in known}
        if new:
            self._keep({**self._vectors, space: {**before, **new}})

    def drop_space(self, space: str) -> None:
        """Forget ``space``; an unknown one is ignored."""
        self._writable()
        self._keep({name: held for name, held in self._vectors.items() if name != space})

    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        """The nearest of the live build, by looking at every vector."""
        index, vectors = self._live(), self._vectors.get(space, {})
        deadline.check("the vector search")
        check_numbers(vector, _dims(vectors) if vectors else len(vector) // 4)
        hits = []
        for row in index.rows():
            deadline.check("the vector search")
            other = vectors.get(row.analysed.digest)
            if other is not None:
                hits.append((row, _cosine(vector, other)))
        return Nearest(best_found(hits, where, limit), exact=True, plan="every vector")

    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        """The vectors of these chunks of the live build."""
        by_digest = self._vectors.get(space, {})
        wanted = set(ids)
        return {
            row.id: by_digest[row.analysed.digest]
            for row in self._live().rows()
            if row.id in wanted and row.analysed.digest in by_digest
        }

    def _keep(self, vectors: Mapping[str, Mapping[str, bytes]]) -> None:
        with self._lock:
            self._check_open()
            self._vectors = vectors


def _dims(vectors: Mapping[str, bytes]) -> int:
    return len(next(iter(vectors.values()))) // 4


def _cosine(one: bytes, other: bytes) -> float:
    """The cosine of the angle between two vectors; 0 where one of them has no length."""
    a, b = floats(one), floats(other)
    lengths = sqrt(fsum(map(mul, a, a))) * sqrt(fsum(map(mul, b, b)))
    return min(1.0, max(-1.0, fsum(map(mul, a, b)) / lengths)) if lengths else 0.0
