"""Spaces of vectors in the file: which there are, and the slabs derived from them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace.plugin import SpaceInfo
from commonplace_sqlite.rows import digest_in, digest_out, heading_out, ids_in, text_in, text_out
from commonplace_sqlite.schema import of_build
from commonplace_sqlite.vectors.codes import (
    checked,
    encode,
    integers_in,
    room,
    row_bytes,
    rows_in_part,
)
from commonplace_sqlite.vectors.stored import WHOLE, forget_rows, store_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    import apsw

    from commonplace.plugin import ChunkId
    from commonplace_sqlite.schema import LiveBuild

    Digest = str | bytes


_COVERED = "SELECT coalesce(sum(count), 0) FROM slab_<n> WHERE space = ?"
_MISSING = """
SELECT c.digest, c.heading, t.text, min(c.id)
FROM chunk_<n> AS c JOIN text_<n> AS t ON t.id = <text_id>
WHERE NOT EXISTS (SELECT 1 FROM vector WHERE space = ? AND digest = c.digest)
GROUP BY c.digest ORDER BY min(c.id)
"""
_VECTORS = """
SELECT c.id, <e> FROM chunk_<n> AS c
CROSS JOIN vector AS v ON v.space = ? AND v.digest = c.digest
WHERE c.id IN (SELECT value FROM json_each(?))
""".replace("<e>", WHOLE)


class Space(NamedTuple):
    """A row of the table ``space``, seen from one build and through one connection."""

    connection: apsw.Connection
    build: int
    id: int
    name: str
    dims: int


def all_spaces(connection: apsw.Connection, build: int) -> list[Space]:
    """All spaces of the file."""
    rows: Any = connection.execute("SELECT id, name, dims FROM space ORDER BY id")
    return [Space(connection, build, id_, text_out(name), dims) for id_, name, dims in rows]


def find_space(connection: apsw.Connection, build: int, name: str) -> Space | None:
    """The space of that name, if it holds anything in any build."""
    return next((one for one in all_spaces(connection, build) if one.name == name), None)


def space_infos(connection: apsw.Connection, live: LiveBuild) -> tuple[SpaceInfo, ...]:
    """All spaces, and how many of the live build's chunks each covers."""
    return tuple(
        SpaceInfo(space.name, space.dims, covered(space), live.chunks)
        for space in all_spaces(connection, live.id)
    )


def covered(space: Space) -> int:
    """How many chunks of a build have a vector in ``space``."""
    number: int = space.connection.execute(of_build(_COVERED, space.build), (space.id,)).get
    return number


def missing(connection: apsw.Connection, build: int, name: str) -> list[tuple[str, str]]:
    """(digest, text to embed) of what has no vector, in the order in which it was put."""
    from commonplace.plugin import Chunk, embedding_text

    space = find_space(connection, build, name)
    rows: Any = connection.execute(of_build(_MISSING, build), (space.id if space else None,))
    return [
        (digest_out(digest), embedding_text(Chunk(1, 1, text_out(text), heading_out(heading))))
        for digest, heading, text, _ in rows
    ]


def vectors_of(
    connection: apsw.Connection, build: int, name: str, ids: Collection[ChunkId]
) -> dict[ChunkId, bytes]:
    """The vectors of these chunks, of those that have one."""
    space = find_space(connection, build, name)
    if space is None:
        return {}
    known = ids_in(id_ for id_ in ids if isinstance(id_, int))
    rows: Any = connection.execute(of_build(_VECTORS, build), (space.id, known))
    return dict(rows)


Part = tuple[int, int]
"""A document, and which run of its chunks."""

_BATCH = 1_000
"""Parts that are read and encoded at once: some 15 MB of vectors."""

