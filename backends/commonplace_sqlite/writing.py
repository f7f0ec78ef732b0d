"""Writing changes of documents into a build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from commonplace.plugin import AppendDocument, DeleteDocument, PutDocument, TouchDocument
from commonplace_sqlite.rows import digest_in, heading_in, indexable, packed, tags_in, text_in
from commonplace_sqlite.schema import has_spaces, of_build, text_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import apsw

    from commonplace.plugin import Change

    Known = tuple[int, int]


_FIND = "SELECT id, chunks FROM document_<n> WHERE source = ? AND path = ?"
_TOUCH = """
UPDATE document_<n> SET stamp = ?, plain = plain AND ?
WHERE source = ? AND path = ?
"""
_ADD = """
INSERT INTO document_<n> (id, source, path, fingerprint, trust, digest, stamp, resume, plain, day,
    chunks, tags)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_APPEND = """
UPDATE document_<n> SET digest = ?, stamp = ?, resume = ?, plain = plain AND ?, day = ?, chunks = ?
WHERE id = ?
"""
_CHUNK_IDS = "SELECT id FROM chunk_<n> WHERE document = ? AND ordinal >= ?"
_FORGET_FTS = "DELETE FROM fts_<n> WHERE rowid = ?"
_FORGET_TEXTS = "DELETE FROM text_<n> WHERE id >= ? AND id < ?"
_FORGET_CHUNKS = "DELETE FROM chunk_<n> WHERE document = ? AND ordinal >= ?"
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

    The caller holds a transaction. Raises ``TypeError`` for anything that is not a change, and
    ``ValueError`` for an append to a document that is missing or too short.
    """
    effects = net_effects(changes)
    # Deletions before insertions: FTS5 flushes what it has buffered whenever row ids
    # do not ascend, and new ids are above all old ones.
    going = _going(connection, build, effects)
    gone_from = dict(going.values())
    if has_vectors := has_spaces(connection):
        from commonplace_sqlite.vectors.slabs import documents_added, documents_going

        digests = documents_going(connection, build, gone_from)
    gone = _remove(connection, build, effects, going)
    _touch(connection, build, effects)
    documents, added = _add(connection, build, effects, going)
    if has_vectors:
        documents_added(connection, build, documents, gone_from, digests)
    connection.execute(_COUNT, (added - gone, gone, build))
    return added


def _going(
    connection: apsw.Connection, build: int, effects: Mapping[Key, Change]
) -> dict[Key, Known]:
    """The ids of the documents that go or change, and the first of the chunks of each that go.

    One that is replaced keeps its id, so that its rows stay where they are in the file.
    """
    find = of_build(_FIND, build)
    going: dict[Key, Known] = {}
    for key, change in effects.items():
        if isinstance(change, TouchDocument):
            continue
        row: Any = connection.execute(find, tuple(map(text_in, key))).fetchone()
        keep = change.keep if isinstance(change, AppendDocument) else 0
        if keep > (row[1] if row else 0) or (row is None and isinstance(change, AppendDocument)):
            raise ValueError(f"{key[1]} has no {keep} chunks to keep")
        if row is not None:
            going[key] = row[0], keep
    return going


def _remove(
    connection: apsw.Connection,
    build: int,
    effects: Mapping[Key, Change],
    going: Mapping[Key, Known],
) -> int:
    find = of_build(_CHUNK_IDS, build)
    chunks: list[Any] = sorted(
        row for known in going.values() for row in connection.execute(find, known)
    )
    connection.executemany(of_build(_FORGET_FTS, build), chunks)
    texts = [(text_id(id_, first), text_id(id_ + 1, 0)) for id_, first in going.values()]
    connection.executemany(of_build(_FORGET_TEXTS, build), texts)
    connection.executemany(of_build(_FORGET_CHUNKS, build), going.values())
    whole = [
        (document,)
        for key, (document, _) in going.items()
        if not isinstance(effects[key], AppendDocument)
    ]
    connection.executemany(of_build(_FORGET, build), whole)
    return len(chunks)


def _touch(connection: apsw.Connection, build: int, effects: Mapping[Key, Change]) -> None:
    for change in effects.values():
        if isinstance(change, TouchDocument):
            value = text_in(change.stamp)
            row = (value, value == change.stamp, text_in(change.source), text_in(change.path))
            connection.execute(of_build(_TOUCH, build), row)


def _add(
    connection: apsw.Connection,
    build: int,
    effects: Mapping[Key, Change],
    going: Mapping[Key, Known],
) -> tuple[dict[int, int], int]:
    """Which documents have new chunks, from which one on; and how many these are."""
    first: int = connection.execute("SELECT next FROM counter WHERE name = 'chunk'").get
    chunk_rows: list[tuple[Any, ...]] = []
    text_rows: list[tuple[Any, ...]] = []
    term_rows: list[tuple[Any, ...]] = []
    documents: dict[int, int] = {}
    id_ = first
    # Those whose ids are given come first: a new id may be one that has just become free.
    for key in sorted(effects, key=lambda key: key not in going):
        put = effects[key]
        if not isinstance(put, PutDocument | AppendDocument):
            continue
        document = _write_document(connection, build, put, going.get(key))
        begin = put.keep if isinstance(put, AppendDocument) else 0
        documents[document] = begin
        for ordinal, analysed in enumerate(put.chunks, begin):
            begin_line, end_line, text, heading = analysed.chunk
            about = heading_in(heading), digest_in(analysed.digest)
            chunk_rows.append((id_, document, ordinal, begin_line, end_line, *about))
            row = text_id(document, ordinal), text_in(text), packed(analysed.terms.body, text)
            text_rows.append(row)
            body, head, extra = map(indexable, analysed.terms)
            term_rows.append((id_, body, head, extra))
            id_ += 1
    connection.executemany(of_build(_ADD_CHUNK, build), chunk_rows)
    connection.executemany(of_build(_ADD_TEXT, build), text_rows)
    connection.executemany(of_build(_ADD_FTS, build), term_rows)
    connection.execute("UPDATE counter SET next = ? WHERE name = 'chunk'", (id_,))
    return documents, id_ - first


def _write_document(
    connection: apsw.Connection,
    build: int,
    put: PutDocument | AppendDocument,
    known: Known | None,
) -> int:
    """The id of the document, which is new, or keeps the id it had."""
    facts = put.digest, put.stamp, put.resume
    stored = tuple(map(text_in, facts))
    if isinstance(put, AppendDocument):
        assert known is not None, "the document to append to was found"
        size = put.keep + len(put.chunks)
        row = (*stored, stored == facts, put.day, size, known[0])
        connection.execute(of_build(_APPEND, build), row)
        return known[0]
    names = put.source, put.path, put.fingerprint
    named = tuple(map(text_in, names))
    plain = named == names and stored == facts
    id_ = known[0] if known is not None else None
    size, tags = len(put.chunks), tags_in(put.tags)
    row = (id_, *named, put.trust, *stored, plain, put.day, size, tags)
    connection.execute(of_build(_ADD, build), row)
    return connection.last_insert_rowid()


Key = tuple[str, str]
"""Source and path of a document."""


def net_effects(changes: Iterable[Change]) -> Mapping[Key, Change]:
    """The one change to each document that has the effect of all ``changes`` to it.

    Raises ``TypeError`` for anything that is not a change, and ``ValueError`` for an append to
    a document that these changes leave shorter, or delete.
    """
    effects: dict[Key, Change] = {}
    for change in changes:
        if not isinstance(change, PutDocument | AppendDocument | DeleteDocument | TouchDocument):
            raise TypeError(f"not a change: {change!r}")
        key = change.source, change.path
        before = effects.get(key)
        if isinstance(change, AppendDocument):
            effects[key] = _appended(before, change)
        elif before is None or not isinstance(change, TouchDocument):
            effects[key] = change
        elif not isinstance(before, DeleteDocument):
            effects[key] = evolve(before, stamp=change.stamp)
    return effects


def _appended(put: Change | None, change: AppendDocument) -> PutDocument | AppendDocument:
    if change.keep < 0:
        raise ValueError(f"{change.keep} chunks of {change.path} cannot be kept")
    match put:
        case DeleteDocument():
            raise ValueError(f"{change.path} is deleted and cannot be appended to")
        case None | TouchDocument():
            return change
    first = put.keep if isinstance(put, AppendDocument) else 0
    if change.keep < first:
        return change
    if change.keep > first + len(put.chunks):
        raise ValueError(f"{change.path} has no {change.keep} chunks to keep")
    return evolve(
        put,
        digest=change.digest,
        stamp=change.stamp,
        day=change.day,
        chunks=put.chunks[: change.keep - first] + change.chunks,
        resume=change.resume,
    )
