"""The SQLite store, as the host calls it: each method opens one transaction."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from commonplace.plugin import (
    IndexUnavailableError,
    KeywordMatches,
    StoreHealth,
    current_deadline,
    weighing,
)
from commonplace_sqlite import rows, schema
from commonplace_sqlite.connection import size_of
from commonplace_sqlite.database import Database
from commonplace_sqlite.failures import DAMAGE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import apsw

    from commonplace.plugin import (
        Build,
        Change,
        ChunkId,
        Deadline,
        Finding,
        Found,
        KeywordQuery,
        Lookup,
        Nearest,
        SpaceInfo,
        Stamp,
        StoredDocument,
        Where,
    )
    from commonplace_sqlite.keyword import TermCounter
    from commonplace_sqlite.vectors.searching import VectorSearch


class SqliteStore:
    """Chunks, keyword index and vectors in a file; see :class:`~commonplace.plugin.VectorStore`.

    ``vectors`` says whether sqlite-vec may be loaded, ``vector_extension`` from where if not from
    its package; vectors are kept and searched without it, too; ``search`` replaces both.
    ``vfs`` names the SQLite VFS to use (``""``: the system's), ``busy_ms`` is how many milliseconds
    to wait for another process's lock on the file. The file is opened at first use.
    """

    capabilities = frozenset(
        {"keyword", "phrases", "counts", "term_counts", "vectors", "append", "persistent"}
        | {"lookup", "holds", "days", "vocabulary"}
    )

    def __init__(
        self,
        path: str,
        *,
        vectors: bool = True,
        vector_extension: str | None = None,
        search: VectorSearch | None = None,
        vfs: str = "",
        busy_ms: int = 5_000,
    ) -> None:
        if not _is_utf8(os.path.realpath(path)):
            raise IndexUnavailableError(
                f"the index {path} cannot be used: SQLite opens no path that is not UTF-8",
                hint="set COMMONPLACE_STATE_DIR to a folder whose name is UTF-8",
            )
        self._database = Database(path, vfs=vfs, busy_ms=busy_ms)
        self._written = 0
        self._extension = vectors, vector_extension
        self._search = search
        self._term_counter: TermCounter | None = None
        self._known: rows.Known | None = None

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
            build = schema.open_build(connection, identity)
            _forget_unused_vectors(connection)
            return build

    def activate(self, build: Build) -> None:
        """Replace the live build with ``build``."""
        with self._database.writing() as connection:
            schema.activate(connection, build)
            _forget_unused_vectors(connection)

    def drop(self, build: Build) -> None:
        """Delete ``build``."""
        with self._database.writing() as connection:
            schema.drop(connection, build)
            _forget_unused_vectors(connection)

    def documents(self, build: Build | None = None) -> list[StoredDocument]:
        """What ``build`` or the live one holds."""
        with self._database.reading() as connection:
            if build is not None:
                schema.need(connection, build)
            shown = build or schema.live_build(connection)
            if connection is None or shown is None:
                return []
            return rows.documents(connection, shown.id)

    def lookup(self, build: Build, keys: Collection[tuple[str, str]]) -> Lookup:
        """What ``build`` holds of these sources and paths, and of how many documents in all."""
        with self._database.reading() as connection:
            schema.need(connection, build)
            assert connection is not None, "it has the build"
            return rows.lookup(connection, build.id, keys)

    def holds(self, build: Build, documents: Mapping[tuple[str, str], Mapping[str, Stamp]]) -> bool:
        """Whether ``build`` holds these documents and no others, as they are."""
        with self._database.reading() as connection:
            schema.need(connection, build)
            assert connection is not None, "it has the build"
            return rows.holds(connection, build.id, documents)

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
        with self._live(deadline) as found:
            if found is None:
                return KeywordMatches()
            connection, live = found
            from commonplace_sqlite.keyword import keyword

            known = self._known_of(connection, live)
            holders = rows.holders_of(connection, live, query.terms, known)
            counts = None
            if not query.plain:
                wanted = filter(holders.get, weighing(query.terms, live.chunks, holders))
                counter = self._counter_of(connection)
                counts = counter.begin(query.terms, wanted, sum(holders.values()))
            ranked = keyword(connection, live, query, where, limit, counts, known)
            return KeywordMatches(
                rows.found(connection, live.id, ranked, known),
                live.chunks,
                holders,
                tuple([counts.rows[id_] for id_, _ in ranked]) if counts else (),
                counts.average if counts else 0.0,
            )

    def of_days(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Found, ...]:
        """The chunks of the query's days in the live build."""
        from commonplace_sqlite.lookups import of_days

        with self._live(deadline) as found:
            if found is None:
                return ()
            return rows.found(found[0], found[1].id, of_days(*found, query, where, limit))

    def holders(self, tokens: Collection[str]) -> Mapping[str, int]:
        """How many chunks of the live build hold each of ``tokens``."""
        with self._live(current_deadline()) as found:
            if found is None:
                return dict.fromkeys(tokens, 0)
            return rows.holders_of(*found, tokens, self._known_of(*found))

    def tokens_beginning(self, text: str, limit: int) -> Mapping[str, int]:
        """Up to ``limit`` tokens of the live build that begin with ``text``, counted."""
        from commonplace_sqlite.lookups import tokens_beginning

        with self._live(current_deadline()) as found:
            return {} if found is None else tokens_beginning(*found, text, limit)

    def spaces(self) -> tuple[SpaceInfo, ...]:
        """The spaces of the file, and what they cover of the live build."""
        with self._live() as found:
            if found is None or not schema.has_spaces(found[0]):
                return ()  # most searches end here, and import nothing for vectors
            from commonplace_sqlite.vectors.slabs import space_infos

            return space_infos(*found)

    def missing_vectors(self, build: Build, space: str) -> list[tuple[str, str]]:
        """What of ``build`` has no vector in ``space``."""
        from commonplace_sqlite.vectors.slabs import missing

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

        with self._live(deadline) as found:
            if found is None:
                return Nearest((), exact=True)
            return self._vector_search().nearest(*found, space, vector, where, limit, deadline)

    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        """The vectors of ``ids`` in the live build."""
        from commonplace_sqlite.vectors.slabs import vectors_of

        with self._live(current_deadline()) as found:
            return {} if found is None else vectors_of(found[0], found[1].id, space, ids)

    def health(self, *, deep: bool = False, counts: bool = True) -> StoreHealth:
        """Counts of the live build; ``deep`` reads the whole file."""
        from commonplace_sqlite import checking

        database, path = self._database, self._database.path
        by_source: tuple[tuple[str, int, int], ...] = ()
        problems: tuple[checking.Problem, ...] = ()
        has_spaces = False
        with database.reading() as connection:
            live = schema.live_build(connection)
            if connection is not None and deep:
                problems = checking.problems(connection)
            if connection is not None and live is not None:
                # Damage is among the problems already, and would end the report here.
                with suppress(*(DAMAGE if problems else ())):
                    by_source = checking.counts_by_source(connection, live.id) if counts else ()
                has_spaces = schema.has_spaces(connection)
        documents = sum(documents for _, documents, _ in by_source)
        chunks = sum(chunks for _, _, chunks in by_source)
        findings: tuple[Finding, ...] = ()
        if deep and not database.in_memory:
            findings = tuple(
                checking.findings(
                    path,
                    problems,
                    documents,
                    chunks,
                    holder=database.lease.holder(),
                    last_resort=database.set_aside,
                )
            )
        notices = list(database.notices)
        if not findings:  # which name all damaged files that are kept
            notices += [
                f"a damaged index is kept at {old}"
                for old in checking.damaged_indexes(path).kept()
                if not any(line.endswith(old) for line in database.notices)
            ]
        if deep:
            notices += database.lease.notices()
        if has_spaces or all(self._extension):
            notices += self._vector_search().notices(used=has_spaces)
        files = () if database.in_memory else (path, f"{path}-wal", f"{path}-shm")
        return StoreHealth(
            location="" if database.in_memory else path,
            documents=documents,
            chunks=chunks,
            size=sum(map(size_of, files)),
            writable=database.writable,
            documents_by_source=tuple((source, documents) for source, documents, _ in by_source),
            chunks_by_source=tuple((source, chunks) for source, _, chunks in by_source),
            notices=tuple(notices),
            problems=tuple(problem.line for problem in problems),
            findings=findings,
            vectors=self._vector_search().support() if counts else None,
        )

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()  # waits for the search that uses the others
        self._search = self._term_counter = self._known = None

    @contextmanager
    def _live(
        self, deadline: Deadline | None = None
    ) -> Iterator[tuple[apsw.Connection, schema.LiveBuild] | None]:
        """A connection in a transaction and the live build; ``None`` if there is no live build."""
        with self._database.reading(deadline) as connection:
            live = schema.live_build(connection)
            yield None if connection is None or live is None else (connection, live)

    def _known_of(self, connection: apsw.Connection, live: schema.LiveBuild) -> rows.Known:
        known = self._known
        if known is None or known.connection is not connection or known.commits != live.commits:
            known = self._known = rows.Known(connection, live.commits)
        known.bound_tokens()
        return known

    def _counter_of(self, connection: apsw.Connection) -> TermCounter:
        from commonplace_sqlite.keyword import TermCounter

        if self._term_counter is None or self._term_counter.connection is not connection:
            self._term_counter = TermCounter(connection)
        return self._term_counter

    def _vector_search(self) -> VectorSearch:
        from commonplace_sqlite.vectors.searching import VectorSearch

        if self._search is None:
            enabled, path = self._extension
            self._search = VectorSearch(extension=enabled, extension_path=path)
        return self._search


def _forget_unused_vectors(connection: apsw.Connection) -> None:
    if schema.has_spaces(connection):
        from commonplace_sqlite.vectors.slabs import forget_unused

        forget_unused(connection)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
