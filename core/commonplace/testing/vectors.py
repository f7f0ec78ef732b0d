"""Vectors for tests, and what a search for the nearest should find."""

from __future__ import annotations

import struct
from math import fsum, sqrt
from typing import TYPE_CHECKING, cast

from hypothesis import strategies as st

from commonplace.resilience.deadline import NEVER
from commonplace.testing.driving import ALL, EVERYWHERE, WAIT
from commonplace.testing.naive import passes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hypothesis.strategies import SearchStrategy

    from commonplace.model.chunks import PutDocument
    from commonplace.model.search import Nearest, Where
    from commonplace.model.store import Build
    from commonplace.protocols.stores import Store, VectorStore
    from commonplace.testing.driving import Place

__all__ = [
    "DIMS",
    "TOLERANCE",
    "attach",
    "digests",
    "make_vector",
    "nearest_places",
    "unit_vectors",
]

DIMS = 3

TOLERANCE = 1e-5
"""How far a score may be from the cosine: a little more than float32 can be wrong by."""


def make_vector(*numbers: float) -> bytes:
    """A vector as stores take it: of unit length, float32, little-endian."""
    length = sqrt(fsum(number * number for number in numbers))
    return struct.pack(f"<{len(numbers)}f", *(number / length for number in numbers))


def unit_vectors() -> SearchStrategy[bytes]:
    """Vectors of :data:`DIMS` dimensions, often equal, at right angles or opposite."""
    few = st.tuples(*[st.integers(-2, 2)] * DIMS)
    many = st.tuples(*[st.floats(-1, 1, width=32)] * DIMS)
    return (few | many).filter(lambda one: max(map(abs, one)) > 1e-3).map(lambda v: make_vector(*v))


def digests(documents: Iterable[PutDocument]) -> list[str]:
    """The digests of all chunks, each once."""
    return list(dict.fromkeys(chunk.digest for put in documents for chunk in put.chunks))


def attach(
    store: VectorStore, build: Build, space: str, vectors: Mapping[str, bytes], dims: int = DIMS
) -> None:
    """Put vectors under the lease."""
    with store.writer(wait=WAIT):
        store.put_vectors(build, space, dims, vectors)


def vector_store(store: Store) -> VectorStore:
    """``store``, which declares ``vectors``."""
    return cast("VectorStore", store)


def nearest(
    store: VectorStore,
    query: bytes,
    where: Where = EVERYWHERE,
    limit: int = ALL,
    *,
    space: str = "space",
) -> Nearest:
    """What ``nearest`` answers, however long it takes."""
    return store.nearest(space, query, where=where, limit=limit, deadline=NEVER)


def nearest_places(
    documents: Iterable[PutDocument], vectors: Mapping[str, bytes], query: bytes, where: Where
) -> dict[Place, float]:
    """Each chunk that passes and has a vector, with its cosine."""
    return {
        (put.source, put.path, chunk.chunk.start_line): _cosine(query, vectors[chunk.digest])
        for put in documents
        if passes(put, where)
        for chunk in put.chunks
        if chunk.digest in vectors
    }


def _cosine(one: bytes, other: bytes) -> float:
    a, b = _numbers(one), _numbers(other)
    lengths = sqrt(fsum(x * x for x in a) * fsum(y * y for y in b))
    return fsum(x * y for x, y in zip(a, b, strict=True)) / lengths


def _numbers(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)
