"""The codes of a space in memory, as a matrix of numpy that follows the file."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.schema import of_build
from commonplace_sqlite.vectors.codes import HEAD, row_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from commonplace_sqlite.vectors.spaces import Space


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
        asked = np.fromiter(documents, np.int64, len(documents))
        _, begins, counts = self._runs_of[np.isin(self._runs_of[:, 0], asked)].T
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
