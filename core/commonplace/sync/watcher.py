"""The file watcher: a thread that reports changes, by the operating system or by polling."""

from __future__ import annotations

import threading
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from attrs import define, field

from commonplace.errors import UnavailableError, reason_of
from commonplace.model.tuples import NamedTuple
from commonplace.resilience.bounded_call import start_failure
from commonplace.sync.folders import Poller, remote_file_system
from commonplace.sync.native import NativeWatch, native_events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from commonplace.model.documents import WatchedPath
    from commonplace.model.reports import WatchMode
    from commonplace.sync.native import OpenEvents


_RETRY = 300.0  # seconds after which what failed is tried again
_STABLE = 60.0  # seconds after which watching that fails is restarted at once
_LOOK = 5.0  # seconds between two questions what to watch
_SLICE = 0.5  # seconds after which a wait notices that the program has ended


class WatchState(NamedTuple):
    """How changes are noticed, ``since`` when (epoch seconds), in how many ``folders``.

    ``reason`` says why not by the operating system, or not for every path; ``""`` if by it alone.
    """

    mode: WatchMode = "off"
    reason: str = ""
    since: float | None = None
    folders: int = 0


def _wait(stop: threading.Event, seconds: float) -> None:
    until = time.monotonic() + seconds
    while not _ended(stop) and (left := until - time.monotonic()) > 0:
        stop.wait(min(left, _SLICE))


def _ended(stop: threading.Event) -> bool:
    # The thread is no daemon: ending one in the midst of a library can end the process badly.
    return stop.is_set() or not threading.main_thread().is_alive()


class WatchDeps(NamedTuple):
    """What a watcher works with; tests have others.

    ``clock`` and ``cpu`` (of the calling thread) give seconds, ``now`` epoch seconds. ``wait``
    waits so many seconds, or until the event is set. ``remote`` gives the type of the file system
    of a path if that does not report changes, else ``""``.
    """

    events: OpenEvents = native_events
    clock: Callable[[], float] = time.monotonic
    cpu: Callable[[], float] = time.thread_time
    now: Callable[[], float] = time.time
    wait: Callable[[threading.Event, float], None] = _wait
    remote: Callable[[str], str] = remote_file_system


@define
class Watcher:
    """Calls ``changed`` with the absolute paths that have changed, from a thread of its own.

    ``watched`` says where documents may be; it is asked again every few seconds. A path is a
    document that was written, created or deleted, a folder that came or went with all that is in
    it, or a watched path: anything at or below it may have changed unnoticed. All watched paths are
    reported once when watching begins. Changes are reported within some 100 ms, in groups and not
    debounced. ``changed`` must be quick; nothing is reported while it runs.

    The operating system is asked by the library watchfiles. Where it does not report changes, all
    files are compared every ``poll_seconds``, or more rarely if that would take more than a
    hundredth of a core, and the system is tried again every five minutes; ``force_polling`` does
    not try.
    """

    _watched: Callable[[], Sequence[WatchedPath]]
    _changed: Callable[[frozenset[str]], None]
    _poll_seconds: float = field(default=2.0, kw_only=True)
    _force_polling: bool = field(default=False, kw_only=True)
    _deps: WatchDeps = field(factory=WatchDeps, kw_only=True)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _running: tuple[_Loop, threading.Thread] | None = field(default=None, init=False)

    def start(self) -> None:
        """Begin, unless it has begun.

        Raises :class:`~commonplace.errors.UnavailableError` if no thread can be started.
        """
        with self._lock:
            if self._running is not None and self._running[1].is_alive():
                return
            loop = _Loop(
                self._watched, self._changed, self._poll_seconds, self._force_polling, self._deps
            )
            thread = threading.Thread(target=loop.run, name="commonplace-watcher")
            if reason := start_failure(thread):
                raise UnavailableError(f"the files are not watched: {reason}")
            self._running = loop, thread

    def stop(self) -> None:
        """End, and wait for it (some 50 ms), except on the watcher's own thread.

        May be called again, and before the start. Afterwards ``changed`` is not called.
        """
        with self._lock:
            running, self._running = self._running, None
        if running is None:
            return
        loop, thread = running
        loop.stop.set()
        if thread is not threading.current_thread():
            thread.join()

    def folders(self) -> frozenset[str]:
        """The folders of which the system reports every change; none where it may not."""
        running = self._running
        native = running[0].native if running is not None and running[1].is_alive() else None
        return native.folders if native is not None else frozenset()

    def state(self) -> WatchState:
        """How changes are noticed just now."""
        running = self._running
        if running is None:
            return WatchState()
        loop, thread = running
        if loop.state.mode != "off" and not thread.is_alive():
            return WatchState("off", "the watcher's thread has ended", loop.state.since)
        return loop.state


