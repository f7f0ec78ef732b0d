"""What a watcher's thread does: by the operating system while that works, else by looking again."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from commonplace.errors import UnavailableError
from commonplace.watching.following import Following
from commonplace.watching.native import Native
from commonplace.watching.polling import Poller
from commonplace.watching.silence import silent_system
from commonplace.watching.state import WatchState
from commonplace.watching.system import SystemWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from commonplace.model.documents import WatchedPath
    from commonplace.model.reports import WatchMode

__all__ = ["Means", "Rounds"]

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
