"""The sync service of one memory: every trigger of a sync, their outcomes, and closing."""

from __future__ import annotations

import threading
import time
from math import inf
from typing import TYPE_CHECKING, Literal, Protocol

from commonplace.errors import CallerError, CommonplaceError, IndexBusyError, reason_of
from commonplace.host.events import logger
from commonplace.model.reports import SyncEvent, SyncOutcome, SyncReport, UpkeepState
from commonplace.resilience.deadline import Deadline
from commonplace.sync.queue import SyncQueue, SyncRequest
from commonplace.sync.schedule import Background, Schedule

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = [
    "History",
    "Upkeep",
    "Watcher",
    "undone",
]


_LASTING_SECONDS = 30.0
"""Another process that writes is no news until it has been at it for this long."""


class History:
    """Remembers the last sync that ended. ``clock`` gives epoch seconds."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._failing_since: float | None = None
        self.last: SyncOutcome | None = None

    def ended(
        self, request: SyncRequest, outcome: SyncReport | CommonplaceError
    ) -> SyncEvent | None:
        """Take note of it; the event to tell, if it is to be told."""
        now = self._clock()
        error = outcome if isinstance(outcome, CommonplaceError) else None
        report = outcome if not isinstance(outcome, CommonplaceError) else None
        wrong = reason_of(error) if error is not None else undone(report or SyncReport())
        since = (self._failing_since or now) if wrong else None
        self._failing_since = since
        if isinstance(error, IndexBusyError) and now - (since or now) < _LASTING_SECONDS:
            return None
        done = report or SyncReport()
        self.last = SyncOutcome(
            at=now,
            reasons=request.reasons,
            added=done.added,
            updated=done.updated,
            removed=done.removed,
            error=wrong,
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


def undone(report: SyncReport) -> str:
    """What a sync had to leave that another one may do; ``""`` if it is nothing."""
    lacks = []
    if report.remaining:
        notes = "1 note is" if report.remaining == 1 else f"{report.remaining} notes are"
        lacks.append(f"{notes} not indexed yet")
    done = report.embedding
    if done is not None and done.missing:
        texts = "1 text is" if done.missing == 1 else f"{done.missing} texts are"
        why = done.reason or done.batch_note
        lacks.append(f"{texts} not embedded yet" + (f": {why}" if why else ""))
    return "; ".join(lacks)


if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.config import SyncSettings
    from commonplace.model.reports import SyncListener
    from commonplace.sync.watcher import WatchState

    Changed = Callable[[frozenset[str]], None]


_CLOSE_SECONDS = 10.0
"""Seconds that closing waits for a sync to end its batch."""
_SESSIONS = 10_000
"""Sessions that are remembered: one that comes back after as many others counts as new."""
_UNWATCHED_SECONDS = 60.0
"""Between two syncs while watching, where a source cannot tell where its changes show."""
_SOMEBODY_WAITS = 30.0
"""Seconds to wait for another writer when somebody waits for the sync."""


class Watcher(Protocol):
    """Notices changed files on a thread of its own; see :mod:`commonplace.sync.watcher`."""

    def start(self) -> None:
        """Begin."""
        ...

    def stop(self) -> None:
        """End, and wait for it."""
        ...

    def state(self) -> WatchState:
        """Who notices changes just now."""
        ...


class Upkeep:
    """Brings one memory's index up to its files, whoever or whatever asks for it.

    ``sync`` makes one sync and stops cleanly at the deadline it is given. ``embeds`` says whether
    there is anybody to embed what is indexed: in the background that is done apart, on a thread of
    its own, since it may take hours for which no changed note is to wait. Apart from that ``sync``
    is never called twice at once. ``listener`` is told of every sync that ended, on the thread that
    made it. Nothing runs in the background before something asks for it.
    """

    def __init__(
        self,
        settings: SyncSettings,
        sync: Callable[[SyncRequest, Deadline], SyncReport],
        *,
        embeds: Callable[[], bool] = lambda: False,
        listener: SyncListener | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._sync = sync
        self._listener = listener
        self._clock = clock
        self._embeds = embeds
        self._history = History(clock)
        self._embedded = History(clock)
        self._stopping = threading.Event()
        self._queue = SyncQueue(self._carry_out)
        schedule = Schedule(debounce=settings.watch_debounce_ms / 1000, now=time.monotonic())
        self._background = Background(schedule, self._serve)
        at_once = Schedule(debounce=0, now=time.monotonic())
        self._embedding = Background(at_once, self._embed, name="embedding")
        self._starting = threading.Lock()
        self._sessions: dict[str, None] = {}
        self._keeps = False
        self._watcher: Watcher | None = None

    def sync(self, request: SyncRequest) -> SyncReport:
        """The report of a sync that begins after this call; see :class:`SyncQueue`."""
        return self._queue.run(request._replace(wait=_SOMEBODY_WAITS))

    def watch(self, make: Callable[[Changed], Watcher], *, unwatched: bool) -> None:
        """Keep the index up to the files from now on; again is fine.

        ``make`` makes a watcher that tells its argument of changes; it is not asked where
        ``sync.watch`` is off. ``unwatched`` says that there are sources it cannot watch.
        """
        with self._starting:
            self._check_open()
            if self._keeps:
                return
            seconds = 60.0 * self._settings.interval_minutes
            if self._settings.watch:
                if unwatched:
                    seconds = min(seconds or inf, _UNWATCHED_SECONDS)
                self._watcher = make(self._background.notice)
                self._watcher.start()
            self._keeps = True
        self._background.every(seconds)
        # Only now: what changes while this looks is noticed.
        self._ask(SyncRequest(("start",)))

    def session_started(self, key: str) -> None:
        """The session ``key`` has begun, as far as the caller knows."""
        self._check_open()
        if self._is_new(key):
            self._ask(SyncRequest(("session-start",)))

    def searched(self, session_key: str, stale: int) -> None:
        """A search of that session was answered from an index that ``stale`` files are ahead of.

        What it sets off embeds nothing unless somebody wants the index to be kept up: that costs
        time and perhaps money.
        """
        if session_key and self._is_new(session_key):
            self._ask(SyncRequest(("session-start",), embed=self._keeps))
        if stale > 0:
            self._ask(SyncRequest(("search",), embed=self._keeps))

    def compacted(
        self, session_file: str | None, mode: Literal["off", "async", "await"]
    ) -> SyncReport | None:
        """A session was compacted; the report where ``mode`` is ``await``."""
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

    def state(self) -> UpkeepState:
        """Who watches, what runs, what waits, and how the last sync went."""
        running = self._queue.running or self._embedding.running
        waiting, due_in = self._background.prospect()
        state = UpkeepState(
            running=running.reasons if running is not None else (),
            waiting=waiting,
            due_in=due_in,
            last=self._last(),
        )
        if self._watcher is not None:
            watch = self._watcher.state()
            return state._replace(
                watching=watch.mode,
                reason=watch.reason,
                since=watch.since,
                folders=watch.folders,
            )
        return state._replace(reason="sync.watch is false" if self._keeps else "")

    def close(self) -> None:
        """End it all; closing twice is fine.

        A sync under way ends its batch and leaves the rest. What was wanted in the background and
        not done is told to the listener.
        """
        self._stopping.set()
        self._queue.close()
        with self._starting:
            watcher = self._watcher
        if watcher is not None:
            watcher.stop()
        patience = Deadline.after(_CLOSE_SECONDS)
        for background in (self._background, self._embedding):
            if (left := background.close(patience.remaining())) is not None:
                self._lost(left)
        self._queue.settle(patience.remaining())

    def _last(self) -> SyncOutcome | None:
        """How the last sync ended; that texts could not be embedded stands until they can."""
        embedded = self._embedded.last
        return embedded if embedded is not None and embedded.error else self._history.last

    def _ask(self, request: SyncRequest) -> None:
        if not self._background.ask(request) and not self._stopping.is_set():
            logger().warning("no thread could be started to bring the index up to the files")

    def _check_open(self) -> None:
        if self._stopping.is_set():
            raise CallerError("this memory is closed", hint="open another one")

    def _is_new(self, key: str) -> bool:
        if not self._settings.on_session_start:
            return False
        with self._starting:
            if key in self._sessions:
                return False
            self._sessions[key] = None
            if len(self._sessions) > _SESSIONS:
                del self._sessions[next(iter(self._sessions))]
        return True

    def _carry_out(self, request: SyncRequest) -> SyncReport:
        return self._made(request, self._history)

    def _made(self, request: SyncRequest, history: History) -> SyncReport:
        try:
            report = self._sync(request, Deadline(inf, cancelled=self._stopping.is_set))
        except CommonplaceError as error:
            self._tell(history.ended(request, error))
            raise
        self._tell(history.ended(request, report))
        return report

    def _serve(self, request: SyncRequest) -> bool:
        """Make what is due searchable; it is embedded afterwards."""
        text = request._replace(embed=False)
        done = self._quietly(text, self._history, lambda: self._queue.run(text))
        if done and request.embed and self._embeds():
            self._embedding.ask(SyncRequest(request.reasons))
        return done

    def _embed(self, request: SyncRequest) -> bool:
        return self._quietly(request, self._embedded, lambda: self._made(request, self._embedded))

    def _quietly(
        self, request: SyncRequest, history: History, sync: Callable[[], SyncReport]
    ) -> bool:
        """Whether ``sync`` did all there was to do; whatever goes wrong is told, not raised."""
        try:
            report = sync()
        except CommonplaceError:
            return False  # told by the one who carried it out
        except Exception as error:  # noqa: BLE001 - a mistake must not end the thread
            logger().exception("a sync in the background failed")
            mistake = CommonplaceError(f"this is a mistake: {type(error).__name__}: {error}")
            self._tell(history.ended(request, mistake))
            return False
        return not undone(report)

    def _lost(self, request: SyncRequest) -> None:
        reason = "the memory was closed before it could be brought up to the files"
        event = SyncEvent(
            request.reasons,
            self._clock(),
            error=CommonplaceError(reason, hint="the next sync does it"),
            paths=tuple(sorted(request.paths)),
            force=request.force,
        )
        logger().info("%s (%s)", reason, ", ".join(request.reasons))
        self._tell(event)

    def _tell(self, event: SyncEvent | None) -> None:
        if event is None or self._listener is None:
            return
        try:
            self._listener(event)
        except Exception:  # noqa: BLE001 - whoever listens is not of ours
            logger().exception("who listens to syncs failed")
