"""The watcher of files: a thread that is begun, asked for its condition, and ended."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from commonplace.watching.rounds import Means, Rounds
from commonplace.watching.state import WatchState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.model.documents import WatchedPath

__all__ = ["Watcher"]


class Watcher:
    """Calls ``changed`` with the absolute paths that have changed, from a thread of its own.

    ``watched`` says where documents may be; it is asked again every few seconds. A path is a
    document that was written, made or deleted, a folder that came or went with all that is in it,
    or a watched place itself: of anything in it something may have been missed. All places are
    told once when watching has begun. Changes are told within some 100 ms, in groups and not
    debounced. What ``changed`` does shall be quick; while it runs nothing is told.

    The operating system is asked by the library watchfiles. Where it does not do it, files are
    looked at again after ``poll_seconds``, or later where that would take more than a hundredth of
    a core, and the system is tried again every five minutes; ``force_polling`` does not try.
    """

    def __init__(
        self,
        watched: Callable[[], Sequence[WatchedPath]],
        changed: Callable[[frozenset[str]], None],
        *,
        poll_seconds: float = 2.0,
        force_polling: bool = False,
        means: Means | None = None,
    ) -> None:
        self._watched = watched
        self._changed = changed
        self._poll_seconds = poll_seconds
        self._force_polling = force_polling
        self._means = means if means is not None else Means()
        self._lock = threading.Lock()
        self._running: _Running | None = None

    def start(self) -> None:
        """Begin, unless it has begun. Raises ``RuntimeError`` where no thread can be started."""
        with self._lock:
            if self._running is not None and self._running.thread.is_alive():
                return
            running = _Running(self._rounds)
            running.thread.start()
            self._running = running

    def stop(self) -> None:
        """End, and wait for it (some 50 ms), except on the watcher's own thread.

        May be called again, and when nothing was begun. Afterwards ``changed`` is not called.
        """
        with self._lock:
            running, self._running = self._running, None
        if running is None:
            return
        running.stop.set()
        if running.thread is not threading.current_thread():
            running.thread.join()

    def state(self) -> WatchState:
        """Who notices changes just now, and why nobody does."""
        running = self._running
        if running is None:
            return WatchState()
        state = running.rounds.state
        if state.mode != "off" and not running.thread.is_alive():
            return WatchState("off", "the watcher's thread has ended", state.since)
        return state

    def _rounds(self, stop: threading.Event) -> Rounds:
        return Rounds(
            self._watched,
            self._changed,
            stop,
            poll_seconds=self._poll_seconds,
            force_polling=self._force_polling,
            means=self._means,
        )


class _Running:
    """One life of a watcher."""

    def __init__(self, rounds: Callable[[threading.Event], Rounds]) -> None:
        self.stop = threading.Event()
        self.rounds = rounds(self.stop)
        self.thread = threading.Thread(target=self.rounds.run, name="commonplace-watcher")
