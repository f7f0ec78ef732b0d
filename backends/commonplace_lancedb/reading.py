"""Rows given back as the host knows them: documents, chunks, vectors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from commonplace.plugin import Found, StoredChunk, StoredDocument, glob_regex, where_filter
from commonplace_lancedb.conditions import Among, Marked
from commonplace_lancedb.head import (
    heading_out,
    literal,
    literals,
    terms_out,
    text_out,
    vector_column,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from commonplace.plugin import ChunkId, Lookup, Where
    from commonplace_lancedb.head import BuildState, Space
    from commonplace_lancedb.snapshot import Snapshot


Value = TypeVar("Value", int, str)

_AT_ONCE = 1_000

_DOCUMENT = ("source", "path", "digest", "stamp", "fingerprint")
CHUNK = (
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
    """All documents of a build; of one snapshot they are read once."""
    known = snapshot.documents.get(build.id)
    if known is None:
        rows = snapshot.rows(build, "doc", _DOCUMENT)
        known = snapshot.documents[build.id] = _restored(rows)
    return list(known)


def lookup(snapshot: Snapshot, build: BuildState, keys: Collection[tuple[str, str]]) -> Lookup:
    """The documents of these sources and paths; how many there are in all stands in the head."""
    from commonplace.plugin import Lookup

    documents: list[StoredDocument] = []
    for source in {source for source, _ in keys}:
        for paths in _groups([path for of, path in keys if of == source]):
            which = Among("source", [source]), Among("path", paths)
            documents += _restored(snapshot.rows(build, "doc", _DOCUMENT, *which))
    return Lookup(tuple(documents), build.total.documents)


def _restored(rows: Any) -> list[StoredDocument]:
    return [
        StoredDocument(
            text_out(source), text_out(path), digest, text_out(stamp), text_out(fingerprint)
        )
        for source, path, digest, stamp, fingerprint in _records(rows, _DOCUMENT)
    ]


def found(
    snapshot: Snapshot, build: BuildState, ranked: Sequence[tuple[int, float]]
) -> tuple[Found, ...]:
    """The chunks of ``ranked``, pairs of chunk id and score, in that order.

    ``snapshot`` is the one that ranked them.
    """
    chunks: dict[int, StoredChunk] = {}
    for group in _groups(_known(id_ for id_, _ in ranked)):
        rows = snapshot.rows(build, "chunk", CHUNK, Among("id", group))
        chunks.update((row["id"], stored(row)) for row in rows.to_pylist())
    return tuple(Found(chunks[id_], score) for id_, score in ranked)


def missing(snapshot: Snapshot, build: BuildState, space: Space | None) -> list[tuple[str, str]]:
    """(digest, text to embed) of what has no vector in ``space``, each digest once."""
    from commonplace.plugin import Chunk, embedding_text

    also = () if space is None else (Marked(space, counts=False),)
    columns = ("digest", "heading", "text")
    found: dict[str, str] = {}
    for digest, heading, text in _records(snapshot.rows(build, "chunk", columns, *also), columns):
        if digest not in found:
            chunk = Chunk(1, 1, text_out(text), heading_out(heading))
            found[digest] = embedding_text(chunk)
    return list(found.items())


def vectors_of(
    snapshot: Snapshot, build: BuildState, space: Space, ids: Collection[ChunkId]
) -> dict[ChunkId, bytes]:
    """The vectors of these chunks, of those that have one."""
    import numpy as np

    column = vector_column(space.column)
    found: dict[ChunkId, bytes] = {}
    for group in _groups(_known(ids)):
        which = Marked(space), Among("id", group)
        rows = snapshot.rows(build, "chunk", ("id", column), *which)
        for id_, vector in zip(rows["id"].to_pylist(), rows[column], strict=True):
            found[id_] = (
                vector.values.to_numpy(zero_copy_only=False).astype(np.dtype("<f4")).tobytes()
            )
    return found


def stored(row: Mapping[str, Any]) -> StoredChunk:
    """The chunk of a row that has the columns :data:`CHUNK`."""
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


def _groups(values: Sequence[Value]) -> Iterator[Sequence[Value]]:
    for begin in range(0, len(values), _AT_ONCE):
        yield values[begin : begin + _AT_ONCE]


def _known(ids: Iterable[ChunkId]) -> list[int]:
    return [id_ for id_ in ids if isinstance(id_, int)]


_WILD = re.compile(r"[*?]")


def is_open(where: Where) -> bool:
    """Whether every document passes."""
    return where.sources is None and not any(where[1:])


def condition_of(snapshot: Snapshot, build: BuildState, where: Where) -> str | None:
    """The condition that a chunk's document passes; ``None`` if none does, ``""`` if all do."""
    parts = []
    if where.sources is not None:
        if not where.sources:
            return None
        parts.append(f"source IN ({literals(sorted(where.sources))})")
    if where.not_sources:
        parts.append(f"source NOT IN ({literals(sorted(where.not_sources))})")
    if where.after is not None:
        parts.append(f"day >= {literal(where.after)}")
    if where.before is not None:
        parts.append(f"day <= {literal(where.before)}")
    if where.tags and "tags" not in snapshot.columns:
        return None
    parts += (f"array_has(tags, {literal(tag)})" for tag in where.tags)
    if "tags" in snapshot.columns:
        parts += (f"(tags IS NULL OR NOT array_has(tags, {literal(t)}))" for t in where.not_tags)
    if where.paths or where.not_paths:
        paths = _paths(snapshot, build, where)
        if paths is None:
            return None
        parts.append(paths)
    return " AND ".join(parts)


def passing(where: Where) -> Callable[..., bool]:
    """Whether a document of this (source, path, day, tags), as stored, passes.

    Without tags it is not asked for any.
    """
    if is_open(where):
        return lambda *_: True
    untagged = where_filter(where._replace(tags=(), not_tags=()))
    tagged = where_filter(where)

    def passes(source: str, path: str, day: str | None, *tags: list[str] | None) -> bool:
        at = text_out(source), text_out(path), day
        return tagged(*at, list(map(text_out, tags[0] or ()))) if tags else untagged(*at, ())

    return passes


def _paths(snapshot: Snapshot, build: BuildState, where: Where) -> str | None:
    """The condition on paths.

    What has wildcards is matched here and not by Lance, so that a glob means what it means to
    every other store: against the documents, which are few beside the chunks.
    """
    patterns = where.paths
    if not where.not_paths and not any(map(_WILD.search, patterns)):
        return f"({' OR '.join(map(_below, patterns))})"
    rows = snapshot.rows(build, "doc", ("id", "path"))
    matches = re.compile("|".join(map(glob_regex, patterns)) or ".*", re.DOTALL).fullmatch
    unwanted = re.compile("|".join(map(glob_regex, where.not_paths)) or "(?!)").fullmatch
    paths = map(text_out, rows["path"].to_pylist())
    ids = [
        id_
        for id_, path in zip(rows["id"].to_pylist(), paths, strict=True)
        if matches(path) and not unwanted(path)
    ]
    return f"doc IN ({literals(ids)})" if ids else None


def _below(pattern: str) -> str:
    plain = pattern.rstrip("/")
    return f"path = {literal(plain)} OR starts_with(path, {literal(plain + '/')})"
