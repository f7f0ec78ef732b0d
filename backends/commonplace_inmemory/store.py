"""The in-memory store: everything in this object, gone when the process ends."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, ClassVar

from commonplace.plugin import Nearest, SimpleStore, embedding_text
from commonplace_inmemory.vectors import NOTHING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from commonplace.plugin import Build, ChunkId, Deadline, Held, SpaceInfo, Where
    from commonplace_inmemory.vectors import Vectors


class InMemoryStore(SimpleStore):
    """The model that other stores are compared with; see :class:`~commonplace.plugin.VectorStore`.

    Builds and chunks are numbered, and no number is given twice.
    """

    capabilities = frozenset({"keyword", "phrases", "vectors", "append"})
    notices: ClassVar = ("kept in memory only: gone when the process ends",)

    def __init__(self) -> None:
        super().__init__()
        self._builds: Mapping[int, Held] = {}
        self._vectors = NOTHING
        self._ids = count(1)

    def load(self) -> Mapping[int, Held]:
        """The builds."""
        return self._builds

    def save(self, builds: Mapping[int, Held]) -> None:
        """Keep ``builds``, and the vectors that they still use."""
        used = {row.analysed.digest for held in builds.values() for row in held.contents.rows()}
        self._builds = builds
        self._vectors = self._vectors.only(used)

    def new_id(self) -> int:
        """The next number."""
        return next(self._ids)

    def release(self) -> None:
        """Forget everything."""
        self._builds, self._vectors = {}, NOTHING

    def spaces(self) -> tuple[SpaceInfo, ...]:
        """What each space covers of the live build."""
        return self._vectors.infos(self._live())

    def missing_vectors(self, build: Build, space: str) -> Iterable[tuple[str, str]]:
        """What of ``build`` has no vector in ``space``."""
        held = self._vectors.spaces.get(space, {})
        missing = {
            row.analysed.digest: embedding_text(row.analysed.chunk)
            for row in self._held(build).contents.rows()
            if row.analysed.digest not in held
        }
        return list(missing.items())

    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        """Attach all of ``vectors`` or none."""
        self._writable()
        index = self._held(build).contents
        self._keep(self._vectors.with_vectors(index, space, dims, vectors))

    def drop_space(self, space: str) -> None:
        """Forget ``space``; an unknown one is ignored."""
        self._writable()
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
        chunks = tuple(row.found(score) for row, score in found)
        return Nearest(chunks, exact=True, plan="every vector")

    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        """The vectors of these chunks of the live build."""
        held = self._vectors.spaces.get(space, {})
        wanted = set(ids)
        return {
            row.id: held[row.analysed.digest]
            for row in self._live().rows()
            if row.id in wanted and row.analysed.digest in held
        }

    def _keep(self, vectors: Vectors) -> None:
        with self._lock:
            self._check_open()
            self._vectors = vectors
