"""The vectors of a store: a value that is never changed, only replaced by the next."""

from __future__ import annotations

import sys
from array import array
from math import fsum, isfinite, sqrt
from operator import mul
from typing import TYPE_CHECKING

from attrs import frozen

from commonplace.plugin import SpaceInfo, check_units, passing

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from commonplace.plugin import Contents, Deadline, StoredRow, Where


@frozen
class Vectors:
    """By space and digest."""

    spaces: Mapping[str, Mapping[str, bytes]]

    def with_vectors(
        self, index: Contents, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> Vectors:
        """These, and those of ``vectors`` whose digests are in ``index``.

        Raises ``ValueError`` for vectors that are not ``dims`` numbers of unit length, and for a
        space that has other dimensions.
        """
        held = self.spaces.get(space, {})
        check_units(vectors.values(), dims)
        if held and self.dims(space) != dims:
            raise ValueError(f"the space {space!r} has {self.dims(space)} dimensions, not {dims}")
        known = {row.analysed.digest for row in index.rows()}
        new = {digest: bytes(vector) for digest, vector in vectors.items() if digest in known}
        return Vectors({**self.spaces, space: {**held, **new}}) if new else self

    def without(self, space: str) -> Vectors:
        """These, but for ``space``."""
        return Vectors({name: held for name, held in self.spaces.items() if name != space})

    def only(self, digests: Collection[str]) -> Vectors:
        """Those of ``digests``."""
        kept = {
            space: {digest: vector for digest, vector in held.items() if digest in digests}
            for space, held in self.spaces.items()
        }
        return Vectors({space: held for space, held in kept.items() if held})

    def dims(self, space: str) -> int:
        """The dimensions of a space that holds something."""
        return len(next(iter(self.spaces[space].values()))) // 4

    def infos(self, index: Contents) -> tuple[SpaceInfo, ...]:
        """What each space covers of ``index``."""
        digests = [row.analysed.digest for row in index.rows()]
        return tuple(
            SpaceInfo(space, self.dims(space), sum(map(held.__contains__, digests)), len(digests))
            for space, held in self.spaces.items()
        )

    def nearest(
        self,
        index: Contents,
        space: str,
        vector: bytes,
        *,
        where: Where,
        limit: int,
        deadline: Deadline,
    ) -> list[tuple[StoredRow, float]]:
        """The best ``limit`` chunks and their cosines, best first, by looking at every one.

        Raises ``ValueError`` where ``vector`` is not one of the space's, and
        :class:`~commonplace.errors.DeadlineExceededError`.
        """
        held = self.spaces.get(space, {})
        check(vector, self.dims(space) if held else len(vector) // 4)
        passes = passing(where)
        found = []
        for row in index.rows():
            deadline.check("the vector search")
            other = held.get(row.analysed.digest)
            if other is not None and passes(*row.order[:2], row.document.day):
                found.append((-cosine(vector, other), *row.order, row))
        return [(row, -negative) for negative, *_, row in sorted(found)[: max(0, limit)]]


NOTHING = Vectors({})


def check(vector: bytes, dims: int) -> None:
    """Raise ``ValueError`` unless ``vector`` is ``dims`` finite numbers."""
    if dims < 1 or len(vector) != 4 * dims:
        raise ValueError(f"a vector of {len(vector)} bytes where {dims} dimensions are expected")
    if not all(map(isfinite, _numbers(vector))):
        raise ValueError("a vector with a number that is not finite")


def cosine(one: bytes, other: bytes) -> float:
    """The cosine of the angle between two vectors; 0 where one of them has no length."""
    a, b = _numbers(one), _numbers(other)
    lengths = sqrt(fsum(map(mul, a, a))) * sqrt(fsum(map(mul, b, b)))
    return min(1.0, max(-1.0, fsum(map(mul, a, b)) / lengths)) if lengths else 0.0


def _numbers(vector: bytes) -> array[float]:
    values = array("f", vector)
    if sys.byteorder == "big":
        values.byteswap()
    return values
