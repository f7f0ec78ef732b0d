"""What a batch of changes comes to: entries for the log, and rows of chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from commonplace.plugin import DeleteDocument, PutDocument, TouchDocument, term_counts
from commonplace_example_milvus.catalogue import Entry
from commonplace_example_milvus.rows import chunk_row, terms_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.plugin import Change
    from commonplace_example_milvus.catalogue import Key
    from commonplace_example_milvus.database import Row


def planned(
    documents: Mapping[Key, Entry], changes: Sequence[Change], build: int, seq: int
) -> tuple[list[Entry], list[Row]]:
    """Entries, numbered from ``seq + 1`` on, and the rows of new chunks; nothing is written.

    Of several changes to a document the last one counts, and there is one entry. What is not there
    is neither deleted nor touched. Raises ``TypeError`` for anything that is not a change.
    """
    new: dict[Key, Entry] = {}
    rows: dict[int, list[Row]] = {}
    for number, change in enumerate(changes, seq + 1):
        match change:
            case PutDocument():
                rows[number] = [
                    chunk_row(build, number, place, chunk)
                    for place, chunk in enumerate(change.chunks)
                ]
                entry = _entry(change, build, number, rows[number])
            case DeleteDocument(source=source, path=path):
                entry = Entry(number, build, 0, source, path)
            case TouchDocument(source=source, path=path, stamp=stamp):
                old = new.get((source, path)) or documents.get((source, path))
                if old is None or not old.version:
                    continue
                entry = evolve(old, seq=number, stamp=stamp)
            case other:
                raise TypeError(f"not a change: {other!r}")
        new[entry.key] = entry
    entries = [e for e in new.values() if e.version or e.key in documents]
    return entries, [row for entry in entries for row in rows.get(entry.version, ())]


def _entry(put: PutDocument, build: int, number: int, rows: Sequence[Row]) -> Entry:
    return Entry(
        seq=number,
        build=build,
        version=number,
        source=put.source,
        path=put.path,
        digest=put.digest,
        stamp=put.stamp,
        fingerprint=put.fingerprint,
        day=put.day,
        trust=put.trust,
        chunks=len(rows),
        tags=put.tags,
        tokens=sum(term_counts(terms_of(row)).length for row in rows),
    )
