"""Putting documents: which rows come, which are replaced, and what that does to the counts."""

from __future__ import annotations

import random
import secrets
import time
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from commonplace.plugin import DeleteDocument, IndexBusyError, PutDocument, TouchDocument
from commonplace_lancedb.conditions import Among
from commonplace_lancedb.errors import ConflictError, translated
from commonplace_lancedb.head import (
    ID_BITS,
    Counts,
    Head,
    epoch_column,
    head_id,
    heading_in,
    terms_in,
    text_in,
    text_out,
)
from commonplace_lancedb.vectors import carried, with_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pyarrow as pa

    from commonplace.plugin import Change
    from commonplace_lancedb.database import Database
    from commonplace_lancedb.head import BuildState
    from commonplace_lancedb.snapshot import Snapshot


Key = tuple[str, str]

_DOCUMENT = (
    "id",
    "namespace",
    "kind",
    "build",
    "doc",
    "source",
    "path",
    "day",
    "trust",
    "tags",
    "digest",
    "fingerprint",
    "stamp",
    "chunks",
    "tokens",
)


class Prepared(NamedTuple):
    """What becomes of one document: its new rows, document first, or none; or a new stamp."""

    rows: tuple[dict[str, Any], ...] | None
    stamp: str | None


def prepared(namespace: str, build: int, changes: Sequence[Change]) -> dict[Key, Prepared]:
    """The outcome of ``changes`` by document; later changes build upon earlier ones.

    Raises ``TypeError`` for anything that is not a change.
    """
    outcome: dict[Key, Prepared] = {}
    for change in changes:
        match change:
            case PutDocument():
                rows = tuple(_rows(namespace, build, change))
                outcome[change.source, change.path] = Prepared(rows, None)
            case DeleteDocument(source=source, path=path):
                outcome[source, path] = Prepared((), None)
            case TouchDocument(source=source, path=path, stamp=stamp):
                before = outcome.get((source, path), Prepared(None, None))
                if before.rows:
                    first = {**before.rows[0], "stamp": text_in(stamp)}
                    outcome[source, path] = Prepared((first, *before.rows[1:]), None)
                elif before.rows is None:
                    outcome[source, path] = Prepared(None, text_in(stamp))
            case other:
                raise TypeError(f"not a change: {other!r}")
    return outcome


def written(
    snapshot: Snapshot, head: Head, build: BuildState, outcome: dict[Key, Prepared]
) -> tuple[Head, pa.Table] | None:
    """The commit that brings ``outcome`` about; ``None`` where it is what there is already."""
    import pyarrow as pa

    old = {
        (text_out(row["source"]), text_out(row["path"])): row
        for row in _documents(snapshot, build, outcome)
    }
    gone = [old[key] for key, one in outcome.items() if one.rows is not None and key in old]
    fresh = [row for one in outcome.values() for row in one.rows or ()]
    touched = [
        {**old[key], "stamp": one.stamp}
        for key, one in outcome.items()
        if one.stamp is not None and key in old
    ]
    if not (gone or fresh or touched):
        return None
    chunks = _chunks(snapshot, head, build, [row["id"] for row in gone])
    after = build
    for row in gone:
        after = after.counting(text_out(row["source"]), -_counts(row))
    for row in fresh:
        if row["kind"] == "doc":
            after = after.counting(text_out(row["source"]), _counts(row))
    for name, space in head.spaces.items():
        with_vector = sum(row[epoch_column(space.column)] == space.epoch for row in chunks)
        after = after.covering(name, -with_vector)
    # To delete in the commit that inserts, Lance would have to read the ids of the whole table.
    dead = [{"id": row["id"], "kind": "dead"} for row in (*gone, *chunks)]
    table = pa.Table.from_pylist([*fresh, *touched, *dead], schema=snapshot.schema())
    digests = [row["digest"] if row["kind"] == "chunk" else None for row in fresh]
    kept = carried(snapshot, head, {digest for digest in digests if digest is not None})
    table, added = with_vectors(table, head, kept, digests)
    for name, number in added.items():
        after = after.covering(name, number)
    return head.with_build(after), table


def _rows(namespace: str, build: int, put: PutDocument) -> Iterable[dict[str, Any]]:
    id_ = secrets.randbits(ID_BITS)
    shared = {
        "namespace": namespace,
        "build": build,
        "doc": id_,
        "source": text_in(put.source),
        "path": text_in(put.path),
        "day": put.day,
        "trust": put.trust,
        "tags": [text_in(tag) for tag in put.tags],
    }
    chunks = []
    for position, (chunk, terms, digest) in enumerate(put.chunks):
        columns = terms_in(*terms)
        chunks.append(
            {
                **shared,
                "id": secrets.randbits(ID_BITS),
                "kind": "chunk",
                "position": position,
                "start_line": chunk.start_line,
                "end_line": chunk.end_line,
                "text": text_in(chunk.text),
                "heading": heading_in(chunk.heading),
                "terms": columns,
                # The two that stand between the columns are no tokens.
                "tokens": len(columns.split()) - 2,
                "digest": digest,
            }
        )
    yield {
        **shared,
        "id": id_,
        "kind": "doc",
        "digest": put.digest,
        "fingerprint": text_in(put.fingerprint),
        "stamp": text_in(put.stamp),
        "chunks": len(chunks),
        "tokens": sum(chunk["tokens"] for chunk in chunks),
    }
    yield from chunks


