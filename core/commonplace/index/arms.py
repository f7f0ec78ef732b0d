"""The chunks nearest to the embedding of a query, and what of a query a chat may count."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from commonplace.errors import DeadlineExceededError, counted
from commonplace.index.rescoring import with_finite_scores
from commonplace.model.search import Arm, Fallback, KeywordQuery, Where
from commonplace.model.tools import is_direct, is_private
from commonplace.protocols.contexts import USUAL_ARMS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.embedding.service import EmbeddingService
    from commonplace.model.search import KeywordMatches, Phrase, Query, StoredChunk
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

    Where nothing is embedded the note says what does it: a command, or the background. Where only
    some chunks are, the arm says so.

    A quarter of the time that is left, at most 5 seconds, is reserved for the search itself.
    Chunks that lack a quoted phrase of the query, or contain a word it excludes, are left out;
    not so by an ``analyser`` of which phrases are every word of the query.
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
        if held.chunks <= wanted.background_limit and service.may_embed_unasked():
            notes = counted(held.documents, "note is", "notes are")
            todo = f"{asked.reason}: {notes} being embedded in the background"
            return _empty(todo, asked)._replace(lacking=held.chunks)
        notes = counted(held.documents, "note")
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
            f"{'they are being embedded' if 0 < lacking <= wanted.background_limit else _EMBED}"
        )
    return Arm(
        "vector",
        "cosine",
        tuple(item for item in found if _passes(item.chunk, query.keyword, analyser)),
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


def _passes(chunk: StoredChunk, query: KeywordQuery, analyser: Analyser) -> bool:
    """Whether the chunk, its headings and its path have what is quoted, and not what is excluded.

    A store keeps no title or alias of front matter with a chunk: only the keyword arm sees these.
    """
    if analyser.terms != "analysed" or not (query.must or query.must_not):
        return True
    from commonplace.index.documents import path_words

    above = analyser.chunk("", heading=chunk.heading, title=path_words(chunk.path, chunk.trust))
    columns = [f" {column} " for column in (chunk.body, above.head, above.extra)]
    return all(_has(columns, phrase) for phrase in query.must) and not any(
        _has(columns, phrase) for phrase in query.must_not
    )


def _has(columns: Iterable[str], phrase: Phrase) -> bool:
    wanted = f" {' '.join(phrase)} "
    return any(wanted in column for column in columns)


_COUNTED = 40
"""A word that so many chunks have is no secret of the private ones among them."""


def counted_for(
    chat: str, store: Store, matches: KeywordMatches, where: Where, deadline: Deadline
) -> KeywordMatches:
    """``matches`` with the holders that ``chat`` may see; a direct one sees all.

    Stores count whatever the filters, and by these counts scores would show which words private
    documents have. What 40 chunks hold that may be seen keeps its count.
    """
    if is_direct(chat):
        return matches
    seen = Where(not_paths=where.not_paths, not_sources=where.not_sources)
    holders: dict[str, int] = {}
    for token, count in (matches.holders or {}).items():
        query = KeywordQuery(should=(token,), plain=True)
        found = store.keyword(query, where=seen, limit=_COUNTED, deadline=deadline).found
        public = [one for one in found if not is_private(one.chunk.path, one.chunk.trust)]
        holders[token] = len(public) if len(found) < _COUNTED else count
    return matches._replace(holders=holders)
