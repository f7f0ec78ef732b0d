"""The file watcher: a thread that reports changes, by the operating system or by polling."""

from __future__ import annotations

import threading
import time
from math import inf
from typing import TYPE_CHECKING

from commonplace.errors import UnavailableError
from commonplace.model.tuples import NamedTuple
from commonplace.sync.folders import silent_system
from commonplace.sync.native import Native, SystemWatch
from commonplace.sync.polling import Poller

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from threading import Event

    from commonplace.model.documents import WatchedPath
    from commonplace.model.reports import WatchMode

__all__ = [
    "Following",
    "Means",
    "Rounds",
    "WatchState",
    "Watcher",
]


class WatchState(NamedTuple):
    """Who notices changes, ``since`` when (epoch seconds), in how many ``folders``.

    ``reason`` says why it is not the operating system, or not for every place; ``""`` where there
    is nothing to say.
    """

    mode: WatchMode = "off"
    reason: str = ""
    since: float | None = None
    folders: int = 0


# Seconds between looks for what nobody tells: a folder far above was moved or mounted, or so much
# happened at once that some of it was lost.
_LOOK = 5.0
_BREATH = 0.5  # seconds between looks whether there is anything to do but wait


class Following:
    """Calls ``tell`` with the paths that ``system`` tells, and those ``poller`` finds beside it.

    It ends once ``stop`` is set, ``ended`` says so, the places do not stand as they did, or
    ``are_others`` says that there are others. All is done on the thread that calls :meth:`run`.
    """

    def __init__(
        self,
        system: SystemWatch,
        poller: Poller | None,
        *,
        tell: Callable[[frozenset[str]], None],
        stop: Event,
        ended: Callable[[], bool],
        are_others: Callable[[], bool],
        clock: Callable[[], float],
    ) -> None:
        self._system = system
        self._poller = poller
        self._tell = tell
        self._stop = stop
        self._ended = ended
        self._are_others = are_others
        self._clock = clock
        self._awake_at = clock()
        self._look_at = clock() + _LOOK
        self._poll_at = clock() + poller.pause if poller is not None else inf
        self._over = False

    def run(self) -> None:
        """Tell until it is over; raises ``UnavailableError`` where watching has failed."""
        while not self._is_over():
            found = self._system.changes(self)
            if found is None and self._system.is_due():
                # What was told in the moment of waking is lost, so that anything may have changed.
                found = self._system.renew() | self._system.everything
            if found:
                self._tell(found)

    def is_set(self) -> bool:
        """Whether to stop waiting for the system to tell something."""
        # Asked twenty times a second, so what can wait for a breath is not done here.
        return self._stop.is_set() or (self._clock() >= self._awake_at and self._is_awake())

    def _is_awake(self) -> bool:
        """Do what is due besides waiting; whether to stop."""
        self._awake_at = self._clock() + _BREATH
        if self._poller is not None and self._clock() >= self._poll_at:
            found = self._poller.changes()
            self._poll_at = self._clock() + self._poller.pause
            if found:
                self._tell(found)
        return self._is_over() or self._system.is_due()

    def _is_over(self) -> bool:
        if self._ended():
            return True
        if not self._over and (self._system.in_doubt or self._clock() >= self._look_at):
            self._look_at = self._clock() + _LOOK
            self._over = not self._system.stands() or self._are_others()
            if not self._over:
                self._system.check()
        return self._over


_RETRY = 300.0  # seconds after which what failed is tried again
_RESTS = 20  # times as long as it took to begin watching, before that is done again
_LONGEST_REST = 5.0  # seconds
_WELL = 60.0  # seconds after which what fails has worked, and is worth beginning again at once
_SLICE = 0.5  # seconds after which a wait notices that the program has ended


def _wait(stop: threading.Event, seconds: float) -> None:
    until = time.monotonic() + seconds
    while not _ended(stop) and (left := until - time.monotonic()) > 0:
        stop.wait(min(left, _SLICE))


def _ended(stop: threading.Event) -> bool:
    # The thread is no daemon: ending one in the midst of a library can end the process badly.
    return stop.is_set() or not threading.main_thread().is_alive()


class Means(NamedTuple):
    """What a watcher works with; tests have others.

    ``clock`` and ``cpu`` (of the calling thread) give seconds, ``now`` epoch seconds. ``wait``
    waits so many seconds, or until the event is set. ``silent`` gives the type of the file system
    of a path where that tells nothing of changes, else ``""``.
    """

    open_native: Callable[[Collection[str]], Native] = Native
    clock: Callable[[], float] = time.monotonic
    cpu: Callable[[], float] = time.thread_time
    now: Callable[[], float] = time.time
    wait: Callable[[threading.Event, float], None] = _wait
    silent: Callable[[str], str] = silent_system


