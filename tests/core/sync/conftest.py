"""What the tests of watching share: a watcher whose words are kept, and trees to watch."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from commonplace.sync.watcher import WatchDeps, Watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commonplace.model.documents import WatchedPath
    from commonplace.sync.watcher import WatchState

PATIENCE = 30.0  # seconds; only what is broken waits that long


class Recorder:
    """A watcher at work and all that it reported."""

    def __init__(
        self,
        watched: Callable[[], Sequence[WatchedPath]],
        *,
        deps: WatchDeps = WatchDeps(),  # noqa: B008  # a value
        poll_seconds: float = 2.0,
        force_polling: bool = False,
    ) -> None:
        self.paths: set[str] = set()
        self.calls: list[frozenset[str]] = []
        self._news = threading.Condition()
        self.watcher = Watcher(
            watched,
            self._hear,
            poll_seconds=poll_seconds,
            force_polling=force_polling,
            deps=deps,
        )

    def _hear(self, paths: frozenset[str]) -> None:
        with self._news:
            self.calls.append(paths)
            self.paths |= paths
            self._news.notify_all()

    def wait_for(self, wanted: Callable[[], bool]) -> None:
        """Wait until something reported makes ``wanted`` true."""
        with self._news:
            assert self._news.wait_for(wanted, PATIENCE), (self.calls, self.state())

    def hears(self, act: Callable[[], object], *paths: str) -> None:
        """Whatever was reported before, ``act`` makes the watcher report ``paths``."""
        with self._news:
            self.paths.clear()
        act()
        self.wait_for(lambda: set(paths) <= self.paths)

    def hears_in_the_end(self, act: Callable[[], object], path: str) -> None:
        """Done again and again, ``act`` makes the watcher report ``path`` by its name.

        For folders that have just come: until they are watched, something around them is reported.
        """
        with self._news:
            self.paths.clear()
        until = time.monotonic() + PATIENCE
        while True:
            act()
            with self._news:
                if self._news.wait_for(lambda: path in self.paths, 0.3):
                    return
            assert time.monotonic() < until, (self.calls, self.state())

    def state(self) -> WatchState:
        """What the watcher says of itself."""
        return self.watcher.state()

    def begin(self) -> None:
        """Start, and wait until it watches."""
        self.watcher.start()
        self.wait_for(lambda: bool(self.calls))


@pytest.fixture
def watch() -> Iterator[Callable[..., Recorder]]:
    """Makes a watcher that has begun; it is stopped at the end of the test."""
    made: list[Recorder] = []

    def make(*places: WatchedPath, begin: bool = True, **others: object) -> Recorder:
        recorder = Recorder(lambda: places, **others)  # type: ignore[arg-type]  # passed on as they are
        made.append(recorder)
        if begin:
            recorder.begin()
        return recorder

    yield make
    for recorder in made:
        recorder.watcher.stop()
        assert recorder.state().mode == "off"
