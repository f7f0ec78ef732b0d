"""One link of a chain: an engine that is made when it is needed, and left alone while it fails."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Literal, TypeVar

from commonplace.errors import (
    CommonplaceError,
    DeadlineExceededError,
    UnavailableError,
    reason_of,
)
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.protocols.managers import MemoryManager
    from commonplace.resilience.bounded_call import Worker
    from commonplace.resilience.breaker import BreakerState, CircuitBreaker
    from commonplace.resilience.deadline import Deadline

__all__ = ["Link", "Trouble", "Work"]

T = TypeVar("T")

Work = Literal["search", "upkeep"]
"""The kinds of work, each with a breaker of its own: a slow update keeps nobody from searching."""

_FAIR_SECONDS = 1.0
"""Who was given less than this and did not make it is not to blame."""


class Trouble(NamedTuple):
    """Why a link is left alone: the reason of its last failure, and the time of the first."""

    reason: str
    since: float
    retry_in: float


class Link:
    """An engine, made by ``make`` at its first call, and a circuit breaker for each kind of work.

    Calls run in ``worker``, which gives them up at their deadline; without one, in the caller's own
    thread, trusting the engine to keep deadlines: where nobody else could answer there is nothing
    to give it up for. Breakers that are not given are made when needed. ``changed`` is told of each
    that opens (with the reason) or closes (with ``None``).
    """

    def __init__(
        self,
        id_: str,
        make: Callable[[], MemoryManager],
        *,
        breakers: Mapping[Work, CircuitBreaker] | None = None,
        worker: Worker | None = None,
        changed: Callable[[str, str | None], None] = lambda _part, _reason: None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.id = id_
        self._make = make
        self._run = worker.run if worker is not None else _inline
        self._changed = changed
        self._monotonic = monotonic
        # Else made at the first failure: a search where nothing fails need not even import them.
        self._breakers: dict[Work, CircuitBreaker] = dict(breakers or {})
        self._opening = threading.Lock()
        self._manager: MemoryManager | None = None
        self._closed = threading.Event()

    def allows(self, work: Work) -> bool:
        """Whether it may be asked now; who may must :meth:`call`."""
        breaker = self._breakers.get(work)
        return breaker is None or breaker.allow()

    def trouble(self, work: Work) -> Trouble | None:
        """Why it is not asked, or would only be asked on trial; ``None`` while all is well."""
        state = self._state(work)
        if state is None or state.since is None:
            return None
        return Trouble(state.reason, state.since, max(0.0, state.retry_at - self._monotonic()))

    def call(self, work: Work, ask: Callable[[MemoryManager], T], deadline: Deadline) -> T:
        """What ``ask`` gets of the engine, before ``deadline``; its outcome is counted.

        Raises :class:`~commonplace.errors.UnavailableError`, whatever the failure was;
        :class:`~commonplace.errors.DeclinedError` or a
        :class:`~commonplace.errors.CallerError` of the engine, which say nothing against it.
        """
        given = deadline.remaining()
        try:
            answer = self.look(ask, deadline)
        except UnavailableError as error:
            hasty = given < _FAIR_SECONDS or deadline.cancelled
            if isinstance(error, DeadlineExceededError) and hasty:
                self._abandoned(work)
            else:
                self._failed(work, error)
            raise
        except BaseException:  # it declined, the caller is wrong, or wants to end
            self._abandoned(work)
            raise
        self._succeeded(work)
        return answer

    def left_alone(self, work: Work) -> UnavailableError:
        """Its last failure at ``work``, for which it is not asked."""
        trouble = self.trouble(work)
        return UnavailableError(trouble.reason if trouble else f"{self.id} is left alone")

    def hurry(self, work: Work) -> None:
        """Let the next call through, however long it would be left alone: there is news of it."""
        if (breaker := self._breakers.get(work)) is not None:
            breaker.hurry()

    def look(self, ask: Callable[[MemoryManager], T], deadline: Deadline) -> T:
        """As :meth:`call`, with nothing counted: what it says decides nothing."""
        try:
            return self._run(lambda: ask(self.manager()), deadline)
        except CommonplaceError:
            raise
        except Exception as error:
            message = f"{self.id} failed: {type(error).__name__}: {error}"
            raise UnavailableError(message) from error

    def manager(self) -> MemoryManager:
        """The engine, made if it has not been.

        Raises :class:`~commonplace.errors.UnavailableError` where it cannot be.
        """
        with self._opening:
            if self._closed.is_set():
                raise UnavailableError(f"{self.id} is closed")
            if self._manager is None:
                made = self._make()
                if self._closed.is_set():  # meanwhile
                    made.close()
                    raise UnavailableError(f"{self.id} is closed")
                self._manager = made
            return self._manager

    def close(self) -> None:
        """Close the engine, if there is one; closing twice is fine."""
        # Without the lock: an engine whose making hangs must not keep others from ending.
        self._closed.set()
        manager, self._manager = self._manager, None
        if manager is not None:
            manager.close()

    def _state(self, work: Work) -> BreakerState | None:
        breaker = self._breakers.get(work)
        return breaker.state() if breaker is not None else None

    def _failed(self, work: Work, error: UnavailableError) -> None:
        reason = reason_of(error)
        breaker = self._breakers.get(work)
        if breaker is None:
            from commonplace.resilience.breaker import CircuitBreaker

            breaker = self._breakers.setdefault(work, CircuitBreaker())
        if breaker.failed(reason):
            self._changed(self.id, reason)

    def _abandoned(self, work: Work) -> None:
        if (breaker := self._breakers.get(work)) is not None:
            breaker.abandoned()

    def _succeeded(self, work: Work) -> None:
        if (breaker := self._breakers.get(work)) is not None and breaker.succeeded():
            self._changed(self.id, None)


def _inline(work: Callable[[], T], _deadline: Deadline) -> T:
    return work()
