"""A store whose documents, chunks, postings and vectors are tables of one DuckDB file."""

from __future__ import annotations

import os
import struct
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb

from commonplace.plugin import (
    AnalysedChunk,
    Build,
    Chunk,
    Contents,
    DeleteDocument,
    IndexUnavailableError,
    Lease,
    Nearest,
    PutDocument,
    SimpleStore,
    SpaceInfo,
    StoredBuild,
    StoredDocument,
    StoredRow,
    Terms,
    TouchDocument,
    best_found,
    check_numbers,
    check_units,
    embedding_text,
    floats,
    make_private_folder,
    term_counts,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from commonplace.plugin import Change, ChunkId, Deadline, StoreHealth, Where

# No keys: DuckDB finds rows by looking through columns, and it refuses to delete a key and to
# insert it again in one transaction.
_TABLES = {
    "build": "id BIGINT, identity VARCHAR, state VARCHAR",
    "document": "id BIGINT, build BIGINT, source VARCHAR, path VARCHAR, digest VARCHAR, "
    "stamp VARCHAR, fingerprint VARCHAR, day VARCHAR, trust VARCHAR, tags VARCHAR[]",
    "chunk": "id BIGINT, build BIGINT, document BIGINT, place BIGINT, start_line BIGINT, "
    "end_line BIGINT, text VARCHAR, heading VARCHAR[], body VARCHAR, head VARCHAR, "
    "extra VARCHAR, digest VARCHAR, length BIGINT",
    "posting": "document BIGINT, chunk BIGINT, token VARCHAR, weight DOUBLE",
    "vector": "space VARCHAR, digest VARCHAR, numbers FLOAT[]",
}
_CONTENTS = """
SELECT source, path, digest, stamp, fingerprint,
    (SELECT count(*) FROM chunk WHERE chunk.document = document.id)
FROM document WHERE build = ?
"""
_TOTALS = "SELECT count(*), coalesce(avg(length), 0.0) FROM chunk WHERE build = ?"
_ROWS = """
SELECT c.id, c.place, c.start_line, c.end_line, c.text, c.heading, c.body, c.head, c.extra,
    c.digest, c.length, d.source, d.path, d.day, d.trust, d.tags, p.value
FROM chunk AS c JOIN document AS d ON d.id = c.document JOIN ({values}) AS p ON p.chunk = c.id
WHERE c.build = ?
"""
_POSTINGS = """
SELECT chunk, map(list(token), list(weight)) AS value FROM posting
WHERE token IN (SELECT unnest(?::VARCHAR[])) GROUP BY chunk
"""
_COSINES = """
SELECT one.id AS chunk, list_inner_product(v.numbers::DOUBLE[], ?::DOUBLE[]) AS value
FROM chunk AS one JOIN vector AS v ON v.digest = one.digest WHERE v.space = ?
"""
_SPACES = """
SELECT v.space, any_value(len(v.numbers)), count(c.id)
FROM vector AS v LEFT JOIN chunk AS c ON c.digest = v.digest
    AND c.build = (SELECT id FROM build WHERE state = 'live') GROUP BY v.space
"""
_MISSING = """
SELECT digest, any_value(text), any_value(heading) FROM chunk
WHERE build = ? AND digest NOT IN (SELECT digest FROM vector WHERE space = ?) GROUP BY digest
"""
_VECTORS = """
SELECT c.id, v.numbers FROM chunk AS c JOIN vector AS v ON v.digest = c.digest
WHERE c.build = (SELECT id FROM build WHERE state = 'live') AND v.space = ?
    AND c.id IN (SELECT unnest(?::BIGINT[]))
"""
_TOUCH = "UPDATE document SET stamp = ? WHERE build = ? AND source = ? AND path = ?"
_DELETE = "DELETE FROM document WHERE build = ? AND source = ? AND path = ?"
_LOST = "DELETE FROM {table} WHERE document NOT IN (SELECT id FROM document)"
_DETACH = "DELETE FROM vector WHERE space = ? AND digest IN (SELECT unnest(?::VARCHAR[]))"


class Entry(NamedTuple):
    """A document as it is compared with its file, and how many chunks it has."""

    stored: StoredDocument
    size: int


class TableContents(Contents):
    """What a build holds, read from the tables when it is asked for."""

    def __init__(self, store: DuckStore, build: int) -> None:
        super().__init__()
        self._store = store
        self._build = build

    @property
    def documents(self) -> Mapping[tuple[str, str], Entry]:
        """The documents, and how many chunks each has."""
        rows = self._store.fetched(_CONTENTS, self._build)
        return {row[:2]: Entry(StoredDocument(*row[:5]), row[5]) for row in rows}

    def candidates(self, tokens: Collection[str]) -> Iterable[StoredRow]:
        """The chunks that hold any of ``tokens``, found by their postings."""
        return [row for row, _ in self._store.rows(self._build, _POSTINGS, list(tokens))]

    def totals(self) -> tuple[int, float]:
        """How many chunks there are, and their mean length in tokens."""
        ((chunks, average),) = self._store.fetched(_TOTALS, self._build)
        return chunks, average


class DuckStore(SimpleStore):
    """Keeps everything in the file ``path``; see :class:`~commonplace.plugin.VectorStore`.

    DuckDB lets one process at a time have a file: for any other one the store is not available.
    """

    capabilities = frozenset(
        {"keyword", "phrases", "counts", "term_counts", "vectors", "persistent"}
    )

    def __init__(self, path: str) -> None:
        super().__init__(lease=Lease(f"{path}.lock"), location=path)
        make_private_folder(os.path.dirname(path))
        self._threads = threading.local()
        # What a statement needs is built in: nothing is to be loaded over a network.
        options = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
        with _translated():
            self._database = duckdb.connect(path, config=options)
        with self.moment() as sql:
            for table, columns in _TABLES.items():
                sql.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")

    @contextmanager
    def moment(self) -> Iterator[Any]:
        """A transaction: what is read is of one moment, what is written is all or nothing.

        It gives the cursor of this thread; inside it another one is the same transaction.
        """
        if (running := getattr(self._threads, "cursor", None)) is not None:
            yield running
            return
        self._check_open()
        with _translated(), self._database.cursor() as sql:
            sql.begin()
            self._threads.cursor = sql
            try:
                yield sql
            except BaseException:
                sql.rollback()
                raise
            finally:
                self._threads.cursor = None
            sql.commit()

    def load(self) -> Mapping[int, StoredBuild]:
        """The builds; what they hold is read when it is asked for."""
        rows = self.fetched("SELECT * FROM build ORDER BY state DESC")
        return {row[0]: StoredBuild(Build(*row), TableContents(self, row[0])) for row in rows}

    def save(self, builds: Mapping[int, StoredBuild]) -> None:
        """Let there be these builds, and nothing of others."""
        kept = [held.build for held in builds.values()]
        with self.moment() as sql:
            sql.execute("DELETE FROM build")
            _insert(sql, "build", kept)
            sql.execute("DELETE FROM document WHERE build NOT IN (SELECT id FROM build)")
            _forget_lost(sql)

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        """Apply all of ``changes`` or none, in one transaction."""
        self._writable()
        with self.moment() as sql:
            self._held(build)
            for change in changes:
                key = [build.id, change.source, change.path]
                if isinstance(change, TouchDocument):
                    sql.execute(_TOUCH, [change.stamp, *key])
                elif isinstance(change, PutDocument | DeleteDocument):
                    sql.execute(_DELETE, key)
                    if isinstance(change, PutDocument):
                        self._put(sql, build.id, change)
                else:
                    raise TypeError(f"not a change: {change!r}")
            _forget_lost(sql)

    def spaces(self) -> tuple[SpaceInfo, ...]:
        """What each space covers of the live build."""
        with self.moment():
            chunks, _ = self._live().totals()
            rows = self.fetched(_SPACES)
        return tuple(SpaceInfo(space, dims, covered, chunks) for space, dims, covered in rows)

    def missing_vectors(self, build: Build, space: str) -> Iterable[tuple[str, str]]:
        """What of ``build`` has no vector in ``space``."""
        with self.moment():
            self._held(build)
            rows = self.fetched(_MISSING, build.id, space)
        return [(row[0], embedding_text(Chunk(1, 1, row[1], tuple(row[2])))) for row in rows]

    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        """Attach all of ``vectors`` or none."""
        self._writable()
        check_units(vectors.values(), dims)
        with self.moment() as sql:
            self._held(build)
            known = self.fetched("SELECT DISTINCT digest FROM chunk WHERE build = ?", build.id)
            wanted = [digest for (digest,) in known if digest in vectors]
            if (held := self._dims(space)) not in {None, dims}:
                raise ValueError(f"the space {space!r} has {held} dimensions, not {dims}")
            sql.execute(_DETACH, [space, wanted])
            _insert(sql, "vector", [(space, one, floats(vectors[one]).tolist()) for one in wanted])

    def drop_space(self, space: str) -> None:
        """Forget ``space``; an unknown one is ignored."""
        self._writable()
        with self.moment() as sql:
            sql.execute("DELETE FROM vector WHERE space = ?", [space])

    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        """The nearest of the live build, by comparing every vector."""
        deadline.check("the vector search")
        with self.moment():
            check_numbers(vector, self._dims(space) or len(vector) // 4)
            live = next((build.id for build in self.builds() if build.state == "live"), None)
            rows = self.rows(live, _COSINES, floats(vector).tolist(), space)
        hits = [(row, min(1.0, max(-1.0, cosine))) for row, cosine in rows]
        return Nearest(best_found(hits, where, limit), exact=True, plan="every vector")

    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        """The vectors of these chunks of the live build."""
        rows = self.fetched(_VECTORS, space, [id_ for id_ in ids if isinstance(id_, int)])
        return {id_: struct.pack(f"<{len(numbers)}f", *numbers) for id_, numbers in rows}

    def health(self, *, deep: bool = False, counts: bool = True) -> StoreHealth:
        """Counts of the live build, and the size of the file."""
        found = super().health(deep=deep, counts=counts)
        return found._replace(size=os.path.getsize(self._location))

    def release(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _put(self, sql: Any, build: int, put: PutDocument) -> None:
        document = self.new_id()
        names = put.source, put.path, put.digest, put.stamp, put.fingerprint
        _insert(sql, "document", [(document, build, *names, put.day, put.trust, list(put.tags))])
        chunks, postings = [], []
        for place, (chunk, terms, digest) in enumerate(put.chunks):
            id_, (counts, length) = self.new_id(), term_counts(terms)
            shown = (*chunk[:3], list(chunk.heading))
            chunks.append((id_, build, document, place, *shown, *terms, digest, length))
            postings += [(document, id_, token, weight) for token, weight in counts.items()]
        _insert(sql, "chunk", chunks)
        _insert(sql, "posting", postings)

    def fetched(self, query: str, *values: Any) -> list[Any]:
        """All rows of an answer."""
        with self.moment() as sql:
            rows: list[Any] = sql.execute(query, values).fetchall()
        return rows

    def rows(self, build: int | None, query: str, *values: Any) -> list[tuple[StoredRow, Any]]:
        """The chunks of a build for which ``query`` has a value, with that value."""
        found = []
        for row in self.fetched(_ROWS.format(values=query), *values, build):
            id_, place, start, end, text, heading, body, head, extra, *about, value = row
            digest, length, source, path, day, trust, tags = about
            put = PutDocument(source, path, "", "", "", day, trust, (), tags=tuple(tags))
            chunk = Chunk(start, end, text, tuple(heading))
            analysed = AnalysedChunk(chunk, Terms(body, head, extra), digest)
            counts = value if isinstance(value, dict) else {}
            found.append((StoredRow(id_, put, place, analysed, counts, length), value))
        return found

    def _dims(self, space: str) -> int | None:
        found = self.fetched("SELECT len(numbers) FROM vector WHERE space = ? LIMIT 1", space)
        return found[0][0] if found else None


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        raise IndexUnavailableError(
            f"DuckDB failed: {' '.join(str(error).split())}",
            hint="one process at a time can have the file; if it is damaged, delete it and index",
        ) from error


def _insert(sql: Any, table: str, rows: Collection[Sequence[Any]]) -> None:
    types = [column.split()[1] for column in _TABLES[table].split(", ")]
    values = ", ".join(f"unnest(?::{type_}[])" for type_ in types)
    if rows:
        columns = [list(column) for column in zip(*rows, strict=True)]
        sql.execute(f"INSERT INTO {table} SELECT {values}", columns)


def _forget_lost(sql: Any) -> None:
    """Delete what belongs to documents that are gone, and vectors that no chunk has."""
    for table in ("chunk", "posting"):
        sql.execute(_LOST.format(table=table))
    sql.execute("DELETE FROM vector WHERE digest NOT IN (SELECT digest FROM chunk)")
