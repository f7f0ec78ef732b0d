"""What a store should hold and find, said so simply that it cannot be wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import evolve

from commonplace.files.globs import glob_regex
from commonplace.model.chunks import AppendDocument, DeleteDocument, PutDocument
from commonplace.model.store import StoredDocument

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.model.chunks import Change, Terms
    from commonplace.model.search import KeywordQuery, Phrase, Where
    from commonplace.testing.driving import Place

__all__ = ["Documents", "applied", "holds", "matching", "passes", "stored"]

Documents = dict[tuple[str, str], PutDocument]
"""Documents by (source, path), each with the stamp it was last touched with."""


def applied(documents: Documents, changes: Iterable[Change]) -> Documents:
    """``documents`` after ``changes``, one after the other."""
    after = dict(documents)
    for change in changes:
        key = change.source, change.path
        if isinstance(change, PutDocument):
            after[key] = change
        elif isinstance(change, DeleteDocument):
            after.pop(key, None)
        elif isinstance(change, AppendDocument):
            after[key] = evolve(
                after[key],
                digest=change.digest,
                stamp=change.stamp,
                day=change.day,
                chunks=after[key].chunks[: change.keep] + change.chunks,
                resume=change.resume,
            )
        elif key in after:
            after[key] = evolve(after[key], stamp=change.stamp)
    return after


def stored(documents: Documents) -> dict[tuple[str, str], StoredDocument]:
    """What ``Store.documents`` should say, by (source, path)."""
    return {
        key: StoredDocument(
            put.source, put.path, put.digest, put.stamp, put.fingerprint, put.resume
        )
        for key, put in documents.items()
    }


def matching(documents: Documents, query: KeywordQuery, where: Where) -> set[Place]:
    """Where the chunks stand that a search should find."""
    return {
        (put.source, put.path, chunk.chunk.start_line)
        for put in documents.values()
        if passes(put, where)
        for chunk in put.chunks
        if any(holds(chunk.terms, (token,)) for token in query.should)
        and all(holds(chunk.terms, phrase) for phrase in query.must)
        and not any(holds(chunk.terms, phrase) for phrase in query.must_not)
    }


def holds(terms: Terms, phrase: Phrase) -> bool:
    """Whether one of the columns has the tokens of ``phrase`` side by side."""
    needle = f" {' '.join(phrase)} "
    return any(needle in f" {column} " for column in (terms.body, terms.head, terms.extra))


def passes(put: PutDocument, where: Where) -> bool:
    """Whether a document passes every filter that is set."""
    if where.sources is not None and put.source not in where.sources:
        return False
    if where.paths and not any(re.fullmatch(glob_regex(p), put.path) for p in where.paths):
        return False
    if where.after is None and where.before is None:
        return True
    return put.day is not None and (where.after or "") <= put.day <= (where.before or "9999-12-31")
