"""Codes of 8 bits, which are derived from vectors to find the nearest sooner.

A vector is about ``scale`` times its code, integers of -127..127; ``residual`` is the length of
what is missing, or a little more. Both encoders keep that promise, so that either's codes will do.
"""

from __future__ import annotations

import sys
from array import array
from math import sqrt
from operator import mul
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.vectors.floats import numbers, numbers_in

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "HEAD",
    "encode",
    "padded",
    "query_code",
    "query_code_by_numpy",
    "room",
    "row_bytes",
    "rows_in_part",
]

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
    """Rows of no vectors, which keep the place of ``count`` rows; known by residuals below 0."""
    return numbers_in([0.0, -1.0]).ljust(row_bytes(dims), b"\0") * count


def encode(vectors: Sequence[bytes], dims: int) -> bytes:
    """The rows of stored vectors of ``dims`` numbers each."""
    if "numpy" in sys.modules or len(vectors) >= _WORTH_NUMPY:
        try:
            import numpy as np
        except ImportError:
            return _encode_plainly(vectors, dims)
        return _encode_by_numpy(np, vectors, dims)
    return _encode_plainly(vectors, dims)


def _encode_plainly(vectors: Sequence[bytes], dims: int) -> bytes:
    rows: list[bytes] = []
    for vector in vectors:
        scale, residual, code = query_code(numbers(vector))
        head = numbers_in([scale, residual * _WIDEN_BY + _WIDEN])
        rows.append((head + code).ljust(row_bytes(dims), b"\0"))
    return b"".join(rows)


def _encode_by_numpy(np: Any, vectors: Sequence[bytes], dims: int) -> bytes:
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