_WITH_DIGEST = "SELECT document, ordinal FROM chunk_<n> WHERE digest = ?"
_SIZE = "SELECT chunks FROM document_<n> WHERE id = ?"
# CROSS keeps SQLite from beginning with all vectors of the space.
_HELD = """
SELECT c.id, v.id, <e> FROM chunk_<n> AS c
CROSS JOIN vector AS v ON v.space = ? AND v.digest = c.digest
WHERE c.document = ? AND c.ordinal >= ? AND c.ordinal < ? ORDER BY c.ordinal
""".replace("<e>", WHOLE)
_FORGET_PART = "DELETE FROM slab_<n> WHERE space = ? AND document = ? AND part = ?"
_FORGET = "DELETE FROM slab_<n> WHERE space = ? AND document = ? AND part >= ?"
_FORGET_CODES = "DELETE FROM code_<n> WHERE space = ? AND document = ? AND part >= ?"
_ADD_SLAB = """
INSERT INTO slab_<n> (space, document, part, version, count, chunks, vectors)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
# Codes are written over those that were there: of the same length, they stay where they are.
_ADD_CODE = """
INSERT INTO code_<n> (space, document, part, packed) VALUES (?, ?, ?, ?)
ON CONFLICT (space, document, part) DO UPDATE SET packed = excluded.packed
"""
_CODE_LENGTH = """
SELECT length(packed) FROM code_<n> WHERE space = ? AND document = ? AND part = ?
"""
_NEXT = "SELECT next FROM counter WHERE name = 'slab'"
_MOVE_ON = "UPDATE counter SET next = next + ? WHERE name = 'slab'"


def parts_of_digests(space: Space, digests: Iterable[Any]) -> list[Part]:
    """The parts of a build that contain chunks of these digests."""
    rows = rows_in_part(space.dims)
    sql = of_build(_WITH_DIGEST, space.build)
    found: Any = (row for digest in digests for row in space.connection.execute(sql, (digest,)))
    return sorted({(document, ordinal // rows) for document, ordinal in found})


def part_counts(space: Space, documents: Iterable[int]) -> dict[int, int]:
    """How many parts each of these documents has."""
    rows = rows_in_part(space.dims)
    sql = of_build(_SIZE, space.build)
    return {doc: -(-space.connection.execute(sql, (doc,)).get // rows) for doc in documents}


def write_slabs(space: Space, parts: Iterable[Part]) -> None:
    """Derive these parts' slabs again; a part without vectors has none."""
    rest = iter(parts)
    while batch := list(islice(rest, _BATCH)):
        _write(space, batch)


