"""The two arms of a search: BM25 with a bonus for word order, and vectors nearest to the query."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from commonplace.errors import DeadlineExceededError
from commonplace.model.search import Arm, Fallback

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.embedding.service import EmbeddingService
    from commonplace.model.search import KeywordQuery, Phrase, Query, StoredChunk, Where
    from commonplace.protocols.parts import Store, VectorStore
    from commonplace.resilience.deadline import Deadline


_DEPTH = 20
_BONUS = 0.5
_KEPT_SECONDS = 5.0


def keyword_arm(
    store: Store, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
) -> Arm:
    """The best ``limit`` chunks by BM25; the first 20 get a bonus for word order.

    Their score is BM25 x (1 + 0.5 x :func:`neighbour_share`). The other chunks keep their order
    behind them: a bonus for more than 20 hits measured the same.
    """
    if not query.should:
        return Arm("keyword", "bm25", ())
    matches = store.keyword(query, where=where, limit=max(limit, _DEPTH), deadline=deadline)
    found = list(matches.found)
    if query.neighbours:
        head = [
            item._replace(
                score=item.score * (1 + _BONUS * neighbour_share(item.chunk.body, query.neighbours))
            )
            for item in found[:_DEPTH]
        ]
        head.sort(key=lambda item: -item.score)  # stable: equal scores keep the store's order
        found[:_DEPTH] = head
    return Arm("keyword", "bm25", tuple(found[:limit]))


def neighbour_share(body: str, neighbours: Sequence[tuple[str, str]]) -> float:
    """The share (0..1) of the query's neighbouring word pairs that stand side by side in ``body``.

    ``body`` is a chunk's tokens joined by single spaces.
    """
    padded = f" {body} "
    return sum(f" {first} {second} " in padded for first, second in neighbours) / len(neighbours)


def vector_arm(
    store: VectorStore,
    service: EmbeddingService,
    query: Query,
    *,
    where: Where,
    limit: int,
    deadline: Deadline,
    analysed: bool = True,
) -> Arm:
    """The best ``limit`` chunks by cosine; empty, with a note, where there is no query vector.

    A quarter of the time that is left, at most 5 seconds, is reserved for the search itself.
    Chunks that lack a quoted phrase of the query, or contain a word it excludes, are left out;
    not so with ``analysed=False``, where the store analyses the words.
    """
    remaining = deadline.remaining()
    kept = min(_KEPT_SECONDS, remaining / 4)
    asked = service.query(
        query.words or query.text, store.spaces(), deadline=deadline.sooner(remaining - kept)
    )
    if isinstance(asked, Fallback):
        return _empty(asked.reason, asked)
    try:
        nearest = store.nearest(
            asked.space, asked.vector, where=where, limit=limit, deadline=deadline
        )
    except DeadlineExceededError as error:
        return _empty(str(error), None)
    return Arm(
        "vector",
        "cosine",
        tuple(item for item in nearest.found if not analysed or _passes(item.chunk, query.keyword)),
        exact=nearest.exact,
        plan=nearest.plan,
        provider=asked.provider,
        model=asked.model,
        fallback=asked.fallback,
        vectors=partial(store.vectors, asked.space),
    )


def _empty(reason: str, fallback: Fallback | None) -> Arm:
    note = f"searched by keywords alone: {reason}"
    return Arm("vector", "cosine", (), fallback=fallback, note=note)


def _passes(chunk: StoredChunk, query: KeywordQuery) -> bool:
    if not (query.must or query.must_not):
        return True
    body = f" {chunk.body} "
    return all(_has(body, phrase) for phrase in query.must) and not any(
        _has(body, phrase) for phrase in query.must_not
    )


def _has(body: str, phrase: Phrase) -> bool:
    return f" {' '.join(phrase)} " in body
