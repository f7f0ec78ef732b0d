"""Writing and forgetting the slabs of documents: what is derived from their vectors."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.schema import of_build
from commonplace_sqlite.vectors.codes import encode, room, row_bytes, rows_in_part
from commonplace_sqlite.vectors.floats import integers_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import apsw

    from commonplace_sqlite.vectors.spaces import Space

__all__ = [
    "Part",
    "forget_codes",
    "forget_slabs",
    "part_counts",
    "parts_of_digests",
    "parts_of_documents",
    "write_slabs",
]

Part = tuple[int, int]
"""A document, and which run of its chunks."""

_BATCH = 1_000
"""Parts that are read and encoded at once: some 15 MB of vectors."""

_WITH_DIGEST = "SELECT document, ordinal FROM chunk_<n> WHERE digest = ?"
_SIZE = "SELECT chunks FROM document_<n> WHERE id = ?"
# CROSS keeps SQLite from beginning with all vectors of the space.
_HELD = """
SELECT c.id, v.id, v.e FROM chunk_<n> AS c
CROSS JOIN vector AS v ON v.space = ? AND v.digest = c.digest
WHERE c.document = ? AND c.ordinal >= ? AND c.ordinal < ? ORDER BY c.ordinal
"""
_FORGET_PART = "DELETE FROM slab_<n> WHERE space = ? AND document = ? AND part = ?"
_FORGET = "DELETE FROM slab_<n> WHERE space = ? AND document = ? AND part >= ?"
_FORGET_CODES = "DELETE FROM code_<n> WHERE space = ? AND document = ? AND part >= ?"
_ADD_SLAB = """
INSERT INTO slab_<n> (space, document, part, version, count, chunks, vectors)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
# Codes are written over those that were there: of the same length, they stay where they are.
_ADD_CODE = """
INSERT INTO code_<n> (space, document, part, packed) VALUES (?, ?, ?, ?)
ON CONFLICT (space, document, part) DO UPDATE SET packed = excluded.packed
"""
_CODE_LENGTH = """
SELECT length(packed) FROM code_<n> WHERE space = ? AND document = ? AND part = ?
"""
_NEXT = "SELECT next FROM counter WHERE name = 'slab'"
_MOVE_ON = "UPDATE counter SET next = next + ? WHERE name = 'slab'"


def parts_of_digests(
    connection: apsw.Connection, build: int, space: Space, digests: Iterable[Any]
) -> list[Part]:
    """The parts of a build in which chunks of these digests stand."""
    rows = rows_in_part(space.dims)
    sql = of_build(_WITH_DIGEST, build)
    found: Any = (row for digest in digests for row in connection.execute(sql, (digest,)))
    return sorted({(document, ordinal // rows) for document, ordinal in found})


def parts_of_documents(
    connection: apsw.Connection, build: int, space: Space, documents: Mapping[int, int]
) -> list[Part]:
    """The parts of these documents, of each from the one on in which the given chunk stands."""
    rows = rows_in_part(space.dims)
    counts = part_counts(connection, build, space, documents)
    return [
        (document, part)
        for document, first in documents.items()
        for part in range(first // rows, counts[document])
    ]


def part_counts(
    connection: apsw.Connection, build: int, space: Space, documents: Iterable[int]
) -> dict[int, int]:
    """How many parts each of these documents has."""
    rows = rows_in_part(space.dims)
    sql = of_build(_SIZE, build)
    return {doc: -(-connection.execute(sql, (doc,)).get // rows) for doc in documents}


def write_slabs(
    connection: apsw.Connection, build: int, space: Space, parts: Iterable[Part]
) -> None:
    """Derive these parts' slabs anew; a part without vectors has none."""
    rest = iter(parts)
    while batch := list(islice(rest, _BATCH)):
        _write(connection, build, space, batch)


def forget_slabs(
    connection: apsw.Connection, build: int, space: Space, documents: Mapping[int, int]
) -> None:
    """Delete the slabs of documents, of each from the given chunk on, but for their codes."""
    rows = rows_in_part(space.dims)
    keys = [(space.id, document, first // rows) for document, first in documents.items()]
    connection.executemany(of_build(_FORGET, build), keys)
    connection.execute(_MOVE_ON, (1,))


def forget_codes(
    connection: apsw.Connection, build: int, space: Space, parts: Iterable[Part]
) -> None:
    """Delete the codes of documents from the given part of each on."""
    keys = [(space.id, *part) for part in parts]
    connection.executemany(of_build(_FORGET_CODES, build), keys)


def _write(connection: apsw.Connection, build: int, space: Space, parts: list[Part]) -> None:
    keys = [(space.id, *part) for part in parts]
    connection.executemany(of_build(_FORGET_PART, build), keys)
    held = [(key, _rows(connection, build, space, key[1:])) for key in keys]
    codes = encode([row[2] for _, rows in held for row in rows], space.dims)
    version: int = connection.execute(_NEXT).get
    slabs: list[tuple[Any, ...]] = []
    packs: list[tuple[Any, ...]] = []
    begin = 0
    width = row_bytes(space.dims)
    for key, rows in held:
        if not rows:
            # Vectors are to be expected, and to make room again would tear pages apart.
            length: int | None = connection.execute(of_build(_CODE_LENGTH, build), key).get
            if length is not None:
                packs.append((*key, room(length // width, space.dims)))
            continue
        end = begin + len(rows)
        chunks = integers_in([chunk for chunk, _, _ in rows])
        vectors = integers_in([vector for _, vector, _ in rows])
        version += 1
        slabs.append((*key, version, len(rows), chunks, vectors))
        packs.append((*key, codes[begin * width : end * width]))
        begin = end
    connection.executemany(of_build(_ADD_SLAB, build), slabs)
    connection.executemany(of_build(_ADD_CODE, build), packs)
    # By one more than was given away: so that the counter also tells that something went.
    connection.execute(_MOVE_ON, (len(slabs) + 1,))


def _rows(
    connection: apsw.Connection, build: int, space: Space, part: Part
) -> list[tuple[int, int, bytes]]:
    document, number = part
    size = rows_in_part(space.dims)
    begin = number * size
    rows: Any = connection.execute(
        of_build(_HELD, build), (space.id, document, begin, begin + size)
    )
    return list(rows)
