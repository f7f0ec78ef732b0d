"""Telling plugins what happened, after the answer is given."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from commonplace.model.reports import SyncReport
    from commonplace.model.search import SearchResult

__all__ = ["EventBus"]


class EventBus:
    """Hands events, in their order, to ``deliver`` on one daemon thread of its own.

    ``deliver`` calls a hook of all who listen and returns the names of the plugins that failed; it
    never raises. At most ``capacity`` events wait: further ones are dropped and counted, for the
    caller is never kept. What a listener itself sets off is not told, else it would hear its own
    echo for ever. The thread starts with the first event.
    """

    def __init__(
        self,
        deliver: Callable[[str, Mapping[str, object]], Iterable[str]],
        *,
        capacity: int = 256,
    ) -> None:
        self._deliver = deliver
        self._capacity = capacity
        self._changed = threading.Condition()
        self._waiting: deque[tuple[str, Mapping[str, object]]] = deque()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._dropped = 0
        self._failures: dict[str, int] = {}

    def synced(self, report: SyncReport) -> None:
        """A sync ended."""
        self._tell("commonplace_synced", {"report": report})

    def searched(self, query: str, result: SearchResult) -> None:
        """A search was answered."""
        self._tell("commonplace_searched", {"query": query, "result": result})

    def degraded(self, part: str, reason: str) -> None:
        """``part`` stopped working."""
        self._tell("commonplace_degraded", {"part": part, "reason": reason})

    def recovered(self, part: str) -> None:
        """``part`` works again."""
        self._tell("commonplace_recovered", {"part": part})

    @property
    def dropped(self) -> int:
        """How many events nobody was told of, because too many waited or the bus was closed."""
        with self._changed:
            return self._dropped

    @property
    def failures(self) -> Mapping[str, int]:
        """How often each plugin failed at an event."""
        with self._changed:
            return dict(self._failures)

    def close(self, timeout: float) -> bool:
        """End, once all that waits is told or ``timeout`` seconds have passed.

        Returns whether all was told. What was not is dropped. Closing twice is fine.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
        with self._changed:
            self._dropped += len(self._waiting)
            self._waiting.clear()
        return thread is None or not thread.is_alive()

    def _tell(self, hook: str, arguments: Mapping[str, object]) -> None:
        with self._changed:
            if self._thread is threading.current_thread():
                return
            if self._closed or len(self._waiting) >= self._capacity or not self._running():
                self._dropped += 1
                return
            self._waiting.append((hook, arguments))
            self._changed.notify_all()

    def _running(self) -> bool:
        """Whether there is a thread to tell; the first call starts it."""
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="commonplace-events", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the interpreter is about to end
                return False
            self._thread = thread
        return True

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    if self._closed:
                        return
                    self._changed.wait()
                hook, arguments = self._waiting.popleft()
            failed = self._deliver(hook, arguments)
            with self._changed:
                for name in failed:
                    self._failures[name] = self._failures.get(name, 0) + 1
