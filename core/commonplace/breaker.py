"""A circuit breaker: a failing part is left alone for a while, then tried with one call.

::

    closed ──failure──> open ──cool-down over──> half-open ──success──> closed
                          ^                          │
                          └────────failure───────────┘   (with a longer cool-down)
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NamedTuple
else:
    from commonplace.model.tuples import NamedTuple

__all__ = ["BreakerState", "CircuitBreaker"]


class BreakerState(NamedTuple):
    """A breaker at one moment.

    ``reason`` is of the last failure and ``since`` the epoch seconds of the first of the present
    run of failures (both empty while closed). ``retry_at`` is when an open breaker lets a probe
    through, in seconds of the breaker's monotonic clock.
    """

    state: Literal["closed", "open", "half-open"]
    reason: str = ""
    since: float | None = None
    failures: int = 0
    retry_at: float = 0.0


class CircuitBreaker:
    """Counts outcomes of calls to one part; safe to share between threads.

    ``threshold`` failures in a row open it. The cool-down starts at ``cooldown`` seconds, doubles
    with each failed probe up to ``longest``, and starts over after a success. While half-open only
    one call is let through at a time; a probe whose outcome never arrives (its thread died) counts
    as lost after one more cool-down.
    """

    def __init__(
        self,
        *,
        threshold: int = 1,
        cooldown: float = 30.0,
        longest: float = 900.0,
        monotonic: Callable[[], float] = time.monotonic,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if threshold < 1 or cooldown <= 0 or longest < cooldown:
            raise ValueError("a breaker needs threshold >= 1 and 0 < cooldown <= longest")
        self._threshold = threshold
        self._cooldown = cooldown
        self._longest = longest
        self._monotonic = monotonic
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._trips = 0
        self._reason = ""
        self._since: float | None = None
        self._retry_at = 0.0
        self._open = False
        self._probing = False

    def allow(self) -> bool:
        """Whether a call may be made now; one that may must report its outcome."""
        with self._lock:
            if not self._open:
                return True
            now = self._monotonic()
            if now < self._retry_at:
                return False
            self._probing = True
            # Nobody else may try until the probe reports or has been silent for a cool-down.
            self._retry_at = now + self._pause()
            return True

    def succeeded(self) -> bool:
        """Report success; True if this closed the breaker (the part has recovered)."""
        with self._lock:
            recovered = self._open
            self._failures = self._trips = 0
            self._reason, self._since = "", None
            self._open = self._probing = False
            return recovered

    def failed(self, reason: str, *, retry_after: float | None = None) -> bool:
        """Report a failure; True if this opened the breaker (the part has degraded).

        ``retry_after`` are seconds the part itself asked to be left alone.
        """
        with self._lock:
            self._failures += 1
            self._reason = reason
            if self._since is None:
                self._since = self._clock()
            was_open = self._open
            if self._open and not self._probing:
                return False  # a call from before it opened: the cool-down runs already
            if self._failures < self._threshold and not self._open:
                return False
            self._open, self._probing = True, False
            self._trips += 1
            self._retry_at = self._monotonic() + max(self._pause(), retry_after or 0.0)
            return not was_open

    def abandoned(self) -> None:
        """Report that a call ended without a word on the part (the caller was wrong)."""
        with self._lock:
            if self._probing:
                self._probing = False
                self._retry_at = self._monotonic()

    def state(self) -> BreakerState:
        """Where it stands, changing nothing."""
        with self._lock:
            name: Literal["closed", "open", "half-open"] = "closed"
            if self._open:
                ready = self._probing or self._monotonic() >= self._retry_at
                name = "half-open" if ready else "open"
            return BreakerState(name, self._reason, self._since, self._failures, self._retry_at)

    def _pause(self) -> float:
        # Bounded exponent: a breaker that trips for weeks must not overflow.
        doubled = self._cooldown * 2.0 ** min(max(self._trips - 1, 0), 32)
        return float(min(self._longest, doubled))
