"""The writer lease: of all that write one namespace from this machine, one at a time may."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from commonplace.errors import CallerError, IndexBusyError, IndexReadOnlyError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from commonplace_lancedb.place import Place

__all__ = ["Lease"]

_POLL_SECONDS = 0.02


class Lease:
    """A lock on a file beside the table, which the system lets go of when the process ends.

    In a bucket or a service there is no such lock: there the lease keeps the threads of this
    store apart and no more. Other machines are kept apart by the revision of the head, which
    every commit compares.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._threads = threading.RLock()
        self._owner: int | None = None
        self._depth = 0

    @contextmanager
    def held(self, wait: float) -> Iterator[bool]:
        """Hold the lease; tells whether this is the outermost hold.

        Raises :class:`~commonplace.errors.IndexBusyError` after ``wait`` seconds, and
        :class:`~commonplace.errors.IndexReadOnlyError` where there can be no lock.
        """
        wait = max(wait, 0.0)
        if not self._threads.acquire(timeout=min(wait, threading.TIMEOUT_MAX)):
            raise IndexBusyError(
                "another thread of this process is writing the index",
                mend="try again when it is done",
            )
        self._depth += 1
        self._owner = threading.get_ident()
        try:
            with self._processes(wait) if self._depth == 1 else nullcontext():
                yield self._depth == 1
        finally:
            self._depth -= 1
            if not self._depth:
                self._owner = None
            self._threads.release()

    def check(self) -> None:
        """Raise :class:`~commonplace.errors.CallerError` unless this thread holds the lease."""
        # No lock is needed: a thread can only find its own id here if it put it there.
        if self._owner != threading.get_ident():
            raise CallerError(
                "writing without the lease", mend="write inside `with store.writer(wait=...)`"
            )

    def _processes(self, wait: float) -> AbstractContextManager[object]:
        folder = self._place.folder
        return nullcontext() if folder is None else self._locked(folder, wait)

    @contextmanager
    def _locked(self, folder: str, wait: float) -> Iterator[None]:
        import filelock

        path = os.path.join(folder, f"{self._place.namespace}.lock")
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            lock = filelock.FileLock(path, mode=0o600, thread_local=False)
            lock.acquire(timeout=wait, poll_interval=_POLL_SECONDS)
        except filelock.Timeout as error:
            raise IndexBusyError(
                "another process is writing the index", mend="try again when it is done"
            ) from error
        except OSError as error:
            raise IndexReadOnlyError(
                f"the LanceDB at {self._place.shown} cannot be written: {error.strerror}",
                mend="make the folder and what is in it writable",
            ) from error
        try:
            yield
        finally:
            lock.release()
