"""Vectors come and go: by themselves, and with the chunks they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace_sqlite.encoding import digest_in, text_in
from commonplace_sqlite.schema import of_build
from commonplace_sqlite.vectors.floats import checked
from commonplace_sqlite.vectors.rows import forget_rows, store_rows
from commonplace_sqlite.vectors.slabs import (
    forget_codes,
    forget_slabs,
    part_counts,
    parts_of_digests,
    parts_of_documents,
    write_slabs,
)
from commonplace_sqlite.vectors.spaces import Space, all_spaces, find_space

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import apsw

    Digest = str | bytes

__all__ = [
    "Going",
    "documents_added",
    "documents_going",
    "drop_space",
    "forget_unused",
    "put_vectors",
]

_KNOWN = "SELECT 1 FROM chunk_<n> WHERE digest = ? LIMIT 1"
_DIGESTS = "SELECT DISTINCT digest FROM chunk_<n> WHERE document = ? AND ordinal >= ?"
_USED = "EXISTS (SELECT 1 FROM chunk_<n> WHERE digest = vector.digest)"
_FORGET_ALL = "DELETE FROM vector WHERE NOT (<used>)"
_FORGET_SPACES = """
DELETE FROM space WHERE NOT EXISTS (SELECT 1 FROM vector WHERE vector.space = space.id);
DELETE FROM vector WHERE space < 0 AND -space NOT IN (SELECT id FROM space);
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
    store_rows(connection, space, put)
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
    connection.execute("DELETE FROM vector WHERE space IN (?, ?)", (space.id, -space.id))
    connection.execute("DELETE FROM space WHERE id = ?", (space.id,))
    connection.execute(_MOVE_ON)


class Going(NamedTuple):
    """Documents that go, or are replaced, from which chunk on, and the digests of these chunks."""

    documents: Mapping[int, int]
    digests: Collection[Digest]


def documents_going(
    connection: apsw.Connection, build: int, documents: Mapping[int, int]
) -> Going | None:
    """Forget what is derived for documents that go; ``None`` where there are no vectors.

    ``documents`` says of each from which chunk on it goes. To be called before the chunks go; what
    is returned is for :func:`documents_added`.
    """
    spaces = all_spaces(connection)
    if not spaces:
        return None
    for space in spaces:
        forget_slabs(connection, build, space, documents)
    sql = of_build(_DIGESTS, build)
    rows: Any = (row for document in documents.items() for row in connection.execute(sql, document))
    return Going(documents, list({digest for (digest,) in rows}))


def documents_added(
    connection: apsw.Connection, build: int, documents: Mapping[int, int], gone: Going | None
) -> None:
    """Let documents that came take over the vectors there are; forget those of texts that went.

    ``documents`` says of each from which chunk on it came. A text that went with one document and
    came with another keeps its vectors.
    """
    if gone is None:
        return
    used = _used(connection)
    left = set(gone.documents).difference(documents)
    for space in all_spaces(connection):
        forget_rows(connection, space, gone.digests, used)
        parts = parts_of_documents(connection, build, space, documents)
        write_slabs(connection, build, space, parts)
        ends = dict.fromkeys(left, 0)
        ends.update(part_counts(connection, build, space, documents))
        forget_codes(connection, build, space, ends.items())
    if gone.digests:
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
