"""The vector arm: a query's embedding, and the chunks nearest to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.embedding.service import NoVector
from commonplace.model.search import Arm, Found

if TYPE_CHECKING:
    from commonplace.deadline import Deadline
    from commonplace.embedding.service import EmbeddingService
    from commonplace.model.search import Query, Where
    from commonplace.spec import VectorStore

__all__ = ["vector_arm"]


def vector_arm(
    store: VectorStore,
    service: EmbeddingService,
    query: Query,
    *,
    where: Where,
    limit: int,
    deadline: Deadline,
) -> Arm:
    """The best ``limit`` chunks by cosine; empty, with a note, where there is no query vector."""
    asked = service.query(query.words or query.text, store.spaces(), deadline=deadline)
    if isinstance(asked, NoVector):
        return Arm("vector", "cosine", (), note=asked.reason)
    nearest = store.nearest(asked.space, asked.vector, where=where, limit=limit, deadline=deadline)
    scores = dict(nearest.found)
    chunks = store.fetch([id_ for id_, _ in nearest.found])
    return Arm(
        "vector",
        "cosine",
        tuple(Found(chunk, scores[chunk.id]) for chunk in chunks),
        exact=nearest.exact,
        plan=nearest.plan,
        provider=asked.provider,
        model=asked.model,
        fallback=asked.fallback,
    )
