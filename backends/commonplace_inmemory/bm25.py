"""BM25 by the very formula of SQLite's FTS5, so that the two can be compared."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["WEIGHTS", "idf", "term_score", "weighted_counts"]

WEIGHTS = (1.0, 1.0, 0.4)
"""What one occurrence counts in the columns body, head and extra."""

_K1 = 1.2
_B = 0.75


def weighted_counts(columns: Sequence[Sequence[str]]) -> dict[str, float]:
    """How often each token stands in ``columns``, each occurrence with its column's weight."""
    counts: dict[str, float] = {}
    for tokens, weight in zip(columns, WEIGHTS, strict=True):
        for token in tokens:
            counts[token] = counts.get(token, 0.0) + weight
    return counts


def idf(rows: int, hits: int) -> float:
    """The weight of a token that ``hits`` of ``rows`` chunks hold; never below 1e-6.

    Without the bound a token that stands in more than half of all chunks would count against them.
    """
    weight = log((rows - hits + 0.5) / (hits + 0.5))
    return weight if weight > 0 else 1e-6


def term_score(count: float, length: int, average: float, weight: float) -> float:
    """What one token adds to a chunk's score: 0 without occurrences, always below 2.2 * weight.

    ``count`` is weighted; ``length`` and ``average`` are tokens in all columns, of this chunk and
    on average; ``weight`` is the token's :func:`idf`.
    """
    return weight * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length / average))
