"""The list of the chunks that are nearest to a query."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from commonplace.errors import DeadlineExceededError
from commonplace.index.rescoring import with_finite_scores
from commonplace.model.search import Arm, Fallback
from commonplace.protocols.contexts import USUAL_ARMS

if TYPE_CHECKING:
    from commonplace.embedding.service import EmbeddingService
    from commonplace.model.search import KeywordQuery, Phrase, Query, StoredChunk, Where
    from commonplace.protocols.contexts import Arms
    from commonplace.protocols.parts import VectorStore
    from commonplace.resilience.deadline import Deadline


_KEPT_SECONDS = 5.0
_EMBED = "run `commonplace index`"


def vector_arm(
    store: VectorStore,
    service: EmbeddingService,
    query: Query,
    *,
    where: Where,
    limit: int,
    deadline: Deadline,
    analysed: bool = True,
    wanted: Arms = USUAL_ARMS,
) -> Arm:
    """The best ``limit`` chunks by cosine; empty, with a note, where there is no query vector.

    Where nothing is embedded the note says what does it: a command, or the background. Where only
    some chunks are, the arm says so.

    A quarter of the time that is left, at most 5 seconds, is reserved for the search itself.
    Chunks that lack a quoted phrase of the query, or contain a word it excludes, are left out;
    not so with ``analysed=False``, where phrases are every word of the query.
    """
    remaining = deadline.remaining()
    kept = min(_KEPT_SECONDS, remaining / 4)
    spaces = store.spaces()
    asked = service.query(
        query.words or query.text, spaces, deadline=deadline.sooner(remaining - kept)
    )
    if isinstance(asked, Fallback):
        held = store.health() if service.only_lacks_notes(spaces) else None
        if held is None or not held.chunks:
            return _empty(asked.reason, asked)
        notes = "1 note" if held.documents == 1 else f"{held.documents} notes"
        if held.chunks <= wanted.unasked and service.may_embed_unasked():
            todo = f"{asked.reason}: {notes} are being embedded in the background"
            return _empty(todo, asked)._replace(lacking=held.chunks)
        return _empty(f"{asked.reason}: run `commonplace index` to embed {notes}", asked)
    try:
        near = store.nearest(asked.space, asked.vector, where=where, limit=limit, deadline=deadline)
    except DeadlineExceededError as error:
        return _empty(str(error), None)
    found = with_finite_scores(near.found)
    lacking = asked.lacking if service.may_embed_unasked() else 0
    incomplete = ""
    if asked.lacking:
        incomplete = (
            f"{asked.lacking} of {asked.chunks} chunks are not embedded yet, and "
            f"{'found by keywords alone' if wanted.keyword else 'not searched'}: "
            f"{'they are being embedded' if 0 < lacking <= wanted.unasked else _EMBED}"
        )
    return Arm(
        "vector",
        "cosine",
        tuple(item for item in found if not analysed or _passes(item.chunk, query.keyword)),
        exact=near.exact,
        plan=near.plan,
        provider=asked.provider,
        model=asked.model,
        fallback=asked.fallback,
        vectors=partial(store.vectors, asked.space),
        lacking=lacking,
        incomplete=incomplete,
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
