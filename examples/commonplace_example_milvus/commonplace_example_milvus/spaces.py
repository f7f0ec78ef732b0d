"""The vectors of chunks: a collection for each space."""

from __future__ import annotations

import json
import struct
from math import fsum, isfinite, sqrt
from operator import mul
from typing import TYPE_CHECKING

from commonplace_example_milvus.database import MOST_RANKED, Fields
from commonplace_example_milvus.rows import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from commonplace.plugin import ChunkId, Deadline
    from commonplace_example_milvus.catalogue import Catalogue, Space
    from commonplace_example_milvus.database import Database, Row


_PREFIX = "_space_"
_SOME = 500
"""Digests in one filter."""

_SLACK = 16
_NEAR = 1e-5
"""More than two float32 cosines of one pair of vectors can differ by."""


class Spaces:
    """Rows of (chunk, vector), which come and go with the chunks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counted: tuple[int, dict[tuple[Space, int], int]] = (0, {})

    def create(self, space: Space) -> None:
        """Make the collection of a space."""
        self._database.create(
            _name(space),
            Fields("id", numbers=("build", "version"), texts=("digest",), dims=space.dims),
        )

    def prune(self, catalogue: Catalogue, unwanted: str) -> None:
        """Delete the rows that ``unwanted`` finds, and the collections of spaces that are gone."""
        kept = {_name(space) for space in catalogue.commit.spaces.values()}
        for name in self._database.names():
            if name in kept:
                self._database.delete(name, unwanted)
            elif name.startswith(_PREFIX):
                self._database.drop(name)

    def carry(self, catalogue: Catalogue, chunks: Sequence[Row]) -> None:
        """Give new chunks the vectors that chunks of the same digest have."""
        known = {e.version for documents in catalogue.builds.values() for e in documents.values()}
        for space in catalogue.commit.spaces.values():
            vectors = {
                row["digest"]: row["vector"]
                for where in digest_filters({chunk["digest"] for chunk in chunks})
                for row in self._database.rows(_name(space), where, ["version", "digest", "vector"])
                if row["version"] in known
            }
            self.put(space, chunks, vectors)

    def put(
        self, space: Space, chunks: Iterable[Row], vectors: Mapping[str, Sequence[float]]
    ) -> None:
        """Attach vectors by digest to those of ``chunks`` that have it."""
        rows = [
            {
                **{name: chunk[name] for name in ("id", "build", "version", "digest")},
                "vector": vectors[chunk["digest"]],
            }
            for chunk in chunks
            if chunk["digest"] in vectors
        ]
        if rows:
            self._database.upsert(_name(space), rows)

    def covered(self, catalogue: Catalogue, space: Space, build: int) -> int:
        """How many chunks of ``build`` have a vector; counted once for each commit."""
        seq, counts = self._counted
        if seq != catalogue.commit.seq:
            counts = {}
        count = counts.get((space, build))
        if count is None:
            count = self._database.count(_name(space), visible(catalogue, build))
            self._counted = catalogue.commit.seq, {**counts, (space, build): count}
        return count

    def ids(self, catalogue: Catalogue, space: Space, build: int) -> set[int]:
        """The chunks of ``build`` that have a vector."""
        rows = self._database.rows(_name(space), visible(catalogue, build), ["id"])
        return {row["id"] for row in rows}

    def vectors(
        self, catalogue: Catalogue, space: Space, build: int, ids: Collection[int]
    ) -> dict[ChunkId, bytes]:
        """The vectors of these chunks."""
        where = f"{visible(catalogue, build)} and id in {sorted(ids)}"
        rows = self._database.rows(_name(space), where, ["id", "vector"])
        return {row["id"]: packed(row["vector"]) for row in rows}

    def nearest(
        self, space: Space, vector: bytes, where: str, limit: int, deadline: Deadline
    ) -> tuple[list[tuple[int, float]], bool]:
        """At least the ``limit`` nearest as (id, cosine), and whether that is all there can be.

        As many more come along as are as near as the last one: it is for the caller to say in
        what order they stand. The cosine is ours, so that equal vectors have equal scores.
        """
        asked = numbers(vector)
        take = limit + _SLACK
        while True:
            take = min(take, MOST_RANKED)
            rows = self._database.nearest(_name(space), asked, where, take, deadline)
            found = [(row["id"], _cosine(asked, row["vector"])) for row in rows]
            scores = sorted((score for _, score in found), reverse=True)
            if len(found) < take or (
                len(scores) > limit and scores[-1] < scores[limit - 1] - _NEAR
            ):
                return found, True
            if take == MOST_RANKED:
                return found, False
            take *= 4


def digest_filters(digests: Iterable[str]) -> Iterator[str]:
    """Filters that together find the rows of these digests."""
    every = sorted(digests)
    for start in range(0, len(every), _SOME):
        yield f"digest in {json.dumps(every[start : start + _SOME])}"


def numbers(vector: bytes, dims: int | None = None) -> tuple[float, ...]:
    """The numbers of a vector; raises ``ValueError`` unless there are ``dims``, all finite."""
    if not vector or len(vector) % 4 or dims not in {None, len(vector) // 4}:
        raise ValueError(f"a vector of {len(vector)} bytes where {dims} dimensions are expected")
    unpacked = struct.unpack(f"<{len(vector) // 4}f", vector)
    if not all(map(isfinite, unpacked)):
        raise ValueError("a vector with a number that is not finite")
    return unpacked


def packed(vector: Sequence[float]) -> bytes:
    """The bytes of a vector."""
    return struct.pack(f"<{len(vector)}f", *vector)


def _name(space: Space) -> str:
    return f"{_PREFIX}{space.number}"


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = sqrt(fsum(map(mul, one, one))) * sqrt(fsum(map(mul, other, other)))
    return min(1.0, max(-1.0, fsum(map(mul, one, other)) / lengths)) if lengths else 0.0
