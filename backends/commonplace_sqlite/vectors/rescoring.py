"""True scores of a few vectors, from the stored rows, and the best chunks by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace_sqlite.encoding import ids_in
from commonplace_sqlite.ranking import in_order
from commonplace_sqlite.vectors.bounds import floor_of
from commonplace_sqlite.vectors.floats import dot, numbers_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from commonplace.deadline import Deadline
    from commonplace_sqlite.vectors.kernels import Kernels

__all__ = ["Pair", "best_chunks"]

Pair = tuple[int, int]
"""A chunk and its vector, by their ids."""

_BATCH = 1_000
_VECTORS = "SELECT id, e FROM vector WHERE id IN (SELECT value FROM json_each(?))"

_FEW = 16
"""Vectors; so many are scored as they are, without a first look by numpy."""

_ROUNDING = 1e-9
"""More than a sum of float64 products of two vectors of length 1 can be wrong by."""


def best_chunks(
    connection: apsw.Connection,
    build: int,
    pairs: Sequence[Pair],
    query: Sequence[float],
    limit: int,
    kernels: Kernels,
    deadline: Deadline,
) -> list[tuple[int, float]]:
    """The best ``limit`` of ``pairs`` by their vectors' true scores, equal ones by their places."""
    ids = sorted({vector for _, vector in pairs})
    scores: dict[int, float] = {}
    for begin in range(0, len(ids), _BATCH):
        deadline.check("the vector search")
        some = ids_in(ids[begin : begin + _BATCH])
        rows: Any = connection.execute(_VECTORS, (some,)).fetchall()
        if len(rows) > max(_FEW, limit) and kernels.numpy_is_loaded:
            rows = _hopeful(rows, query, limit, kernels.numpy)
        scores.update((id_, dot(query, vector)) for id_, vector in rows)
    ranked = [(chunk, scores[vector]) for chunk, vector in pairs if vector in scores]
    return in_order(connection, build, ranked, limit)[:limit]


def _hopeful(
    rows: Sequence[tuple[int, bytes]], query: Sequence[float], limit: int, np: Any
) -> Iterable[tuple[int, bytes]]:
    """Those that can be among the best ``limit``: each vector has at least one chunk."""
    matrix = np.frombuffer(b"".join(vector for _, vector in rows), "<f4").reshape(len(rows), -1)
    scores = matrix.astype(np.float64) @ np.frombuffer(numbers_in(query), "<f4").astype(np.float64)
    lowest = float(np.partition(scores, len(rows) - limit)[len(rows) - limit])
    floor = floor_of(lowest - _ROUNDING) - _ROUNDING
    return [row for row, score in zip(rows, scores.tolist(), strict=True) if score >= floor]
