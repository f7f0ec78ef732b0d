"""Fusion by weighted sum of the arms' scores, as the original fuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import with_step
from commonplace_ranking.scores import unit_score

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from commonplace.plugin import Candidate, RankContext

__all__ = ["Weighted"]


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
