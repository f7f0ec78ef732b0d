"""How long a call may take, handed down instead of per-layer timeouts, and how calls ended."""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

from commonplace.errors import (
    DeadlineExceededError,
    IndexBusyError,
    UnavailableError,
    reason_of,
)
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Protocol, Self

    from commonplace.errors import CommonplaceError
    from commonplace.model.reports import Progress, ProgressCallback
    from commonplace.resilience.breaker import CircuitBreaker

    class Bounded(Protocol):
        """What gives calls up at their deadline: a :class:`~.bounded_call.Worker`."""

        def run(self, work: Callable[[], T], deadline: Deadline) -> T:
            """Return what ``work`` returns before ``deadline``."""
            ...


T = TypeVar("T")

INFINITY = float("inf")  # math.inf, without the time to load math

POLL_SECONDS = 0.1
"""Between two checks of a caller that waits, where a deadline may be cancelled meanwhile."""

FAIR_SECONDS = 1.0
"""A call that was given less time than this and did not end in it counts against no part."""


class Deadline:
    """A point in monotonic time, or the moment when the work is cancelled, whichever comes first.

    Made once where a call enters and passed to everything that can wait; only its maker may
    :meth:`renew` it. The clock is injected so that tests need no sleep. ``cancelled`` says whether
    the work was ended; once it has said so, it must go on saying it.
    """

    __slots__ = ("_at", "_cancelled", "_clock")

    def __init__(
        self,
        at: float,
        clock: Callable[[], float] = time.monotonic,
        *,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self._at = at
        self._clock = clock
        self._cancelled = cancelled

    @classmethod
    def after(cls, seconds: float, clock: Callable[[], float] = time.monotonic) -> Deadline:
        """A deadline ``seconds`` from now."""
        return cls(clock() + seconds, clock)

    def remaining(self) -> float:
        """Seconds left, never below 0; infinite for :data:`NEVER`, and 0 once cancelled."""
        if self.cancelled:
            return 0.0
        return max(0.0, self._at - self._clock()) if self._at != INFINITY else INFINITY

    @property
    def at(self) -> float:
        """The point in time, by the deadline's own clock; infinite for :data:`NEVER`."""
        return self._at

    @property
    def expired(self) -> bool:
        """Whether no time is left."""
        return self.remaining() <= 0

    @property
    def cancelled(self) -> bool:
        """Whether the work was cancelled: then no part is to blame that it is not done."""
        return self._cancelled is not None and self._cancelled()

    @property
    def cancellable(self) -> bool:
        """Whether it may come sooner than :meth:`remaining` says: who waits must look again."""
        return self._cancelled is not None

    def pause(self, seconds: float, sleep: Callable[[float], None] = time.sleep) -> None:
        """``sleep`` for ``seconds``, or until it is cancelled."""
        if not self.cancellable:
            sleep(seconds)
            return
        while seconds > 0 and not self.expired:
            sleep(min(seconds, POLL_SECONDS))
            seconds -= POLL_SECONDS

    def sooner(self, seconds: float) -> Deadline:
        """The same deadline, or ``seconds`` from now if that is earlier."""
        at = min(self._at, self._clock() + seconds)
        return Deadline(at, self._clock, cancelled=self._cancelled)

    def or_when(self, cancelled: Callable[[], bool]) -> Deadline:
        """The same deadline, or the moment when ``cancelled`` says so."""
        own = self._cancelled
        both = cancelled if own is None else lambda: own() or cancelled()
        return Deadline(self._at, self._clock, cancelled=both)

    def at_least(self, seconds: float) -> Deadline:
        """The same deadline, or ``seconds`` from now if that is later."""
        at = max(self._at, self._clock() + seconds)
        return Deadline(at, self._clock, cancelled=self._cancelled)

    def renew(self, seconds: float) -> None:
        """Move it to ``seconds`` from now if that is later: the work has shown that it goes on."""
        self._at = max(self._at, self._clock() + seconds)

    def check(self, what: str) -> None:
        """Raise :class:`DeadlineExceededError`, naming ``what``, if no time is left."""
        if self.expired:
            raise DeadlineExceededError(f"{what} took longer than it was given")


NEVER = Deadline(INFINITY)

_CURRENT = ContextVar("deadline", default=NEVER)


def current_deadline() -> Deadline:
    """The deadline of the call of a backend that this thread is at work for.

    For methods that are given none and may wait all the same, such as for a server.
    """
    return _CURRENT.get()


class CallerProgress:
    """A caller's progress callback, whose errors are that caller's alone.

    The work within the ``with`` block goes on without a callback that has raised, as others may
    wait for it, too. At its end the callback's error is raised as it is, even where the work failed
    meanwhile. An interrupt ends the work at once.
    """

    __slots__ = ("_callback", "_error")

    def __init__(self, callback: ProgressCallback | None) -> None:
        self._callback = callback
        self._error: Exception | None = None

    def __enter__(self) -> Self | None:
        return None if self._callback is None else self

    def __exit__(self, _kind: object, failure: BaseException | None, _trace: object) -> None:
        if self._error is not None and (failure is None or isinstance(failure, Exception)):
            raise self._error

    def __call__(self, progress: Progress) -> None:
        """Pass ``progress`` on, unless the callback has raised."""
        if self._error is None and self._callback is not None:
            try:
                self._callback(progress)
            except Exception as error:  # noqa: BLE001 - raised for the caller at the end
                self._error = error


class Failure(NamedTuple):
    """A run of failures: the reason of the last, and when the first was (epoch seconds).

    The part is tried again in ``retry_in`` seconds.
    """

    reason: str
    since: float
    retry_in: float


class GuardedCaller:
    """Counts the outcomes of the calls to the part ``id``, by a circuit breaker for each work.

    ``work`` is any name for a kind of call, such as ``search``: each kind fails apart from the
    others. A breaker that is not given is made at the first failure, so that a process in which
    nothing fails need not import it. Only errors of the class ``counts`` count against the part;
    ``reason`` is the text that is kept of one. With a ``worker`` calls are given up at their
    deadline, whatever the part does; without one they run in the caller's thread, and the part is
    trusted to keep deadlines. ``changed`` is called with the id and the reason when the part begins
    to fail, and with the id and ``None`` when all of its work succeeds again.
    """

    def __init__(
        self,
        id_: str,
        breakers: Mapping[str, CircuitBreaker] | None = None,
        *,
        worker: Bounded | None = None,
        counts: type[CommonplaceError] = UnavailableError,
        reason: Callable[[CommonplaceError], str] = reason_of,
        changed: Callable[[str, str | None], None] = lambda _id, _reason: None,
    ) -> None:
        self.id = id_
        self._breakers: dict[str, CircuitBreaker] = dict(breakers or {})
        self._worker = worker
        self._counts = counts
        self._reason = reason
        self._changed = changed

    def allows(self, work: str) -> bool:
        """Whether ``work`` may be tried now; a caller that gets True must report an outcome."""
        breaker = self._breakers.get(work)
        return breaker is None or breaker.allow()

    def run(self, ask: Callable[[], T], deadline: Deadline) -> T:
        """Return what ``ask`` returns before ``deadline``; nothing is counted."""
        token = _CURRENT.set(deadline)
        try:
            return ask() if self._worker is None else self._worker.run(ask, deadline)
        finally:
            _CURRENT.reset(token)

    @contextmanager
    def counted(self, work: str, deadline: Deadline = NEVER) -> Iterator[None]:
        """Count how the body ends, which was given until ``deadline``."""
        given = deadline.remaining()
        token = _CURRENT.set(deadline)
        try:
            yield
        except self._counts as error:
            hasty = given < FAIR_SECONDS or deadline.cancelled
            # A sync that another writer holds up has not failed: that one updates the index.
            held_up = isinstance(error, IndexBusyError) and work == "sync"
            if held_up or (isinstance(error, DeadlineExceededError) and hasty):
                self.abandoned(work)
            else:
                self.failed(work, error)
            raise
        except BaseException:  # it declined, the caller is wrong, or another part failed
            self.abandoned(work)
            raise
        finally:
            _CURRENT.reset(token)
        self.succeeded(work)

    def failed(self, work: str, error: CommonplaceError) -> None:
        """Count a failure; the part itself may ask for a pause (``error.retry_after``, seconds)."""
        breaker = self._breakers.get(work)
        if breaker is None:
            from commonplace.resilience.breaker import CircuitBreaker

            breaker = self._breakers.setdefault(work, CircuitBreaker())
        reason = self._reason(error)
        opened = breaker.failed(reason, retry_after=getattr(error, "retry_after", None))
        if opened and self._others_closed(breaker):
            self._changed(self.id, reason)

    def succeeded(self, work: str) -> None:
        """Count a success."""
        breaker = self._breakers.get(work)
        if breaker is not None and breaker.succeeded() and self._others_closed(breaker):
            self._changed(self.id, None)

    def abandoned(self, work: str) -> None:
        """A call ended without an outcome that says anything about the part."""
        if (breaker := self._breakers.get(work)) is not None:
            breaker.abandoned()

    def let_through(self, work: str) -> None:
        """Let the next call through, whatever its breaker says: something has changed."""
        if (breaker := self._breakers.get(work)) is not None:
            breaker.let_through()

    def failure(self, work: str) -> Failure | None:
        """The present run of failures at ``work``; ``None`` while it succeeds."""
        breaker = self._breakers.get(work)
        if breaker is None or (state := breaker.state()).since is None:
            return None
        return Failure(state.reason, state.since, state.retry_in)

    def _others_closed(self, breaker: CircuitBreaker) -> bool:
        return all(
            other is breaker or other.state().state == "closed"
            for other in tuple(self._breakers.values())
        )
