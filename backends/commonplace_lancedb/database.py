"""The connection, and the snapshots of the table that reads are made of."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Any

from commonplace.plugin import IndexCorruptError
from commonplace_lancedb.snapshot import Snapshot
from commonplace_lancedb.translation import closed, is_missing_table, translated

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.plugin import Deadline
    from commonplace_lancedb.place import Place

__all__ = ["Database"]


class Database:
    """Opens the table when it is first needed, and makes it when it is first written.

    A snapshot is one version of the table and never changes. One serves all reads for
    ``consistency_seconds``; then it is looked whether there is a newer version.
    """

    def __init__(
        self,
        place: Place,
        *,
        consistency_seconds: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.place = place
        self._consistency = consistency_seconds
        self._clock = clock
        self._lock = threading.RLock()
        self._connection: Any = None
        self._snapshot: Snapshot | None = None
        self._looked = 0.0
        self._closed = self._ready = False

    def warm(self) -> None:
        """Import LanceDB where it will be needed.

        It takes a second, which is not to be counted against the time that a search has.
        """
        if self._may_exist():
            import lancedb  # noqa: F401 - for its being imported

    def check_open(self) -> None:
        """Raise :class:`~commonplace.errors.IndexUnavailableError` once closed."""
        if self._closed:
            raise closed(self.place)

    def snapshot(self, deadline: Deadline | None = None) -> Snapshot | None:
        """The table as it is now, or was within the interval; ``None`` where there is none."""
        with self._lock:
            self.check_open()
            now = self._clock()
            if self._snapshot is not None and now - self._looked < self._consistency:
                return self._snapshot
            table = self._open(deadline)
            self._looked = now
            if table is None:
                self._snapshot = None
            elif self._snapshot is None or not self._snapshot.is_of(table):
                self._snapshot = Snapshot(table, self.place)
            return self._snapshot

    def latest(self) -> Snapshot | None:
        """The table as it is now, whatever the interval."""
        with self._lock:
            self._looked = float("-inf")
            return self.snapshot()

    def table(self) -> Any:
        """A handle of the table to write through; the table is made if need be."""
        with self._lock:
            self.check_open()
            table = self._open(None)
            with translated(self.place):
                if table is None:
                    table = self._made()
                elif not self._ready and all(i.columns != ["terms"] for i in table.list_indices()):
                    self._index(table)  # whoever made the table did not come so far
            self._ready = True
            return table

    def is_latest(self) -> bool:
        """Whether what was last read is the table as it is now, or cannot even be opened.

        Of an older version files may be gone, without any damage.
        """
        with self._lock:
            try:
                table = self._open(None)
            except IndexCorruptError:
                return True
            return table is not None and (self._snapshot is None or self._snapshot.is_of(table))

    def changed(self) -> None:
        """Forget how the table was: this process has just written."""
        with self._lock:
            self._looked = float("-inf")

    def close(self) -> None:
        """Let go of everything; waits for nobody who is connecting, which may take long."""
        self._closed = True
        if self._lock.acquire(blocking=False):
            try:
                self._snapshot = self._connection = None
            finally:
                self._lock.release()

    def _open(self, deadline: Deadline | None) -> Any:
        if not self._may_exist():
            return None
        with translated(self.place, deadline):
            connection = self._connected()
            try:
                return connection.open_table(self.place.table)
            except ValueError as error:
                if is_missing_table(error, self.place.table):
                    return None
                raise

    def _may_exist(self) -> bool:
        """False where it is certain, without LanceDB, that there is no table."""
        folder = self.place.folder
        return folder is None or os.path.isdir(f"{folder}/{self.place.table}.lance")

    def _connected(self) -> Any:
        if self._connection is None:
            import lancedb

            # No interval: a handle stays at its version, which is what makes it a snapshot.
            self._connection = lancedb.connect(self.place.uri, **self.place.arguments())
        return self._connection

    def _made(self) -> Any:
        from commonplace_lancedb.schema import schema

        name, columns = self.place.table, schema()
        table = self._connected().create_table(name, schema=columns, exist_ok=True)
        self._index(table)
        return table

    def _index(self, table: Any) -> None:
        """Make the keyword index: Lance searches no words without one."""
        from lancedb.index import FTS

        config = FTS(
            # The terms are analysed: their tokens are kept as they are.
            base_tokenizer="whitespace",
            with_position=True,
            max_token_length=None,
            lower_case=False,
            stem=False,
            remove_stop_words=False,
            ascii_folding=False,
        )
        table.create_index("terms", config=config)
