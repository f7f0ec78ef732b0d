"""Which sync runs next: a queue of callers, and a schedule for the background."""

from __future__ import annotations

import threading
import time
from math import inf
from typing import TYPE_CHECKING

from commonplace.errors import CallerError, DeadlineExceededError, MemoryClosedError
from commonplace.host.failures import logger
from commonplace.model.tuples import NamedTuple
from commonplace.resilience.bounded_call import start_failure
from commonplace.resilience.deadline import NEVER, POLL_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from commonplace.model.reports import Progress, ProgressCallback, Reason, SyncReport
    from commonplace.resilience.deadline import Deadline


class SyncRequest(NamedTuple):
    """A sync that is wanted.

    ``force`` rebuilds the index; ``embed`` also embeds new texts; ``eager`` leaves no growing
    document for later. ``paths`` are absolute paths that have changed; ``partial`` says that no
    other may have since the last sync, so that only these need be compared. It waits ``wait``
    seconds for another writer, and for its turn to ``until``, when the sync ends with what is done.
    """

    reasons: tuple[Reason, ...]
    force: bool = False
    embed: bool = True
    eager: bool = False
    paths: frozenset[str] = frozenset()
    wait: float = 0.0
    progress: ProgressCallback | None = None
    until: Deadline = NEVER
    partial: bool = False


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
        until=max((request.until for request in wanted), key=lambda until: until.remaining()),
        partial=all(request.partial for request in wanted),
    )


class SyncQueue:
    """Runs ``sync`` for all callers, never twice at once, on the callers' threads.

    Requests that arrive while a sync runs are merged into the next one, as the running one may have
    scanned the files already. The first caller to notice that it has ended runs the next, of those
    with the most time; all whose requests it covers get its report or its error.
    """

    def __init__(self, sync: Callable[[SyncRequest], SyncReport]) -> None:
        self._sync = sync
        self._changed = threading.Condition()
        self._waiting: list[_Call] = []
        self._covered: list[_Call] = []  # by the sync that runs; the first one runs it
        self._thread: int | None = None
        self._closed = False
        self.running: SyncRequest | None = None

    def run(self, request: SyncRequest) -> SyncReport:
        """The report of a sync that begins after this call and covers ``request``.

        Raises the error of the sync. An interrupt of the thread that runs it ends it for that
        thread alone: another caller that waits runs it again. A caller that stops waiting,
        interrupted or at ``until`` with :class:`~commonplace.errors.DeadlineExceededError`,
        withdraws its request, unless the sync has begun. Raises
        :class:`~commonplace.errors.MemoryClosedError` once the queue is closed, and
        :class:`~commonplace.errors.CallerError` on a thread that is running a sync.
        """
        call = _Call(request)
        try:
            if (together := self._turn_of(call)) is not None:
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

    def _turn_of(self, call: _Call) -> SyncRequest | None:
        """Wait; the merged request that the caller has to run, or ``None`` if another has."""
        until = call.request.until
        with self._changed:
            if self._thread == threading.get_ident():
                raise CallerError(
                    "a sync cannot wait for another one that it is part of",
                    hint="ask for it after the sync, not in its callback",
                )
            self._waiting.append(call)
            while call.outcome is None:
                if call in self._waiting:
                    if self._closed:
                        raise MemoryClosedError
                    if self.running is None and self._leads(call):
                        self._waiting.remove(call)
                        self._covered, self._waiting = [call, *self._waiting], []
                        self._thread = threading.get_ident()
                        self.running = merged(each.request for each in self._covered)
                        return self.running
                if until.expired:
                    raise DeadlineExceededError("another sync took longer than was waited for")
                interval = POLL_SECONDS if until.cancellable else threading.TIMEOUT_MAX
                self._changed.wait(min(until.remaining(), interval))
        return None

    def _leads(self, call: _Call) -> bool:
        """Whether no other one that waits has more time, for whose sync ``call`` has too little."""
        own = call.request.until.remaining()
        return all(each.request.until.remaining() <= own for each in self._waiting)

    def _run(self, request: SyncRequest) -> None:
        outcome: SyncReport | Exception
        try:
            outcome = self._sync(request)
        except Exception as error:  # noqa: BLE001 - raised again for each caller that waits
            outcome = error
        with self._changed:
            for call in self._covered:
                call.outcome = outcome

    def _leave(self, call: _Call) -> None:
        """Remove the caller, however its waiting or its sync ended."""
        with self._changed:
            if call in self._waiting:
                self._waiting.remove(call)
            if self._covered and self._covered[0] is call:
                # After an interrupt the others are still to be served.
                self._waiting[:0] = [each for each in self._covered[1:] if each.outcome is None]
                self._covered, self._thread, self.running = [], None, None
            self._changed.notify_all()


