"""The SQLite store: the parts of this package under the one face that the host knows."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from commonplace.model.store import StoreHealth
from commonplace_sqlite import builds, reading
from commonplace_sqlite.database import Database
from commonplace_sqlite.files import bytes_on_disk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.deadline import Deadline
    from commonplace.model.chunks import Change
    from commonplace.model.search import ChunkId, KeywordQuery, StoredChunk, Where
    from commonplace.model.store import Build, StoredDocument

__all__ = ["SqliteStore"]


class SqliteStore:
    """Keeps chunks and their keyword index in one file; see :class:`commonplace.spec.Store`.

    ``vfs`` names the SQLite VFS to use (``""``: the system's), ``busy_ms`` is how many milliseconds
    to wait for another process's lock on the file. The file is opened at first use.
    """

    def __init__(
        self, path: str, *, tokenizer: str | None = None, vfs: str = "", busy_ms: int = 5_000
    ) -> None:
        self._database = Database(path, vfs=vfs, busy_ms=busy_ms)
        self._tokenizer = tokenizer
        self._written = 0

    @property
    def capabilities(self) -> frozenset[str]:
        """Keyword queries with phrases, of an index that outlives the process."""
        return frozenset({"keyword", "phrases", "persistent"})

    @contextmanager
    def writer(self, *, wait: float) -> Iterator[None]:
        """Hold the lease, then leave the index tidy."""
        with self._database.session(wait) as outermost:
            yield
            if outermost:
                self._database.tidy(self._written)
                self._written = 0

    def builds(self) -> tuple[Build, ...]:
        """All builds, the oldest first."""
        with self._database.reading() as connection:
            return builds.all_builds(connection)

    def open_build(self, identity: str) -> Build:
        """The unfinished build of ``identity``, or a new one."""
        with self._database.writing() as connection:
            return builds.open_build(connection, identity, self._tokenizer)

    def activate(self, build: Build) -> None:
        """Let ``build`` take the live one's place."""
        with self._database.writing() as connection:
            builds.activate(connection, build)

    def drop(self, build: Build) -> None:
        """Delete ``build``."""
        with self._database.writing() as connection:
            builds.drop(connection, build)

    def documents(self, build: Build | None = None) -> list[StoredDocument]:
        """What ``build`` or the live one holds."""
        with self._database.reading() as connection:
            if build is not None:
                builds.need(connection, build)
            shown = build or builds.live_build(connection)
            if connection is None or shown is None:
                return []
            return reading.documents(connection, shown.id)

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        """Apply all of ``changes`` or none."""
        from commonplace_sqlite.writing import put_documents

        with self._database.writing() as connection:
            builds.need(connection, build)
            self._written += put_documents(connection, build.id, changes)

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> list[tuple[ChunkId, float]]:
        """The best matches in the live build."""
        from commonplace_sqlite.keyword import keyword

        with self._database.reading(deadline) as connection:
            live = builds.live_build(connection)
            if connection is None or live is None:
                return []
            return list(keyword(connection, live, query, where, limit))

    def fetch(self, ids: Sequence[ChunkId]) -> list[StoredChunk]:
        """The chunks of ``ids`` in the live build."""
        with self._database.reading() as connection:
            live = builds.live_build(connection)
            if connection is None or live is None:
                return []
            return reading.fetch(connection, live.id, ids)

    def health(self, *, deep: bool = False) -> StoreHealth:
        """Counts of the live build; ``deep`` reads the whole file."""
        from commonplace_sqlite import checking
        from commonplace_sqlite.repair import set_aside_before

        counts: tuple[tuple[str, int, int], ...] = ()
        problems: tuple[str, ...] = ()
        with self._database.reading() as connection:
            live = builds.live_build(connection)
            if connection is not None and deep:
                problems = checking.problems(connection)
            if connection is not None and live is not None:
                # What is damaged was told above, and would end the report here.
                count = checking.counts_if_readable if problems else checking.counts_by_source
                counts = count(connection, live.id)
        path = self._database.path
        kept = [f"a damaged index is kept at {old}" for old in set_aside_before(path)]
        return StoreHealth(
            location="" if self._database.in_memory else path,
            documents=sum(documents for _, documents, _ in counts),
            chunks=sum(chunks for _, _, chunks in counts),
            size=0 if self._database.in_memory else bytes_on_disk(path),
            writable=self._database.writable,
            documents_by_source=tuple((source, documents) for source, documents, _ in counts),
            chunks_by_source=tuple((source, chunks) for source, _, chunks in counts),
            notices=(*self._database.notices, *kept),
            problems=problems,
        )

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()
