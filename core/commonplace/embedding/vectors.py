"""Checked unit vectors as bytes, whatever form they came in, with or without numpy."""

from __future__ import annotations

import sys
from array import array
from contextlib import suppress
from math import isfinite, sqrt
from operator import mul
from typing import TYPE_CHECKING, Any

from commonplace.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


UNIT_SLACK = 1e-3
"""How far from 1 the length of a vector may be for a store to take it as one of unit length."""

MOST_DIMS = 65_536
"""How long a vector may be."""

_TINY = 1e-10


class ZeroVectorError(ProviderError):
    """A vector of length zero came back: a text that means nothing to the model."""


def checked(
    vectors: Sequence[Sequence[float]],
    *,
    count: int,
    dims: int | None,
    provider: str,
    some: bool = False,
) -> list[bytes]:
    """``vectors`` as unit vectors, float32 little-endian; refused where they cannot be right.

    ``count`` is how many there must be, ``dims`` how long (``None``: all alike). Raises
    :class:`~commonplace.errors.ProviderError` of kind ``protocol`` for a wrong count, an empty
    vector, one longer than :data:`MOST_DIMS`, unequal lengths, truth values, numbers that are not
    finite, and vectors of length zero. With ``some`` one that cannot be right for itself is ``b""``
    where others are.
    """
    if len(vectors) != count:
        raise _wrong(provider, f"{len(vectors)} vectors came back for {count} texts")
    result: list[bytes] = []
    errors: list[Exception] = []
    for vector in vectors:
        try:
            packed = _unit(vector, provider)
        except (ProviderError, TypeError, ValueError, OverflowError) as error:
            errors.append(error)
            result.append(b"")
            continue
        dims = len(packed) // 4 if dims is None else dims
        if len(packed) != 4 * dims:
            raise _wrong(
                provider, f"a vector has {len(packed) // 4} dimensions where {dims} were expected"
            )
        result.append(packed)
    if errors and not (some and any(result)):
        raise errors[0]
    return result


def check_units(vectors: Iterable[bytes], dims: int) -> None:
    """Raise ``ValueError`` unless each is ``dims`` float32, little-endian, of unit length.

    For a store's ``put_vectors``. It takes some 25 µs for 768 dimensions, 2 where numpy is loaded.
    """
    for vector in vectors:
        _check_size(vector, dims)
        length = sqrt(_squares(vector))
        if not abs(length - 1) <= UNIT_SLACK:  # not a number is no length, either
            raise ValueError(f"a vector of length {length:.4g} where unit length is expected")


def sound(cached: Mapping[bytes, bytes], dims: int | None) -> dict[bytes, bytes]:
    """Those of ``cached`` vectors that are of unit length and ``dims`` (``None``: of one) long.

    A file may be damaged where SQLite does not notice, and a server once have had another model.
    """
    right: dict[bytes, bytes] = {}
    for digest, vector in cached.items():
        with suppress(ValueError):
            check_units((vector,), dims_of(vector) if dims is None else dims)
            right[digest], dims = vector, dims_of(vector)
    return right


def check_numbers(vector: bytes, dims: int) -> None:
    """Raise ``ValueError`` unless ``vector`` is ``dims`` finite float32, for a store's searches."""
    _check_size(vector, dims)
    if not isfinite(sum(floats(vector))):
        raise ValueError("a vector with a number that is not finite")


def _check_size(vector: bytes, dims: int) -> None:
    if dims < 1 or len(vector) != 4 * dims:
        raise ValueError(f"a vector of {len(vector)} bytes where {dims} dimensions are expected")


def dims_of(vector: bytes) -> int:
    """How many dimensions a packed vector has."""
    return len(vector) // 4


def floats(vector: bytes) -> array[float]:
    """A packed vector as ``array('f')``."""
    unpacked = array("f", vector)
    if sys.byteorder == "big":
        unpacked.byteswap()
    return unpacked


def unit(values: Sequence[float]) -> bytes:
    """``values``, which are finite and not all 0, at length 1 and packed.

    The one place where vectors are normalised: what comes from providers, the cache and batch jobs
    has been here before a store sees it.
    """
    # Scaled first: squares of large numbers would overflow, of small ones vanish.
    largest = max(map(abs, values))
    scaled = [value / largest for value in values]
    norm = sqrt(sum(map(mul, scaled, scaled)))
    packed = array("f", [value / norm for value in scaled])
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def has_truths(vector: Sequence[float]) -> bool:
    """Whether true or false is among the numbers, which Python would take for 1 and 0."""
    if isinstance(vector, array):
        return False
    return any(kind.__name__ in {"bool", "bool_"} for kind in set(map(type, vector)))


def _squares(vector: bytes) -> float:
    numpy: Any = sys.modules.get("numpy")
    if numpy is None:
        values = floats(vector)
        squares: float = sum(map(mul, values, values))
        return squares
    numbers = numpy.frombuffer(vector, "<f4")
    with numpy.errstate(all="ignore"):
        return float(numpy.dot(numbers, numbers))


def _unit(vector: Sequence[float], provider: str) -> bytes:
    if len(vector) > MOST_DIMS:
        raise _wrong(provider, f"a vector has {len(vector):,} dimensions, more than {MOST_DIMS:,}")
    values = [float(value) for value in vector]
    if not values:
        raise _wrong(provider, "an empty vector came back")
    if has_truths(vector):
        raise _wrong(provider, "a vector came back with true or false in the place of a number")
    largest = max(map(abs, values))
    if not isfinite(largest) or not all(map(isfinite, values)):
        raise _wrong(provider, "a vector came back with a number that is not finite")
    if largest < _TINY:
        what = f"{provider}: a vector of length zero came back"
        raise ZeroVectorError(what, provider=provider, kind="protocol")
    return unit(values)


def _wrong(provider: str, what: str) -> ProviderError:
    return ProviderError(f"{provider}: {what}", provider=provider, kind="protocol")