class _Call:
    """One caller's request and its outcome."""

    def __init__(self, request: SyncRequest) -> None:
        self.request = request
        self.outcome: SyncReport | Exception | None = None

    def result(self) -> SyncReport:
        assert self.outcome is not None, "a sync ends with a report or a failure"
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


_CEILING = 10
"""A file that keeps changing is indexed after this many times the debounce ..."""
_CEILING_SECONDS = 30.0
"""... or after this, if that is sooner, but never before the debounce is over once."""
_RETRY_SECONDS = 2.0
_LONGEST_RETRY_SECONDS = 300.0


class Schedule:
    """Gathers requests until they are due. All times are seconds of one monotonic clock.

    A change waits until ``debounce`` seconds have passed without another, but not for ever; a
    request is due at once. With ``interval`` a sync is due that long after the last one. After a
    sync that left something undone, the same is due again, and nothing before it: after 2 seconds,
    then twice as long each time, up to 5 minutes. Whatever waits is merged into one sync.

    A sync for changes alone is partial, and ``full_scan`` seconds after the first of these one is
    due that is not, as a change can go unnoticed; with 0, none is partial.

    Not thread-safe: its user holds a lock.
    """

    def __init__(self, *, debounce: float, now: float, full_scan: float = 0.0) -> None:
        self._debounce = debounce
        self._full_scan = full_scan
        self._full_scan_at = inf
        self._ceiling = max(debounce, min(_CEILING * debounce, _CEILING_SECONDS))
        self._interval = 0.0
        self._ended = now
        self._requests: list[SyncRequest] = []
        self._requested_at = inf
        self._noticed: set[str] = set()
        self._first_notice = self._last_notice = inf
        self._current: SyncRequest | None = None
        self._unfinished: SyncRequest | None = None
        self._failures = 0
        self._not_before = -inf

    def every(self, seconds: float) -> None:
        """Let a sync be due ``seconds`` after the last one; 0 is never."""
        self._interval = seconds

    def ask(self, request: SyncRequest, now: float) -> None:
        """``request`` is wanted as soon as possible."""
        self._requests.append(request)
        self._requested_at = min(self._requested_at, now)

    def notice(self, paths: Iterable[str], now: float) -> None:
        """``paths`` have changed."""
        self._noticed.update(paths)
        self._first_notice = min(self._first_notice, now)
        self._last_notice = now

    def outlook(self, now: float) -> tuple[int, float | None, float | None]:
        """How many changed paths wait, and in how many seconds a sync and a full scan are due."""
        moments = (max(self._wanted_at(), self._not_before), self._full_scan_at)
        due, full_scan = [None if at == inf else max(0.0, at - now) for at in moments]
        return len(self._noticed), due, full_scan

    def noticed(self) -> frozenset[str] | None:
        """The changed paths that wait, where no others can have changed; else ``None``."""
        others = self._requests or self._current or self._unfinished
        return None if others or not self._full_scan else frozenset(self._noticed)

    def due(self) -> float | None:
        """When the next sync is due, which may have passed; ``None`` if none is wanted."""
        due = max(min(self._wanted_at(), self._full_scan_at), self._not_before)
        return due if due < inf else None

    def take(self, now: float) -> SyncRequest | None:
        """All that is wanted, if it is due; call :meth:`ended` after the sync."""
        due = self.due()
        if due is None or now < due:
            return None
        self._current = self._all(now)
        return self._current

    def ended(self, now: float, *, done: bool) -> None:
        """The sync that was taken has ended; unless it is ``done``, it is tried again."""
        self._ended = now
        if done and self._full_scan and self._current is not None:
            at = now + self._full_scan
            self._full_scan_at = min(self._full_scan_at, at) if self._current.partial else inf
        self._unfinished = None if done else self._current
        self._current = None
        if done:
            self._failures, self._not_before = 0, -inf
        else:
            pause = min(_LONGEST_RETRY_SECONDS, _RETRY_SECONDS * 2.0 ** min(self._failures, 16))
            self._failures += 1
            self._not_before = now + pause

    def left(self, now: float) -> SyncRequest | None:
        """Remove and return all that is wanted and not done, due or not."""
        nothing = self._unfinished is None and not self._requests and self._first_notice == inf
        return None if nothing else self._all(now)

    def _all(self, now: float) -> SyncRequest:
        wanted = [*self._requests]
        if self._first_notice < inf:
            paths, partial = frozenset(self._noticed), self._full_scan > 0
            wanted.append(SyncRequest(("watch",), paths=paths, partial=partial))
        if self._unfinished is not None:
            wanted.insert(0, self._unfinished)
        if now >= min(self._interval_at(), self._full_scan_at):
            wanted.append(SyncRequest(("interval",)))
        self._requests, self._requested_at = [], inf
        self._noticed, self._first_notice, self._last_notice = set(), inf, inf
        self._unfinished = None
        return merged(wanted)

    def _wanted_at(self) -> float:
        retry_at = inf if self._unfinished is None else self._not_before
        return min(self._requested_at, self._quiet_at(), self._interval_at(), retry_at)

    def _quiet_at(self) -> float:
        return min(self._last_notice + self._debounce, self._first_notice + self._ceiling)

    def _interval_at(self) -> float:
        return self._ended + self._interval if self._interval else inf


