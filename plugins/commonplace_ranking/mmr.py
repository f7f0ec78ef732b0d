"""Maximal marginal relevance: hits that say something new before hits that repeat."""

from __future__ import annotations

import re
from operator import mul
from typing import TYPE_CHECKING

from commonplace.ranking.pipeline import with_step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal

    from commonplace.model.search import Candidate
    from commonplace.spec import RankContext

__all__ = ["Mmr", "jaccard"]

_WORD = re.compile(r"\w+")


class Mmr:
    """Picks, again and again, the hit with the largest λ x relevance - (1 - λ) x likeness.

    Relevance is the score stretched to 0..1 over the hits; likeness that to the most similar hit
    picked already: cosine of their vectors where both have one, else Jaccard of their words, in
    any script. Ties go to the higher score, then to the earlier hit. Order changes, scores do not
    (Carbonell and Goldstein 1998).
    """

    id = "mmr"
    stage: Literal["select"] = "select"
    needs: frozenset[str] = frozenset()

    def __init__(self, lambda_: float = 0.7) -> None:
        if not 0 <= lambda_ <= 1:
            raise ValueError("lambda is between 0 and 1")
        self._lambda = lambda_

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Reorder; the hits beyond three times the limit keep their places behind."""
        head, tail = list(hits[: 3 * context.limit]), list(hits[3 * context.limit :])
        if len(head) < 2 or self._lambda == 1:
            return [*hits]
        alike = _likeness(head, context)
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
            with_step(head[i], self.id, head[i].score, f"place {i + 1} to {place}")
            for place, i in enumerate(order, 1)
        ]
        return moved + tail


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of common words, 0..1; two texts without words are not alike."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def _likeness(hits: Sequence[Candidate], context: RankContext) -> Callable[[int, int], float]:
    from array import array

    words = [frozenset(_WORD.findall(hit.chunk.body or hit.chunk.text.lower())) for hit in hits]
    known = context.vectors([hit.chunk.id for hit in hits]) if context.vectors else {}
    vectors = [array("f", known[hit.chunk.id]) if hit.chunk.id in known else None for hit in hits]

    def alike(i: int, j: int) -> float:
        one, other = vectors[i], vectors[j]
        if one is not None and other is not None:
            return max(0.0, float(sum(map(mul, one, other))))
        return jaccard(words[i], words[j])

    return alike
