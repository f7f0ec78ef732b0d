"""The writer lease: one thread of one process on this machine may write."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import filelock

from commonplace.errors import CallerError, IndexBusyError, IndexReadOnlyError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Lease"]

_POLL_SECONDS = 0.02


class Lease:
    """A lock on a file, which the system lets go of when the process ends; re-entrant in a thread.

    It keeps apart who writes from this machine. Milvus has no locks, so several machines that
    write to the same collections have to be kept apart by whoever sets them up.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._threads = threading.RLock()
        self._holder: int | None = None

    @contextmanager
    def held(self, wait: float) -> Iterator[bool]:
        """Hold the lease; tells whether this is the outermost hold.

        Raises :class:`~commonplace.errors.IndexBusyError` if it is not free within ``wait``
        seconds, and :class:`~commonplace.errors.IndexReadOnlyError` where no lock can be made.
        """
        began = time.monotonic()
        if not self._threads.acquire(timeout=min(max(wait, 0.0), threading.TIMEOUT_MAX)):
            raise _busy("another thread")
        try:
            if self._holder is not None:
                yield False
                return
            with self._file(wait - (time.monotonic() - began)):
                self._holder = threading.get_ident()
                try:
                    yield True
                finally:
                    self._holder = None
        finally:
            self._threads.release()

    def check(self) -> None:
        """Raise :class:`~commonplace.errors.CallerError` unless this thread holds the lease."""
        # No lock is needed: a thread can only ever find its own id here if it put it there.
        if self._holder != threading.get_ident():
            raise CallerError(
                "writing without the lease", mend="write inside `with store.writer(wait=...)`"
            )

    @contextmanager
    def _file(self, wait: float) -> Iterator[None]:
        lock = filelock.FileLock(self._path, mode=0o600, thread_local=False)
        try:
            lock.acquire(timeout=max(wait, 0.0), poll_interval=_POLL_SECONDS)
        except filelock.Timeout as error:
            raise _busy("another process") from error
        except OSError as error:
            raise IndexReadOnlyError(
                f"nothing can be written: {error}", mend=f"make {self._path} writable"
            ) from error
        try:
            yield
        finally:
            lock.release()


def _busy(who: str) -> IndexBusyError:
    return IndexBusyError(f"{who} is writing the index", mend="try again when it is done")
