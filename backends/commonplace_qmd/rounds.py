"""Updates beside the searches: at most one at a time, on a thread of its own."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from commonplace.plugin import CommonplaceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.plugin import SyncReport

__all__ = ["Rounds"]


class Rounds:
    """Runs ``work`` when asked to, and every ``interval`` seconds (0: only when asked).

    Nothing runs before :meth:`start` is called. What ``work`` raises is kept for whoever waits.
    """

    def __init__(self, work: Callable[[], SyncReport], interval: float) -> None:
        self._work = work
        self._interval = interval
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wanted = False
        self._running = False
        self._closed = False
        self._awaited = False  # a round was asked for whose outcome nobody has been told
        self._outcome: SyncReport | CommonplaceError | None = None

    def start(self, *, now: bool) -> None:
        """See to it that rounds are made, and one ``now`` unless one is under way."""
        with self._changed:
            if self._closed:
                return
            if now and not self._running:
                self._wanted = True
                self._outcome, self._awaited = None, True
            if self._thread is None and (self._wanted or self._interval):
                # A daemon: a program that forgets to close us must be able to end.
                self._thread = threading.Thread(target=self._go_on, name="qmd", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, seconds: float) -> SyncReport | CommonplaceError | None:
        """The outcome of the round under way, or asked for before, if it ends within ``seconds``.

        Of a round that has ended it is told once.
        """
        seconds = min(seconds, threading.TIMEOUT_MAX)
        with self._changed:
            told = self._awaited or self._wanted or self._running
            if told and self._changed.wait_for(lambda: not self._busy, timeout=seconds):
                self._awaited = False
                return self._outcome
            return None

    def settle(self, seconds: float) -> None:
        """Wait for the round under way, if there is one, for up to ``seconds``."""
        with self._changed:
            self._changed.wait_for(lambda: not self._busy, timeout=seconds)

    @property
    def _busy(self) -> bool:
        return (self._wanted or self._running) and not self._closed

    def close(self, patience: float) -> bool:
        """Make no more rounds; whether the one under way ended within ``patience`` seconds."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            thread = self._thread
        if thread is None:
            return True
        thread.join(patience)
        return not thread.is_alive()

    def _go_on(self) -> None:
        while self._next():
            outcome: SyncReport | CommonplaceError
            try:
                outcome = self._work()
            except CommonplaceError as error:
                outcome = error
            with self._changed:
                self._outcome = outcome
                self._running = False
                self._changed.notify_all()

    def _next(self) -> bool:
        """Wait for the next round; whether there is one."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._wanted or self._closed, timeout=self._interval or None
            )
            if self._closed:
                return False
            self._wanted, self._running = False, True
            return True