class Rounds:
    """Tells ``changed`` of changes below what is ``watched``, until ``stop`` is set.

    Whenever watching begins, and whenever something may have been missed, ``changed`` is told all
    places. ``state`` may be read by any thread.
    """

    def __init__(
        self,
        watched: Callable[[], Iterable[WatchedPath]],
        changed: Callable[[frozenset[str]], None],
        stop: threading.Event,
        *,
        poll_seconds: float,
        force_polling: bool,
        means: Means,
    ) -> None:
        self._watched = watched
        self._changed = changed
        self._stop = stop
        self._poll_seconds = poll_seconds
        self._force_polling = force_polling
        self._means = means
        self._poller: Poller | None = None
        self.state = WatchState(reason="watching has not begun yet", since=means.now())

    def run(self) -> None:
        """Work until the end; whatever goes wrong is said in the state, and tried again later."""
        while not self._ended():
            try:
                places = self._places()
                reason = self._watch(places)
                if reason and not self._ended():
                    self._poll(places, reason)
            except Exception as error:  # noqa: BLE001 - said in the state, and tried again
                self._poller = None
                self._say("off", f"watching failed: {type(error).__name__}: {error}", 0)
                self._means.wait(self._stop, _RETRY)
        self._say("off", "" if self._stop.is_set() else "the program is ending", 0)

    def _watch(self, places: tuple[WatchedPath, ...]) -> str:
        """Watch by the system until the places are others; why that cannot be done, or ``""``."""
        if self._force_polling:
            return "polling was asked for"
        silent = {place: kind for place in places if (kind := self._means.silent(place.location))}
        silence = ", ".join(
            f"{place.location} is on {kind}, which tells of no changes"
            for place, kind in silent.items()
        )
        if silent and len(silent) == len(places):
            return silence
        clock = self._means.clock
        began = clock()
        loud = [place for place in places if place not in silent]
        try:
            system = SystemWatch(loud, open_native=self._means.open_native, clock=clock)
            rested = clock() + min(_RESTS * (clock() - began), _LONGEST_REST)
            self._follow(system, places, silence, self._made_poller(silent) if silent else None)
        except UnavailableError as error:
            if clock() < began + _WELL:
                return f"{error} ({error.hint})" if error.hint else str(error)
            rested = clock()
        self._means.wait(self._stop, rested - clock())
        return ""

    def _follow(
        self,
        system: SystemWatch,
        places: tuple[WatchedPath, ...],
        silence: str,
        poller: Poller | None,
    ) -> None:
        def tell(found: frozenset[str]) -> None:
            polled = poller.folders if poller is not None else 0
            self._say("native", silence, len(system.folders) + polled)
            self._changed(found)

        self._poller = None
        following = Following(
            system,
            poller,
            tell=tell,
            stop=self._stop,
            ended=self._ended,
            are_others=lambda: self._places() != places,
            clock=self._means.clock,
        )
        try:
            tell(frozenset(place.location for place in places))
            following.run()
        finally:
            system.close()

    def _poll(self, places: tuple[WatchedPath, ...], reason: str) -> None:
        """Look again and again, until it is time to try the system, or the places are others."""
        if self._poller is None or self._poller.places != places:
            self._poller = self._made_poller(places)
            self._changed(frozenset(place.location for place in places))
        poller = self._poller
        until = self._means.clock() + _RETRY
        while True:
            again = f"files are looked at again every {poller.pause:.0f} s"
            self._say("polling", f"{reason}; {again}", poller.folders)
            self._means.wait(self._stop, poller.pause)
            if self._ended() or self._places() != places:
                return
            found = poller.changes()
            if found:
                self._changed(found)
            if self._means.clock() >= until:
                return

    def _places(self) -> tuple[WatchedPath, ...]:
        return tuple(dict.fromkeys(self._watched()))

    def _made_poller(self, places: Iterable[WatchedPath]) -> Poller:
        means = self._means
        return Poller(places, least=self._poll_seconds, cpu=means.cpu, wall=means.clock)

    def _ended(self) -> bool:
        return _ended(self._stop)

    def _say(self, mode: WatchMode, reason: str, folders: int) -> None:
        since = self.state.since if self.state.mode == mode else self._means.now()
        self.state = WatchState(mode, reason, since, folders)


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
