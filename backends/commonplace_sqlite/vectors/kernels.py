"""Dot products of one code with many: by simsimd, or by numpy, exactly."""

from __future__ import annotations

import sys
from operator import mul
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Kernel = Callable[[Any, bytes, int], Any]

__all__ = ["Kernels"]

_BLOCK_ROWS = 256
"""Rows that are turned to float32 at once: small enough to stay in a core's own cache."""

_EXACT_COLUMNS = 1_024
"""So many products of 8-bit numbers add up to less than 2**24, which float32 holds exactly."""


class Kernels:
    """What this machine has to compute with; each part is looked for when it is first needed."""

    def __init__(self) -> None:
        self._simsimd: Any = None
        self._numpy: Any = None

    @property
    def numpy(self) -> Any:
        """The module numpy, which takes a fifth of a second to import; ``None``: there is none."""
        if self._numpy is None:
            try:
                import numpy as np
            except ImportError:
                self._numpy = False
            else:
                self._numpy = np
        return self._numpy or None

    @property
    def numpy_is_loaded(self) -> bool:
        """Whether numpy costs nothing any more."""
        return self.numpy is not None if "numpy" in sys.modules else False

    @property
    def simsimd(self) -> Any:
        """The module simsimd, which needs no numpy; ``None``: there is none that can be trusted."""
        if self._simsimd is None:
            self._simsimd = _trusted_simsimd() or False
        return self._simsimd or None

    def dots(self, code: bytes, rows: Any, dims: int) -> list[float]:
        """The dot product of ``code`` with each of ``rows``, codes one after the other.

        By simsimd alone: it needs no numpy.
        """
        products: Any = _by_simsimd(self.simsimd, code, rows, dims).tolist()
        return list(products[0])

    def dots_of(self, code: bytes, matrix: Any) -> Any:
        """The same for a matrix of numpy, as an array of float32: rounded to that, no more."""
        np = self.numpy
        if self.simsimd is not None:
            return np.asarray(_by_simsimd(self.simsimd, code, matrix, matrix.shape[1], "f"))[0]
        return self.sums_of(code, matrix).astype(np.float32)

    def sums_of(self, code: bytes, matrix: Any) -> Any:
        """The same by numpy alone, as an array of float64."""
        return _by_numpy(self.numpy, self.numpy.frombuffer(code, self.numpy.int8), matrix)


def _trusted_simsimd() -> Any:
    try:
        import simsimd
    except ImportError:
        return None
    # The proof of every answer rests on these integers: so it is asked once for what is known.
    dims = 100
    code = bytes([129]) * dims
    mixed = [bytes(place * place * step & 255 for place in range(dims)) for step in (1, 7)]
    rows = [code, bytes([127]) * dims, *mixed]
    expected = [float(sum(map(mul, _signed(code), _signed(row)))) for row in rows]
    try:
        found: Any = _by_simsimd(simsimd, code, b"".join(rows), dims).tolist()
    except (AttributeError, TypeError, ValueError):
        return None
    return simsimd if found == [expected] else None


def _by_simsimd(simsimd: Any, code: bytes, rows: Any, dims: int, kind: str = "d") -> memoryview:
    query = memoryview(code).cast("b", shape=[1, dims])
    view = memoryview(rows)
    if view.ndim == 1:
        view = view.cast("B").cast("b", shape=[len(rows) // dims, dims])
    return memoryview(simsimd.cdist(query, view, metric="dot", out_dtype=kind))


def _by_numpy(np: Any, code: Any, matrix: Any) -> Any:
    query = code.astype(np.float32)
    sums = np.zeros(len(matrix))
    for begin in range(0, len(query), _EXACT_COLUMNS):
        columns = slice(begin, begin + _EXACT_COLUMNS)
        part = query[columns]
        buffer = np.empty((_BLOCK_ROWS, len(part)), np.float32)
        for row in range(0, len(matrix), _BLOCK_ROWS):
            block = matrix[row : row + _BLOCK_ROWS, columns]
            floats = buffer[: len(block)]
            np.copyto(floats, block)
            sums[row : row + _BLOCK_ROWS] += floats @ part
    return sums


def _signed(code: bytes) -> list[int]:
    return memoryview(code).cast("b").tolist()
