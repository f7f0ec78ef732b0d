"""SQLite's own access to files, with failures on demand."""
# ruff: noqa: N802  the methods are called by the names that SQLite gave them

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import apsw

if TYPE_CHECKING:
    from types import TracebackType

Fault = Literal["full", "io", "short"]
"""The disk is full; it fails; it takes half of what is written, then fails."""

_FAILURES: dict[Fault, type[apsw.Error]] = {
    "full": apsw.FullError,
    "io": apsw.IOError,
    "short": apsw.IOError,
}


class FaultyVFS(apsw.VFS):
    """Counts what changes files, and fails at the operation it is given.

    Hand ``name`` to whatever opens a database. ``log`` holds what was done, one word for each.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, "")
        self.name = name
        self.log: list[str] = []
        self.read_only = False
        self.fail_reads = False
        self._fail_at: int | None = None
        self._fault: Fault = "io"
        self._lasting = False

    def fail(self, at: int, fault: Fault = "io", *, lasting: bool = False) -> None:
        """Fail at the ``at``-th operation from now on (1 is the next); ``lasting``: and ever after.

        A disk that fails for good is what a crash looks like to the file.
        """
        self.log.clear()
        self._fail_at, self._fault, self._lasting = at, fault, lasting

    def heal(self) -> bool:
        """Fail no more; tells whether the failure that was asked for has come."""
        came = self._fail_at is not None and len(self.log) >= self._fail_at
        self._fail_at = None
        self.fail_reads = self.read_only = False
        return came

    def due(self, operation: str) -> Fault | None:
        """Note ``operation``; what must befall it."""
        self.log.append(operation)
        if self._fail_at is None or len(self.log) < self._fail_at:
            return None
        return self._fault if self._lasting or len(self.log) == self._fail_at else None

    def check(self, operation: str) -> None:
        """Note ``operation``, and raise if it has to fail."""
        fault = self.due(operation)
        if fault is not None:
            raise _FAILURES[fault](f"made to fail: {fault}")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        if self.read_only and flags[0] & apsw.SQLITE_OPEN_READWRITE:
            if not flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
                raise apsw.ReadOnlyError("made to be read-only")
            # What SQLite does on a read-only file system.
            writing = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
            flags[0] = flags[0] & ~writing | apsw.SQLITE_OPEN_READONLY
        return _FaultyFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.check("delete")
        super().xDelete(filename, syncdir)

    def excepthook(
        self,
        etype: type[BaseException] | None,
        evalue: BaseException | None,
        etraceback: TracebackType | None,
    ) -> bool:
        """SQLite ignores some failures, such as of deleting a log; so must the tests."""
        return True


class _FaultyFile(apsw.VFSFile):
    def __init__(
        self, vfs: FaultyVFS, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        super().__init__("", name, flags)
        self._vfs = vfs

    def xRead(self, amount: int, offset: int) -> bytes:
        if self._vfs.fail_reads:
            raise apsw.IOError("made to fail: read")
        return super().xRead(amount, offset)

    def xWrite(self, data: Any, offset: int) -> None:
        fault = self._vfs.due("write")
        if fault == "short":
            super().xWrite(bytes(data)[: len(bytes(data)) // 2], offset)
        if fault is not None:
            raise _FAILURES[fault](f"made to fail: {fault}")
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self._vfs.check("truncate")
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        self._vfs.check("sync")
        super().xSync(flags)

    def excepthook(
        self,
        etype: type[BaseException] | None,
        evalue: BaseException | None,
        etraceback: TracebackType | None,
    ) -> bool:
        """As for the whole VFS."""
        return True
