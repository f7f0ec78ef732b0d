"""The codes of a space in memory, as a matrix of numpy that follows the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace_sqlite.schema import of_build
from commonplace_sqlite.vectors.bounds import ROUNDING, CodedQuery, floor_of
from commonplace_sqlite.vectors.codes import split
from commonplace_sqlite.vectors.floats import NORM_SLACK

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

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
_BLOCK_ROWS = 64
_MOST_LOOKED_AT_AGAIN = 4_096
_MOST_RUNS = 500
"""Runs of rows that are compared one by one; each costs as much as some 50 rows."""


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
        self._places: dict[int, list[Run]] | None = None
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
        self._places = None
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
        np = self._np
        runs = self._runs(documents)
        if not runs:
            return []
        coded = CodedQuery(query, np)
        compared = runs if len(runs) <= _MOST_RUNS else [(0, self._used)]
        rows: Any = slice(*compared[0])
        if len(compared) > 1:
            rows = np.concatenate([np.arange(*run) for run in compared])
        estimates = np.empty(sum(end - begin for begin, end in compared), np.float32)
        place = 0
        for begin, end in compared:
            out = estimates[place : place + end - begin]
            self._kernels.fill_dots(coded.code, self._codes[begin:end], out)
            place += end - begin
        estimates *= self._scales[rows]
        estimates *= np.float32(coded.scale)
        if self._dead:
            estimates[self._chunks[rows] < 0] = -np.inf
        if compared is not runs:
            passing = np.zeros(self._used, bool)
            for begin, end in runs:
                passing[begin:end] = True
            estimates[~passing] = -np.inf
        winners = self._winners(estimates, self._residuals[rows], coded, limit)
        winners = winners + rows.start if isinstance(rows, slice) else rows[winners]
        if limit < len(winners) <= _MOST_LOOKED_AT_AGAIN:
            winners = self._still_winning(winners, query, limit)
        return list(
            zip(self._chunks[winners].tolist(), self._vectors[winners].tolist(), strict=True)
        )

    def _winners(self, estimates: Any, residuals: Any, coded: CodedQuery, limit: int) -> Any:
        np = self._np
        bounds = residuals * np.float32(coded.slope)
        bounds += coded.base
        lowers = estimates - bounds
        uppers = np.add(estimates, bounds, out=bounds)
        # The best of each block of rows: at least so many rows are as good as the last of them. A
        # first floor found so leaves few rows to be sorted.
        blocks = len(lowers) // _BLOCK_ROWS
        if blocks > limit:
            tops = lowers[: blocks * _BLOCK_ROWS].reshape(-1, _BLOCK_ROWS).max(axis=1)
            floor = floor_of(float(np.partition(tops, blocks - limit)[blocks - limit]))
            places = np.flatnonzero(uppers >= floor)
        else:
            places = np.flatnonzero(uppers > -np.inf)
        if len(places) > limit:
            left = len(places) - limit
            floor = floor_of(float(np.partition(lowers[places], left)[left]))
            places = places[uppers[places] >= floor]
        return places[uppers[places] > -np.inf]

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
        """The rows of these documents, as runs that do not touch."""
        if documents is None:
            return [(0, self._used)] if self._used else []
        if self._places is None:
            self._places = {}
            for document, begin, count in self._slabs.values():
                self._places.setdefault(document, []).append((begin, begin + count))
        places = self._places
        return _joined(sorted(run for one in documents for run in places.get(one, ())))

    def _read(self) -> None:
        # All of them in the order of their documents, as they lie in the file.
        sql, values = _SLABS, [self._space.id]
        if self._slabs:
            sql, values = _NEW_SLABS, [self._space.id, self._counter]
        rows: Any = self._connection.execute(of_build(sql, self._build), values)
        scales, residuals, codes, chunks, vectors = (
            memoryview(one).cast("B")
            for one in (self._scales, self._residuals, self._codes, self._chunks, self._vectors)
        )
        dims, begin = self._space.dims, self._used
        for version, document, count, chunk_ids, vector_ids, packed in rows:
            end = begin + count
            _, some_scales, some_residuals, levels = split(packed, dims)
            scales[4 * begin : 4 * end] = some_scales
            residuals[4 * begin : 4 * end] = some_residuals
            codes[dims * begin : dims * end] = levels
            chunks[8 * begin : 8 * end] = chunk_ids
            vectors[8 * begin : 8 * end] = vector_ids
            self._slabs[version] = document, begin, count
            begin = end
        self._used = begin

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
        old = self._scales, self._residuals, self._codes, self._chunks, self._vectors
        self._allocate(rows)
        new = self._scales, self._residuals, self._codes, self._chunks, self._vectors
        used = 0
        slabs = sorted(self._slabs.items(), key=lambda slab: slab[1][1])
        for version, (document, _, count) in slabs:
            self._slabs[version] = document, used, count
            used += count
        place = 0
        for begin, end in _joined([(begin, begin + count) for _, (_, begin, count) in slabs]):
            for source, target in zip(old, new, strict=True):
                target[place : place + end - begin] = source[begin:end]
            place += end - begin
        self._used, self._dead = used, 0


def _joined(runs: Iterable[Run]) -> list[Run]:
    """Runs in ascending order, those that touch made one."""
    joined: list[Run] = []
    for begin, end in runs:
        if joined and joined[-1][1] == begin:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((begin, end))
    return joined
