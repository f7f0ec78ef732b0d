"""The codes of a space in memory, as a matrix of numpy that follows the file."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.schema import of_build
from commonplace_sqlite.vectors.bounds import ROUNDING, CodedQuery, floor_of
from commonplace_sqlite.vectors.codes import HEAD, row_bytes
from commonplace_sqlite.vectors.floats import NORM_SLACK

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import apsw

    from commonplace_sqlite.vectors.kernels import Kernels
    from commonplace_sqlite.vectors.rescoring import Pair
    from commonplace_sqlite.vectors.spaces import Space

    Run = tuple[int, int]

__all__ = ["Resident"]

_COUNTER = "SELECT next FROM counter WHERE name = 'slab'"
_VERSIONS = "SELECT version, count FROM slab_<n> WHERE space = ?"
_SLABS = """
SELECT s.version, s.document, s.count, s.chunks, s.vectors, c.packed
FROM slab_<n> AS s CROSS JOIN code_<n> AS c USING (space, document, part)
WHERE s.space = ?
"""
_NEW_SLABS = f"{_SLABS} AND s.version > ?"

_SPARE = 1.1
"""Room for a tenth more rows, so that a few that come in mean no copy of all the others."""

_MOST_DEAD = 0.25
_BATCH = 500
"""Slabs that are read at once."""

_GROUP_ROWS = 64
_MOST_LOOKED_AT_AGAIN = 4_096
_ROWS_PER_RUN = 100
"""So many rows more are compared sooner than one run more."""

_LOWEST = -3e38
"""Less than any estimate but minus infinity."""


class Resident:
    """Codes of all chunks of a build with vectors in a space; for one thread at a time."""

    def __init__(
        self, connection: apsw.Connection, build: int, space: Space, kernels: Kernels
    ) -> None:
        self._connection = connection
        self._build = build
        self._space = space
        self._kernels = kernels
        self._np = kernels.numpy
        self._counter = -1
        self._slabs: dict[int, tuple[int, int, int]] = {}
        self._runs_of: Any = None
        self._widest = 0.0
        self._used = self._dead = 0
        self._allocate(0)

    def is_of(self, connection: apsw.Connection, build: int, space: Space) -> bool:
        """Whether this is of what is asked for, however much has changed there."""
        return self._connection is connection and self._build == build and self._space == space

    def refresh(self) -> None:
        """Follow the file: forget what has gone, read what has come."""
        counter: int = self._connection.execute(_COUNTER).get
        if counter == self._counter:
            return
        self._runs_of = None
        sql = of_build(_VERSIONS, self._build)
        rows: Any = self._connection.execute(sql, (self._space.id,))
        now: dict[int, int] = dict(rows)
        for version in self._slabs.keys() - now.keys():
            _, begin, count = self._slabs.pop(version)
            self._chunks[begin : begin + count] = -1
            self._dead += count
        coming = sum(count for version, count in now.items() if version not in self._slabs)
        if self._used + coming > len(self._chunks) or self._dead > self._used * _MOST_DEAD:
            self._move(self._used - self._dead + coming)
        if coming:
            self._read()
        self._counter = counter

    def pairs(
        self, query: Sequence[float], documents: Collection[int] | None, limit: int
    ) -> list[Pair]:
        """The chunks that can be among the best ``limit``; the best are among them for certain."""
        runs = self._runs(documents)
        if not runs:
            return []
        coded = CodedQuery(query, self._np)
        rows, estimates = self._estimates(coded, runs)
        winners = self._winners(rows, estimates, coded, limit)
        if limit < len(winners) <= _MOST_LOOKED_AT_AGAIN:
            winners = self._still_winning(winners, query, limit)
        return list(
            zip(self._chunks[winners].tolist(), self._vectors[winners].tolist(), strict=True)
        )

    def _estimates(self, coded: CodedQuery, runs: list[Run]) -> tuple[Any, Any]:
        """Rows (a slice, or an array) and their estimates over the query's scale.

        Rows that are not in ``runs``, or no longer there, are at minus infinity.
        """
        np, kernels = self._np, self._kernels
        within = runs[0][0], runs[-1][1]
        levels = coded.code[HEAD : HEAD + self._space.dims]
        asked = sum(end - begin for begin, end in runs)
        if len(runs) > 1 and asked + len(runs) * _ROWS_PER_RUN < within[1] - within[0]:
            parts = [kernels.dots_of(levels, self._codes[begin:end]) for begin, end in runs]
            rows: Any = np.concatenate([np.arange(*run) for run in runs])
            estimates = np.concatenate(parts)
        else:
            rows = slice(*within)
            estimates = kernels.dots_of(levels, self._codes[rows])
        estimates *= self._scales[rows]
        if self._dead:
            estimates[self._chunks[rows] < 0] = -np.inf
        if len(runs) > 1 and isinstance(rows, slice):
            for (_, left), (right, _) in pairwise(runs):
                estimates[left - rows.start : right - rows.start] = -np.inf
        return rows, estimates

    def _winners(self, rows: Any, estimates: Any, coded: CodedQuery, limit: int) -> Any:
        np = self._np
        scale = coded.scale or 1.0
        # The best of each group of rows: at least so many rows are as good as the last of them. A
        # first floor found so, with the widest bound for all, leaves few rows to look at closely.
        # (Rows far apart make a group, for numpy finds the largest of columns sooner.)
        groups = len(estimates) // _GROUP_ROWS
        first = float("-inf")
        if groups > limit:
            tops = estimates[: groups * _GROUP_ROWS].reshape(_GROUP_ROWS, -1).max(axis=0)
            lowest = float(np.partition(tops, groups - limit)[groups - limit]) * scale
            bound = self._widest * coded.slope + coded.base
            first = (floor_of(lowest - bound) - bound) / scale
        places = np.flatnonzero(estimates >= max(first, _LOWEST))
        estimates = estimates[places] * np.float64(coded.scale)
        winners = places + rows.start if isinstance(rows, slice) else rows[places]
        bounds = self._residuals[winners] * np.float64(coded.slope) + coded.base
        if len(winners) > limit:
            left = len(winners) - limit
            floor = floor_of(float(np.partition(estimates - bounds, left)[left]))
            winners = winners[estimates + bounds >= floor]
        return winners

    def _still_winning(self, rows: Any, query: Sequence[float], limit: int) -> Any:
        """Those of ``rows`` that can be among the best where the query is not rounded either.

        To read a stored vector costs more than to look twice, and this halves the bound.
        """
        np = self._np
        wide = self._codes[rows].astype(np.float64)
        estimates = wide @ np.asarray(query, np.float64) * self._scales[rows]
        bounds = self._residuals[rows] * (1 + 2 * NORM_SLACK) + ROUNDING
        left = len(rows) - limit
        floor = floor_of(float(np.partition(estimates - bounds, left)[left]))
        return rows[estimates + bounds >= floor]

    def _runs(self, documents: Collection[int] | None) -> list[Run]:
        """The rows of these documents, as runs in ascending order that do not touch."""
        if documents is None:
            return [(0, self._used)] if self._used else []
        np = self._np
        if self._runs_of is None:
            slabs = sorted(self._slabs.values(), key=lambda slab: slab[1])
            self._runs_of = np.array(slabs, np.int64).reshape(-1, 3)
        asked = np.fromiter(documents, np.int64, len(documents))
        _, begins, counts = self._runs_of[np.isin(self._runs_of[:, 0], asked)].T
        return _joined(np, begins, begins + counts)

    def _read(self) -> None:
        # All of them in the order of their documents, as they lie in the file.
        sql, values = _SLABS, [self._space.id]
        if self._slabs:
            sql, values = _NEW_SLABS, [self._space.id, self._counter]
        rows: Any = self._connection.execute(of_build(sql, self._build), values)
        while batch := list(islice(rows, _BATCH)):
            self._append(batch)
        self._widest = float(self._residuals[: self._used].max(initial=0))

    def _append(self, slabs: Sequence[tuple[int, int, int, bytes, bytes, bytes]]) -> None:
        np, dims = self._np, self._space.dims
        begin = end = self._used
        for version, document, count, _, _, _ in slabs:
            self._slabs[version] = document, end, count
            end += count
        chunks, vectors, packed = (
            b"".join(parts) for parts in zip(*[slab[3:] for slab in slabs], strict=True)
        )
        matrix = np.frombuffer(packed, np.int8).reshape(-1, row_bytes(dims))
        heads = np.ascontiguousarray(matrix[:, :HEAD]).view("<f4")
        self._scales[begin:end], self._residuals[begin:end] = heads.T
        self._codes[begin:end] = matrix[:, HEAD : HEAD + dims]
        self._chunks[begin:end] = np.frombuffer(chunks, "<i8")
        self._vectors[begin:end] = np.frombuffer(vectors, "<i8")
        self._used = end

    def _allocate(self, rows: int) -> None:
        np = self._np
        size = int(rows * _SPARE)
        self._scales = np.zeros(size, "<f4")
        self._residuals = np.zeros(size, "<f4")
        self._codes = np.zeros((size, self._space.dims), np.int8)
        self._chunks = np.zeros(size, "<i8")
        self._vectors = np.zeros(size, "<i8")

    def _move(self, rows: int) -> None:
        """Move what is alive into arrays with room for ``rows``, in its order."""
        np = self._np
        old = self._scales, self._residuals, self._codes, self._chunks, self._vectors
        self._allocate(rows)
        new = self._scales, self._residuals, self._codes, self._chunks, self._vectors
        used = 0
        slabs = sorted(self._slabs.items(), key=lambda slab: slab[1][1])
        for version, (document, _, count) in slabs:
            self._slabs[version] = document, used, count
            used += count
        place = 0
        begins, counts = np.array([slab[1:] for _, slab in slabs], np.int64).reshape(-1, 2).T
        for begin, end in _joined(np, begins, begins + counts):
            for source, target in zip(old, new, strict=True):
                target[place : place + end - begin] = source[begin:end]
            place += end - begin
        self._used, self._dead = used, 0


def _joined(np: Any, begins: Any, ends: Any) -> list[Run]:
    """Runs in ascending order, those that touch made one."""
    if not len(begins):
        return []
    apart = begins[1:] != ends[:-1]
    first, last = np.append(True, apart), np.append(apart, True)
    return list(zip(begins[first].tolist(), ends[last].tolist(), strict=True))
