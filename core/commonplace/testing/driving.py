"""Short ways to write to a store and to ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.errors import IndexBusyError
from commonplace.model.search import KeywordQuery, Where
from commonplace.resilience.deadline import NEVER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.model.chunks import Change
    from commonplace.model.search import ChunkId, Found
    from commonplace.model.store import Build, StoredDocument
    from commonplace.protocols.stores import Store

__all__ = [
    "ALL",
    "EVERYWHERE",
    "WAIT",
    "Place",
    "busy",
    "held",
    "ids",
    "live_build",
    "places",
    "publish",
    "scored",
    "search",
    "words",
    "write",
]

Place = tuple[str, str, int]
"""Source, path and first line: names a chunk where no two of a document begin on one line."""

ALL = 100_000
"""A limit that cuts nothing off in these tests."""

EVERYWHERE = Where()

WAIT = 30.0
"""Seconds to wait for a lease that will be free; long enough for the slowest machine."""


def publish(store: Store, *changes: Change, identity: str = "first") -> Build:
    """Make a build of ``changes`` and let it be the live one."""
    with store.writer(wait=WAIT):
        build = store.open_build(identity)
        store.put_documents(build, changes)
        store.activate(build)
    return live_build(store)


def write(store: Store, *changes: Change) -> None:
    """Apply ``changes`` to the live build."""
    with store.writer(wait=WAIT):
        store.put_documents(live_build(store), changes)


def live_build(store: Store) -> Build:
    """The live build; raises ``LookupError`` if there is none."""
    for build in store.builds():
        if build.state == "live":
            return build
    raise LookupError("the store has no live build")


def held(store: Store, build: Build | None = None) -> dict[tuple[str, str], StoredDocument]:
    """What ``documents`` says, by (source, path); each document must be named once."""
    documents = list(store.documents(build))
    by_key = {(document.source, document.path): document for document in documents}
    assert len(by_key) == len(documents), "documents() names a document twice"
    return by_key


def words(*should: str) -> KeywordQuery:
    """A query for any of these tokens."""
    return KeywordQuery(should=should)


def search(
    store: Store, query: KeywordQuery, where: Where = EVERYWHERE, limit: int = ALL
) -> list[Found]:
    """What ``keyword`` finds, without a deadline."""
    return list(store.keyword(query, where=where, limit=limit, deadline=NEVER).found)


def places(found: Iterable[Found]) -> list[Place]:
    """The positions of the chunks of an answer, in its order."""
    return [(hit.chunk.source, hit.chunk.path, hit.chunk.start_line) for hit in found]


def ids(found: Iterable[Found]) -> list[ChunkId]:
    """The ids of the chunks of an answer, in its order."""
    return [hit.chunk.id for hit in found]


def scored(found: Iterable[Found]) -> dict[ChunkId, float]:
    """The scores of an answer by the ids of its chunks."""
    return {hit.chunk.id: hit.score for hit in found}


def busy(store: Store) -> bool:
    """Whether somebody else than this thread holds the lease."""
    try:
        with store.writer(wait=0):
            return False
    except IndexBusyError:
        return True
