"""The keyword arm: a store's BM25 ranking, and a second pass over its head for word order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.model.search import Arm, Found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.deadline import Deadline
    from commonplace.model.search import KeywordQuery, Where
    from commonplace.spec import Store

__all__ = ["keyword_arm", "neighbour_share"]

_DEPTH = 20
_BONUS = 0.5


def keyword_arm(
    store: Store, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
) -> Arm:
    """The best ``limit`` chunks by BM25, of which the first 20 are rewarded for word order.

    Score of those: BM25 x (1 + 0.5 x :func:`neighbour_share`). Deeper passes measured the same as
    one over 20 hits, so the rest keep their place behind them.
    """
    if not query.should:
        return Arm("keyword", "bm25", ())
    ranked = store.keyword(query, where=where, limit=max(limit, _DEPTH), deadline=deadline)
    scores = dict(ranked)
    chunks = store.fetch([id_ for id_, _ in ranked])
    found = [Found(chunk, scores[chunk.id]) for chunk in chunks]
    if query.neighbours:
        head = [
            Found(
                item.chunk,
                item.score * (1 + _BONUS * neighbour_share(item.chunk.body, query.neighbours)),
            )
            for item in found[:_DEPTH]
        ]
        head.sort(key=lambda item: -item.score)  # stable: equal scores keep the store's order
        found[:_DEPTH] = head
    return Arm("keyword", "bm25", tuple(found[:limit]))


def neighbour_share(body: str, neighbours: Sequence[tuple[str, str]]) -> float:
    """Which share of the query's neighbouring word pairs stand side by side in ``body``, 0..1.

    ``body`` is a chunk's tokens joined by single spaces.
    """
    padded = f" {body} "
    return sum(f" {first} {second} " in padded for first, second in neighbours) / len(neighbours)
