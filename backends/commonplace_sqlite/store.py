"""The SQLite store: the parts of this package under the one face that the host knows."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commonplace.plugin import StoreHealth
from commonplace_sqlite import rows, schema
from commonplace_sqlite.connection import size_of
from commonplace_sqlite.database import Database

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from commonplace.plugin import (
        Build,
        Change,
        ChunkId,
        Deadline,
        Finding,
        KeywordMatches,
        KeywordQuery,
        Nearest,
        SpaceInfo,
        StoredDocument,
        Where,
    )
    from commonplace_sqlite.vectors.searching import VectorSearch

__all__ = ["SqliteStore"]


class SqliteStore:
    """Chunks, keyword index and vectors in a file; see :class:`~commonplace.plugin.VectorStore`.

    ``vectors`` says whether sqlite-vec may be loaded, ``vector_extension`` from where if not from
    its package; vectors are kept and searched without it, too; ``search`` takes the place of both.
    ``vfs`` names the SQLite VFS to use (``""``: the system's), ``busy_ms`` is how many milliseconds
    to wait for another process's lock on the file. The file is opened at first use.
    """

    def __init__(
        self,
        path: str,
        *,
        tokenizer: str | None = None,
        vectors: bool = True,
        vector_extension: str | None = None,
        search: VectorSearch | None = None,
        vfs: str = "",
        busy_ms: int = 5_000,
    ) -> None:
        self._database = Database(path, vfs=vfs, busy_ms=busy_ms)
        self._tokenizer = tokenizer
        self._written = 0
        self._extension = vectors, vector_extension
        self._search = search

    @property
    def capabilities(self) -> frozenset[str]:
        """Keyword queries with phrases, and vectors, of an index that outlives the process."""
        return frozenset({"keyword", "phrases", "vectors", "append", "persistent"})

    @contextmanager
    def writer(self, *, wait: float) -> Iterator[None]:
        """Hold the lease, then leave the index tidy."""
        with self._database.session(wait) as outermost:
            began = time.monotonic()
            yield
            if outermost:
                self._database.tidy(self._written, time.monotonic() - began)
                self._written = 0

    def builds(self) -> tuple[Build, ...]:
        """All builds, the oldest first."""
        with self._database.reading() as connection:
            return schema.all_builds(connection)

    def open_build(self, identity: str) -> Build:
        """The unfinished build of ``identity``, or a new one."""
        with self._database.writing() as connection:
            return schema.open_build(connection, identity, self._tokenizer)

    def activate(self, build: Build) -> None:
        """Let ``build`` take the live one's place."""
        with self._database.writing() as connection:
            schema.activate(connection, build)

    def drop(self, build: Build) -> None:
        """Delete ``build``."""
        with self._database.writing() as connection:
            schema.drop(connection, build)

    def documents(self, build: Build | None = None) -> list[StoredDocument]:
        """What ``build`` or the live one holds."""
        with self._database.reading() as connection:
            if build is not None:
                schema.need(connection, build)
            shown = build or schema.live_build(connection)
            if connection is None or shown is None:
                return []
            return rows.documents(connection, shown.id)

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        """Apply all of ``changes`` or none."""
        from commonplace_sqlite.writing import put_documents

        with self._database.writing() as connection:
            schema.need(connection, build)
            self._written += put_documents(connection, build.id, changes)

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        """The best matches in the live build."""
        from commonplace.plugin import KeywordMatches
        from commonplace_sqlite.keyword import keyword

        with self._database.reading(deadline) as connection:
            live = schema.live_build(connection)
            if connection is None or live is None:
                return KeywordMatches()
            ranked = keyword(connection, live, query, where, limit)
            return KeywordMatches(rows.found(connection, live.id, ranked))

    def spaces(self) -> tuple[SpaceInfo, ...]:
        """The spaces of the file, and what they cover of the live build."""
        with self._database.reading() as connection:
            live = schema.live_build(connection)
            if connection is None or live is None:
                return ()
            if connection.execute("SELECT 1 FROM space LIMIT 1").get is None:
                return ()  # every search asks, and most would import for nothing
            from commonplace_sqlite.vectors.spaces import space_infos

            return space_infos(connection, live)

    def missing_vectors(self, build: Build, space: str) -> list[tuple[str, str]]:
        """What of ``build`` has no vector in ``space``."""
        from commonplace_sqlite.vectors.spaces import missing

        with self._database.reading() as connection:
            schema.need(connection, build)
            return missing(connection, build.id, space) if connection is not None else []

    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        """Attach all of ``vectors`` or none."""
        from commonplace_sqlite.vectors.slabs import put_vectors

        with self._database.writing() as connection:
            schema.need(connection, build)
            put_vectors(connection, build.id, space, dims, vectors)

    def drop_space(self, space: str) -> None:
        """Forget all vectors of ``space``."""
        from commonplace_sqlite.vectors.slabs import drop_space

        with self._database.writing() as connection:
            drop_space(connection, space)

    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        """The nearest chunks of the live build, by whichever plan finds them soonest."""
        from commonplace.plugin import Nearest

        with self._database.reading(deadline) as connection:
            live = schema.live_build(connection)
            if connection is None or live is None:
                return Nearest((), exact=True)
            return self._vector_search().nearest(
                connection, live, space, vector, where, limit, deadline
            )

    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        """The vectors of ``ids`` in the live build."""
        from commonplace_sqlite.vectors.spaces import vectors_of

        with self._database.reading() as connection:
            live = schema.live_build(connection)
            if connection is None or live is None:
                return {}
            return vectors_of(connection, live.id, space, ids)

    def health(self, *, deep: bool = False) -> StoreHealth:
        """Counts of the live build; ``deep`` reads the whole file."""
        from commonplace_sqlite import checking
        from commonplace_sqlite.checking import set_aside_before

        counts: tuple[tuple[str, int, int], ...] = ()
        faults: tuple[checking.Fault, ...] = ()
        spaces = self.spaces()
        with self._database.reading() as connection:
            live = schema.live_build(connection)
            if connection is not None and deep:
                faults = checking.faults(connection)
            if connection is not None and live is not None:
                # What is damaged was told above, and would end the report here.
                count = checking.counts_if_readable if faults else checking.counts_by_source
                counts = count(connection, live.id)
        path = self._database.path
        documents = sum(documents for _, documents, _ in counts)
        chunks = sum(chunks for _, _, chunks in counts)
        findings: tuple[Finding, ...] = ()
        if deep and not self._database.in_memory:
            from commonplace_sqlite.checking import findings as look

            findings = tuple(look(self._database, faults, documents, chunks))
        told = self._database.notices
        kept = [
            f"a damaged index is kept at {old}"
            for old in set_aside_before(path)
            # A finding tells of all of them, and who set one aside has said so.
            if not findings and not any(line.endswith(old) for line in told)
        ]
        return StoreHealth(
            location="" if self._database.in_memory else path,
            documents=documents,
            chunks=chunks,
            size=0
            if self._database.in_memory
            else sum(map(size_of, (path, f"{path}-wal", f"{path}-shm"))),
            writable=self._database.writable,
            documents_by_source=tuple((source, documents) for source, documents, _ in counts),
            chunks_by_source=tuple((source, chunks) for source, _, chunks in counts),
            notices=(
                *told,
                *kept,
                *(self._database.writing_elsewhere() if deep else ()),
                *self._vector_search().notices(used=bool(spaces)),
            ),
            problems=tuple(fault.line for fault in faults),
            findings=findings,
        )

    def close(self) -> None:
        """Let go of the file."""
        self._search = None
        self._database.close()

    def _vector_search(self) -> VectorSearch:
        from commonplace_sqlite.vectors.searching import VectorSearch

        if self._search is None:
            enabled, path = self._extension
            self._search = VectorSearch(extension=enabled, extension_path=path)
        return self._search
