"""Adjustments of fused scores: decay of dated notes, and the bonus for words of the query."""

from __future__ import annotations

import re
from math import exp, log
from typing import TYPE_CHECKING

from commonplace.plugin import with_step
from commonplace_ranking.fusion import days_since_epoch, unit_score

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from commonplace.plugin import Candidate, RankContext


FLOOR = 0.5
"""An old note keeps half its score: an exact identifier in it stays findable."""

_DAY = 86_400.0


def decay_factor(age_days: float, half_life_days: float) -> float:
    """exp(-ln 2 / half-life x age), 0 to 1; 1 for what lies in the future."""
    return exp(-log(2) / half_life_days * max(0.0, age_days))


class TemporalDecay:
    """Multiplies the score of a dated chunk by its decay, never below the floor.

    The date is that of the document's path. Evergreen notes have none, and do not decay. Under the
    profile ``compat`` the floor is 0, and only what keywords have searched decays, as in the
    original.
    """

    id = "temporal_decay"
    stage: Literal["adjust"] = "adjust"
    needs: frozenset[str] = frozenset({"dates"})

    def __init__(self, half_life_days: float = 30.0) -> None:
        if half_life_days <= 0:
            raise ValueError("a half-life is more than 0 days")
        self._half_life = half_life_days

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Apply the decay."""
        if context.profile == "compat" and "bm25" not in context.kinds:
            return [with_step(hit, self.id, hit.score, "only beside keywords") for hit in hits]
        floor = 0.0 if context.profile == "compat" else FLOOR
        return [self._aged(hit, context.now, floor) for hit in hits]

    def _aged(self, hit: Candidate, now: float, floor: float) -> Candidate:
        day = hit.chunk.day
        if day is None:
            return with_step(hit, self.id, hit.score, "no date")
        age = now / _DAY - days_since_epoch(day)
        factor = max(floor, decay_factor(age, self._half_life))
        return with_step(
            hit, self.id, hit.score * factor, f"x {factor:.3f}, {max(0, int(age))} days"
        )


_TOKEN = re.compile(r"\w+")


class LexicalBoost:
    """Part of the profile ``compat``."""

    id = "lexical_boost"
    stage: Literal["adjust"] = "adjust"
    needs: frozenset[str] = frozenset()

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Apply :func:`boosted` to each hit; only where keywords searched alone.

        What was found by several words, each asked singly, has the best score that one gives it.
        """
        if context.kinds != {"bm25"}:
            note = "only where keywords search alone"
            return [with_step(hit, self.id, hit.score, note) for hit in hits]
        return [with_step(hit, self.id, _best(hit, context)) for hit in hits]


def _best(hit: Candidate, context: RankContext) -> float:
    whole, chunk = context.query.words or context.query.text, hit.chunk
    scores = [
        (min(hit.score, unit_score(said, compat=True)), said.arm.partition(":")[2])
        for said in hit.explain.arms
        if ":" in said.arm
    ]
    return max(
        boosted(score, set(_TOKEN.findall(asked.lower())), chunk.text, chunk.path)
        for score, asked in scores or [(hit.score, whole)]
    )


def boosted(score: float, query_tokens: set[str], text: str, path: str) -> float:
    """The original's score of a keyword hit when there is no provider, 0..1.

    min(1, score + 0.45 x share of query tokens in the text + 0.2 x share of text tokens in the
    query + 0.18 for each query token in the path + min(length / 160, 0.18)).
    """
    if not query_tokens:
        return score
    text_tokens = set(_TOKEN.findall(text.lower()))
    common = len(query_tokens & text_tokens)
    low_path = path.lower()
    return min(
        1.0,
        score
        + 0.45 * common / len(query_tokens)
        + (0.2 * common / len(text_tokens) if text_tokens else 0.0)
        + 0.18 * sum(token in low_path for token in query_tokens)
        + min(len(text) / 160, 0.18),
    )
