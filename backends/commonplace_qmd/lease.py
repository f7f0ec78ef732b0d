"""The lease of a QMD home: of all threads and processes, one may update it at a time."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commonplace.errors import IndexBusyError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Lease"]

_POLL_SECONDS = 0.05


class Lease:
    """A lock on a file; the system lets go of it when the process ends."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._threads = threading.Lock()

    @contextmanager
    def held(self, wait: float) -> Iterator[None]:
        """Hold it; raises :class:`~commonplace.errors.IndexBusyError` after ``wait`` seconds."""
        if not self._threads.acquire(timeout=min(max(wait, 0.0), threading.TIMEOUT_MAX)):
            raise IndexBusyError(
                "another thread of this process is updating QMD", mend="try again when it is done"
            )
        try:
            with self._processes(wait):
                yield
        finally:
            self._threads.release()

    @contextmanager
    def _processes(self, wait: float) -> Iterator[None]:
        # Imported here: it costs some 40 ms, which a search that updates nothing does not pay.
        import filelock

        lock = filelock.FileLock(self._path, mode=0o600, thread_local=False)
        try:
            lock.acquire(timeout=max(wait, 0.0), poll_interval=_POLL_SECONDS)
        except filelock.Timeout as error:
            raise IndexBusyError(
                "another process is updating QMD", mend="try again when it is done"
            ) from error
        try:
            yield
        finally:
            lock.release()
