"""Fusion: one score in 0..1 from the raw scores and ranks that the arms gave a hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import with_step

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from commonplace.plugin import ArmScore, Candidate, RankContext


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


class Weighted:
    """score = vector weight x cosine + text weight x keyword score; an absent side counts 0.

    The weights sum to 1. Where only one arm answered, its score is taken whole: weights compare
    arms, and there is nothing to compare. Arms that are neither count as text.
    """

    id = "weighted"
    stage: Literal["fuse"] = "fuse"
    needs: frozenset[str] = frozenset()

    def __init__(self, vector_weight: float = 0.7, text_weight: float = 0.3) -> None:
        total = vector_weight + text_weight
        if vector_weight < 0 or text_weight < 0 or total <= 0:
            raise ValueError("weights are at least 0, and one of them is more")
        self._vector = vector_weight / total
        self._text = text_weight / total

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Fuse; the step's note shows both sides."""
        compat = context.profile == "compat"
        if len(context.arms) < 2:
            return [
                with_step(
                    hit,
                    self.id,
                    max(unit_score(arm, compat=compat) for arm in hit.explain.arms),
                    "one arm",
                )
                for hit in hits
            ]
        return [self._fused(hit, compat=compat) for hit in hits]

    def _fused(self, hit: Candidate, *, compat: bool) -> Candidate:
        vector = text = 0.0
        for said in hit.explain.arms:
            if said.kind == "cosine":
                vector = max(vector, unit_score(said))
            else:
                text = max(text, unit_score(said, compat=compat))
        score = self._vector * vector + self._text * text
        note = f"{self._vector:.2g} x {vector:.3f} + {self._text:.2g} x {text:.3f}"
        return with_step(hit, self.id, score, note)


K = 60
"""The usual constant (Cormack, Clarke and Büttcher 2009): it flattens the first places."""


class ReciprocalRank:
    """score = sum over arms of 1 / (60 + rank), divided by what a hit first in every arm gets."""

    id = "rrf"
    stage: Literal["fuse"] = "fuse"
    needs: frozenset[str] = frozenset()

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Fuse, to scores above 0 and up to 1."""
        arms = max(1, len(context.arms))
        best = arms / (K + 1)
        return [
            with_step(
                hit,
                self.id,
                min(1.0, sum(1 / (K + said.rank) for said in hit.explain.arms) / best),
                " + ".join(f"1/({K}+{said.rank}) {said.arm}" for said in hit.explain.arms),
            )
            for hit in hits
        ]
