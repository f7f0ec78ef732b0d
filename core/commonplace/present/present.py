"""From ranked candidates to hits: thresholds, the cut, the snippet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.model.search import Hit
from commonplace.present.snippet import make_snippet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.model.search import Candidate, KeywordQuery
    from commonplace.text.analyse import Analyser

__all__ = ["above", "hits_of"]


def above(
    ranked: Sequence[Candidate],
    *,
    configured: float,
    asked: float | None,
    compat: bool = False,
    text_weight: float = 0.3,
) -> list[Candidate]:
    """The candidates that pass the threshold.

    ``asked``, given with the call, holds for every hit. Otherwise ``configured`` (the key
    ``query.minScore``) speaks of what vectors found: a hit that keywords alone found passes, for
    no keyword score could ever promise what a cosine does. Under ``compat`` it holds for all, as
    in the original: where nothing passes, keyword hits need only ``text_weight``, the most that
    keywords alone can score, or nothing at all where no vectors were searched.
    """
    if asked is not None:
        return [hit for hit in ranked if hit.score >= asked]
    if compat:
        strict = [hit for hit in ranked if hit.score >= configured]
        if strict or not any(_by_vector(hit) for hit in ranked):
            return strict or list(ranked)
        relaxed = min(configured, text_weight)
        return [hit for hit in ranked if _by_keyword(hit) and hit.score >= relaxed]
    return [hit for hit in ranked if hit.score >= configured or _by_keyword(hit)]


def _by_vector(hit: Candidate) -> bool:
    return any(arm.kind == "cosine" for arm in hit.explain.arms)


def _by_keyword(hit: Candidate) -> bool:
    return any(arm.kind != "cosine" for arm in hit.explain.arms)


def hits_of(
    ranked: Sequence[Candidate], query: KeywordQuery, analyser: Analyser, *, limit: int
) -> tuple[Hit, ...]:
    """The first ``limit`` candidates as hits, each with the snippet around its match."""
    terms = frozenset(query.should)
    hits = []
    for candidate in ranked[:limit]:
        chunk = candidate.chunk
        snippet, highlights = make_snippet(chunk.text, terms, analyser)
        hits.append(
            Hit(
                path=chunk.path,
                start_line=chunk.start_line,
                end_line=chunk.end_line,
                score=candidate.score,
                snippet=snippet,
                source=chunk.source,
                heading=chunk.heading,
                trust=chunk.trust,
                highlights=highlights,
                explain=candidate.explain,
            )
        )
    return tuple(hits)
