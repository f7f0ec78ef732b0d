"""Vectors as bytes and as numbers, without numpy.

A score is the dot product of two stored vectors, computed without error and rounded once: products
of float32 are exact in float64, and ``fsum`` rounds a sum correctly. So every way of finding the
nearest agrees on every score to the last bit, and on what is a tie.
"""

from __future__ import annotations

import sys
from array import array
from math import fsum, hypot, isfinite
from operator import mul
from typing import TYPE_CHECKING, TypeVar

from commonplace.plugin import UNIT_SLACK, unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_Number = TypeVar("_Number", int, float)

__all__ = [
    "NORM_SLACK",
    "checked",
    "dot",
    "integers",
    "integers_in",
    "normalised",
    "numbers",
    "numbers_in",
    "rounded",
]

NORM_SLACK = 1e-6
"""How far from 1 the length of a stored vector may be, unless it is 0."""


def checked(vector: bytes, dims: int) -> bytes:
    """``vector``, which is to be stored: of length 1, and brought closer to that if need be.

    Raises ``ValueError`` where it has not ``dims`` finite numbers, or is not of unit length.
    """
    length = _length(vector, dims)
    if abs(length - 1) > UNIT_SLACK:
        raise ValueError(f"a vector of length {length:.4g} where unit length is expected")
    return _brought(vector, length)


def normalised(vector: bytes, dims: int) -> bytes:
    """``vector``, which is to be searched for, brought to length 1 (one of length 0 stays).

    Raises ``ValueError`` where it has not ``dims`` finite numbers.
    """
    return _brought(vector, _length(vector, dims))


def _length(vector: bytes, dims: int) -> float:
    if dims < 1 or len(vector) != 4 * dims:
        raise ValueError(f"a vector of {len(vector)} bytes where {dims} dimensions are expected")
    length = hypot(*numbers(vector))
    if not isfinite(length):
        raise ValueError("a vector with a number that is not finite")
    return length


def _brought(vector: bytes, length: float) -> bytes:
    if not length or abs(length - 1) <= NORM_SLACK:
        return bytes(vector)
    return unit(numbers(vector))


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
