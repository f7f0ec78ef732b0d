"""The sync service of one memory: every trigger of a sync, their outcomes, and closing."""

from __future__ import annotations

import threading
import time
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Literal, Protocol

from commonplace.errors import (
    CommonplaceError,
    DeclinedError,
    IndexBusyError,
    MemoryClosedError,
    UnavailableError,
    counted,
    reason_of,
)
from commonplace.host.failures import logger
from commonplace.model.reports import SyncEvent, SyncOutcome, SyncReport, SyncState
from commonplace.resilience.deadline import Deadline
from commonplace.resilience.lock import Presence
from commonplace.sync.queue import SyncQueue, SyncRequest, SyncWorker

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.config.search import SyncSettings
    from commonplace.fallback.backend import Backend
    from commonplace.fallback.manager import FallbackMemoryManager
    from commonplace.host.host import PluginHost
    from commonplace.model.reports import ProgressCallback, SyncListener
    from commonplace.sync.folders import FolderTimes
    from commonplace.sync.watcher import WatchState

    Changed = Callable[[frozenset[str]], None]


_CLOSE_SECONDS = 10.0
"""How long closing waits for a sync to end its batch."""
_SESSIONS = 10_000
"""Session keys that are remembered: one that returns after so many others counts as new."""
_UNWATCHED_SECONDS = 60.0
"""Between two syncs while watching, if a source does not declare ``watched``."""
_CALLER_WAITS = 30.0
"""Seconds to wait for another writer in a sync that a caller waits for."""
_LASTING_SECONDS = 30.0
"""Another process that writes is reported only after so long."""


class WatcherLike(Protocol):
    """Notices changed files on a thread of its own; see :mod:`commonplace.sync.watcher`."""

    def start(self) -> None:
        """Begin."""
        ...

    def stop(self) -> None:
        """End, and wait for it."""
        ...

    def state(self) -> WatchState:
        """How changes are noticed just now."""
        ...

    def folders(self) -> frozenset[str]:
        """The folders of which the system reports every change; none where it may not."""
        ...


def sync_backend(
    backends: Callable[[], Backend | FallbackMemoryManager],
    host: PluginHost,
    tidy: Callable[[], object],
    request: SyncRequest,
    deadline: Deadline,
    notices: tuple[str, ...] = (),
) -> SyncReport:
    """Sync as ``request`` asks, cleanly ended at ``deadline``, and publish the event of it.

    First ``tidy`` is called. ``notices`` are among those of the report.
    """
    tidy()
    report = backends().maintain(
        force=request.force,
        embed=request.embed,
        eager=request.eager,
        deadline=deadline,
        progress=request.progress,
        wait=request.wait,
        paths=request.paths if request.partial else None,
    )
    report = report.replace(notices=(*report.notices, *notices)) if notices else report
    if host.listened["events"] and (events := host.events) is not None:
        events.synced(report)
    return report


