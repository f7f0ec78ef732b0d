"""The connection that a process writes the index file through."""

from __future__ import annotations

import apsw

from commonplace_sqlite import schema
from commonplace_sqlite.connection import (
    UnfitError,
    abandon,
    adopt,
    condition_of,
    open_file,
    refuse_newer,
    transaction,
    tune_for_writing,
)
from commonplace_sqlite.files import make_file, stamp_of

__all__ = ["Writer"]


class Writer:
    """Opened when it is first needed; for holders of the writer lease alone."""

    def __init__(self, path: str, *, vfs: str, busy_ms: int) -> None:
        self._path = path
        self._vfs = vfs
        self._busy_ms = busy_ms
        self._connection: apsw.Connection | None = None
        self._stamp: tuple[int, ...] | None = None

    def connection(self) -> apsw.Connection:
        """A connection to a file of the current schema: made, or migrated, if need be.

        Raises ``UnfitError`` where the file has to be set aside first,
        :class:`~commonplace.errors.IndexNewerError`, ``OSError`` and ``apsw.Error``.
        """
        if self._connection is not None:
            if stamp_of(self._path) == self._stamp:
                return self._connection
            self.abandon()
        make_file(self._path)
        connection = open_file(self._path, "write", vfs=self._vfs, busy_ms=self._busy_ms)
        try:
            self._bring_up(connection)
        except BaseException:
            abandon(connection)
            raise
        adopt(connection)
        self._connection, self._stamp = connection, stamp_of(self._path)
        return connection

    def abandon(self) -> None:
        """Close the connection and leave the file as it is."""
        abandon(self._connection)
        self._connection = None

    def close(self) -> None:
        """Close the connection; the last one to do so writes the log back."""
        if self._connection is not None:
            self._connection.close(True)
            self._connection = None

    def _bring_up(self, connection: apsw.Connection) -> None:
        condition = condition_of(connection, self._path)
        refuse_newer(condition, self._path)
        if condition in {"foreign", "incomplete"}:
            raise UnfitError(condition)
        if connection.readonly("main"):
            raise apsw.ReadOnlyError("the file is read-only")
        tune_for_writing(connection, new=condition == "empty")
        if condition == "current":
            return
        try:
            with transaction(connection):
                if condition == "older":
                    schema.migrate(connection)
                else:
                    schema.create(connection)
        except (apsw.SQLError, apsw.ConstraintError) as error:
            raise UnfitError(f"of a version that cannot be brought up to date ({error})") from error
