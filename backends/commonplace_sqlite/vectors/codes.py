"""Vectors as bytes and as numbers, without numpy.

A score is the dot product of two stored vectors, computed without error and rounded once: products
of float32 are exact in float64, and ``fsum`` rounds a sum correctly. So every way of finding the
nearest agrees on every score to the last bit, and on what is a tie.
"""

from __future__ import annotations

import sys
from array import array
from contextlib import suppress
from functools import cached_property
from math import fsum, hypot, sqrt
from operator import mul
from typing import TYPE_CHECKING, Any, TypeVar

from commonplace.plugin import check_numbers, check_units, unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_Number = TypeVar("_Number", int, float)


NORM_SLACK = 1e-6
"""How far from 1 the length of a stored vector may be, unless it is 0."""


def checked(vector: bytes, dims: int) -> bytes:
    """``vector``, which is to be stored: of length 1, and brought closer to that if need be.

    Raises ``ValueError`` where it has not ``dims`` finite numbers, or is not of unit length.
    """
    check_units((vector,), dims)
    return _brought(vector)


def normalised(vector: bytes, dims: int) -> bytes:
    """``vector``, which is to be searched for, brought to length 1 (one of length 0 stays).

    Raises ``ValueError`` where it has not ``dims`` finite numbers.
    """
    check_numbers(vector, dims)
    return _brought(vector)


def _brought(vector: bytes) -> bytes:
    values = numbers(vector)
    length = hypot(*values)
    return unit(values) if length and abs(length - 1) > NORM_SLACK else bytes(vector)


def dot(query: Sequence[float], vector: bytes) -> float:
    """The score of a stored vector: its dot product with float32 numbers."""
    return rounded(map(mul, query, numbers(vector)))


def rounded(products: Iterable[float]) -> float:
    """The sum of ``products``, correctly rounded, and cut to -1..1."""
    return min(1.0, max(-1.0, fsum(products)))


def numbers(data: bytes | memoryview) -> array[float]:
    """Float32 numbers, little-endian."""
    values = array("f")
    values.frombytes(data)
    return _swapped(values)


def numbers_in(values: Sequence[float]) -> bytes:
    """The inverse of :func:`numbers`."""
    return _swapped(array("f", values)).tobytes()


def integers(data: bytes | memoryview) -> array[int]:
    """Integers of 64 bits, little-endian."""
    values = array("q")
    values.frombytes(data)
    return _swapped(values)


def integers_in(values: Sequence[int]) -> bytes:
    """The inverse of :func:`integers`."""
    return _swapped(array("q", values)).tobytes()


def _swapped(values: array[_Number]) -> array[_Number]:
    if sys.byteorder == "big":
        values.byteswap()
    return values


HEAD = 8
"""Bytes of a row before its code. The rows of however many slabs are one matrix, side by side."""

_MOST_ROWS = 64
_ROW_BYTES = 3_900
"""Of a row of ``code_<n>``: a quarter of a page, less what SQLite needs; more would spill over."""

_LEVELS = 127
_WIDEN_BY = 1 + 1e-6
_WIDEN = 1e-9
"""Residuals are rounded to float32, by less than this."""

_WORTH_NUMPY = 64
"""Vectors; to import numpy takes as long as to encode a few hundred without it."""


