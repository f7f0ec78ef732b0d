"""Sync requests, how they are merged, and the queue that runs one sync at a time."""

from __future__ import annotations

import threading
from math import inf
from typing import TYPE_CHECKING

from commonplace.errors import CallerError, DeadlineExceededError
from commonplace.model.tuples import NamedTuple
from commonplace.resilience.deadline import LOOK_SECONDS, NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from commonplace.model.reports import Progress, ProgressCallback, Reason, SyncReport
    from commonplace.resilience.deadline import Deadline

__all__ = ["SyncQueue", "SyncRequest", "merged"]


class SyncRequest(NamedTuple):
    """A sync that is wanted.

    ``force`` rebuilds the index; ``embed`` also embeds new texts; ``eager`` leaves no growing
    document for later. ``paths`` are absolute paths that have changed: they are only reported, as
    every sync scans all files. ``wait`` is how many seconds to wait for another writer.
    """

    reasons: tuple[Reason, ...]
    force: bool = False
    embed: bool = True
    eager: bool = False
    paths: frozenset[str] = frozenset()
    wait: float = 0.0
    progress: ProgressCallback | None = None


def merged(requests: Iterable[SyncRequest]) -> SyncRequest:
    """One request that covers all ``requests``, of which there is at least one."""
    wanted = list(requests)
    if len(wanted) == 1:
        return wanted[0]
    callbacks = [request.progress for request in wanted if request.progress is not None]

    def progress(done: Progress) -> None:
        for callback in callbacks:
            callback(done)

    return SyncRequest(
        reasons=tuple(dict.fromkeys(reason for request in wanted for reason in request.reasons)),
        force=any(request.force for request in wanted),
        embed=any(request.embed for request in wanted),
        eager=any(request.eager for request in wanted),
        paths=frozenset().union(*(request.paths for request in wanted)),
        wait=max(request.wait for request in wanted),
        progress=progress if callbacks else None,
    )


class SyncQueue:
    """Runs ``sync`` for all callers, never twice at once, on the callers' threads.

    Requests that arrive while a sync runs are merged into the next one, as the running one may have
    scanned the files already. The first caller to notice that it has ended runs the next; all whose
    requests it covers get its report or its error.
    """

    def __init__(self, sync: Callable[[SyncRequest], SyncReport]) -> None:
        self._sync = sync
        self._changed = threading.Condition()
        self._waiting: list[_Call] = []
        self._covered: list[_Call] = []  # by the sync that runs; the first one runs it
        self._thread: int | None = None
        self._closed = False
        self.running: SyncRequest | None = None

    def run(self, request: SyncRequest, *, deadline: Deadline = NEVER) -> SyncReport:
        """The report of a sync that begins after this call and covers ``request``.

        Raises the error of the sync. An interrupt of the thread that runs it ends it for that
        thread alone: another caller that waits runs it again. A caller that stops waiting,
        interrupted or at ``deadline`` with :class:`~commonplace.errors.DeadlineExceededError`,
        withdraws its request, unless the sync has begun. Raises
        :class:`~commonplace.errors.CallerError` once the queue is closed, and on a thread that is
        running a sync.
        """
        call = _Call(request)
        try:
            if (together := self._turn_of(call, deadline)) is not None:
                self._run(together)
        finally:
            self._leave(call)
        return call.result()

    def close(self) -> None:
        """Refuse all callers from now on, and those that wait; the running sync continues."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def settle(self, seconds: float) -> bool:
        """Wait for the running sync, if there is one; whether it has ended in time."""
        with self._changed:
            if self._thread == threading.get_ident():
                return True
            return self._changed.wait_for(lambda: self.running is None, seconds)

    def _turn_of(self, call: _Call, deadline: Deadline) -> SyncRequest | None:
        """Wait; the merged request that the caller has to run, or ``None`` if another has."""
        with self._changed:
            if self._thread == threading.get_ident():
                raise CallerError(
                    "a sync cannot wait for another one that it is part of",
                    hint="ask for it after the sync, not in its callback",
                )
            self._waiting.append(call)
            while not call.over:
                if call in self._waiting:
                    if self._closed:
                        raise CallerError("this memory is closed", hint="open another one")
                    if self.running is None:
                        self._waiting.remove(call)
                        self._covered, self._waiting = [call, *self._waiting], []
                        self._thread = threading.get_ident()
                        self.running = merged(each.request for each in self._covered)
                        return self.running
                if deadline.expired:
                    raise DeadlineExceededError("another sync took longer than was waited for")
                self._changed.wait(_seconds(deadline))
        return None

    def _run(self, request: SyncRequest) -> None:
        report: SyncReport | None = None
        failure: Exception | None = None
        try:
            report = self._sync(request)
        except Exception as error:  # noqa: BLE001 - raised again for each caller that waits
            failure = error
        with self._changed:
            for call in self._covered:
                call.report, call.failure = report, failure

    def _leave(self, call: _Call) -> None:
        """Remove the caller, however its waiting or its sync ended."""
        with self._changed:
            if call in self._waiting:
                self._waiting.remove(call)
            if self._covered and self._covered[0] is call:
                # After an interrupt the others are still to be served.
                self._waiting[:0] = [each for each in self._covered[1:] if not each.over]
                self._covered, self._thread, self.running = [], None, None
            self._changed.notify_all()


class _Call:
    """One caller's request and its result."""

    def __init__(self, request: SyncRequest) -> None:
        self.request = request
        self.report: SyncReport | None = None
        self.failure: Exception | None = None

    @property
    def over(self) -> bool:
        return self.report is not None or self.failure is not None

    def result(self) -> SyncReport:
        if self.failure is not None:
            raise self.failure
        assert self.report is not None, "a sync ends with a report or a failure"
        return self.report


def _seconds(deadline: Deadline) -> float | None:
    seconds = deadline.remaining()
    if deadline.cancellable:
        return min(seconds, LOOK_SECONDS)
    return None if seconds == inf else min(seconds, threading.TIMEOUT_MAX)
