"""The codes of a space in memory, as a matrix of numpy, and bounds on their scores.

The bounds are by principal components: a pass over an eighth of the bytes rules most rows out.
Vectors differ mostly along a few directions. Those are found from a sample of the rows, and
of every row is kept what it amounts to along them, in 8 bits, and how much is left. For a query
q = B a + w and a row's vector x = B c + z (its code's, ``residual`` away from the stored one):

    q.x = a.(B'x) + w.x, which is a.c but for rounding, and at most |w||z| + |B'w||c| more or less.

That holds for any matrix B whose columns are about at right angles; how good it is decides on how
many rows must be compared closely, never on the answer.
"""

from __future__ import annotations

from itertools import islice
from math import sqrt
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.schema import of_build
from commonplace_sqlite.vectors.codes import HEAD, NORM_SLACK, row_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from commonplace_sqlite.vectors.codes import Kernels
    from commonplace_sqlite.vectors.slabs import Space


_SHARE = 8
_FEWEST_COLUMNS = 64
"""To multiply rows of fewer bytes takes as long."""

_MOST_COLUMNS = 256
_SAMPLE_ROWS = 2_048
_ROUNDS = 3
"""Of subspace iteration: more hardly find better directions."""

_BLOCK_ROWS = 2_048
_STEP_ROWS = 4 * _BLOCK_ROWS
"""Rows that are taken in at once: some 30 ms of work, so that no search has to wait for all."""

_LEVELS = 127
_WIDEN = 1 + 1e-6
_ROUNDING_FLOAT32 = 4e-6
"""More than all rounding of a few float32 numbers up to 2."""

_UNIT_FLOAT32 = 2.0**-24


