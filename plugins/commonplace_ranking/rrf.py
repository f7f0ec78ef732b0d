"""Fusion by reciprocal rank: only the places in the arms count, not their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import with_step

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from commonplace.plugin import Candidate, RankContext

__all__ = ["K", "ReciprocalRank"]

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
