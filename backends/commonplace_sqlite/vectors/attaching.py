"""Vectors come and go: by themselves, and with the chunks they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace_sqlite.encoding import digest_in, ids_in, text_in
from commonplace_sqlite.schema import of_build
from commonplace_sqlite.vectors.floats import checked
from commonplace_sqlite.vectors.slabs import (
    forget_slabs,
    parts_of_digests,
    parts_of_documents,
    write_slabs,
)
from commonplace_sqlite.vectors.spaces import Space, all_spaces, find_space

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    import apsw

    Digest = str | bytes

__all__ = ["documents_added", "documents_going", "drop_space", "forget_unused", "put_vectors"]

_KNOWN = "SELECT 1 FROM chunk_<n> WHERE digest = ? LIMIT 1"
_PUT = """
INSERT INTO vector (space, digest, e) VALUES (?, ?, ?)
ON CONFLICT (space, digest) DO UPDATE SET e = excluded.e
"""
_DIGESTS = """
SELECT DISTINCT digest FROM chunk_<n> WHERE document IN (SELECT value FROM json_each(?))
"""
_USED = "EXISTS (SELECT 1 FROM chunk_<n> WHERE digest = vector.digest)"
_FORGET = "DELETE FROM vector WHERE space = ? AND digest = ? AND NOT (<used>)"
_FORGET_ALL = "DELETE FROM vector WHERE NOT (<used>)"
_FORGET_SPACES = """
DELETE FROM space WHERE NOT EXISTS (SELECT 1 FROM vector WHERE vector.space = space.id)
"""
_CLEAR = ("DELETE FROM slab_<n> WHERE space = ?", "DELETE FROM code_<n> WHERE space = ?")
_MOVE_ON = "UPDATE counter SET next = next + 1 WHERE name = 'slab'"


def put_vectors(
    connection: apsw.Connection, build: int, name: str, dims: int, vectors: Mapping[str, bytes]
) -> None:
    """Attach vectors by the digests of a build's chunks; those of unknown digests are left out.

    The caller holds a transaction. Raises ``ValueError`` where a vector has not ``dims`` finite
    numbers, or where the space has other dimensions.
    """
    given = {digest_in(digest): checked(vector, dims) for digest, vector in vectors.items()}
    space = find_space(connection, name)
    if space is not None and space.dims != dims:
        raise ValueError(f"the space {name!r} has {space.dims} dimensions, not {dims}")
    known = of_build(_KNOWN, build)
    put = {d: e for d, e in given.items() if connection.execute(known, (d,)).get is not None}
    if not put:
        return
    if space is None:
        sql = "INSERT INTO space (name, dims) VALUES (?, ?)"
        connection.execute(sql, (text_in(name), dims))
        space = Space(connection.last_insert_rowid(), dims)
    connection.executemany(_PUT, [(space.id, digest, e) for digest, e in put.items()])
    for one in _builds(connection):
        write_slabs(connection, one, space, parts_of_digests(connection, one, space, put))


def drop_space(connection: apsw.Connection, name: str) -> None:
    """Forget all vectors of a space; one that is not there stays gone."""
    space = find_space(connection, name)
    if space is None:
        return
    for build in _builds(connection):
        for sql in _CLEAR:
            connection.execute(of_build(sql, build), (space.id,))
    connection.execute("DELETE FROM vector WHERE space = ?", (space.id,))
    connection.execute("DELETE FROM space WHERE id = ?", (space.id,))
    connection.execute(_MOVE_ON)


def documents_going(
    connection: apsw.Connection, build: int, documents: Collection[int]
) -> list[Digest]:
    """Forget what is derived for documents that go; returns the digests of their chunks.

    To be called before the chunks go; what is returned is for :func:`documents_added`.
    """
    spaces = all_spaces(connection)
    if not spaces or not documents:
        return []
    for space in spaces:
        forget_slabs(connection, build, space, documents)
    rows: Any = connection.execute(of_build(_DIGESTS, build), (ids_in(documents),))
    return [digest for (digest,) in rows]


def documents_added(
    connection: apsw.Connection, build: int, documents: Collection[int], gone: Iterable[Digest]
) -> None:
    """Let documents that came take over the vectors there are; forget those of ``gone`` texts.

    A text that went with one document and came with another keeps its vectors.
    """
    spaces = all_spaces(connection)
    forget = _FORGET.replace("<used>", _used(connection))
    for space in spaces:
        connection.executemany(forget, [(space.id, digest) for digest in gone])
        parts = parts_of_documents(connection, build, space, documents)
        write_slabs(connection, build, space, parts)
    if spaces and gone:
        connection.execute(_FORGET_SPACES)


def forget_unused(connection: apsw.Connection) -> None:
    """Forget the vectors of texts that no build has (any more)."""
    if all_spaces(connection):
        connection.execute(_FORGET_ALL.replace("<used>", _used(connection)))
        connection.execute(_FORGET_SPACES)


def _used(connection: apsw.Connection) -> str:
    return " OR ".join(of_build(_USED, build) for build in _builds(connection)) or "FALSE"


def _builds(connection: apsw.Connection) -> list[int]:
    return [build for (build,) in connection.execute("SELECT id FROM build ORDER BY id")]
