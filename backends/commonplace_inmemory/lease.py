"""The writer lease: one thread at a time may write."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commonplace.errors import CallerError, IndexBusyError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Lease"]


class Lease:
    """A lock that its own thread may take again, and that knows whether it is held."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._holder: int | None = None

    @contextmanager
    def held(self, wait: float) -> Iterator[None]:
        """Hold the lease; raise ``IndexBusyError`` if it is not free within ``wait`` seconds."""
        if not self._lock.acquire(timeout=min(wait, threading.TIMEOUT_MAX)):
            raise IndexBusyError(
                f"another thread is writing and did not let go within {wait:g} s",
                mend="try again when it is done",
            )
        outer, self._holder = self._holder, threading.get_ident()
        try:
            yield
        finally:
            self._holder = outer
            self._lock.release()

    def check(self) -> None:
        """Raise ``CallerError`` unless this thread holds the lease."""
        # No lock is needed: a thread can only ever find its own id here if it put it there.
        if self._holder != threading.get_ident():
            raise CallerError(
                "writing without the lease", mend="write inside `with store.writer(wait=...)`"
            )
