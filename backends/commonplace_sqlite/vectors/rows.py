"""The rows of stored vectors: written into the places of those that went before.

A row that is no longer needed stays, under its space's number with a minus, until another vector of
the space takes its place. All of a space are of one length, so that pages are neither torn nor left
half empty however often documents are replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import apsw

    from commonplace_sqlite.vectors.spaces import Space

    Digest = str | bytes

__all__ = ["forget_rows", "store_rows"]

_FIND = "SELECT id FROM vector WHERE space = ? AND digest = ?"
_FREE = "SELECT id FROM vector WHERE space = ? ORDER BY id LIMIT ?"
_ADD = "INSERT INTO vector (space, digest, e) VALUES (?, ?, ?)"
_REPLACE = "UPDATE vector SET space = ?, digest = ?, e = ? WHERE id = ?"
# The same text may have gone before, and have left a row that is still free.
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


def store_rows(connection: apsw.Connection, space: Space, vectors: Mapping[Digest, bytes]) -> None:
    """Write vectors of ``space`` by their digests, over those that are there."""
    held: dict[Digest, int] = {}
    for digest in vectors:
        id_: int | None = connection.execute(_FIND, (space.id, digest)).get
        if id_ is not None:
            held[digest] = id_
    new = iter([digest for digest in vectors if digest not in held])
    rows: Any = connection.execute(_FREE, (-space.id, len(vectors) - len(held))).fetchall()
    held.update((digest, id_) for (id_,), digest in zip(rows, new, strict=False))
    replaced = [(space.id, digest, vectors[digest], id_) for digest, id_ in held.items()]
    added = [(space.id, digest, e) for digest, e in vectors.items() if digest not in held]
    connection.executemany(_REPLACE, replaced)
    connection.executemany(_ADD, added)


def forget_rows(
    connection: apsw.Connection, space: Space, digests: Collection[Digest], used: str
) -> None:
    """Let others take the rows of ``digests``, but for those of which ``used`` is true, as SQL."""
    keys = [(space.id, digest) for digest in digests]
    for sql in (_FREE_ROW, _DELETE):
        connection.executemany(sql.replace("<used>", used), keys)
    connection.execute(_TOO_MANY, (-space.id,))
