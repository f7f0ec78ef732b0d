"""Nearest rows by the codes in memory: leaves only those that can be among the best."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.vectors.codes import HEAD, NORM_SLACK
from commonplace_sqlite.vectors.matrix import Matrix, PcaBounds
from commonplace_sqlite.vectors.streaming import ROUNDING, CodedQuery, floor_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from commonplace_sqlite.vectors.codes import Kernels
    from commonplace_sqlite.vectors.matrix import Run
    from commonplace_sqlite.vectors.slabs import Space
    from commonplace_sqlite.vectors.streaming import Pair


_GROUP_ROWS = 64
_BLOCK_ROWS = 512
"""Rows apart that are copied together at once: few enough to stay in a core's own cache."""

_MOST_LEFT = 4
"""If the PCA bounds leave more than a quarter of the rows, all rows are compared."""

_MOST_RESCORED = 4_096
_ROWS_PER_RUN = 100
"""So many rows more are compared sooner than one run more."""

_FEWEST_DIMS = 128
_PATIENCE = 4
"""Searches before PCA bounds are computed: one or two searches gain nothing from them."""

_HOPE = 8
"""How often PCA bounds may leave most rows before they are dropped."""

_LOWEST = -3e38
"""Less than any estimate but minus infinity."""


class Resident:
    """Codes of all chunks of a build with vectors in a space; for one thread at a time.

    Fewer bytes of them than ``worth_bounds`` are simply read, one and all.
    """

    def __init__(self, space: Space, kernels: Kernels, worth_bounds: int) -> None:
        self._kernels = kernels
        self._np = kernels.numpy
        self._matrix = Matrix(space, kernels.numpy)
        self._worth_bounds = worth_bounds
        self._pca_bounds: PcaBounds | None = None
        self._searches = 0
        self._hope = _HOPE
        self._moves = 0

    def is_of(self, space: Space) -> bool:
        """Whether this belongs to the build and space, even if they have changed since."""
        return self._matrix.space == space

    def refresh(self) -> None:
        """Update from the file."""
        self._matrix.refresh()

    def pairs(
        self, query: Sequence[float], documents: Collection[int] | None, limit: int
    ) -> list[Pair]:
        """The chunks that can be among the best ``limit``; the best are among them for certain."""
        runs = self._matrix.runs(documents)
        if not runs:
            return []
        coded = CodedQuery(query, self._np)
        rows = self._promising(query, runs, limit)
        if rows is None:
            rows, estimates = self._estimates(coded, runs)
        else:
            estimates = self._estimates_of(coded, rows)
        winners = self._winners(rows, estimates, coded, limit)
        if limit < len(winners) <= _MOST_RESCORED:
            # Where the query is not rounded either: reading a stored vector costs more than
            # comparing twice, and this halves the bound.
            estimates, bounds, floor = self._close_bounds(winners, query, limit)
            winners = winners[estimates + bounds >= floor]
        chunks, vectors = self._matrix.chunks[winners], self._matrix.vectors[winners]
        return list(zip(chunks.tolist(), vectors.tolist(), strict=True))

    def _promising(self, query: Sequence[float], runs: list[Run], limit: int) -> Any:
        """The rows that the PCA bounds leave, as an array; ``None``: compare all rows."""
        np = self._np
        within = slice(runs[0][0], runs[-1][1])
        wanted = sum(end - begin for begin, end in runs)
        bounds = self._ready_bounds()
        if bounds is None or wanted * self._matrix.space.dims < self._worth_bounds:
            return None
        about, most = bounds.estimate(query, within)
        self._leave_out(about, within, runs)
        self._leave_out(most, within, runs)
        # Of those that seem best, the true scores are known well enough for a floor.
        seeming = np.flatnonzero(about >= max(_reached(np, about, 4 * limit), _LOWEST))
        if not limit <= len(seeming) <= _MOST_RESCORED:
            return None
        _, _, floor = self._close_bounds(seeming + within.start, query, limit)
        # In the negative, so that what is no number stays in.
        rows = np.flatnonzero(~(most < max(floor, _LOWEST)))
        if len(rows) * _MOST_LEFT > wanted:
            self._hope -= 1
            return None
        self._hope = _HOPE
        return rows + within.start

    def _ready_bounds(self) -> PcaBounds | None:
        """The PCA bounds once they cover all rows; each search extends them by a step."""
        self._searches += 1
        matrix = self._matrix
        dims, used = matrix.space.dims, matrix.used
        if self._moves != matrix.moves:
            self._pca_bounds, self._hope, self._moves = None, _HOPE, matrix.moves
        if not self._hope or dims < _FEWEST_DIMS or used * dims < self._worth_bounds:
            self._pca_bounds = None
            return None
        if self._pca_bounds is None:
            if self._searches <= _PATIENCE:
                return None
            self._pca_bounds = PcaBounds(self._kernels, dims, len(matrix.codes))
        if self._pca_bounds.ready < used:
            known = matrix.codes[:used], matrix.scales[:used], matrix.residuals[:used]
            if not self._pca_bounds.extend(*known):
                return None
        return self._pca_bounds

    def _estimates(self, coded: CodedQuery, runs: list[Run]) -> tuple[Any, Any]:
        """Rows (a slice, or an array) and their estimates over the query's scale.

        Rows that are not in ``runs``, or no longer there, are at minus infinity.
        """
        np = self._np
        within = runs[0][0], runs[-1][1]
        wanted = sum(end - begin for begin, end in runs)
        if len(runs) > 1 and wanted + len(runs) * _ROWS_PER_RUN < within[1] - within[0]:
            parts = [self._estimates_of(coded, slice(*run)) for run in runs]
            rows: Any = np.concatenate([np.arange(*run) for run in runs])
            return rows, np.concatenate(parts)
        rows = slice(*within)
        estimates = self._estimates_of(coded, rows)
        self._leave_out(estimates, rows, runs)
        return rows, estimates

    def _estimates_of(self, coded: CodedQuery, rows: Any) -> Any:
        np, matrix = self._np, self._matrix
        levels = coded.code[HEAD : HEAD + matrix.space.dims]
        if isinstance(rows, slice):
            estimates = self._kernels.dots_of(levels, matrix.codes[rows])
        else:
            estimates = np.empty(len(rows), np.float32)
            copied = np.empty((min(len(rows), _BLOCK_ROWS), matrix.space.dims), np.int8)
            for begin in range(0, len(rows), _BLOCK_ROWS):
                some = rows[begin : begin + _BLOCK_ROWS]
                block = copied[: len(some)]
                # "clip" leaves out a copy of the copy.
                matrix.codes.take(some, axis=0, out=block, mode="clip")
                estimates[begin : begin + len(some)] = self._kernels.dots_of(levels, block)
        estimates *= matrix.scales[rows]
        return estimates

    def _leave_out(self, estimates: Any, within: slice, runs: list[Run]) -> None:
        """Set to minus infinity what is not in ``runs``, or no longer there."""
        lowest = -self._np.inf
        if self._matrix.dead:
            estimates[self._matrix.chunks[within] < 0] = lowest
        for (_, left), (right, _) in pairwise(runs):
            estimates[left - within.start : right - within.start] = lowest

    def _winners(self, rows: Any, estimates: Any, coded: CodedQuery, limit: int) -> Any:
        np = self._np
        scale = coded.scale or 1.0
        # A first floor, with the widest bound for all, leaves few rows to compare closely.
        bound = self._matrix.widest * coded.slope + coded.base
        first = (floor_of(_reached(np, estimates, limit) * scale - bound) - bound) / scale
        positions = np.flatnonzero(estimates >= max(first, _LOWEST))
        estimates = estimates[positions] * np.float64(coded.scale)
        winners = positions + rows.start if isinstance(rows, slice) else rows[positions]
        bounds = self._matrix.residuals[winners] * np.float64(coded.slope) + coded.base
        if len(winners) > limit:
            left = len(winners) - limit
            floor = floor_of(float(np.partition(estimates - bounds, left)[left]))
            winners = winners[estimates + bounds >= floor]
        return winners

    def _close_bounds(
        self, rows: Any, query: Sequence[float], limit: int
    ) -> tuple[Any, Any, float]:
        """Estimates and bounds of ``rows``, and what the best ``limit`` of them reach."""
        np = self._np
        wide = self._matrix.codes[rows].astype(np.float64)
        # Row by row, without threads: see PcaBounds.estimate.
        estimates = np.vecdot(wide, np.asarray(query, np.float64))
        estimates *= self._matrix.scales[rows]
        bounds = self._matrix.residuals[rows] * (1 + 2 * NORM_SLACK) + ROUNDING
        left = len(rows) - limit
        return estimates, bounds, floor_of(float(np.partition(estimates - bounds, left)[left]))


def _reached(np: Any, estimates: Any, limit: int) -> float:
    """What at least ``limit`` of many ``estimates`` reach, if not the most; else minus infinity.

    The best of each group of rows: at least so many are as good as the last of them. (Rows far
    apart make a group, for numpy finds the largest of columns sooner.)
    """
    groups = len(estimates) // _GROUP_ROWS
    if groups <= limit:
        return float("-inf")
    tops = estimates[: groups * _GROUP_ROWS].reshape(_GROUP_ROWS, -1).max(axis=0)
    return float(np.partition(tops, groups - limit)[groups - limit])
