"""Maximal marginal relevance: hits that say something new before hits that repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import with_step
from commonplace_ranking.likeness import likeness_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from commonplace.plugin import Candidate, RankContext

__all__ = ["Mmr"]


class Mmr:
    """Picks, again and again, the hit with the largest λ x relevance - (1 - λ) x likeness.

    Relevance is the score stretched to 0..1 over the hits; likeness that to the most similar hit
    picked already: cosine where all hits that are compared have a vector, else Jaccard of their
    words, in any script; each hit says which. Ties go to the higher score, then to the earlier
    hit. Order changes, scores do not (Carbonell and Goldstein 1998).
    """

    id = "mmr"
    stage: Literal["select"] = "select"
    needs: frozenset[str] = frozenset()

    def __init__(self, lambda_: float = 0.7) -> None:
        if not 0 <= lambda_ <= 1:
            raise ValueError("lambda is between 0 and 1")
        self._lambda = lambda_

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Reorder; the hits beyond three times the limit keep their places behind.

        Under the profile ``compat`` all are reordered, as in the original.
        """
        depth = len(hits) if context.profile == "compat" else 3 * context.limit
        head, tail = list(hits[:depth]), list(hits[depth:])
        if len(head) < 2 or self._lambda == 1:
            return [with_step(hit, self.id, hit.score, "order kept") for hit in hits]
        by, alike = likeness_of(head, context)
        low, high = min(hit.score for hit in head), max(hit.score for hit in head)
        spread = high - low
        relevance = [(hit.score - low) / spread if spread else 1.0 for hit in head]
        nearest = [0.0] * len(head)
        left = list(range(len(head)))
        order: list[int] = []
        while left:
            best = max(
                left,
                key=lambda i: (
                    self._lambda * relevance[i] - (1 - self._lambda) * nearest[i],
                    head[i].score,
                    -i,
                ),
            )
            left.remove(best)
            order.append(best)
            for i in left:
                nearest[i] = max(nearest[i], alike(best, i))
        moved = [
            with_step(head[i], self.id, head[i].score, f"place {i + 1} to {place}, by {by}")
            for place, i in enumerate(order, 1)
        ]
        return moved + [with_step(hit, self.id, hit.score, "place kept") for hit in tail]