class PcaBounds:
    """Of the first ``ready`` rows of a matrix of codes; there is room for ``rows``."""

    def __init__(self, kernels: Kernels, dims: int, rows: int) -> None:
        np = kernels.numpy
        self._np = np
        self._kernels = kernels
        self._basis: Any = None
        self._wide_basis: Any = None
        self._directions: Any = None
        columns = max(dims // _SHARE, _FEWEST_COLUMNS)
        self._most_columns = min(columns, dims // 2, _MOST_COLUMNS)
        self._skew = 0.0
        self._reach = 0.0
        self._codes: Any = None
        self._scales = np.zeros(rows, "<f4")
        self._tails = np.zeros(rows, "<f4")
        self._errors = np.zeros(rows, "<f4")
        # What a sum of so many float32 products can be wrong by, in whatever order it is added up.
        self._unsure = 1.01 * (dims + 8) * _UNIT_FLOAT32
        self.ready = 0

    def extend(self, codes: Any, scales: Any, residuals: Any) -> bool:
        """Add some rows from ``ready`` on; returns whether those were the last."""
        if self._codes is None:
            self._find_basis(codes, scales)
        end = min(self.ready + _STEP_ROWS, len(codes))
        for begin in range(self.ready, end, _BLOCK_ROWS):
            rows = slice(begin, min(begin + _BLOCK_ROWS, end))
            self._take(rows, codes[rows], scales[rows], residuals[rows])
        self.ready = end
        return end == len(codes)

    def estimate(self, query: Sequence[float], rows: slice) -> tuple[Any, Any]:
        """About what each row's score is, and what it is at most, as arrays of float32.

        A search multiplies no matrices: for some of this size BLAS wakes threads, which then spin
        for longer than the search takes. For rows one by one (``vecdot``) it does not.
        """
        np = self._np
        wide = np.asarray(query, np.float64)
        amounts = np.vecdot(self._directions, wide)
        rest = wide - np.vecdot(self._wide_basis, amounts)
        scale = float(np.abs(amounts).max() / _LEVELS) or 1.0
        levels = np.rint(amounts / scale)
        dots = self._kernels.dots_of(levels.astype(np.int8).tobytes(), self._codes[rows])
        about = dots * (self._scales[rows] * np.float32(scale))
        skewed = np.vecdot(self._directions, rest)
        missing = _length(np, amounts - levels * scale) + _length(np, skewed)
        most = self._tails[rows] * np.float32(_length(np, rest) * _WIDEN)
        most += self._errors[rows]
        most += np.float32((missing * self._reach + _ROUNDING_FLOAT32) * _WIDEN)
        most += about
        return about, most

    def _find_basis(self, codes: Any, scales: Any) -> None:
        np = self._np
        some = slice(None, None, max(1, len(codes) // _SAMPLE_ROWS))
        sample = codes[some].astype(np.float32) * scales[some, None]
        columns = self._most_columns
        basis = sample[:: max(1, len(sample) // columns)][:columns].T
        for _ in range(_ROUNDS):
            basis = np.linalg.qr(sample.T @ (sample @ basis))[0]
        # In float64 for right angles; of what is left of them after rounding, the bounds know.
        self._basis = np.linalg.qr(basis.astype(np.float64))[0].astype(np.float32)
        self._wide_basis = self._basis.astype(np.float64)
        self._directions = np.ascontiguousarray(self._wide_basis.T)
        columns = self._basis.shape[1]
        square = self._wide_basis.T @ self._wide_basis
        self._skew = _length(np, (square - np.eye(columns)).ravel()) + 1e-12
        self._codes = np.zeros((len(self._scales), columns), np.int8)

    def _take(self, rows: slice, codes: Any, scales: Any, residuals: Any) -> None:
        np = self._np
        floats = codes.astype(np.float32)
        wide = scales.astype(np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", floats, floats).astype(np.float64)) * wide
        lengths *= 1 + self._unsure
        amounts = (floats @ self._basis).astype(np.float64) * wide[:, None]
        # How far these can be from B'x: each by what rounding does to a sum of products.
        unsure = self._unsure * sqrt(self._basis.shape[1]) * (1 + self._skew) * lengths
        squares = np.einsum("ij,ij->i", amounts, amounts)
        sizes = np.sqrt(squares)
        left = lengths**2 - squares * (1 - self._skew) + 2 * sizes * unsure
        steps = (np.abs(amounts).max(axis=1) / _LEVELS).astype(np.float32)
        wide_steps = steps.astype(np.float64)
        factors = np.divide(1, wide_steps, out=np.zeros_like(wide_steps), where=wide_steps > 0)
        levels = np.rint(amounts * factors[:, None]).clip(-_LEVELS, _LEVELS)
        amounts -= levels * wide_steps[:, None]
        missing = np.sqrt(np.einsum("ij,ij->i", amounts, amounts)) + unsure
        self._codes[rows] = levels
        self._scales[rows] = steps
        self._tails[rows] = np.sqrt(left.clip(0)) * _WIDEN
        # |a| and |q| are at most 1 + NORM_SLACK, but for the skew.
        most = (1 + NORM_SLACK) * (1 + self._skew) * _WIDEN
        self._errors[rows] = (missing + residuals) * most
        self._reach = max(self._reach, float((sizes + missing).max(initial=0)))


def _length(np: Any, values: Any) -> float:
    return sqrt(float(np.dot(values, values)))


Run = tuple[int, int]
"""The first of some rows that follow each other, and the one after the last."""

_COUNTER = "SELECT next FROM counter WHERE name = 'slab'"
_VERSIONS = "SELECT version, count FROM slab_<n> WHERE space = ?"
_SLABS = """
SELECT s.version, s.document, s.count, s.chunks, s.vectors, c.packed
FROM slab_<n> AS s CROSS JOIN code_<n> AS c USING (space, document, part)
WHERE s.space = ?
"""
_NEW_SLABS = f"{_SLABS} AND s.version > ?"

_SPARE = 1.1
"""Room for a tenth more rows, so that a few new ones need no copy of all the others."""

_MOST_DEAD = 0.25
_BATCH = 500
"""Slabs that are read at once."""


class Matrix:
    """Of all chunks of a build with vectors in a space; for one thread at a time.

    ``codes`` has a row for each, and ``scales`` and ``residuals`` a number; ``chunks`` and
    ``vectors`` are their ids. Rows from ``used`` on are spare. ``dead`` rows below are deleted,
    and have -1 for a chunk. ``widest`` is the largest residual, and ``moves`` counts how often rows
    have moved.
    """

    def __init__(self, space: Space, np: Any) -> None:
        self.space = space
        self._np = np
        self._counter = -1
        self._slabs: dict[int, tuple[int, int, int]] = {}
        self._runs_of: Any = None
        self.widest = 0.0
        self.used = self.dead = self.moves = 0
        self._allocate(0)

    def refresh(self) -> None:
        """Update from the file: drop deleted slabs, read new ones."""
        counter: int = self.space.connection.execute(_COUNTER).get
        if counter == self._counter:
            return
        self._runs_of = None
        sql = of_build(_VERSIONS, self.space.build)
        rows: Any = self.space.connection.execute(sql, (self.space.id,))
        now: dict[int, int] = dict(rows)
        for version in self._slabs.keys() - now.keys():
            _, begin, count = self._slabs.pop(version)
            self.chunks[begin : begin + count] = -1
            self.dead += count
        coming = sum(count for version, count in now.items() if version not in self._slabs)
        if self.used + coming > len(self.chunks) or self.dead > self.used * _MOST_DEAD:
            self._move(self.used - self.dead + coming)
        if coming:
            self._read()
        self._counter = counter

    def runs(self, documents: Collection[int] | None) -> list[Run]:
        """The rows of these documents, as runs in ascending order that do not touch."""
        if documents is None:
            return [(0, self.used)] if self.used else []
        np = self._np
        if self._runs_of is None:
            slabs = sorted(self._slabs.values(), key=lambda slab: slab[1])
            self._runs_of = np.array(slabs, np.int64).reshape(-1, 3)
        wanted = np.fromiter(documents, np.int64, len(documents))
        _, begins, counts = self._runs_of[np.isin(self._runs_of[:, 0], wanted)].T
        return _joined(np, begins, begins + counts)

    def _read(self) -> None:
        # All of them in the order of their documents, as they lie in the file.
        sql, values = _SLABS, [self.space.id]
        if self._slabs:
            sql, values = _NEW_SLABS, [self.space.id, self._counter]
        rows: Any = self.space.connection.execute(of_build(sql, self.space.build), values)
        while batch := list(islice(rows, _BATCH)):
            self._append(batch)
        self.widest = float(self.residuals[: self.used].max(initial=0))

    def _append(self, slabs: Sequence[tuple[int, int, int, bytes, bytes, bytes]]) -> None:
        np, dims = self._np, self.space.dims
        begin = end = self.used
        for version, document, count, _, _, _ in slabs:
            self._slabs[version] = document, end, count
            end += count
        chunks, vectors, packed = (
            b"".join(parts) for parts in zip(*[slab[3:] for slab in slabs], strict=True)
        )
        matrix = np.frombuffer(packed, np.int8).reshape(-1, row_bytes(dims))
        heads = np.ascontiguousarray(matrix[:, :HEAD]).view("<f4")
        self.scales[begin:end], self.residuals[begin:end] = heads.T
        self.codes[begin:end] = matrix[:, HEAD : HEAD + dims]
        self.chunks[begin:end] = np.frombuffer(chunks, "<i8")
        self.vectors[begin:end] = np.frombuffer(vectors, "<i8")
        self.used = end

    def _allocate(self, rows: int) -> None:
        np = self._np
        size = int(rows * _SPARE)
        self.scales = np.zeros(size, "<f4")
        self.residuals = np.zeros(size, "<f4")
        self.codes = np.zeros((size, self.space.dims), np.int8)
        self.chunks = np.zeros(size, "<i8")
        self.vectors = np.zeros(size, "<i8")

    def _move(self, rows: int) -> None:
        """Move what is alive into arrays with room for ``rows``, in its order."""
        np = self._np
        self.moves += 1
        old = self.scales, self.residuals, self.codes, self.chunks, self.vectors
        self._allocate(rows)
        new = self.scales, self.residuals, self.codes, self.chunks, self.vectors
        used = 0
        slabs = sorted(self._slabs.items(), key=lambda slab: slab[1][1])
        for version, (document, _, count) in slabs:
            self._slabs[version] = document, used, count
            used += count
        position = 0
        begins, counts = np.array([slab[1:] for _, slab in slabs], np.int64).reshape(-1, 2).T
        for begin, end in _joined(np, begins, begins + counts):
            for source, target in zip(old, new, strict=True):
                target[position : position + end - begin] = source[begin:end]
            position += end - begin
        self.used, self.dead = used, 0


def _joined(np: Any, begins: Any, ends: Any) -> list[Run]:
    """Runs in ascending order, adjacent ones joined."""
    if not len(begins):
        return []
    apart = begins[1:] != ends[:-1]
    first, last = np.append(True, apart), np.append(apart, True)
    return list(zip(begins[first].tolist(), ends[last].tolist(), strict=True))
