"""The connection that all threads of a process read the index file through."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commonplace.plugin import DeadlineExceededError
from commonplace_sqlite.connection import UnfitError, abandon, adopt, open_readable, refuse_newer
from commonplace_sqlite.files import stamp_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from commonplace.plugin import Deadline
    from commonplace_sqlite.connection import Access

__all__ = ["Reader"]


class Reader:
    """Opened when it is first needed, and again when another file has taken the place of its own.

    Everything but :meth:`locked` is for whoever holds that lock.
    """

    def __init__(self, path: str, *, vfs: str, busy_ms: int) -> None:
        self._path = path
        self._vfs = vfs
        self._busy_ms = busy_ms
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._stamp: tuple[int, ...] | None = None
        self.access: Access = "write"

    @contextmanager
    def locked(self, deadline: Deadline | None = None) -> Iterator[None]:
        """Keep other threads out.

        Raises :class:`~commonplace.errors.DeadlineExceededError` where that takes too long.
        """
        timeout = -1.0
        if deadline is not None:
            deadline.check("the search of the index")
            timeout = min(deadline.remaining(), threading.TIMEOUT_MAX)
        if not self._lock.acquire(timeout=timeout):
            raise DeadlineExceededError("the index was busy with other searches for too long")
        try:
            yield
        finally:
            self._lock.release()

    def connection(self) -> apsw.Connection | None:
        """A connection to the file that is there now; ``None`` where there is none to speak of.

        Raises ``UnfitError`` where something has to be done to the file first,
        :class:`~commonplace.errors.IndexNewerError`, and ``apsw.Error``.
        """
        if self._connection is not None:
            if stamp_of(self._path, frozen=self.access == "frozen") == self._stamp:
                return self._connection
            self.abandon()
        if stamp_of(self._path) is not None:
            self._connect()
        return self._connection

    def abandon(self) -> None:
        """Close the connection and leave the file as it is."""
        abandon(self._connection)
        self._connection = None

    def close(self) -> None:
        """Close the connection; the last one to do so writes the log back."""
        if self._connection is not None:
            self._connection.close(True)
            self._connection = None

    def _connect(self) -> None:
        connection, access, condition = open_readable(
            self._path, vfs=self._vfs, busy_ms=self._busy_ms
        )
        try:
            refuse_newer(condition, self._path)
            if condition == "current":
                adopt(connection)
                self._stamp = stamp_of(self._path, frozen=access == "frozen")
                self._connection, self.access = connection, access
            elif condition != "empty":
                raise UnfitError(condition)
        finally:
            if self._connection is not connection:
                abandon(connection)
