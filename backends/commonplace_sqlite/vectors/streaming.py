"""Plans that keep nothing in memory: what they need is read from the file as they go."""

from __future__ import annotations

import sys
from bisect import bisect_right
from heapq import nlargest
from itertools import islice
from operator import mul
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.keyword import in_order
from commonplace_sqlite.rows import ids_in
from commonplace_sqlite.schema import of_build
from commonplace_sqlite.vectors.codes import (
    HEAD,
    NORM_SLACK,
    dot,
    integers,
    numbers,
    numbers_in,
    padded,
    query_code,
    query_code_by_numpy,
    rounded,
    row_bytes,
    rows_in_part,
)
from commonplace_sqlite.vectors.slabs import covered
from commonplace_sqlite.vectors.stored import WHOLE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    import apsw

    from commonplace.plugin import Deadline
    from commonplace_sqlite.vectors.codes import Kernels
    from commonplace_sqlite.vectors.slabs import Space

    Near = tuple[list[int], list[float], list[float]]


_GROUP = 1_024
"""Vectors whose codes are compared at once."""

_CODES = "SELECT document, part, packed FROM code_<n> WHERE space = ? <documents>"
_COUNT = "SELECT coalesce(sum(count), 0) FROM slab_<n> WHERE space = ? <documents>"
_PAIRS = "SELECT chunks, vectors FROM slab_<n> WHERE space = ? <documents>"
_ONE_SLAB = "SELECT chunks, vectors FROM slab_<n> WHERE space = ? AND document = ? AND part = ?"
_AMONG = "AND document IN (SELECT value FROM json_each(?))"
# A vector of length 0 is at no angle to any other: NULL.
_DISTANCES = """
SELECT id, 1 - coalesce(vec_distance_cosine(<e>, ?), 1) FROM vector AS v
WHERE id IN (SELECT value FROM json_each(?))
""".replace("<e>", WHOLE)

_EXTENSION_ROUNDING = 2.0**-21
"""Times the dimensions: sqlite-vec adds up in float32, and divides by lengths found so."""


