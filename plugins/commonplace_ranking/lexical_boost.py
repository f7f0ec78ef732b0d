"""The original's lexical bonus for searches without an embedding provider."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonplace.plugin import with_step

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from commonplace.plugin import Candidate, RankContext

__all__ = ["LexicalBoost", "boosted"]

_TOKEN = re.compile(r"\w+")


class LexicalBoost:
    """Part of the profile ``compat``."""

    id = "lexical_boost"
    stage: Literal["adjust"] = "adjust"
    needs: frozenset[str] = frozenset()

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Apply :func:`boosted` to each hit; only where keywords searched alone."""
        if len(context.arms) > 1:
            note = "only where keywords search alone"
            return [with_step(hit, self.id, hit.score, note) for hit in hits]
        tokens = set(_TOKEN.findall(context.query.text.lower()))
        return [
            with_step(hit, self.id, boosted(hit.score, tokens, hit.chunk.text, hit.chunk.path))
            for hit in hits
        ]


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
