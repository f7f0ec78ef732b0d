"""The chunks nearest to the embedding of a query; counts of words that a chat may see."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from commonplace.errors import DeadlineExceededError, counted
from commonplace.index.rescoring import with_finite_scores
from commonplace.model.search import Arm, Fallback, KeywordQuery, Where
from commonplace.model.tools import is_direct, is_private
from commonplace.protocols.contexts import USUAL_ARMS

if TYPE_CHECKING:
    from commonplace.embedding.service import EmbeddingService
    from commonplace.model.search import KeywordMatches, Query, StoredChunk
    from commonplace.protocols.contexts import Arms
    from commonplace.protocols.parts import Store, VectorStore
    from commonplace.resilience.deadline import Deadline
    from commonplace.text.analyse import Analyser


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
    analyser: Analyser,
    wanted: Arms = USUAL_ARMS,
) -> Arm:
    """The best ``limit`` chunks by cosine; empty, with a note, where there is no query vector.

    Where nothing is embedded, the note says what will embed it: a command, or the background. Where
    only some chunks are, the arm says so.

    A quarter of the time that is left, at most 5 seconds, is reserved for the search itself.
    Chunks that lack a quoted phrase of the query, or contain a word it excludes, are left out, but
    not by an ``analyser`` for which each word of the query is such a phrase.
    """
    remaining = deadline.remaining()
    kept = min(_KEPT_SECONDS, remaining / 4)
    spaces = store.spaces()
    query_vector = service.query(
        query.words or query.text, spaces, deadline=deadline.sooner(remaining - kept)
    )
    if isinstance(query_vector, Fallback):
        health = store.health() if service.only_lacks_notes(spaces) else None
        if health is None or not health.chunks:
            return _empty(query_vector.reason, query_vector)
        if health.chunks <= wanted.background_limit and service.may_embed_unasked():
            notes = counted(health.documents, "note is", "notes are")
            todo = f"{query_vector.reason}: {notes} being embedded in the background"
            return _empty(todo, query_vector)._replace(lacking=health.chunks)
        notes = counted(health.documents, "note")
        return _empty(
            f"{query_vector.reason}: run `commonplace index` to embed {notes}", query_vector
        )
    try:
        near = store.nearest(
            query_vector.space, query_vector.vector, where=where, limit=limit, deadline=deadline
        )
    except DeadlineExceededError as error:
        return _empty(str(error), None)
    found = with_finite_scores(near.found)
    lacking = query_vector.lacking if service.may_embed_unasked() else 0
    incomplete = ""
    if query_vector.lacking:
        incomplete = (
            f"{query_vector.lacking} of {query_vector.chunks} chunks are not embedded yet, and "
            f"{'found by keywords alone' if wanted.keyword else 'not searched'}: "
            f"{'they are being embedded' if 0 < lacking <= wanted.background_limit else _EMBED}"
        )
    return Arm(
        "vector",
        "cosine",
        tuple(item for item in found if _passes(item.chunk, query.keyword, analyser)),
        exact=near.exact,
        plan=near.plan,
        provider=query_vector.provider,
        model=query_vector.model,
        fallback=query_vector.fallback,
        vectors=partial(store.vectors, query_vector.space),
        lacking=lacking,
        incomplete=incomplete,
    )


def _empty(reason: str, fallback: Fallback | None) -> Arm:
    note = f"searched by keywords alone: {reason}"
    return Arm("vector", "cosine", (), fallback=fallback, note=note)


def _passes(chunk: StoredChunk, query: KeywordQuery, analyser: Analyser) -> bool:
    """Whether the chunk, its headings and its path have what is quoted, and not what is excluded.

    A store keeps no title or alias of front matter with a chunk: only the keyword arm sees these.
    """
    if analyser.terms != "analysed" or not (query.must or query.must_not):
        return True
    from commonplace.index.bm25 import has_phrase
    from commonplace.index.documents import path_words

    above = analyser.chunk("", heading=chunk.heading, title=path_words(chunk.path, chunk.trust))
    terms = above._replace(body=chunk.body)
    has_all = all(has_phrase(terms, (phrase,)) for phrase in query.must)
    return has_all and not has_phrase(terms, query.must_not)


_PUBLIC_ENOUGH = 40
"""A word that so many chunks have is no secret of the private ones among them."""


def counted_for(
    chat: str, store: Store, matches: KeywordMatches, where: Where, deadline: Deadline
) -> KeywordMatches:
    """``matches`` with the holders that ``chat`` may see; a direct one sees all.

    Stores count whatever the filters, and by these counts scores would show which words private
    documents have. A token that 40 chunks or more hold keeps its count, private ones included.
    """
    if is_direct(chat):
        return matches
    seen = Where(not_paths=where.not_paths, not_sources=where.not_sources)
    holders: dict[str, int] = {}
    for token, count in (matches.holders or {}).items():
        query = KeywordQuery(should=(token,), plain=True)
        found = store.keyword(query, where=seen, limit=_PUBLIC_ENOUGH, deadline=deadline).found
        public = [item for item in found if not is_private(item.chunk.path, item.chunk.trust)]
        holders[token] = len(public) if len(found) < _PUBLIC_ENOUGH else count
    return matches._replace(holders=holders)
