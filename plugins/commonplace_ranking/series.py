"""Which dated hits are about one topic, for a question about what holds now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import newest_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.plugin import Candidate, ChunkId, Query

_ALIKE = 0.5
"""The share of the best dated hit's words, by weight, and of its score, that others have."""
_LEAST_STEPS = 2
"""Of a series of two the older one loses half of what the oldest of three loses."""
_LOOKING_BACK = frozenset(("since", "seit", "depuis", "desde"))


def asks_for_a_state(query: Query) -> bool:
    """Whether ``query`` asks for the present, and not for how long or since when it has been so."""
    keyword = query.keyword
    words = (query.words or query.text).lower().split()
    return bool(keyword.timed) and keyword.answer != "measure" and _LOOKING_BACK.isdisjoint(words)


def ages_in_series(hits: Sequence[Candidate]) -> dict[ChunkId, float]:
    """How old each of the dated ``hits`` about one topic is among them: 0 newest, 1 oldest.

    By the place of its day among theirs, not by how long ago it was. They are those that have half
    or more of what the best of them has: of the words of the query by weight, and of the score.
    Stores that count tell what words a hit has; hits of others are in no series. None is where all
    are of one day.
    """
    dated = [hit for hit in hits if hit.chunk.day is not None]
    words = [_words(hit) for hit in dated]
    weights: dict[str, float] = {}
    for given in words:
        for token, score in given.items():
            weights[token] = max(score, weights.get(token, 0.0))
    shares = [sum(map(weights.__getitem__, given)) for given in words]
    least_share = _ALIKE * max(shares, default=0.0)
    least_score = _ALIKE * max((hit.score for hit in dated), default=0.0)
    alike = [
        hit.chunk
        for hit, share in zip(dated, shares, strict=True)
        if share and share >= least_share and hit.score >= least_score
    ]
    days = sorted({chunk.day for chunk in alike}, key=newest_first)
    if len(days) == 1:
        return {}
    steps = max(_LEAST_STEPS, len(days) - 1)
    return {chunk.id: days.index(chunk.day) / steps for chunk in alike}


def _words(hit: Candidate) -> dict[str, float]:
    """What each token of the query that ``hit`` has gave it."""
    return {token: score for arm in hit.explain.arms for token, score in arm.words if score > 0}
