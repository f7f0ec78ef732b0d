"""The vector arm: a query's embedding, and the chunks nearest to it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from commonplace.embedding.service import KEYWORDS, NoVector
from commonplace.errors import DeadlineExceededError
from commonplace.index.keyword import fetched
from commonplace.model.search import Arm, Fallback

if TYPE_CHECKING:
    from commonplace.embedding.service import EmbeddingService
    from commonplace.model.search import KeywordQuery, Phrase, Query, StoredChunk, Where
    from commonplace.protocols.stores import VectorStore
    from commonplace.resilience.deadline import Deadline

__all__ = ["vector_arm"]

_KEPT_SECONDS = 5.0


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

    Of ``deadline`` a part is kept for the search itself. Chunks that lack a quoted phrase of the
    query, or have a word it excludes, are left out; but not where words are left to the store
    (``analysed`` is False), as the original's search of vectors knew of none.
    """
    remaining = deadline.remaining()
    kept = min(_KEPT_SECONDS, remaining / 4)
    asked = service.query(
        query.words or query.text, store.spaces(), deadline=deadline.sooner(remaining - kept)
    )
    if isinstance(asked, NoVector):
        return _empty(asked.reason, Fallback(asked.part, asked.reason, asked.since, KEYWORDS))
    try:
        nearest, found = fetched(
            store,
            lambda: store.nearest(
                asked.space, asked.vector, where=where, limit=limit, deadline=deadline
            ),
            lambda answer: answer.found,
        )
    except DeadlineExceededError as error:
        return _empty(str(error), None)
    return Arm(
        "vector",
        "cosine",
        tuple(item for item in found if not analysed or _passes(item.chunk, query.keyword)),
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
