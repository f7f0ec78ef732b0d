"""An arm's raw score as 0..1, whatever its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.plugin import ArmScore

__all__ = ["BM25_HALF", "BM25_LEAST", "unit_score"]

BM25_HALF = 8.0
"""The BM25 score that maps to 0.5: about what two rare words give in a few hundred notes."""

BM25_LEAST = 0.5
"""Added to every match: in a handful of notes all words are common, and BM25 gives them nothing."""


def unit_score(said: ArmScore, *, compat: bool = False) -> float:
    """A raw score of any kind as 0..1, more is better.

    ``bm25`` saturates, s / (s + 8) with s half a point above the raw score: the best hit of a bad
    list stays low, whatever else is in the list. The original's map, s / (s + 1) of the raw score,
    serves ``compat``. ``cosine`` loses its negative half.
    ``rank`` and ``opaque`` scores count by rank alone, 1 / rank, unless they are 0..1 already.
    """
    if said.kind == "bm25":
        if said.raw <= 0:
            return 0.0
        score, half = (said.raw, 1.0) if compat else (said.raw + BM25_LEAST, BM25_HALF)
        return score / (score + half)
    if said.kind == "cosine" or (said.kind == "opaque" and 0 <= said.raw <= 1):
        return min(1.0, max(0.0, said.raw))
    return 1.0 / said.rank
