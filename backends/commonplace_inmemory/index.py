"""The contents of one build: a value that is never changed, only replaced by the next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from commonplace.plugin import (
    AppendDocument,
    DeleteDocument,
    PutDocument,
    TouchDocument,
    glob_regex,
)
from commonplace_inmemory.bm25 import idf, term_score, weighted_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from commonplace.plugin import (
        AnalysedChunk,
        Change,
        Deadline,
        KeywordQuery,
        Phrase,
        Stamp,
        Where,
    )

__all__ = ["EMPTY", "Entry", "Index", "Row", "apply", "filtered", "search"]

_CHECK_EVERY = 256
"""Rows between two looks at the clock: well under a millisecond of work."""


@frozen
class Row:
    """A chunk, with its terms split into columns, ready to be searched."""

    id: int
    document: PutDocument
    place: int
    analysed: AnalysedChunk
    columns: tuple[tuple[str, ...], ...]
    counts: Mapping[str, float]
    length: int


@frozen
class Entry:
    """A document, the stamp it was last seen with, and its chunks."""

    document: PutDocument
    stamp: Stamp
    rows: tuple[Row, ...]


@frozen
class Index:
    """Documents by (source, path)."""

    documents: Mapping[tuple[str, str], Entry]

    def rows(self) -> Iterator[Row]:
        """All chunks."""
        for entry in self.documents.values():
            yield from entry.rows


EMPTY = Index({})


def apply(index: Index, changes: Sequence[Change], new_id: Callable[[], int]) -> Index:
    """``index`` after ``changes``, in their order; ``index`` itself stays as it is.

    What is not there is neither deleted nor touched. Raises ``TypeError`` for anything that is
    not a change, and ``ValueError`` for what cannot be appended.
    """
    documents = dict(index.documents)
    for change in changes:
        match change:
            case PutDocument(source=source, path=path, stamp=stamp):
                documents[source, path] = Entry(change, stamp, _rows(change, new_id))
            case AppendDocument(source=source, path=path):
                old = documents.get((source, path))
                documents[source, path] = _appended(old, change, new_id)
            case DeleteDocument(source=source, path=path):
                documents.pop((source, path), None)
            case TouchDocument(source=source, path=path, stamp=stamp):
                if old := documents.get((source, path)):
                    documents[source, path] = Entry(old.document, stamp, old.rows)
            case other:
                raise TypeError(f"not a change: {other!r}")
    return Index(documents)


def _appended(old: Entry | None, change: AppendDocument, new_id: Callable[[], int]) -> Entry:
    keep = change.keep
    if old is None or not 0 <= keep <= len(old.rows):
        raise ValueError(f"{change.path} has no {keep} chunks to keep")
    document = evolve(
        old.document,
        digest=change.digest,
        stamp=change.stamp,
        day=change.day,
        chunks=(*old.document.chunks[:keep], *change.chunks),
        resume=change.resume,
    )
    kept = tuple(evolve(row, document=document) for row in old.rows[:keep])
    return Entry(document, change.stamp, kept + _rows(document, new_id, keep))


def _rows(document: PutDocument, new_id: Callable[[], int], first: int = 0) -> tuple[Row, ...]:
    rows = []
    for place, analysed in enumerate(document.chunks[first:], first):
        terms = analysed.terms
        columns = tuple(_split(column) for column in (terms.body, terms.head, terms.extra))
        rows.append(
            Row(
                id=new_id(),
                document=document,
                place=place,
                analysed=analysed,
                columns=columns,
                counts=weighted_counts(columns),
                length=sum(map(len, columns)),
            )
        )
    return tuple(rows)


def _split(column: str) -> tuple[str, ...]:
    return tuple(token for token in column.split(" ") if token)


def search(
    index: Index, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
) -> list[tuple[Row, float]]:
    """The best ``limit`` matches and their BM25 scores, best first.

    A filter changes which chunks are ranked, not what a token weighs: that is always reckoned
    over the whole build. Raises :class:`~commonplace.errors.DeadlineExceededError`.
    """
    rows = list(index.rows())
    hits = dict.fromkeys(query.should, 0)
    total = 0
    for row in _timed(rows, deadline):
        total += row.length
        for token in hits:
            hits[token] += token in row.counts
    weights = {token: idf(len(rows), count) for token, count in hits.items()}

    average = total / len(rows) if rows else 0.0
    passes = filtered(where)
    found = []
    for row in _timed(rows, deadline):
        if passes(row.document) and _matches(row, query):
            score = sum(
                term_score(row.counts[token], row.length, average, weights[token])
                for token in query.should
                if token in row.counts
            )
            found.append((-score, row.document.source, row.document.path, row.place, row.id, row))
    return [(row, -negative) for negative, *_, row in sorted(found)[: max(0, limit)]]


def _timed(rows: Sequence[Row], deadline: Deadline) -> Iterator[Row]:
    for number, row in enumerate(rows):
        if number % _CHECK_EVERY == 0:
            deadline.check("the keyword search")
        yield row


def _matches(row: Row, query: KeywordQuery) -> bool:
    return (
        any(token in row.counts for token in query.should)
        and all(_has(row, phrase) for phrase in query.must)
        and not any(_has(row, phrase) for phrase in query.must_not)
    )


def _has(row: Row, phrase: Phrase) -> bool:
    width = len(phrase)
    return any(
        column[start : start + width] == phrase
        for column in row.columns
        for start in range(len(column) - width + 1)
    )


def filtered(where: Where) -> Callable[[PutDocument], bool]:
    """Whether a document passes ``where``."""
    globs = [re.compile(glob_regex(pattern)) for pattern in where.paths]

    def passes(document: PutDocument) -> bool:
        day = document.day
        return (
            (where.sources is None or document.source in where.sources)
            and (not globs or any(glob.fullmatch(document.path) for glob in globs))
            and (where.after is None or (day is not None and day >= where.after))
            and (where.before is None or (day is not None and day <= where.before))
        )

    return passes