def rows_in_part(dims: int) -> int:
    """How many consecutive chunks of a document make one slab."""
    return min(_MOST_ROWS, max(1, _ROW_BYTES // (dims + 8)))


def row_bytes(dims: int) -> int:
    """Bytes of a row: scale and residual (float32), the code, zeros up to a multiple of 4."""
    return HEAD + (dims + 3) // 4 * 4


def padded(code: bytes) -> bytes:
    """A query's code, to be multiplied with whole rows: zeros where a row has something else."""
    return (bytes(HEAD) + code).ljust(row_bytes(len(code)), b"\0")


def room(count: int, dims: int) -> bytes:
    """Rows without vectors that reserve room for ``count`` rows; their residuals are below 0."""
    return numbers_in([0.0, -1.0]).ljust(row_bytes(dims), b"\0") * count


def encode(vectors: Sequence[bytes], dims: int) -> bytes:
    """The rows of stored vectors of ``dims`` numbers each."""
    if "numpy" in sys.modules or len(vectors) >= _WORTH_NUMPY:
        with suppress(ImportError):
            import numpy as np

            return encode_by_numpy(np, vectors, dims)
    return encode_plainly(vectors, dims)


def encode_plainly(vectors: Sequence[bytes], dims: int) -> bytes:
    """:func:`encode` without numpy."""
    rows: list[bytes] = []
    for vector in vectors:
        scale, residual, code = query_code(numbers(vector))
        head = numbers_in([scale, residual * _WIDEN_BY + _WIDEN])
        rows.append((head + code).ljust(row_bytes(dims), b"\0"))
    return b"".join(rows)


def encode_by_numpy(np: Any, vectors: Sequence[bytes], dims: int) -> bytes:
    """:func:`encode` with numpy, which is faster for many vectors."""
    values = np.frombuffer(b"".join(vectors), "<f4").reshape(-1, dims).astype(np.float64)
    scales = (np.abs(values).max(axis=1) / _LEVELS).astype(np.float32)
    wide = scales.astype(np.float64)
    factors = np.divide(1, wide, out=np.zeros_like(wide), where=wide > 0)
    levels = np.rint(values * factors[:, None])
    missing = values - levels * wide[:, None]
    residuals = np.sqrt((missing * missing).sum(axis=1)) * _WIDEN_BY + _WIDEN
    rows = np.zeros((len(values), row_bytes(dims)), np.int8)
    rows[:, :HEAD] = np.stack([scales, residuals], axis=1).astype("<f4").view(np.int8)
    rows[:, HEAD : HEAD + dims] = levels
    return bytes(rows)


def query_code(values: Sequence[float]) -> tuple[float, float, bytes]:
    """Scale, residual and code of one vector."""
    scale = numbers(numbers_in([max(map(abs, values)) / _LEVELS]))[0]
    factor = 1 / scale if scale else 0.0
    # The largest number gives a level of 127 and a little, which is never rounded to 128.
    levels = array("b", [round(value * factor) for value in values])
    missing = [value - scale * level for value, level in zip(values, levels, strict=True)]
    return scale, sqrt(sum(map(mul, missing, missing))), levels.tobytes()


def query_code_by_numpy(np: Any, values: Sequence[float]) -> tuple[float, float, bytes]:
    """The same by numpy, but for the last bits."""
    wide = np.asarray(values, np.float64)
    scale = float(np.float32(np.abs(wide).max() / _LEVELS))
    levels = np.rint(wide * (1 / scale if scale else 0.0))
    missing = wide - levels * scale
    return scale, sqrt(float(missing @ missing)), levels.astype(np.int8).tobytes()


_BLOCK_ROWS = 256
"""Rows that are turned to float32 at once: small enough to stay in a core's own cache."""

_EXACT_COLUMNS = 1_024
"""So many products of 8-bit numbers add up to less than 2**24, which float32 holds exactly."""


class Kernels:
    """The libraries this machine can compute with; each is imported when first needed."""

    @cached_property
    def numpy(self) -> Any:
        """The module numpy, which takes a fifth of a second to import; ``None``: there is none.

        One before 2.0 is none: others may have installed it, and it has no ``vecdot``.
        """
        try:
            import numpy as np
        except ImportError:
            return None
        return np if hasattr(np, "vecdot") else None

    @property
    def numpy_is_loaded(self) -> bool:
        """Whether numpy costs nothing any more."""
        return self.numpy is not None if "numpy" in sys.modules else False

    @cached_property
    def simsimd(self) -> Any:
        """The module simsimd, which needs no numpy; ``None``: there is none that can be trusted."""
        return _trusted_simsimd()

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
        np = self.numpy
        query = np.frombuffer(code, np.int8).astype(np.float32)
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


def _trusted_simsimd() -> Any:
    try:
        import simsimd
    except ImportError:
        return None
    # The proof of every answer rests on these integers, so a known product is checked once.
    dims = 100
    code = bytes([129]) * dims
    mixed = [bytes(column * column * step & 255 for column in range(dims)) for step in (1, 7)]
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


def _signed(code: bytes) -> list[int]:
    return memoryview(code).cast("b").tolist()
