"""The vectors themselves: stored by the digests of their texts, in rows that fill pages.

SQLite puts a row on one page if it fits, so that of 6,144 bytes (1,536 dimensions) two share a page
of 16,384, and a quarter is left empty. Vectors of such a length are cut: the first bytes, of which
so many rows fill a page, are in ``vector``, the rest under the same id in ``vector_tail``.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.schema import PAGE_SIZE, RESERVED

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import apsw

    Digest = str | bytes


WHOLE = "coalesce(CAST(v.e || (SELECT e FROM vector_tail WHERE id = v.id) AS BLOB), v.e)"
"""The vector of ``v``, a row of ``vector``, as SQL."""

_USABLE = PAGE_SIZE - RESERVED
_CELLS = _USABLE - 8
_ROW = 64
"""Bytes of a row beside its part of the vector, and of what leads to the row: no more than that."""

_TAIL_ROW = 16
_WORTH_A_CUT = 0.08
"""Of a vector's bytes; to read one in two parts takes some microseconds longer."""


@cache
def head_bytes(dims: int) -> int:
    """How many bytes of a vector are in its row, the rest being in ``vector_tail``.

    A file must not be written with more than one such rule: its version tells them apart.
    """
    size = 4 * dims
    cuts = (_CELLS // rows - _ROW & ~3 for rows in range(1, 2 + _CELLS // (size + _ROW)))
    taken = {
        cut: _bytes_taken(cut + _ROW) + _bytes_taken(size - cut + _TAIL_ROW)
        for cut in cuts
        if cut < size
    }
    best = min(taken, key=taken.__getitem__, default=size)
    saved = _bytes_taken(size + _ROW) - taken.get(best, float("inf"))
    return best if saved > size * _WORTH_A_CUT else size


def _bytes_taken(row: int) -> float:
    """How much of a file is for a row of so many bytes, if there are many of them."""
    if row <= _CELLS:
        return PAGE_SIZE / (_CELLS // row)
    # The formula of SQLite's file format for how much of a long row stays beside the others.
    least = (_USABLE - 12) * 32 // 255 - 23
    beside = least + (row - least) % (_USABLE - 4)
    if beside > _USABLE - 35:
        beside = least
    return _bytes_taken(beside) + PAGE_SIZE * -(-(row - beside) // (_USABLE - 4))


_FIND = "SELECT id FROM vector WHERE space = ? AND digest = ?"
_FREE = "SELECT id FROM vector WHERE space = ? ORDER BY id LIMIT ?"
_ADD = "INSERT INTO vector (space, digest, e) VALUES (?, ?, ?)"
_REPLACE = "UPDATE vector SET space = ?, digest = ?, e = ? WHERE id = ?"
_PUT_TAIL = """
INSERT INTO vector_tail (id, e) SELECT id, ? FROM vector WHERE space = ? AND digest = ?
ON CONFLICT (id) DO UPDATE SET e = excluded.e
"""
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


def store_rows(
    connection: apsw.Connection, space: int, dims: int, vectors: Mapping[Digest, bytes]
) -> None:
    """Write vectors of ``space`` by their digests, over those that are there."""
    ids: dict[Digest, int] = {}
    for digest in vectors:
        id_: int | None = connection.execute(_FIND, (space, digest)).get
        if id_ is not None:
            ids[digest] = id_
    new = iter([digest for digest in vectors if digest not in ids])
    rows: Any = connection.execute(_FREE, (-space, len(vectors) - len(ids))).fetchall()
    ids.update((digest, id_) for (id_,), digest in zip(rows, new, strict=False))
    end = head_bytes(dims)
    replaced = [(space, digest, vectors[digest][:end], id_) for digest, id_ in ids.items()]
    added = [(space, digest, e[:end]) for digest, e in vectors.items() if digest not in ids]
    connection.executemany(_REPLACE, replaced)
    connection.executemany(_ADD, added)
    if end < 4 * dims:
        tails = [(e[end:], space, digest) for digest, e in vectors.items()]
        connection.executemany(_PUT_TAIL, tails)


def forget_rows(
    connection: apsw.Connection, space: int, digests: Collection[Digest], used: str
) -> None:
    """Let others take the rows of ``digests``, but for those of which ``used`` is true, as SQL."""
    keys = [(space, digest) for digest in digests]
    for sql in (_FREE_ROW, _DELETE):
        connection.executemany(sql.replace("<used>", used), keys)
    connection.execute(_TOO_MANY, (-space,))
