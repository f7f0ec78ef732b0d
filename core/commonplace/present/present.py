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
    ranked: Sequence[Candidate], *, configured: float, asked: float | None, compat: bool
) -> list[Candidate]:
    """The candidates that pass the threshold.

    ``asked``, given with the call, holds for every hit. Otherwise ``configured`` (the key
    ``query.minScore``) speaks of what vectors found: a hit that keywords alone found passes, for
    no keyword score could ever promise what a cosine does. Under ``compat`` it holds for all, and
    where nothing passes everything does, as in the original.
    """
    if asked is not None:
        return [hit for hit in ranked if hit.score >= asked]
    if compat:
        return [hit for hit in ranked if hit.score >= configured] or list(ranked)
    return [hit for hit in ranked if hit.score >= configured or _by_keyword(hit)]


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
