"""What a build holds: its documents, and chunks by their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.plugin import Found, StoredChunk, StoredDocument
from commonplace_sqlite.encoding import heading_out, ids_in, int_out, text_out, unpacked
from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw

__all__ = ["documents", "found"]

_DOCUMENTS = """
SELECT plain, source, path, digest, size, mtime_ns, ctime_ns, inode, recipe, resume
FROM document_<n>
"""

_CHUNKS = """
SELECT c.id, d.source, d.path, c.start_line, c.end_line, t.text, c.heading, d.day, d.trust, t.body
FROM chunk_<n> AS c JOIN document_<n> AS d ON d.id = c.document
JOIN text_<n> AS t ON t.id = <text_id>
WHERE c.id IN (SELECT value FROM json_each(?))
"""


def documents(connection: apsw.Connection, build: int) -> list[StoredDocument]:
    """All documents of a build, in no order."""
    rows: Any = connection.execute(of_build(_DOCUMENTS, build)).fetchall()
    # This is what a sync that finds nothing new consists of: one plain loop, no call per value.
    return [
        StoredDocument(source, path, digest, (size, mtime, ctime, inode), recipe, resume)
        if plain
        else _restored(source, path, digest, (size, mtime, ctime, inode), recipe, resume)
        for plain, source, path, digest, size, mtime, ctime, inode, recipe, resume in rows
    ]


def found(
    connection: apsw.Connection, build: int, ranked: Sequence[tuple[int, float]]
) -> tuple[Found, ...]:
    """The chunks of ``ranked``, pairs of chunk id and score, in that order.

    To be called in the transaction that ranked them.
    """
    if not ranked:
        return ()
    ids = [id_ for id_, _ in ranked]
    chunks = {chunk.id: chunk for chunk in _chunks(connection, build, ids)}
    return tuple([Found(chunks[id_], score) for id_, score in ranked])


def _chunks(connection: apsw.Connection, build: int, ids: Sequence[int]) -> Iterator[StoredChunk]:
    rows: Any = connection.execute(of_build(_CHUNKS, build), (ids_in(ids),))
    for id_, source, path, start, end, text, heading, day, trust, body in rows:
        yield StoredChunk(
            id_,
            text_out(source),
            text_out(path),
            start,
            end,
            text_out(text),
            heading_out(heading),
            day,
            trust,
            unpacked(body, text_out(text)),
        )


def _restored(
    source: Any, path: Any, digest: Any, stamp: Any, recipe: Any, resume: Any
) -> StoredDocument:
    size, mtime, ctime, inode = map(int_out, stamp)
    return StoredDocument(
        text_out(source),
        text_out(path),
        text_out(digest),
        (size, mtime, ctime, inode),
        text_out(recipe),
        text_out(resume),
    )
