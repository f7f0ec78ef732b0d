"""The writer lease: of all threads and processes that know a file, one may write at a time."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from commonplace.errors import CallerError, IndexBusyError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Lease"]

_POLL_SECONDS = 0.02


class Lease:
    """A lock on a file beside the index; the system lets go of it when the process ends.

    The file itself says nothing and may stay where it is. A second one tells who holds the lease.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._holder_path = f"{path}.pid"
        self._thread_lock = threading.RLock()
        self._owner: int | None = None
        self._depth = 0

    @contextmanager
    def threads(self, wait: float) -> Iterator[bool]:
        """Keep the other threads of this process out; tells whether this is the outermost hold.

        Raises :class:`~commonplace.errors.IndexBusyError` after ``wait`` seconds.
        """
        if not self._thread_lock.acquire(timeout=min(max(wait, 0.0), threading.TIMEOUT_MAX)):
            raise IndexBusyError(
                "another thread of this process is writing the index",
                mend="try again when it is done",
            )
        self._depth += 1
        self._owner = threading.get_ident()
        try:
            yield self._depth == 1
        finally:
            self._depth -= 1
            if not self._depth:
                self._owner = None
            self._thread_lock.release()

    @contextmanager
    def processes(self, wait: float) -> Iterator[None]:
        """Keep the other processes out; for the outermost hold of :meth:`threads` only.

        Raises :class:`~commonplace.errors.IndexBusyError` after ``wait`` seconds, and ``OSError``
        where there can be no lock file.
        """
        # Imported here: it costs some 40 ms, which a search that writes nothing does not pay.
        import filelock

        lock = filelock.FileLock(self._path, mode=0o600, thread_local=False)
        try:
            lock.acquire(timeout=max(wait, 0.0), poll_interval=_POLL_SECONDS)
        except filelock.Timeout as error:
            raise IndexBusyError(
                f"{self._holder()} is writing the index", mend="try again when it is done"
            ) from error
        try:
            self._sign()
            yield
        finally:
            with suppress(OSError):
                os.unlink(self._holder_path)
            lock.release()

    def check(self) -> None:
        """Raise :class:`~commonplace.errors.CallerError` unless this thread holds the lease."""
        # No lock is needed: a thread can only find its own id here if it put it there.
        if self._owner != threading.get_ident():
            raise CallerError(
                "writing without the lease", mend="write inside `with store.writer(wait=...)`"
            )

    def _sign(self) -> None:
        # A courtesy to whoever has to wait: that it cannot be done is no reason not to write.
        with suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            descriptor = os.open(self._holder_path, flags, 0o600)
            try:
                os.write(descriptor, str(os.getpid()).encode())
            finally:
                os.close(descriptor)

    def _holder(self) -> str:
        try:
            descriptor = os.open(self._holder_path, os.O_RDONLY)
        except OSError:
            return "another process"
        try:
            pid = os.read(descriptor, 32).decode(errors="replace").strip()
        finally:
            os.close(descriptor)
        return f"process {pid}" if pid.isdecimal() else "another process"
