"""Spaces of vectors: which there are, how much of a build they cover, what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace.plugin import SpaceInfo
from commonplace_sqlite.rows import digest_out, heading_out, ids_in, text_in, text_out
from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

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
SELECT c.id, v.e FROM chunk_<n> AS c
CROSS JOIN vector AS v ON v.space = ? AND v.digest = c.digest
WHERE c.id IN (SELECT value FROM json_each(?))
"""


class Space(NamedTuple):
    """A row of the table ``space``, seen from one build and through one connection."""

    connection: apsw.Connection
    build: int
    id: int
    dims: int


def find_space(connection: apsw.Connection, build: int, name: str) -> Space | None:
    """The space of that name, if it holds anything in any build."""
    sql = "SELECT id, dims FROM space WHERE name = ?"
    row: Any = connection.execute(sql, (text_in(name),)).fetchone()
    return row and Space(connection, build, *row)


def all_spaces(connection: apsw.Connection, build: int) -> list[Space]:
    """All spaces of the file."""
    rows: Any = connection.execute("SELECT id, dims FROM space ORDER BY id")
    return [Space(connection, build, *row) for row in rows]


def space_infos(connection: apsw.Connection, live: LiveBuild) -> tuple[SpaceInfo, ...]:
    """All spaces, and how many of the live build's chunks each covers."""
    rows: Any = connection.execute("SELECT id, name, dims FROM space ORDER BY id").fetchall()
    return tuple(
        SpaceInfo(text_out(name), dims, covered(Space(connection, live.id, id_, dims)), live.chunks)
        for id_, name, dims in rows
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


_FIND = "SELECT id FROM vector WHERE space = ? AND digest = ?"
_FREE = "SELECT id FROM vector WHERE space = ? ORDER BY id LIMIT ?"
_ADD = "INSERT INTO vector (space, digest, e) VALUES (?, ?, ?)"
_REPLACE = "UPDATE vector SET space = ?, digest = ?, e = ? WHERE id = ?"
# The same text may have been deleted before, and its row may still be free.
_FREE_ROW = """
UPDATE OR IGNORE vector SET space = -space WHERE space = ? AND digest = ? AND NOT (<used>)
"""
_DELETE = "DELETE FROM vector WHERE space = ? AND digest = ? AND NOT (<used>)"
_TOO_MANY = """
DELETE FROM vector WHERE id IN (
    SELECT id FROM vector WHERE space = ?
    ORDER BY id LIMIT -1 OFFSET (SELECT 64 + max(chunks) / 8 FROM build)
)
"""


def store_rows(space: Space, vectors: Mapping[Digest, bytes]) -> None:
    """Write vectors of ``space`` by their digests, over those that are there."""
    held: dict[Digest, int] = {}
    for digest in vectors:
        id_: int | None = space.connection.execute(_FIND, (space.id, digest)).get
        if id_ is not None:
            held[digest] = id_
    new = iter([digest for digest in vectors if digest not in held])
    rows: Any = space.connection.execute(_FREE, (-space.id, len(vectors) - len(held))).fetchall()
    held.update((digest, id_) for (id_,), digest in zip(rows, new, strict=False))
    replaced = [(space.id, digest, vectors[digest], id_) for digest, id_ in held.items()]
    added = [(space.id, digest, e) for digest, e in vectors.items() if digest not in held]
    space.connection.executemany(_REPLACE, replaced)
    space.connection.executemany(_ADD, added)


def forget_rows(space: Space, digests: Collection[Digest], used: str) -> None:
    """Let others take the rows of ``digests``, but for those of which ``used`` is true, as SQL."""
    keys = [(space.id, digest) for digest in digests]
    for sql in (_FREE_ROW, _DELETE):
        space.connection.executemany(sql.replace("<used>", used), keys)
    space.connection.execute(_TOO_MANY, (-space.id,))
