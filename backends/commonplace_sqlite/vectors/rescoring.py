"""True scores of a few vectors, from the stored rows, and the best chunks by them."""

from __future__ import annotations

from heapq import nlargest
from operator import mul
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.encoding import ids_in
from commonplace_sqlite.ranking import in_order
from commonplace_sqlite.vectors.bounds import floor_of
from commonplace_sqlite.vectors.floats import dot, numbers, rounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from commonplace.plugin import Deadline
    from commonplace_sqlite.vectors.kernels import Kernels

__all__ = ["Pair", "best_chunks"]

Pair = tuple[int, int]
"""A chunk and its vector, by their ids."""

_BATCH = 1_000
_VECTORS = "SELECT id, e FROM vector WHERE id IN (SELECT value FROM json_each(?))"

_ROUNDING = 1e-9
"""More than a sum of float64 products of two vectors of length 1 can be wrong by."""

_SHIFTS = (1.5 * 2.0**12, 1.5 * 2.0**-29, 1.5 * 2.0**-70)
"""Added and taken away again, they round to the grains 2**-40, 2**-81 and 2**-122."""

_MOST_COLUMNS = 4_096
_LARGEST_PRODUCT = 2.0
"""Up to so many numbers, so large, no sum of pieces has more than the 53 bits of a float64."""


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
    values = list(query)
    scores: dict[int, float] = {}
    for begin in range(0, len(ids), _BATCH):
        deadline.check("the vector search")
        some = ids_in(ids[begin : begin + _BATCH])
        rows: Any = connection.execute(_VECTORS, (some,)).fetchall()
        if kernels.numpy_is_loaded:
            scores.update(_scores(rows, query, limit, kernels.numpy))
        else:
            scores.update(_scores_plainly(rows, values, limit))
    ranked = [(chunk, scores[vector]) for chunk, vector in pairs if vector in scores]
    return in_order(connection, build, ranked, limit)[:limit]


def _scores_plainly(
    rows: Sequence[tuple[int, bytes]], query: Sequence[float], limit: int
) -> Iterable[tuple[int, float]]:
    """As below, without numpy."""
    if len(rows) > limit:
        sums = [sum(map(mul, query, numbers(vector))) for _, vector in rows]
        floor = floor_of(nlargest(limit, sums)[-1] - _ROUNDING) - _ROUNDING
        rows = [row for row, about in zip(rows, sums, strict=True) if about >= floor]
    return [(id_, dot(query, vector)) for id_, vector in rows]


def _scores(
    rows: Sequence[tuple[int, bytes]], query: Sequence[float], limit: int, np: Any
) -> Iterable[tuple[int, float]]:
    """The scores of those that can be among the best ``limit``: each has at least one chunk."""
    vectors = np.frombuffer(b"".join(vector for _, vector in rows), "<f4").reshape(len(rows), -1)
    products = vectors * np.asarray(query, np.float64)
    places = range(len(rows))
    if len(rows) > limit:
        left = len(rows) - limit
        sums = products.sum(axis=1)
        floor = floor_of(float(np.partition(sums, left)[left]) - _ROUNDING) - _ROUNDING
        places = np.flatnonzero(sums >= floor).tolist()
        products = products[places]
    return zip([rows[place][0] for place in places], exact_sums(np, products), strict=True)


def exact_sums(np: Any, products: Any) -> list[float]:
    """Of each row of products of float32 numbers: the sum, as :func:`rounded` gives it.

    A product is cut in pieces that are whole numbers of a grain, each grain 2**41 times finer than
    the one before; numbers of one grain add up without error, in any order. Where something is
    left after the last grain (numbers near the smallest there are), rows are summed one by one.
    """
    if products.shape[1] > _MOST_COLUMNS or np.abs(products).max(initial=0) > _LARGEST_PRODUCT:
        return [rounded(row) for row in products.tolist()]
    rest = products
    sums = []
    for shift in _SHIFTS:
        pieces = (rest + shift) - shift
        sums.append(pieces.sum(axis=1).tolist())
        rest = rest - pieces
    left = rest.any(axis=1).tolist()
    return [
        rounded(products[place].tolist()) if left[place] else rounded(some)
        for place, some in enumerate(zip(*sums, strict=True))
    ]
