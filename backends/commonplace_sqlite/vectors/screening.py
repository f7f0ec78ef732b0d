"""Rows of codes as they lie in the file: which of them can still be among the best."""

from __future__ import annotations

import sys
from operator import mul
from typing import TYPE_CHECKING

from commonplace_sqlite.vectors.codes import HEAD
from commonplace_sqlite.vectors.floats import numbers

if TYPE_CHECKING:
    from commonplace_sqlite.vectors.bounds import CodedQuery
    from commonplace_sqlite.vectors.kernels import Kernels

    Near = tuple[list[int], list[float], list[float]]

__all__ = ["near_by_numpy", "near_by_simsimd"]


def near_by_simsimd(kernels: Kernels, coded: CodedQuery, rows: bytes, floor: float) -> Near:
    """The places, estimates and bounds of the rows that can reach ``floor``.

    Rows that only keep room are left out.
    """
    width = len(coded.code)
    heads = memoryview(rows if sys.byteorder == "little" else numbers(rows).tobytes()).cast("f")
    scales = heads[:: width // 4].tolist()
    residuals = heads[1 :: width // 4].tolist()
    relative = list(map(mul, kernels.dots(coded.code, rows, width), scales))
    scale, slope, base = coded.scale, coded.slope, coded.base
    least = floor - (max(residuals) * slope + base)
    places = [
        place
        for place, estimate in enumerate(relative)
        if estimate * scale >= least and residuals[place] >= 0
    ]
    return (
        places,
        [relative[place] * scale for place in places],
        [residuals[place] * slope + base for place in places],
    )


def near_by_numpy(kernels: Kernels, coded: CodedQuery, rows: bytes, floor: float) -> Near:
    """The same by numpy."""
    np = kernels.numpy
    matrix = np.frombuffer(rows, np.int8).reshape(-1, len(coded.code))
    heads = np.ascontiguousarray(matrix[:, :HEAD]).view("<f4").astype(np.float64)
    estimates = kernels.sums_of(coded.code, matrix) * heads[:, 0] * coded.scale
    bounds = heads[:, 1] * coded.slope + coded.base
    places = np.flatnonzero((estimates + bounds >= floor) & (heads[:, 1] >= 0))
    return places.tolist(), estimates[places].tolist(), bounds[places].tolist()