@define
class _Loop:
    """What the thread does until ``stop`` is set; ``state`` may be read by any thread."""

    _watched: Callable[[], Iterable[WatchedPath]]
    _changed: Callable[[frozenset[str]], None]
    _poll_seconds: float
    _force_polling: bool
    _deps: WatchDeps
    _poller: Poller | None = None
    stop: threading.Event = field(factory=threading.Event, init=False)
    native: NativeWatch | None = field(default=None, init=False)  # while it covers all paths
    state: WatchState = field(init=False)

    @state.default
    def _begun(self) -> WatchState:
        return WatchState(reason="watching has not begun yet", since=self._deps.now())

    def run(self) -> None:
        """Watch until the end; any failure is shown in the state, and tried again later."""
        while not _ended(self.stop):
            try:
                paths = self._paths()
                reason = self._watch(paths)
                if reason and not _ended(self.stop):
                    self._poll(paths, reason)
            except Exception as error:  # noqa: BLE001 - shown in the state, and tried again
                self._poller = None
                self._show("off", f"watching failed: {type(error).__name__}: {error}", 0)
                self._deps.wait(self.stop, _RETRY)
        self._show("off", "" if self.stop.is_set() else "the program is ending", 0)

    def _watch(self, paths: tuple[WatchedPath, ...]) -> str:
        """Watch by the system until the paths differ; why that is not possible, or ``""``."""
        if self._force_polling:
            return "polling was asked for"
        remote = {path: kind for path in paths if (kind := self._deps.remote(path.location))}
        reason = ", ".join(
            f"{path.location} is on {kind}, which reports no changes"
            for path, kind in remote.items()
        )
        if remote and len(remote) == len(paths):
            return reason
        began = self._deps.clock()
        try:
            self._follow(paths, tuple(remote), reason)
        except UnavailableError as error:
            if self._deps.clock() < began + _STABLE:
                return reason_of(error)
        return ""

    def _follow(
        self, paths: tuple[WatchedPath, ...], remote: tuple[WatchedPath, ...], reason: str
    ) -> None:
        """Report what the system reports, and poll the ``remote`` paths beside it."""
        clock = self._deps.clock
        local = [path for path in paths if path not in remote]
        native = NativeWatch(local, self.stop, clock=clock, events=self._deps.events)
        poller = self._new_poller(remote) if remote else None
        self._poller = None
        look_at, poll_at = clock() + _LOOK, clock() + (poller.pause if poller else 0.0)
        first = frozenset(path.location for path in remote)
        with closing(native.changes()) as changes, self._covered(native if not remote else None):
            for changed in changes:
                found, first = changed | first, frozenset[str]()
                if poller is not None and clock() >= poll_at:
                    found |= poller.changes()
                    poll_at = clock() + poller.pause
                if found:
                    polled = poller.folders if poller is not None else 0
                    self._show("native", reason, len(native.folders) + polled)
                    self._changed(found)
                if _ended(self.stop):
                    return
                if clock() >= look_at:
                    look_at = clock() + _LOOK
                    if self._paths() != paths:
                        return

    @contextmanager
    def _covered(self, native: NativeWatch | None) -> Iterator[None]:
        self.native = native
        try:
            yield
        finally:
            self.native = None

    def _poll(self, paths: tuple[WatchedPath, ...], reason: str) -> None:
        """Poll until it is time to try the system, or the paths differ."""
        changed = frozenset[str]()
        if self._poller is None or self._poller.paths != paths:
            self._poller = self._new_poller(paths)
            changed = frozenset(path.location for path in paths)
        poller = self._poller
        until = self._deps.clock() + _RETRY
        while True:
            again = f"files are compared every {poller.pause:.0f} s"
            # Before the report: who hears of a change may ask how it was noticed.
            self._show("polling", f"{reason}; {again}", poller.folders)
            if changed:
                self._changed(changed)
            if self._deps.clock() >= until:
                return
            self._deps.wait(self.stop, poller.pause)
            if _ended(self.stop) or self._paths() != paths:
                return
            changed = poller.changes()

    def _paths(self) -> tuple[WatchedPath, ...]:
        return tuple(dict.fromkeys(self._watched()))

    def _new_poller(self, paths: Sequence[WatchedPath]) -> Poller:
        deps = self._deps
        return Poller(paths, least=self._poll_seconds, cpu=deps.cpu, wall=deps.clock)

    def _show(self, mode: WatchMode, reason: str, folders: int) -> None:
        since = self.state.since if self.state.mode == mode else self._deps.now()
        self.state = WatchState(mode, reason, since, folders)