class SyncService:
    """Syncs one memory's index for every caller and every trigger.

    ``sync`` makes one sync and stops cleanly at the deadline it is given. ``embeds`` tells whether
    there is a provider: in the background, embedding is done on a thread of its own, as it may take
    hours for which no changed note must wait. Apart from that ``sync`` is never called twice at
    once. ``listener`` is called with the event of each sync, on the thread that ran it. No thread
    runs before a trigger needs it. While it watches, other processes see ``shown_as``, a path.

    ``changed``, once it watches, gives the paths that may have changed since all were compared, or
    ``None``, for which its caller compares all. The system reports what was written in place some
    100 ms later; what came, went or was replaced shows in the folders at once.
    """

    def __init__(
        self,
        settings: SyncSettings,
        sync: Callable[[SyncRequest, Deadline], SyncReport],
        *,
        embeds: Callable[[], bool] = lambda: False,
        listener: SyncListener | None = None,
        clock: Callable[[], float] = time.time,
        shown_as: str = "",
    ) -> None:
        self._settings = settings
        self._presence = Presence(shown_as) if shown_as else None
        self._sync = sync
        self._listener = listener
        self._clock = clock
        self._embeds = embeds
        self._texts = History(clock)
        self._vectors = History(clock)
        self._stopping = threading.Event()
        self._queue = SyncQueue(lambda request: self._run(request, self._texts))
        debounce = settings.watch_debounce_ms / 1000
        full_scan = 60.0 * settings.full_scan_minutes
        self._worker = SyncWorker(self._index, name="sync", debounce=debounce, full_scan=full_scan)
        self._embedder = SyncWorker(self._embed, name="embedding", debounce=0)
        self._lock = threading.Lock()
        self._sessions: dict[str, None] = {}
        self._watches = False
        self._watcher: WatcherLike | None = None
        self.changed: Callable[[], frozenset[str] | None] | None = None

    def sync(self, request: SyncRequest) -> SyncReport:
        """The report of a sync that begins after this call; see :class:`SyncQueue`.

        Whatever it waits for, it does until the request's ``until`` at most.
        """
        return self._queue.run(request._replace(wait=_CALLER_WAITS))

    def watch(self, make: Callable[[Changed], WatcherLike], *, unwatched: bool) -> None:
        """Sync on changes from now on; may be called again.

        ``make`` makes a watcher that calls its argument with changes; it is not called if
        ``sync.watch`` is off. ``unwatched`` says that there are sources it cannot watch.
        """
        with self._lock:
            self._check_open()
            if self._watches:
                return
            seconds = 60.0 * self._settings.interval_minutes
            if self._settings.watch:
                if unwatched:
                    seconds = min(seconds or inf, _UNWATCHED_SECONDS)
                watcher = make(self._worker.notice)
                watcher.start()
                self._watcher = watcher
                if self._settings.full_scan_minutes and not unwatched:
                    from commonplace.sync.folders import FolderTimes

                    times = FolderTimes(60.0 * self._settings.full_scan_minutes, self._clock)
                    self.changed = partial(self._known_changes, watcher, times)
            self._watches = True
            if self._presence is not None:
                self._presence.begin()
        self._worker.every(seconds)
        # Only now: what changes during this sync is noticed.
        self._ask(SyncRequest(("start",)))

    def session_started(self, key: str) -> None:
        """The session ``key`` has begun, as far as the caller knows."""
        self._check_open()
        if self._is_new(key):
            self._ask(SyncRequest(("session-start",)))

    def searched(self, session_key: str, stale: int) -> None:
        """A search of that session was answered from an index that lacks ``stale`` changed files.

        Its syncs embed nothing unless :meth:`watch` was called: that costs time and perhaps money.
        """
        if session_key and self._is_new(session_key):
            self._ask(SyncRequest(("session-start",), embed=self._watches))
        if stale > 0:
            self._ask(SyncRequest(("search",), embed=self._watches))

    def before_search(self, end: Deadline | None, progress: ProgressCallback | None) -> str:
        """Index and embed all that changed, in half of the time to ``end``; what is left undone."""
        request = SyncRequest(("search",), progress=progress)
        if end is not None:
            request = request._replace(until=end.sooner(end.remaining() / 2))
        try:
            return undone_in_words(self.sync(request))
        except (UnavailableError, DeclinedError) as error:
            return f"the notes could not be embedded first: {reason_of(error)}"

    def embed(self) -> None:
        """Embed in the background what has no vector yet, unless that is under way."""
        if self._embedder.running is None:
            self._embedder.ask(SyncRequest(("search",)))

    def compacted(
        self, session_file: str | None, mode: Literal["off", "async", "await"]
    ) -> SyncReport | None:
        """A session was compacted; the report if ``mode`` is ``await``."""
        self._check_open()
        if mode == "off":
            return None
        request = SyncRequest(
            ("post-compaction",),
            eager=self._settings.post_compaction_force,
            paths=frozenset({session_file} if session_file else ()),
        )
        if mode == "await":
            return self.sync(request)
        self._ask(request)
        return None

    def state(self) -> SyncState:
        """How changes are noticed, what runs, what waits, and how the last sync ended."""
        # In the order in which a change moves on, so that none is missed on its way.
        watch = self._watcher.state() if self._watcher is not None else None
        waiting, due_in, full_scan_in = self._worker.outlook()
        running = self._queue.running or self._worker.running
        if due_in is None:
            due_in = self._embedder.outlook()[1]
        running = running or self._embedder.running
        # That texts could not be embedded is shown until they are.
        vectors = self._vectors.last
        state = SyncState(
            running=running.reasons if running is not None else (),
            waiting=waiting,
            due_in=due_in,
            full_scan_in=full_scan_in,
            last=vectors if vectors is not None and vectors.error else self._texts.last,
        )
        if watch is None:
            return state.replace(reason="sync.watch is false" if self._watches else "")
        mode, reason, since, folders = watch
        return state.replace(watching=mode, reason=reason, since=since, folders=folders)

    def close(self) -> None:
        """End all syncs and threads; closing twice is fine.

        A running sync ends its batch and leaves the rest to the next one. That is how a sync ends,
        not how one fails: the listener hears nothing of it.
        """
        self._stopping.set()
        self._queue.close()
        with self._lock:
            watcher = self._watcher
        if watcher is not None:
            watcher.stop()
        if self._presence is not None:
            self._presence.end()
        deadline = Deadline.after(_CLOSE_SECONDS)
        for worker in (self._worker, self._embedder):
            if (left := worker.close(deadline.remaining())) is not None:
                reasons = ", ".join(left.reasons)
                logger().info(
                    "closed before the index was updated (%s): the next sync does", reasons
                )
        self._queue.settle(deadline.remaining())

    def _known_changes(self, watcher: WatcherLike, times: FolderTimes) -> frozenset[str] | None:
        noticed = self._worker.noticed()  # before the folders, which are looked at later
        return noticed if noticed is not None and times.hold(watcher.folders()) else None

    def _ask(self, request: SyncRequest) -> None:
        if not self._worker.ask(request) and not self._stopping.is_set():
            logger().warning("no thread could be started to update the index")

    def _check_open(self) -> None:
        if self._stopping.is_set():
            raise MemoryClosedError

    def _is_new(self, key: str) -> bool:
        if not self._settings.on_session_start:
            return False
        with self._lock:
            if key in self._sessions:
                return False
            self._sessions[key] = None
            if len(self._sessions) > _SESSIONS:
                del self._sessions[next(iter(self._sessions))]
        return True

    def _run(self, request: SyncRequest, history: History) -> SyncReport:
        until = Deadline(inf, cancelled=lambda: self._stopping.is_set() or request.until.expired)
        wait = min(request.wait, request.until.remaining())
        try:
            report = self._sync(request._replace(wait=wait), until)
        except CommonplaceError as error:
            event = history.ended(request, error)
            if not self._stopping.is_set():
                self._publish(event)
            raise
        self._publish(history.ended(request, report))
        return report

    def _index(self, request: SyncRequest) -> bool:
        """Index what is due; it is embedded afterwards."""
        text = request._replace(embed=False)
        done = self._in_background(text, self._texts, lambda: self._queue.run(text))
        if done and request.embed and self._embeds():
            paths, partial = request.paths, request.partial
            self._embedder.ask(SyncRequest(request.reasons, paths=paths, partial=partial))
        return done

    def _embed(self, request: SyncRequest) -> bool:
        history = self._vectors
        return self._in_background(request, history, lambda: self._run(request, history))

    def _in_background(
        self, request: SyncRequest, history: History, sync: Callable[[], SyncReport]
    ) -> bool:
        """Whether ``sync`` did all there was to do; failures are published, not raised."""
        try:
            report = sync()
        except CommonplaceError:
            return False  # published by the thread that ran it
        except Exception as error:  # noqa: BLE001 - a defect must not end the thread
            logger().exception("a sync in the background failed")
            defect = CommonplaceError(f"internal error: {type(error).__name__}: {error}")
            self._publish(history.ended(request, defect))
            return False
        return not undone_in_words(report)

    def _publish(self, event: SyncEvent | None) -> None:
        if event is None or self._listener is None:
            return
        try:
            self._listener(event)
        except Exception:  # noqa: BLE001 - the listener is not ours
            logger().exception("a listener to syncs failed")


