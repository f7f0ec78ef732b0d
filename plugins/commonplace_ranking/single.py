"""Fusion where there is only one arm: its score mapped to 0..1, its order kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import with_step
from commonplace_ranking.scores import unit_score

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from commonplace.plugin import Candidate, RankContext

__all__ = ["Single"]


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