def _documents(
    snapshot: Snapshot, build: BuildState, keys: Iterable[Key]
) -> Iterable[dict[str, Any]]:
    wanted = set(keys)
    if not wanted or not build.sources:
        return
    paths = Among("path", sorted({path for _, path in wanted}))
    for row in snapshot.rows(build, "doc", _DOCUMENT, paths).to_pylist():
        if (text_out(row["source"]), text_out(row["path"])) in wanted:
            yield row


def _chunks(
    snapshot: Snapshot, head: Head, build: BuildState, documents: Sequence[int]
) -> list[dict[str, Any]]:
    if not documents:
        return []
    epochs = (epoch_column(space.column) for space in head.spaces.values())
    rows: list[dict[str, Any]] = snapshot.rows(
        build, "chunk", ("id", *epochs), Among("doc", documents)
    ).to_pylist()
    return rows


def _counts(row: dict[str, Any]) -> Counts:
    return Counts(1, row["chunks"], row["tokens"])


_ATTEMPTS = 30
"""Half a minute of pauses in the mean, as long as writers of a folder wait for one another."""

_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 2.0

R = TypeVar("R")


def _step() -> int:
    """By how much a commit raises the revision: more than 8e9 commits fit into a column."""
    return 1 + secrets.randbits(30)


class Committer:
    """Makes changes to a namespace, again and again until one holds.

    ``sleep`` waits that many seconds; ``uniform`` draws a number between two, so that writers who
    have met once do not meet again.
    """

    def __init__(
        self,
        database: Database,
        *,
        sleep: Callable[[float], None] = time.sleep,
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._database = database
        self._sleep = sleep
        self._uniform = uniform

    def change(self, make: Callable[[Snapshot], R]) -> R:
        """What ``make`` gives back, once it has come through without a conflict.

        ``make`` is given the namespace as it is, and commits at most once, by :meth:`commit`.
        Raises :class:`~commonplace.errors.IndexBusyError` where others are quicker every time.
        """
        for attempt in range(_ATTEMPTS):
            if attempt:
                longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
                self._sleep(self._uniform(0.0, longest))
            try:
                return make(self._begun())
            except ConflictError:
                continue
        raise IndexBusyError(
            f"others write to {self._database.location.shown} all the time",
            hint="try again in a moment",
        )

    def commit(self, before: Head, after: Head, rows: pa.Table | None = None) -> None:
        """Write ``rows`` and the head that follows ``after``, if the head still is ``before``.

        Rows whose ids are known replace those they are of. Raises ``ConflictError``.
        """
        import pyarrow as pa

        table = self._database.table()
        head = after.next(_step())
        row = self._head_row(table.schema, head)
        data = row
        if rows is not None:
            if not rows.schema.equals(table.schema):
                raise ConflictError  # another agent has added the columns of its vectors
            # So that who holds a row in memory knows whether it has been written again.
            mark = pa.array([head.revision] * rows.num_rows, pa.int64())
            at = rows.schema.get_field_index("revision")
            data = pa.concat_tables([row, rows.set_column(at, rows.schema.field(at), mark)])
        guard = (
            f"1 / CAST((target.id <> {head_id(self._database.location.namespace)} "
            f"OR target.revision = {before.revision}) AS BIGINT) = 1"
        )
        merge = table.merge_insert("id").when_matched_update_all(where=guard)
        with translated(self._database.location):
            # What is null stays null: bad vectors have been refused before.
            done = merge.when_not_matched_insert_all().execute(data, on_bad_vectors="null")
        self._database.changed(done.version, head)

    def _begun(self) -> Snapshot:
        """The namespace as it is, with a head."""
        snapshot = self._database.latest()
        if snapshot is None or not snapshot.head.revision or "tags" not in snapshot.columns:
            table = self._database.table()
            first = self._head_row(table.schema, Head(revision=_step()))
            with translated(self._database.location):
                table.merge_insert("id").when_not_matched_insert_all().execute(
                    first, on_bad_vectors="null"
                )
            snapshot = self._database.latest()
        assert snapshot is not None, "the table was made above"
        return snapshot

    def _head_row(self, schema: pa.Schema, head: Head) -> Any:
        import pyarrow as pa

        namespace = self._database.location.namespace
        row = {
            "id": head_id(namespace),
            "namespace": namespace,
            "kind": "head",
            "revision": head.revision,
            "state": head.dumped(),
        }
        return pa.Table.from_pylist([row], schema=schema)
