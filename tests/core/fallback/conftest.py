"""Engines that succeed or fail as a test sets, and a clock that moves only during a wait."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Literal, get_args

import pytest

from commonplace.errors import (
    CallerError,
    DeclinedError,
    IndexUnavailableError,
    UnavailableError,
)
from commonplace.fallback.backend import Backend, Work
from commonplace.fallback.manager import FallbackMemoryManager
from commonplace.model.reports import Progress, SyncReport
from commonplace.model.search import Arm, Found, KeywordQuery, Query, StoredChunk
from commonplace.protocols.contexts import ManagerHealth
from commonplace.resilience.bounded_call import Worker
from commonplace.resilience.breaker import CircuitBreaker
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from commonplace.model.documents import StoreHealth
    from commonplace.model.search import Where

Mode = Literal["answers", "finds nothing", "fails", "declines", "blames", "breaks", "hangs"]
ABLE = ("answers", "finds nothing")
COOLDOWN = 30.0


class Clock:
    """Seconds that pass when a test or a wait adds them; shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 1000.0

    def __call__(self) -> float:
        return self._now

    def pass_by(self, seconds: float) -> None:
        self.pass_to(self._now + seconds)

    def pass_to(self, moment: float) -> None:
        with self._lock:
            self._now = max(self._now, moment)


class Engine:
    """A manager whose search ends as ``mode`` says, and its sync as ``sync_mode`` says.

    Its first index has ``notes``, and takes ten seconds for each.
    """

    capabilities = frozenset({"eager"})

    def __init__(self, id_: str, clock: Clock) -> None:
        self.id = id_
        self.clock = clock
        self.notes = self.indexed = 0
        self.mode: Mode = "answers"
        self.sync_mode: Mode = "answers"
        self.hint = ""
        self.searched = 0
        self.maintained: list[dict[str, Any]] = []
        self.closed = 0
        self.store: StoreHealth | None = None
        self.stuck: set[threading.Event] = set()
        self.release = threading.Event()

    def search(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Arm, ...]:
        self.searched += 1
        self._act(self.mode)
        chunk = StoredChunk(1, "memory", f"memory/{self.id}.md", 1, 1, query.text)
        found = (Found(chunk, 1.0),) if self.mode == "answers" else ()
        return (Arm(self.id, "rank", found),)

    def maintain(self, **options: Any) -> SyncReport:
        self.maintained.append(options)
        while "at_most" not in options and self.indexed < self.notes:
            if options["deadline"].expired:
                break
            self.clock.pass_by(10)
            self.indexed += 1
            if (progress := options["progress"]) is not None:
                done, total = self.indexed, self.notes
                progress(Progress(label="Indexing notes", completed=done, total=total))
        if not self.notes or "at_most" not in options:
            self._act(self.sync_mode)
        if self.notes:
            return SyncReport(known=self.indexed, remaining=self.notes - self.indexed)
        return SyncReport(known=1, unchanged=1)

    def pending(self) -> SyncReport:
        self._act(self.sync_mode)
        return SyncReport(known=1, unchanged=1)

    def health(self, *, deep: bool = False) -> ManagerHealth:
        able = self.mode in ABLE
        reason = "" if able else f"{self.id}: {self.mode}"
        return ManagerHealth(available=able, reason=reason, store=self.store)

    def close(self) -> None:
        self.closed += 1

    def _act(self, mode: Mode) -> None:
        if mode == "fails":
            raise IndexUnavailableError(f"{self.id} is down", hint=self.hint)
        if mode == "declines":
            raise DeclinedError(f"{self.id} would rather not")
        if mode == "blames":
            raise CallerError(f"{self.id} cannot be asked that")
        if mode == "breaks":
            raise ZeroDivisionError(f"a mistake in {self.id}")
        if mode == "hangs":
            # The call this thread was made for, by what its caller waits for.
            self.stuck.add(vars(threading.current_thread())["_target"].__self__.done)
            self.release.wait()
            raise UnavailableError("too late for anyone to hear")


class Chain:
    """A chain of such engines on one clock."""

    def __init__(self, count: int, **options: Any) -> None:
        self.clock = Clock()
        self.engines = [Engine(f"e{index}", self.clock) for index in range(count)]
        self.changes: list[tuple[str, str | None]] = []
        self.manager = FallbackMemoryManager(
            [self._backend(engine) for engine in self.engines], clock=self.clock, **options
        )

    def _backend(self, engine: Engine) -> Backend:
        def wait(event: threading.Event, seconds: float) -> bool:
            # Either the call ends by itself, or it is stuck and time passes, for all who wait; only
            # a first index takes time by itself.
            over = self.clock() + seconds
            while not event.wait(0.0005):
                if event in engine.stuck or (engine.notes and self.clock() >= over):
                    self.clock.pass_to(over)
                    return event.is_set()
            return True

        return Backend(
            engine.id,
            lambda: engine,
            breakers={
                work: CircuitBreaker(cooldown=COOLDOWN, monotonic=self.clock, clock=self.clock)
                for work in get_args(Work)
            },
            worker=Worker(engine.id, wait=wait),
            changed=lambda part, reason: self.changes.append((part, reason)),
            clock=self.clock,
        )

    def deadline(self, seconds: float = 30.0) -> Deadline:
        return Deadline.after(seconds, self.clock)

    def close(self) -> None:
        for engine in self.engines:
            engine.release.set()
        self.manager.close()
        for thread in threading.enumerate():
            if thread.name.startswith("commonplace-e"):
                thread.join(10)
                assert not thread.is_alive()


@pytest.fixture
def query() -> Query:
    return Query("tea", KeywordQuery(("tea",)))


@pytest.fixture
def chains() -> Callable[..., Chain]:
    return Chain


@pytest.fixture
def cooldown() -> float:
    return COOLDOWN
