"""Bringing changes of documents into a build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.model.chunks import DeleteDocument, PutDocument, TouchDocument
from commonplace_sqlite.encoding import (
    digest_in,
    heading_in,
    ids_in,
    indexable,
    int_in,
    packed,
    text_in,
)
from commonplace_sqlite.repacking import note_gaps
from commonplace_sqlite.schema import of_build
from commonplace_sqlite.vectors.attaching import documents_added, documents_going

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    import apsw

    from commonplace.model.chunks import AnalysedChunk, Change
    from commonplace.model.documents import Stamp

    Key = tuple[str, str]
    Effect = tuple[PutDocument | None, Stamp | None]

__all__ = ["put_documents"]

_FIND = "SELECT id FROM document_<n> WHERE source = ? AND path = ?"
_TOUCH = """
UPDATE document_<n> SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, plain = plain AND ?
WHERE source = ? AND path = ?
"""
_ADD = """
INSERT INTO document_<n> (id, source, path, digest, recipe, size, mtime_ns, ctime_ns, inode,
    plain, day, trust, chunks)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_CHUNK_IDS = """
SELECT id FROM chunk_<n> WHERE document IN (SELECT value FROM json_each(?)) ORDER BY id
"""
_FORGET_FTS = "DELETE FROM fts_<n> WHERE rowid = ?"
_FORGET_TEXT = "DELETE FROM text_<n> WHERE id = ?"
_FORGET_CHUNKS = "DELETE FROM chunk_<n> WHERE document = ?"
_FORGET = "DELETE FROM document_<n> WHERE id = ?"
_ADD_CHUNK = """
INSERT INTO chunk_<n> (id, document, ordinal, start_line, end_line, heading, digest)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_ADD_TEXT = "INSERT INTO text_<n> (id, text, body) VALUES (?, ?, ?)"
_ADD_FTS = "INSERT INTO fts_<n> (rowid, body, head, extra) VALUES (?, ?, ?, ?)"
_COUNT = "UPDATE build SET chunks = chunks + ?, removed = removed + ? WHERE id = ?"


def put_documents(connection: apsw.Connection, build: int, changes: Iterable[Change]) -> int:
    """Apply ``changes`` in their order; returns how many chunks were written.

    The caller holds a transaction. Raises ``TypeError`` for anything that is not a change.
    """
    effects = _net_effects(changes)
    # Everything goes before anything comes: FTS5 writes out what it has in hand whenever row ids
    # do not ascend, and new ids are above all old ones.
    going = _going(connection, build, effects)
    texts_gone = documents_going(connection, build, going.values())
    gone = _remove(connection, build, going.values())
    note_gaps(connection, gone)
    _touch(connection, build, effects)
    puts = [
        (going.get(key), put, stamp or put.stamp)
        for key, (put, stamp) in effects.items()
        if put is not None
    ]
    # Those whose ids are given come first: a new id may be one that has just become free.
    puts.sort(key=lambda one: one[0] is None)
    documents, added = _add(connection, build, puts)
    documents_added(connection, build, documents, texts_gone)
    connection.execute(_COUNT, (added - gone, gone, build))
    return added


def _net_effects(changes: Iterable[Change]) -> Mapping[Key, Effect]:
    """What each document comes to: put with a stamp, touched with one, or (neither) gone."""
    effects: dict[Key, Effect] = {}
    for change in changes:
        match change:
            case PutDocument(source=source, path=path, stamp=stamp):
                effects[source, path] = change, stamp
            case DeleteDocument(source=source, path=path):
                effects[source, path] = None, None
            case TouchDocument(source=source, path=path, stamp=stamp):
                put, old_stamp = effects.get((source, path), (None, stamp))
                if old_stamp is not None:
                    effects[source, path] = put, stamp
            case _:
                raise TypeError(f"not a change: {change!r}")
    return effects


def _going(
    connection: apsw.Connection, build: int, effects: Mapping[Key, Effect]
) -> dict[Key, int]:
    """The ids of the documents that go, or are replaced.

    One that is replaced keeps its id, so that what is stored by it stays in its place in the file.
    """
    find = of_build(_FIND, build)
    rows: Any = (
        (key, row[0])
        for key, (put, stamp) in effects.items()
        if put is not None or stamp is None
        for row in connection.execute(find, tuple(map(text_in, key)))
    )
    return dict(rows)


def _remove(connection: apsw.Connection, build: int, documents: Collection[int]) -> int:
    chunks = connection.execute(of_build(_CHUNK_IDS, build), (ids_in(documents),)).fetchall()
    connection.executemany(of_build(_FORGET_FTS, build), chunks)
    connection.executemany(of_build(_FORGET_TEXT, build), chunks)
    ids = [(document,) for document in documents]
    connection.executemany(of_build(_FORGET_CHUNKS, build), ids)
    connection.executemany(of_build(_FORGET, build), ids)
    return len(chunks)


def _touch(connection: apsw.Connection, build: int, effects: Mapping[Key, Effect]) -> None:
    for (source, path), (put, stamp) in effects.items():
        if put is None and stamp is not None:
            values = tuple(map(int_in, stamp))
            row = (*values, values == stamp, text_in(source), text_in(path))
            connection.execute(of_build(_TOUCH, build), row)


def _add(
    connection: apsw.Connection, build: int, puts: Iterable[tuple[int | None, PutDocument, Stamp]]
) -> tuple[list[int], int]:
    """The ids of the documents that were added, and how many chunks they have."""
    first: int = connection.execute("SELECT next FROM counter WHERE name = 'chunk'").get
    chunk_rows: list[tuple[Any, ...]] = []
    text_rows: list[tuple[Any, ...]] = []
    term_rows: list[tuple[Any, ...]] = []
    documents: list[int] = []
    id_ = first
    for known_id, put, stamp in puts:
        connection.execute(of_build(_ADD, build), (known_id, *_document_row(put, stamp)))
        document = connection.last_insert_rowid()
        documents.append(document)
        for ordinal, analysed in enumerate(put.chunks):
            chunk_rows.append((id_, document, ordinal, *_chunk_values(analysed)))
            text = analysed.chunk.text
            text_rows.append((id_, text_in(text), packed(analysed.terms.body, text)))
            body, head, extra = map(indexable, analysed.terms)
            term_rows.append((id_, body, head, extra))
            id_ += 1
    connection.executemany(of_build(_ADD_CHUNK, build), chunk_rows)
    connection.executemany(of_build(_ADD_TEXT, build), text_rows)
    connection.executemany(of_build(_ADD_FTS, build), term_rows)
    connection.execute("UPDATE counter SET next = ? WHERE name = 'chunk'", (id_,))
    return documents, id_ - first


def _document_row(put: PutDocument, stamp: Stamp) -> tuple[Any, ...]:
    given = put.source, put.path, put.digest, put.recipe, *stamp
    stored = (
        text_in(put.source),
        text_in(put.path),
        text_in(put.digest),
        text_in(put.recipe),
        *map(int_in, stamp),
    )
    return (*stored, stored == given, put.day, put.trust, len(put.chunks))


def _chunk_values(analysed: AnalysedChunk) -> tuple[Any, ...]:
    chunk = analysed.chunk
    heading = heading_in(chunk.heading)
    return chunk.start_line, chunk.end_line, heading, digest_in(analysed.digest)