def _write(space: Space, parts: list[Part]) -> None:
    keys = [(space.id, *part) for part in parts]
    space.connection.executemany(of_build(_FORGET_PART, space.build), keys)
    rows_of_parts = [(key, _rows(space, key[1:])) for key in keys]
    codes = encode([row[2] for _, rows in rows_of_parts for row in rows], space.dims)
    version: int = space.connection.execute(_NEXT).get
    slabs: list[tuple[Any, ...]] = []
    packs: list[tuple[Any, ...]] = []
    begin = 0
    width = row_bytes(space.dims)
    for key, rows in rows_of_parts:
        if not rows:
            # Vectors will follow; allocating the room again would split pages.
            length: int | None = space.connection.execute(
                of_build(_CODE_LENGTH, space.build), key
            ).get
            if length is not None:
                packs.append((*key, room(length // width, space.dims)))
            continue
        end = begin + len(rows)
        chunks = integers_in([chunk for chunk, _, _ in rows])
        vectors = integers_in([vector for _, vector, _ in rows])
        version += 1
        slabs.append((*key, version, len(rows), chunks, vectors))
        packs.append((*key, codes[begin * width : end * width]))
        begin = end
    space.connection.executemany(of_build(_ADD_SLAB, space.build), slabs)
    space.connection.executemany(of_build(_ADD_CODE, space.build), packs)
    # By one more than the slabs written, so that deletions change the counter, too.
    space.connection.execute(_MOVE_ON, (len(slabs) + 1,))


def _rows(space: Space, part: Part) -> list[tuple[int, int, bytes]]:
    document, number = part
    size = rows_in_part(space.dims)
    begin = number * size
    rows: Any = space.connection.execute(
        of_build(_HELD, space.build), (space.id, document, begin, begin + size)
    )
    return list(rows)


_KNOWN = "SELECT 1 FROM chunk_<n> WHERE digest = ? LIMIT 1"
_DIGESTS = "SELECT DISTINCT digest FROM chunk_<n> WHERE document = ? AND ordinal >= ?"
_USED = "EXISTS (SELECT 1 FROM chunk_<n> WHERE digest = vector.digest)"
_FORGET_ALL = "DELETE FROM vector WHERE NOT (<used>)"
_FORGET_SPACES = """
DELETE FROM space WHERE NOT EXISTS (SELECT 1 FROM vector WHERE vector.space = space.id);
DELETE FROM vector WHERE space < 0 AND -space NOT IN (SELECT id FROM space);
"""
_CLEAR = ("DELETE FROM slab_<n> WHERE space = ?", "DELETE FROM code_<n> WHERE space = ?")


def put_vectors(
    connection: apsw.Connection, build: int, name: str, dims: int, vectors: Mapping[str, bytes]
) -> None:
    """Attach vectors by the digests of a build's chunks; those of unknown digests are left out.

    The caller holds a transaction. Raises ``ValueError`` where a vector has not ``dims`` finite
    numbers, or where the space has other dimensions.
    """
    by_digest = {digest_in(digest): checked(vector, dims) for digest, vector in vectors.items()}
    space = find_space(connection, build, name)
    if space is not None and space.dims != dims:
        raise ValueError(f"the space {name!r} has {space.dims} dimensions, not {dims}")
    known = of_build(_KNOWN, build)
    put = {d: e for d, e in by_digest.items() if connection.execute(known, (d,)).get is not None}
    if not put:
        return
    if space is None:
        sql = "INSERT INTO space (name, dims) VALUES (?, ?)"
        connection.execute(sql, (text_in(name), dims))
        space = Space(connection, build, connection.last_insert_rowid(), name, dims)
    store_rows(connection, space.id, dims, put)
    for one in _builds(connection):
        there = space._replace(build=one)
        write_slabs(there, parts_of_digests(there, put))


def drop_space(connection: apsw.Connection, name: str) -> None:
    """Delete all vectors of a space, if it exists."""
    space = find_space(connection, 0, name)
    if space is None:
        return
    for build in _builds(connection):
        for sql in _CLEAR:
            connection.execute(of_build(sql, build), (space.id,))
    connection.execute("DELETE FROM vector WHERE space IN (?, ?)", (space.id, -space.id))
    connection.execute("DELETE FROM space WHERE id = ?", (space.id,))
    connection.execute(_MOVE_ON, (1,))


def documents_going(
    connection: apsw.Connection, build: int, documents: Mapping[int, int]
) -> set[Digest]:
    """Forget what is derived for documents that go; returns the digests of their chunks that go.

    ``documents`` maps each to the first of these chunks. Call this before they are deleted.
    """
    for space in all_spaces(connection, build):
        rows_in = rows_in_part(space.dims)
        keys = [(space.id, document, first // rows_in) for document, first in documents.items()]
        connection.executemany(of_build(_FORGET, build), keys)
        connection.execute(_MOVE_ON, (1,))
    sql = of_build(_DIGESTS, build)
    rows: Any = (row for document in documents.items() for row in connection.execute(sql, document))
    return {digest for (digest,) in rows}


def documents_added(
    connection: apsw.Connection,
    build: int,
    documents: Mapping[int, int],
    gone: Collection[int],
    digests: Collection[Digest],
) -> None:
    """Derive slabs for documents that were put, and delete the vectors of texts that are gone.

    ``documents`` maps each to its first new chunk; ``gone`` and ``digests`` are the documents given
    to :func:`documents_going` and its result. A text that was deleted with one document and put
    with another keeps its vectors.
    """
    used = _used(connection)
    for space in all_spaces(connection, build):
        forget_rows(connection, space.id, digests, used)
        rows, counts = rows_in_part(space.dims), part_counts(space, documents)
        parts = (
            (document, part)
            for document, first in documents.items()
            for part in range(first // rows, counts[document])
        )
        write_slabs(space, parts)
        ends = {**dict.fromkeys(gone, 0), **counts}
        keys = [(space.id, *end) for end in ends.items()]
        connection.executemany(of_build(_FORGET_CODES, build), keys)
    if digests:
        connection.execute(_FORGET_SPACES)


def forget_unused(connection: apsw.Connection) -> None:
    """Forget the vectors of texts that no build has (any more)."""
    connection.execute(_FORGET_ALL.replace("<used>", _used(connection)))
    connection.execute(_FORGET_SPACES)


def _used(connection: apsw.Connection) -> str:
    return " OR ".join(of_build(_USED, build) for build in _builds(connection)) or "FALSE"


def _builds(connection: apsw.Connection) -> list[int]:
    return [build for (build,) in connection.execute("SELECT id FROM build ORDER BY id")]
