"""All that a SQLite index says of files, without ids and times, so that two can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from commonplace_sqlite.rows import digest_out, found, text_out
from commonplace_sqlite.schema import checked_vfs
from commonplace_sqlite.store import SqliteStore
from commonplace_sqlite.vectors.stored import WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_LIVE = "SELECT id, chunks FROM build WHERE state = 'live'"
_DOCUMENTS = "SELECT source, path, digest, fingerprint, day, trust, chunks FROM document_{n}"
_ORDER = "SELECT id, ordinal, digest FROM chunk_{n}"
_WORDS = "SELECT doc, col, offset, term FROM temp.words"
_VECTORS = f"""
SELECT s.name, s.dims, v.digest, {WHOLE} FROM vector AS v JOIN space AS s ON s.id = v.space
WHERE v.digest IN (SELECT digest FROM chunk_{{n}})
"""
_MOST = 5


class IndexRows(NamedTuple):
    """The live build of an index, every row once; ``problems`` are what a deep check found.

    ``words`` are what the keyword index itself has: where each term stands, chunk by chunk.
    """

    build: tuple[object, ...]
    documents: frozenset[tuple[object, ...]]
    chunks: frozenset[tuple[object, ...]]
    words: frozenset[tuple[object, ...]]
    vectors: frozenset[tuple[object, ...]]
    problems: tuple[str, ...]

    def unlike(self, other: IndexRows) -> str:
        """How this differs from ``other``, in a few lines; empty where it does not."""
        lines = [f"problem: {problem}" for problem in (*self.problems, *other.problems)]
        if self.build != other.build:
            lines.append(f"build: {self.build} is not {other.build}")
        for name in ("documents", "chunks", "words", "vectors"):
            ours, theirs = getattr(self, name), getattr(other, name)
            lines += _listed(f"{name}, too many", ours - theirs)
            lines += _listed(f"{name}, missing", theirs - ours)
        return "\n".join(lines)


def _listed(what: str, rows: Iterable[object]) -> list[str]:
    found = sorted(map(repr, rows))
    return [f"{what} ({len(found)}): {' '.join(found[:_MOST])}"] if found else []


def index_rows(index: Path) -> IndexRows:
    """What the file ``index`` holds; no process may write it meanwhile."""
    connection = apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READWRITE, vfs=checked_vfs(""))
    store = SqliteStore(str(index))
    try:
        (live,) = _all(connection, _LIVE)
        number, *build = live
        order = {
            id_: (ordinal, digest) for id_, ordinal, digest in _all(connection, _ORDER, number)
        }
        chunks = {
            hit.chunk.id: hit.chunk
            for hit in found(connection, number, [(id_, 0.0) for id_ in order])
        }
        connection.execute(
            f"CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, fts_{number}, instance)"
        )
        return IndexRows(
            build=tuple(build),
            documents=_unique(
                (*map(_value, (source, path)), digest_out(digest), *map(_value, rest))
                for source, path, digest, *rest in _all(connection, _DOCUMENTS, number)
            ),
            chunks=_unique(
                (ordinal, digest_out(digest), *chunks[id_][1:])
                for id_, (ordinal, digest) in order.items()
            ),
            words=_unique(
                (chunks[id_].source, chunks[id_].path, order[id_][0], column, offset, term)
                for id_, column, offset, term in _all(connection, _WORDS)
            ),
            vectors=_unique(
                (name, dims, digest_out(digest), vector)
                for name, dims, digest, vector in _all(connection, _VECTORS, number)
            ),
            problems=store.health(deep=True).problems,
        )
    finally:
        store.close()
        connection.close()


def _all(connection: apsw.Connection, sql: str, build: int = 0) -> list[Any]:
    rows: Any = connection.execute(sql.replace("{n}", str(build))).fetchall()
    return list(rows)


def _unique(rows: Iterable[tuple[object, ...]]) -> frozenset[tuple[object, ...]]:
    listed = list(rows)
    unique = frozenset(listed)
    assert len(unique) == len(listed), "a row stands twice"
    return unique


def _value(value: object) -> object:
    return text_out(value) if isinstance(value, bytes) else value
