"""Commits that count only if nobody else has committed to the namespace since.

Lance makes a commit whole or not at all, and tells two that touch the same rows apart; but it
then carries out the later one again, on what the earlier has left. So each commit brings the row
of the head along, with a condition that divides by zero unless the head still has the revision
the commit was made for: it then fails as a whole, and is made again from what is there now.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any, TypeVar

from commonplace.plugin import IndexBusyError
from commonplace_lancedb.head import Head, head_id
from commonplace_lancedb.translation import ConflictError, translated

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from commonplace_lancedb.database import Database
    from commonplace_lancedb.snapshot import Snapshot

__all__ = ["Committer"]

_ATTEMPTS = 12
_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 2.0

R = TypeVar("R")


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
            f"others write to {self._database.place.shown} all the time",
            hint="try again in a moment",
        )

    def commit(self, before: Head, after: Head, rows: pa.Table | None = None) -> None:
        """Write ``rows`` and the head that follows ``after``, if the head still is ``before``.

        Rows whose ids are known replace those they are of. Raises ``ConflictError``.
        """
        import pyarrow as pa

        table = self._database.table()
        head = self._head_row(table.schema, after.next())
        data = head if rows is None else pa.concat_tables([head, rows])
        guard = (
            f"1 / CAST((target.id <> {head_id(self._database.place.namespace)} "
            f"OR target.revision = {before.revision}) AS BIGINT) = 1"
        )
        merge = table.merge_insert("id").when_matched_update_all(where=guard)
        with translated(self._database.place):
            # What is null stays null: bad vectors have been refused before.
            merge.when_not_matched_insert_all().execute(data, on_bad_vectors="null")
        self._database.changed()

    def _begun(self) -> Snapshot:
        """The namespace as it is, with a head."""
        snapshot = self._database.latest()
        if snapshot is None or not snapshot.head.revision:
            table = self._database.table()
            first = self._head_row(table.schema, Head(revision=1))
            with translated(self._database.place):
                table.merge_insert("id").when_not_matched_insert_all().execute(
                    first, on_bad_vectors="null"
                )
            snapshot = self._database.latest()
        assert snapshot is not None, "the table was made above"
        return snapshot

    def _head_row(self, schema: pa.Schema, head: Head) -> Any:
        import pyarrow as pa

        namespace = self._database.place.namespace
        row = {
            "id": head_id(namespace),
            "namespace": namespace,
            "kind": "head",
            "revision": head.revision,
            "state": head.dumped(),
        }
        return pa.Table.from_pylist([row], schema=schema)