def by_codes(
    space: Space,
    documents: Collection[int] | None,
    query: Sequence[float],
    limit: int,
    kernels: Kernels,
    deadline: Deadline,
) -> list[Pair]:
    """The chunks that can be among the best ``limit``; the best are among them for certain."""
    coded = CodedQuery(query)
    contest = Contest(limit)
    width = row_bytes(space.dims)
    ends = [0]
    parts: list[tuple[int, int]] = []
    slabs = select_slabs(space, _CODES, documents)
    while group := list(islice(slabs, max(1, _GROUP // rows_in_part(space.dims)))):
        deadline.check("the vector search")
        begin = ends[-1]
        for document, part, packed in group:
            ends.append(ends[-1] + len(packed) // width)
            parts.append((document, part))
        rows = b"".join([packed for _, _, packed in group])
        near = near_by_simsimd if kernels.simsimd is not None else near_by_numpy
        positions, estimates, bounds = near(kernels, coded, rows, contest.floor)
        contest.enter(estimates, bounds, [begin + position for position in positions])
    chosen: dict[int, list[int]] = {}
    for row in contest.winners():
        slab = bisect_right(ends, row) - 1
        chosen.setdefault(slab, []).append(row - ends[slab])
    one_slab = of_build(_ONE_SLAB, space.build)
    pairs: list[Pair] = []
    for slab, positions in chosen.items():
        ((chunks, vectors),) = space.connection.execute(one_slab, (space.id, *parts[slab]))
        of_slab = list(zip(integers(chunks), integers(vectors), strict=True))
        pairs += [of_slab[position] for position in positions]
    return pairs


def count_vectors(space: Space, documents: Collection[int] | None) -> int:
    """How many chunks of these documents have a vector."""
    if documents is None:
        return covered(space)
    ((number,),) = select_slabs(space, _COUNT, documents)
    return int(number)


def all_pairs(space: Space, documents: Collection[int] | None) -> list[Pair]:
    """All chunks with vectors, of these documents."""
    return [
        pair
        for chunks, vectors in select_slabs(space, _PAIRS, documents)
        for pair in zip(integers(chunks), integers(vectors), strict=True)
    ]


def by_extension(
    connection: apsw.Connection, pairs: Sequence[Pair], query: Sequence[float], limit: int
) -> list[Pair]:
    """Of ``pairs`` those that can be among the best ``limit``, by sqlite-vec's own scores."""
    slack = len(query) * _EXTENSION_ROUNDING
    ids = ids_in(sorted({vector for _, vector in pairs}))
    rows: Any = connection.execute(_DISTANCES, (numbers_in(query), ids)).fetchall()
    contest = Contest(limit)
    contest.enter([score for _, score in rows], [slack] * len(rows), [id_ for id_, _ in rows])
    winners = set(contest.winners())
    return [pair for pair in pairs if pair[1] in winners]


def select_slabs(space: Space, sql: str, documents: Collection[int] | None) -> Iterator[Any]:
    """The rows of ``sql``, in which ``<documents>`` becomes the condition on documents."""
    among = "" if documents is None else _AMONG
    values = (space.id,) if documents is None else (space.id, ids_in(documents))
    return iter(
        space.connection.execute(of_build(sql, space.build).replace("<documents>", among), values)
    )


def near_by_simsimd(kernels: Kernels, coded: CodedQuery, rows: bytes, floor: float) -> Near:
    """The positions, estimates and bounds of the rows that can reach ``floor``.

    Rows that only keep room are left out.
    """
    width = len(coded.code)
    heads = memoryview(rows if sys.byteorder == "little" else numbers(rows).tobytes()).cast("f")
    scales = heads[:: width // 4].tolist()
    residuals = heads[1 :: width // 4].tolist()
    relative = list(map(mul, kernels.dots(coded.code, rows, width), scales))
    scale, slope, base = coded.scale, coded.slope, coded.base
    least = floor - (max(residuals) * slope + base)
    positions = [
        position
        for position, estimate in enumerate(relative)
        if estimate * scale >= least and residuals[position] >= 0
    ]
    return (
        positions,
        [relative[position] * scale for position in positions],
        [residuals[position] * slope + base for position in positions],
    )


def near_by_numpy(kernels: Kernels, coded: CodedQuery, rows: bytes, floor: float) -> Near:
    """The same by numpy."""
    np = kernels.numpy
    matrix = np.frombuffer(rows, np.int8).reshape(-1, len(coded.code))
    heads = np.ascontiguousarray(matrix[:, :HEAD]).view("<f4").astype(np.float64)
    estimates = kernels.sums_of(coded.code, matrix) * heads[:, 0] * coded.scale
    bounds = heads[:, 1] * coded.slope + coded.base
    positions = np.flatnonzero((estimates + bounds >= floor) & (heads[:, 1] >= 0))
    return positions.tolist(), estimates[positions].tolist(), bounds[positions].tolist()


ROUNDING = 1e-9
_ROUNDING_FLOAT32 = 4e-6
"""More than all rounding on the way to an estimate and its bounds, of numbers up to 2."""


class CodedQuery:
    """A query's code, as wide as a row, and its bounds: ``slope`` * residual + ``base``."""

    __slots__ = ("base", "code", "scale", "slope")

    def __init__(self, values: Sequence[float], np: Any = None) -> None:
        # With numpy, estimates are float32.
        rounding = ROUNDING if np is None else _ROUNDING_FLOAT32
        code = query_code(values) if np is None else query_code_by_numpy(np, values)
        self.scale, residual, levels = code
        self.code = padded(levels)
        # |q| and |x| are at most 1 + NORM_SLACK, and |t d| is at most |x| + |e|.
        self.slope = 1 + NORM_SLACK + residual
        self.base = residual * (1 + NORM_SLACK) + rounding


class Contest:
    """Keeps, of rows that come in groups, those that can be among the best ``limit``."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lowers: list[float] = []
        self._open: list[tuple[float, Any]] = []
        self.floor = float("-inf")

    def enter(
        self, estimates: Sequence[float], bounds: Sequence[float], names: Sequence[Any]
    ) -> None:
        """Rows of which is known what they score about, and how wrong that can be."""
        if not names:
            return
        least = self.floor - max(bounds)
        positions = [position for position, estimate in enumerate(estimates) if estimate >= least]
        self._open += [
            (estimates[position] + bounds[position], names[position]) for position in positions
        ]
        lowers = [estimates[position] - bounds[position] for position in positions]
        self._lowers = nlargest(self._limit, self._lowers + lowers)
        if len(self._lowers) == self._limit:
            self.floor = floor_of(self._lowers[-1])

    def winners(self) -> Iterable[Any]:
        """The names of those that can still be among the best."""
        return [name for upper, name in self._open if upper >= self.floor]


def floor_of(lowest: float) -> float:
    """What a row must reach where ``limit`` others have ``lowest`` for certain.

    Scores are cut to -1..1, so that what is beyond is as good as what is on the border.
    """
    return float("-inf") if lowest <= -1 else min(lowest, 1.0)


Pair = tuple[int, int]
"""A chunk and its vector, by their ids."""

_BATCH = 1_000
_VECTORS = """
SELECT id, <e> FROM vector AS v WHERE id IN (SELECT value FROM json_each(?))
""".replace("<e>", WHOLE)

_ROUNDING = 1e-9
"""More than a sum of float64 products of two vectors of length 1 can be wrong by."""

_SHIFTS = (1.5 * 2.0**12, 1.5 * 2.0**-29, 1.5 * 2.0**-70)
"""Added and taken away again, they round to the grains 2**-40, 2**-81 and 2**-122."""

_MOST_COLUMNS = 4_096
_LARGEST_PRODUCT = 2.0
"""Up to so many numbers, so large, no sum of pieces has more than the 53 bits of a float64."""


def best_chunks(
    space: Space,
    pairs: Sequence[Pair],
    query: Sequence[float],
    limit: int,
    kernels: Kernels,
    deadline: Deadline,
) -> list[tuple[int, float]]:
    """The best ``limit`` of ``pairs`` by their true scores, ties in a fixed order."""
    ids = sorted({vector for _, vector in pairs})
    values = list(query)
    scores: dict[int, float] = {}
    for begin in range(0, len(ids), _BATCH):
        deadline.check("the vector search")
        some = ids_in(ids[begin : begin + _BATCH])
        rows: Any = space.connection.execute(_VECTORS, (some,)).fetchall()
        if kernels.numpy_is_loaded:
            scores.update(_scores(rows, query, limit, kernels.numpy))
        else:
            scores.update(_scores_plainly(rows, values, limit))
    ranked = [(chunk, scores[vector]) for chunk, vector in pairs if vector in scores]
    return in_order(space.connection, space.build, ranked, limit)[:limit]


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
    positions = range(len(rows))
    if len(rows) > limit:
        left = len(rows) - limit
        sums = products.sum(axis=1)
        floor = floor_of(float(np.partition(sums, left)[left]) - _ROUNDING) - _ROUNDING
        positions = np.flatnonzero(sums >= floor).tolist()
        products = products[positions]
    return zip([rows[position][0] for position in positions], exact_sums(np, products), strict=True)


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
        rounded(products[position].tolist()) if left[position] else rounded(some)
        for position, some in enumerate(zip(*sums, strict=True))
    ]
