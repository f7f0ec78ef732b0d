"""Chunks as rows of Milvus, and the filters that find them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from zlib import crc32

from commonplace.plugin import StoredChunk, Terms
from commonplace_example_milvus.database import Fields

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.plugin import AnalysedChunk
    from commonplace_example_milvus.catalogue import Catalogue, Entry
    from commonplace_example_milvus.database import Row


CHUNKS = "_chunks"
TERMS = ("body", "head", "extra")
TEXTS = ("start", "stop", "text", "heading")

CHUNK = Fields(
    "id",
    numbers=("build", "version", "start", "stop"),
    texts=("digest", "text", "heading", *TERMS),
    sets=("buckets",),
)

_PLACES = 1 << 20
_BUCKETS = 4_096
"""As many as an array of Milvus may hold."""


def chunk_id(version: int, place: int) -> int:
    """The id of a chunk: versions are never given twice, and so ids are not.

    Raises ``ValueError`` for a document of more than a million chunks.
    """
    if place >= _PLACES:
        raise ValueError(f"a document of more than {_PLACES} chunks")
    return version * _PLACES + place


def version_of(id_: int) -> int:
    """The version of the document that the chunk is of."""
    return id_ // _PLACES


def chunk_row(build: int, version: int, place: int, analysed: AnalysedChunk) -> Row:
    """What is kept of a chunk."""
    chunk, terms = analysed.chunk, analysed.terms
    return {
        "id": chunk_id(version, place),
        "build": build,
        "version": version,
        "start": chunk.start_line,
        "stop": chunk.end_line,
        "digest": analysed.digest,
        "text": chunk.text,
        "heading": json.dumps(chunk.heading),
        **terms._asdict(),
        "buckets": buckets_of(token for column in terms for token in column.split(" ") if token),
    }


def buckets_of(tokens: Iterable[str]) -> list[int]:
    """The numbers that stand for tokens in filters, several tokens for each.

    A filter lets through what shares a number with the query, and the tokens themselves decide.
    So no text of anybody's ever becomes a part of an expression, and an array always has room.
    """
    return sorted({crc32(token.encode("utf-8", "surrogatepass")) % _BUCKETS for token in tokens})


def terms_of(row: Row) -> Terms:
    """The terms of a row."""
    return Terms(row["body"], row["head"], row["extra"])


def stored(row: Row, entry: Entry) -> StoredChunk:
    """The chunk of a row, which is one of the document ``entry``."""
    return StoredChunk(
        id=row["id"],
        source=entry.source,
        path=entry.path,
        start_line=row["start"],
        end_line=row["stop"],
        text=row["text"],
        heading=tuple(json.loads(row["heading"])),
        day=entry.day,
        trust=entry.trust,
        body=row["body"],
    )


def visible(catalogue: Catalogue, build: int, versions: Iterable[int] | None = None) -> str:
    """The filter for rows of ``build`` that ``catalogue`` knows, of ``versions`` alone if given."""
    if versions is not None:
        return f"build == {build} and version in {sorted(versions)}"
    kept = {entry.version for entry in catalogue.builds.get(build, {}).values()}
    waste = sorted({entry.version for entry in catalogue.waste} - kept)
    return f"build == {build} and version <= {catalogue.commit.seq} and version not in {waste}"
