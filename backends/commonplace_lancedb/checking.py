"""What a store says of itself: counts, size, and the deep check of rows against the head."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from commonplace.plugin import StoreHealth
from commonplace_lancedb.encoding import text_out
from commonplace_lancedb.schema import epoch_column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace_lancedb.head import BuildState
    from commonplace_lancedb.place import Place
    from commonplace_lancedb.snapshot import Snapshot

__all__ = ["health"]


def health(place: Place, snapshot: Snapshot | None, *, deep: bool) -> StoreHealth:
    """Counts of the live build; ``deep`` reads the keys of all its rows."""
    live = snapshot.head.live if snapshot is not None else None
    sources = live.sources if live is not None else {}
    problems: tuple[str, ...] = ()
    if deep and snapshot is not None:
        problems = tuple(
            f"the {build.state} build: {problem}"
            for build in snapshot.head.builds
            for problem in _problems(snapshot, build)
        )
    return StoreHealth(
        location=place.shown,
        documents=sum(counts.documents for counts in sources.values()),
        chunks=sum(counts.chunks for counts in sources.values()),
        size=_size(place, snapshot),
        writable=_writable(place),
        documents_by_source=tuple((name, sources[name].documents) for name in sorted(sources)),
        chunks_by_source=tuple((name, sources[name].chunks) for name in sorted(sources)),
        problems=problems,
    )


def _problems(snapshot: Snapshot, build: BuildState) -> Iterator[str]:
    documents = snapshot.rows(build, "doc", ("id", "source", "path", "chunks"))
    chunks = snapshot.rows(build, "chunk", ("doc",))["doc"].to_pylist()
    held = Counter(chunks)
    ids = documents["id"].to_pylist()
    if lost := len(held.keys() - set(ids)):
        yield f"chunks of {lost} documents that are not there"
    wrong = sum(
        held[id_] != number
        for id_, number in zip(ids, documents["chunks"].to_pylist(), strict=True)
    )
    if wrong:
        yield f"{wrong} documents have another number of chunks than they should"
    keys = Counter(zip(documents["source"].to_pylist(), documents["path"].to_pylist(), strict=True))
    if doubles := sum(number - 1 for number in keys.values()):
        yield f"{doubles} documents stand in it more than once"
    counted = Counter(map(text_out, documents["source"].to_pylist()))
    known = {name: counts.documents for name, counts in build.sources.items()}
    if counted != known or len(chunks) != build.total.chunks:
        yield "its counts are wrong"
    for name, space in snapshot.head.spaces.items():
        condition = f"{epoch_column(space.column)} = {space.epoch}"
        number = snapshot.rows(build, "chunk", ("id",), condition).num_rows
        if number != build.covered.get(name, 0):
            yield f"the count of vectors in {name!r} is wrong"


def _size(place: Place, snapshot: Snapshot | None) -> int:
    if snapshot is None:
        return 0
    folder = place.folder
    if folder is None:
        stats = snapshot.stats()
        return int(stats["total_bytes"]) if stats is not None else 0
    total = 0
    for parent, _, names in os.walk(os.path.join(folder, f"{place.table}.lance")):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except OSError:
                continue  # an old version, deleted this moment
    return total


def _writable(place: Place) -> bool:
    folder = place.folder
    if folder is None:
        return True
    while not os.path.exists(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return os.access(folder, os.W_OK)
