"""The keyword arm: a store's BM25 ranking, and a second pass over its head for word order."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from commonplace.errors import IndexBusyError
from commonplace.model.search import Arm, Found

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.model.search import ChunkId, KeywordQuery, Where
    from commonplace.protocols.stores import Store
    from commonplace.resilience.deadline import Deadline

__all__ = ["fetched", "keyword_arm", "neighbour_share"]

T = TypeVar("T")

_DEPTH = 20
_BONUS = 0.5
_ATTEMPTS = 3


def keyword_arm(
    store: Store, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
) -> Arm:
    """The best ``limit`` chunks by BM25, of which the first 20 are rewarded for word order.

    Score of those: BM25 x (1 + 0.5 x :func:`neighbour_share`). Deeper passes measured the same as
    one over 20 hits, so the rest keep their place behind them.
    """
    if not query.should:
        return Arm("keyword", "bm25", ())
    _, found = fetched(
        store,
        lambda: store.keyword(query, where=where, limit=max(limit, _DEPTH), deadline=deadline),
        lambda ranked: ranked,
    )
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


def fetched(
    store: Store,
    search: Callable[[], T],
    ranked: Callable[[T], Sequence[tuple[ChunkId, float]]],
) -> tuple[T, list[Found]]:
    """What ``search`` answers, and the chunks that it ``ranked``.

    Another thread or process may replace a document, or the whole build, between the two: what is
    gone by then is searched for again. Raises :class:`~commonplace.errors.IndexBusyError` where
    everything is gone each time, for an empty answer would be taken for an empty memory.
    """
    for _ in range(_ATTEMPTS):
        answer = search()
        scores = dict(ranked(answer))
        chunks = store.fetch(list(scores))
        if len(chunks) == len(scores):
            break
    if scores and not chunks:
        raise IndexBusyError("the index is replaced faster than it can be read")
    return answer, [Found(chunk, scores[chunk.id]) for chunk in chunks]


def neighbour_share(body: str, neighbours: Sequence[tuple[str, str]]) -> float:
    """Which share of the query's neighbouring word pairs stand side by side in ``body``, 0..1.

    ``body`` is a chunk's tokens joined by single spaces.
    """
    padded = f" {body} "
    return sum(f" {first} {second} " in padded for first, second in neighbours) / len(neighbours)
