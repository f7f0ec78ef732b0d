"""Fusion where there is only one arm: its score mapped to 0..1, its order kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.ranking.pipeline import with_step

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from commonplace.model.search import ArmScore, Candidate
    from commonplace.spec import RankContext

__all__ = ["BM25_HALF", "Single", "unit_score"]

BM25_HALF = 8.0
"""The BM25 score that maps to 0.5: about what two rare words give in a few hundred notes."""


class Single:
    """Takes each hit's best arm."""

    id = "single"
    stage: Literal["fuse"] = "fuse"
    needs: frozenset[str] = frozenset()

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Map and keep; where there are several arms, the better score counts."""
        compat = context.profile == "compat"
        return [
            with_step(hit, self.id, max(unit_score(arm, compat=compat) for arm in hit.explain.arms))
            for hit in hits
        ]


def unit_score(said: ArmScore, *, compat: bool = False) -> float:
    """A raw score of any kind as 0..1, more is better.

    ``bm25`` saturates, s / (s + 8): the best hit of a bad list stays low, whatever else is in the
    list. The original's map, s / (s + 1), serves ``compat``. ``cosine`` loses its negative half.
    ``rank`` and ``opaque`` scores count by rank alone, 1 / rank, unless they are 0..1 already.
    """
    if said.kind == "bm25":
        half = 1.0 if compat else BM25_HALF
        return said.raw / (said.raw + half) if said.raw > 0 else 0.0
    if said.kind == "cosine" or (said.kind == "opaque" and 0 <= said.raw <= 1):
        return min(1.0, max(0.0, said.raw))
    return 1.0 / said.rank