class History:
    """The last sync that ended. ``clock`` gives epoch seconds."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._failing_since: float | None = None
        self.last: SyncOutcome | None = None

    def ended(
        self, request: SyncRequest, outcome: SyncReport | CommonplaceError
    ) -> SyncEvent | None:
        """Record the outcome of a sync; the event to publish, if it is news."""
        now = self._clock()
        error = outcome if isinstance(outcome, CommonplaceError) else None
        report = outcome if not isinstance(outcome, CommonplaceError) else None
        done = report or SyncReport()
        problem = reason_of(error) if error is not None else undone_in_words(done)
        since = (self._failing_since or now) if problem else None
        self._failing_since = since
        if isinstance(error, IndexBusyError) and now - (since or now) < _LASTING_SECONDS:
            return None
        self.last = SyncOutcome(
            at=now,
            reasons=request.reasons,
            added=done.added,
            updated=done.updated,
            removed=done.removed,
            error=problem,
            failing_since=since,
        )
        return SyncEvent(
            reasons=request.reasons,
            at=now,
            report=report,
            error=error,
            paths=tuple(sorted(request.paths)),
            force=request.force,
        )


def undone_in_words(report: SyncReport) -> str:
    """What a sync left that another one may do; ``""`` if it is nothing."""
    lacks = []
    if report.remaining:
        notes = counted(report.remaining, "note is", "notes are")
        lacks.append(f"{notes} not indexed yet")
    done = report.embedding
    if done is not None and done.missing:
        texts = counted(done.missing, "text is", "texts are")
        why = done.reason or done.batch_note
        lacks.append(f"{texts} not embedded yet" + (f": {why}" if why else ""))
    return "; ".join(lacks)