class SyncWorker:
    """A thread that passes what is due to ``run``.

    ``run`` returns whether all was done that could be. If it raises, that is logged, and the same
    is due again as if it had been left undone. The thread starts with the first request, change or
    interval. ``running`` is the request being run.
    """

    def __init__(
        self,
        run: Callable[[SyncRequest], bool],
        *,
        name: str,
        debounce: float,
        full_scan: float = 0.0,
    ) -> None:
        self._run = run
        self._name = f"commonplace-{name}"
        now = time.monotonic()
        self._schedule = Schedule(debounce=debounce, now=now, full_scan=full_scan)
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self.running: SyncRequest | None = None

    def ask(self, request: SyncRequest) -> bool:
        """Sync for ``request`` as soon as possible; whether there is a thread to do so."""
        with self._changed:
            self._schedule.ask(request, time.monotonic())
            return self._wake()

    def notice(self, paths: Iterable[str]) -> None:
        """Sync once ``paths``, which have changed, are quiet."""
        with self._changed:
            self._schedule.notice(paths, time.monotonic())
            self._wake()

    def every(self, seconds: float) -> None:
        """Sync ``seconds`` after the last one; 0 is never."""
        with self._changed:
            self._schedule.every(seconds)
            self._wake()

    def outlook(self) -> tuple[int, float | None, float | None]:
        """As that of the schedule."""
        with self._changed:
            return self._schedule.outlook(time.monotonic())

    def noticed(self) -> frozenset[str] | None:
        """As that of the schedule."""
        with self._changed:
            return self._schedule.noticed()

    def close(self, seconds: float) -> SyncRequest | None:
        """End, after up to ``seconds``; what was not done. Closing twice is fine."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(seconds)
        with self._changed:
            return self._schedule.left(time.monotonic())

    def _wake(self) -> bool:
        """Let the thread look at the schedule; the first call starts it, also after a fork."""
        self._changed.notify_all()
        if not (self._closed or (self._thread is not None and self._thread.is_alive())):
            thread = threading.Thread(target=self._loop, name=self._name, daemon=True)
            if start_failure(thread):
                return False
            self._thread = thread
        return not self._closed

    def _loop(self) -> None:
        while (request := self._next()) is not None:
            done = False
            try:
                done = self._run(request)
            except BaseException:  # noqa: BLE001 - no defect ends the thread: none would follow it
                logger().exception("%s failed in the background", self._name)
            with self._changed:
                self.running = None
                self._schedule.ended(time.monotonic(), done=done)

    def _next(self) -> SyncRequest | None:
        """What is due, once something is; ``None`` when closed."""
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                self.running = self._schedule.take(now)
                if self.running is not None:
                    return self.running
                due = self._schedule.due()
                self._changed.wait(None if due is None else min(due - now, threading.TIMEOUT_MAX))
            return None
