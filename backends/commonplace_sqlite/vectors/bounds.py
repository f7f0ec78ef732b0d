"""How far a score told from codes can be from the true one, and who can still be among the best.

With q = s c + r for a query and x = t d + e for a row (scale times code, and what is missing):
q.x - st(c.d) = q.e + r.(t d), at most |q||e| + |r||t d|. That is a proof, for any vectors.
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.vectors.codes import padded, query_code, query_code_by_numpy
from commonplace_sqlite.vectors.floats import NORM_SLACK

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["ROUNDING", "CodedQuery", "Contest", "floor_of"]

ROUNDING = 1e-9
_ROUNDING_FLOAT32 = 4e-6
"""More than all rounding on the way to an estimate and its bounds, of numbers up to 2."""


class CodedQuery:
    """A query's code, as wide as a row, and its bounds: ``slope`` * residual + ``base``."""

    __slots__ = ("base", "code", "scale", "slope")

    def __init__(self, values: Sequence[float], np: Any = None) -> None:
        # With numpy, estimates are float32.
        rounding = ROUNDING if np is None else _ROUNDING_FLOAT32
        code = query_code(values) if np is None else query_code_by_numpy(np, values)
        self.scale, residual, levels = code
        self.code = padded(levels)
        # |q| and |x| are at most 1 + NORM_SLACK, and |t d| is at most |x| + |e|.
        self.slope = 1 + NORM_SLACK + residual
        self.base = residual * (1 + NORM_SLACK) + rounding


class Contest:
    """Keeps, of rows that come in groups, those that can be among the best ``limit``."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lowers: list[float] = []
        self._open: list[tuple[float, Any]] = []
        self.floor = float("-inf")

    def enter(
        self, estimates: Sequence[float], bounds: Sequence[float], names: Sequence[Any]
    ) -> None:
        """Rows of which is known what they score about, and how wrong that can be."""
        if not names:
            return
        least = self.floor - max(bounds)
        places = [place for place, estimate in enumerate(estimates) if estimate >= least]
        self._open += [(estimates[place] + bounds[place], names[place]) for place in places]
        lowers = [estimates[place] - bounds[place] for place in places]
        self._lowers = nlargest(self._limit, self._lowers + lowers)
        if len(self._lowers) == self._limit:
            self.floor = floor_of(self._lowers[-1])

    def winners(self) -> Iterable[Any]:
        """The names of those that can still be among the best."""
        return [name for upper, name in self._open if upper >= self.floor]


def floor_of(lowest: float) -> float:
    """What a row must reach where ``limit`` others have ``lowest`` for certain.

    Scores are cut to -1..1, so that what is beyond is as good as what is on the border.
    """
    return float("-inf") if lowest <= -1 else min(lowest, 1.0)
