"""Rows given back as the host knows them: documents, chunks, vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.plugin import Found, StoredChunk, StoredDocument
from commonplace_lancedb.encoding import (
    heading_out,
    literals,
    stamp_out,
    terms_out,
    text_out,
)
from commonplace_lancedb.schema import epoch_column, vector_column

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from commonplace.plugin import ChunkId
    from commonplace_lancedb.head import BuildState, Space
    from commonplace_lancedb.snapshot import Snapshot

__all__ = ["documents", "found", "missing", "vectors_of"]

_AT_ONCE = 1_000

_DOCUMENT = ("source", "path", "digest", "stamp", "recipe")
_CHUNK = (
    "id",
    "source",
    "path",
    "start_line",
    "end_line",
    "text",
    "heading",
    "day",
    "trust",
    "terms",
)


def documents(snapshot: Snapshot, build: BuildState) -> list[StoredDocument]:
    """All documents of a build."""
    rows = snapshot.rows(build, "doc", _DOCUMENT)
    return [
        StoredDocument(text_out(source), text_out(path), digest, stamp_out(stamp), text_out(recipe))
        for source, path, digest, stamp, recipe in _records(rows, _DOCUMENT)
    ]


def found(
    snapshot: Snapshot, build: BuildState, ranked: Sequence[tuple[int, float]]
) -> tuple[Found, ...]:
    """The chunks of ``ranked``, pairs of chunk id and score, in that order.

    ``snapshot`` is the one that ranked them.
    """
    chunks: dict[int, StoredChunk] = {}
    for group in _groups([id_ for id_, _ in ranked]):
        rows = snapshot.rows(build, "chunk", _CHUNK, f"id IN ({literals(group)})")
        chunks.update((row["id"], _stored(row)) for row in rows.to_pylist())
    return tuple(Found(chunks[id_], score) for id_, score in ranked)


def missing(snapshot: Snapshot, build: BuildState, space: Space | None) -> list[tuple[str, str]]:
    """(digest, text to embed) of what has no vector in ``space``, each digest once."""
    from commonplace.plugin import Chunk, embedding_text

    also = ""
    if space is not None:
        epochs = epoch_column(space.column)
        also = f"{epochs} IS NULL OR {epochs} <> {space.epoch}"
    columns = ("digest", "heading", "text")
    found: dict[str, str] = {}
    for digest, heading, text in _records(snapshot.rows(build, "chunk", columns, also), columns):
        if digest not in found:
            chunk = Chunk(1, 1, text_out(text), heading_out(heading))
            found[digest] = embedding_text(chunk)
    return list(found.items())


def vectors_of(
    snapshot: Snapshot, build: BuildState, space: Space, ids: Collection[ChunkId]
) -> dict[ChunkId, bytes]:
    """The vectors of these chunks, of those that have one."""
    import numpy as np

    column, mark = vector_column(space.column), f"{epoch_column(space.column)} = {space.epoch}"
    found: dict[ChunkId, bytes] = {}
    for group in _groups(ids):
        condition = f"{mark} AND id IN ({literals(group)})"
        rows = snapshot.rows(build, "chunk", ("id", column), condition)
        for id_, vector in zip(rows["id"].to_pylist(), rows[column], strict=True):
            found[id_] = (
                vector.values.to_numpy(zero_copy_only=False).astype(np.dtype("<f4")).tobytes()
            )
    return found


def _stored(row: Mapping[str, Any]) -> StoredChunk:
    return StoredChunk(
        id=row["id"],
        source=text_out(row["source"]),
        path=text_out(row["path"]),
        start_line=row["start_line"],
        end_line=row["end_line"],
        text=text_out(row["text"]),
        heading=heading_out(row["heading"]),
        day=row["day"],
        trust=row["trust"],
        body=text_out(terms_out(row["terms"])[0]),
    )


def _records(rows: Any, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(rows[name].to_pylist() for name in columns), strict=True)


def _groups(ids: Collection[ChunkId]) -> Iterator[list[int]]:
    known = [id_ for id_ in ids if isinstance(id_, int)]
    for begin in range(0, len(known), _AT_ONCE):
        yield known[begin : begin + _AT_ONCE]
