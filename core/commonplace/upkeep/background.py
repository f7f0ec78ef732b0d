"""A thread that makes syncs when they are due."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from commonplace.upkeep.request import SyncRequest
    from commonplace.upkeep.schedule import Schedule

__all__ = ["Background"]


class Background:
    """Waits on a ``schedule`` and hands what is due to ``run``.

    ``run`` says whether all was done that could be, and never raises. The thread starts with the
    first thing there is to do or to wait for.
    """

    def __init__(
        self,
        schedule: Schedule,
        run: Callable[[SyncRequest], bool],
        *,
        name: str = "upkeep",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = f"commonplace-{name}"
        self._schedule = schedule
        self._run = run
        self._clock = clock
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self.running: SyncRequest | None = None

    def ask(self, request: SyncRequest) -> bool:
        """Make a sync for ``request`` as soon as may be; whether there is a thread to make it."""
        with self._changed:
            self._schedule.ask(request, self._clock())
            return self._wake()

    def notice(self, paths: Iterable[str]) -> None:
        """Make a sync when ``paths``, which have changed, come to rest."""
        with self._changed:
            self._schedule.notice(paths, self._clock())
            self._wake()

    def every(self, seconds: float) -> None:
        """Make a sync ``seconds`` after the last one; 0 is never."""
        with self._changed:
            self._schedule.every(seconds)
            self._wake()

    def prospect(self) -> tuple[int, float | None]:
        """How many changed paths wait, and in how many seconds a sync is due, if one is."""
        with self._changed:
            due = self._schedule.due()
            left = None if due is None else max(0.0, due - self._clock())
            return self._schedule.waiting, left

    def close(self, seconds: float) -> SyncRequest | None:
        """End, waiting up to ``seconds`` for a sync under way, and return what was not done.

        Closing twice is fine.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(seconds)
        with self._changed:
            return self._schedule.left(self._clock())

    def _wake(self) -> bool:
        """Let the thread look again; the first call starts it."""
        self._changed.notify_all()
        if self._thread is None and not self._closed:
            thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no more threads, or the interpreter is about to end
                return False
            self._thread = thread
        return not self._closed

    def _serve(self) -> None:
        while (request := self._next()) is not None:
            done = self._run(request)
            with self._changed:
                self.running = None
                self._schedule.ended(self._clock(), done=done)

    def _next(self) -> SyncRequest | None:
        """What is due, once something is; ``None`` when it is time to end."""
        with self._changed:
            while not self._closed:
                now = self._clock()
                self.running = self._schedule.take(now)
                if self.running is not None:
                    return self.running
                due = self._schedule.due()
                left = None if due is None else min(due - now, threading.TIMEOUT_MAX)
                self._changed.wait(left)
            return None
