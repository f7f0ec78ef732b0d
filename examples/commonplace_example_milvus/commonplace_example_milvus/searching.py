"""Answers from the chunks that a catalogue knows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from commonplace.plugin import (
    NEVER,
    Chunk,
    DeclinedError,
    Found,
    KeywordMatches,
    Nearest,
    bm25,
    embedding_text,
    hit_order,
    matches_terms,
    term_counts,
    where_filter,
)
from commonplace_example_milvus.database import MOST_RANKED
from commonplace_example_milvus.rows import (
    CHUNKS,
    TERMS,
    TEXTS,
    buckets_of,
    stored,
    terms_of,
    version_of,
    visible,
)
from commonplace_example_milvus.spaces import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.plugin import Build, Deadline, KeywordQuery, Where
    from commonplace_example_milvus.catalogue import Catalogue, Entry, Space
    from commonplace_example_milvus.database import Database, Row
    from commonplace_example_milvus.spaces import Spaces


_SOME = 1_000
"""Ids in one filter."""


def keyword(
    database: Database,
    catalogue: Catalogue,
    query: KeywordQuery,
    *,
    where: Where,
    limit: int,
    deadline: Deadline,
) -> KeywordMatches:
    """The best ``limit`` matches of the live build, best first.

    Milvus gives all chunks that may hold one of the words; which do, and what they score, is
    reckoned here. So an answer takes time in proportion to the chunks that hold the most common
    of the words.
    """
    live, documents = _live(catalogue)
    total = sum(entry.chunks for entry in documents.values())
    if live is None or not total or not query.should:
        return KeywordMatches()
    filter_ = f"{visible(catalogue, live.id)} and array_contains_any(buckets, %s)"
    found = {
        row["id"]: terms_of(row)
        for row in database.rows(
            CHUNKS, filter_ % buckets_of(query.should), ["id", *TERMS], deadline
        )
    }
    average = sum(entry.tokens for entry in documents.values()) / total
    counts = {id_: term_counts(terms) for id_, terms in found.items()}
    scores = bm25(query.should, counts, total=total, average=average or 1.0)
    versions = _passing(where, documents)
    hits = [
        (id_, score)
        for id_, score in scores.items()
        if version_of(id_) in versions and matches_terms(found[id_], query)
    ]
    return KeywordMatches(_found(database, _ordered(hits, documents)[: max(0, limit)], documents))


def nearest(
    database: Database,
    spaces: Spaces,
    catalogue: Catalogue,
    space: Space | None,
    vector: bytes,
    *,
    where: Where,
    limit: int,
    deadline: Deadline,
) -> Nearest:
    """The nearest ``limit`` chunks of the live build, found by Milvus.

    Raises ``ValueError`` for a vector of other dimensions, and
    :class:`~commonplace.errors.DeclinedError` where more are asked for than Milvus ranks at once.
    """
    numbers(vector, None if space is None else space.dims)
    live, documents = _live(catalogue)
    versions = _passing(where, documents)
    if live is None or space is None or limit <= 0 or not versions:
        return Nearest((), exact=True)
    every = len(versions) == len(documents)
    filter_ = visible(catalogue, live.id, None if every else versions)
    most = min(limit, MOST_RANKED)
    found, exact = spaces.nearest(space, vector, filter_, most, deadline)
    if limit > most and not exact:
        raise DeclinedError(
            f"Milvus ranks {MOST_RANKED} chunks at once, not {limit}", hint="ask for fewer"
        )
    hits = _ordered([hit for hit in found if version_of(hit[0]) in documents], documents)
    return Nearest(
        _found(database, hits[:limit], documents), exact=exact, plan="Milvus, every vector"
    )


def missing(
    database: Database, spaces: Spaces, catalogue: Catalogue, space: Space | None, build: Build
) -> list[tuple[str, str]]:
    """Digest and text to embed of what of ``build`` has no vector in ``space``."""
    held = set() if space is None else spaces.ids(catalogue, space, build.id)
    rows = database.rows(CHUNKS, visible(catalogue, build.id), ["id", "digest"], NEVER)
    wanted = sorted({row["digest"]: row["id"] for row in rows if row["id"] not in held}.values())
    return [
        (row["digest"], _embedded(row))
        for start in range(0, len(wanted), _SOME)
        for row in database.rows(
            CHUNKS, f"id in {wanted[start : start + _SOME]}", ["id", "digest", *TEXTS]
        )
    ]


def _live(catalogue: Catalogue) -> tuple[Build | None, dict[int, Entry]]:
    """The live build, and its documents by version."""
    live = catalogue.live
    return live, {entry.version: entry for entry in catalogue.documents(live).values()}


def _passing(where: Where, documents: dict[int, Entry]) -> set[int]:
    """The versions of the documents that pass: Milvus cannot match globs."""
    passes = where_filter(where)
    return {
        version
        for version, entry in documents.items()
        if passes(entry.source, entry.path, entry.day, entry.tags)
    }


def _ordered(hits: list[tuple[int, float]], documents: dict[int, Entry]) -> list[tuple[int, float]]:
    """Best first, equal ones newest first, then by source, path and place.

    Ids of one document are in order.
    """

    def order(hit: tuple[int, float]) -> tuple[float, int, str, str, int]:
        entry = documents[version_of(hit[0])]
        return hit_order(hit[1], entry.day, *entry.key, hit[0])

    return sorted(hits, key=order)


def _found(
    database: Database, ranked: Sequence[tuple[int, float]], documents: dict[int, Entry]
) -> tuple[Found, ...]:
    """The chunks of ``ranked`` in that order; one that is missing shows that a commit came."""
    ids = sorted(id_ for id_, _ in ranked)
    rows: dict[int, Row] = {
        row["id"]: row
        for start in range(0, len(ids), _SOME)
        for row in database.rows(
            CHUNKS, f"id in {ids[start : start + _SOME]}", ["id", "version", "body", *TEXTS]
        )
    }
    return tuple(
        Found(stored(row, documents[row["version"]]), score)
        for id_, score in ranked
        if (row := rows.get(id_))
    )


def _embedded(row: Row) -> str:
    heading = tuple(json.loads(row["heading"]))
    return embedding_text(Chunk(row["start"], row["stop"], row["text"], heading))
