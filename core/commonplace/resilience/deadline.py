"""Deadlines: how long a call may take, handed down instead of per-layer timeouts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from commonplace.errors import DeadlineExceededError

if TYPE_CHECKING:
    from collections.abc import Callable


INFINITY = float("inf")  # math.inf, without the time to load math

LOOK_SECONDS = 0.1
"""Between two checks of a caller that waits, where a deadline may be cancelled meanwhile."""


class Deadline:
    """A point in monotonic time, or the moment when the work is cancelled, whichever comes first.

    Made once where a call enters and passed to everything that can wait. The clock is injected so
    that tests need no sleep. ``cancelled`` says whether the work was ended; once it has said so,
    it must go on saying it.
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
            sleep(min(seconds, LOOK_SECONDS))
            seconds -= LOOK_SECONDS

    def sooner(self, seconds: float) -> Deadline:
        """The same deadline, or ``seconds`` from now if that is earlier."""
        at = min(self._at, self._clock() + seconds)
        return Deadline(at, self._clock, cancelled=self._cancelled)

    def at_least(self, seconds: float) -> Deadline:
        """The same deadline, or ``seconds`` from now if that is later."""
        at = max(self._at, self._clock() + seconds)
        return Deadline(at, self._clock, cancelled=self._cancelled)

    def check(self, what: str) -> None:
        """Raise :class:`DeadlineExceededError`, naming ``what``, if no time is left."""
        if self.expired:
            raise DeadlineExceededError(f"{what} took longer than it was given")


NEVER = Deadline(INFINITY)
