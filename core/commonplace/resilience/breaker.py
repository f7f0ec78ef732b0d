"""A circuit breaker: a failing part is left alone for a while, then tried with one call.

::

    closed ──failure──> open ──cool-down over──> half-open ──success──> closed
                          ^                          │
                          └────────failure───────────┘   (with a longer cool-down)
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from math import isfinite
from typing import TYPE_CHECKING, Literal, Protocol

from commonplace.model.tuples import NamedTuple
from commonplace.resilience import begin_in_children

if TYPE_CHECKING:
    from collections.abc import Callable


_LONGEST_ASKED = 3600.0
"""Seconds that a part may ask to be left alone for: some name a date centuries from now."""


class BreakerState(NamedTuple):
    """A breaker at one moment.

    ``reason`` is of the last failure and ``since`` the epoch seconds of the first of the present
    run of failures (both empty while closed). ``retry_in`` is in how many seconds an open breaker
    lets a probe through, 0 if it would now.
    """

    state: Literal["closed", "open", "half-open"]
    reason: str = ""
    since: float | None = None
    failures: int = 0
    retry_in: float = 0.0


class BreakerRecord(NamedTuple):
    """A run of failures as another process may take it over; all times are epoch seconds.

    ``retry_at`` is 0 while there are fewer failures than open a breaker; ``trips`` is how often in
    a row it opened, and ``at`` when all this was so.
    """

    reason: str
    since: float
    failures: int
    trips: int
    retry_at: float
    at: float


class BreakerKeeper(Protocol):
    """Keeps the record of one breaker beyond its process; nothing it meets is ever raised."""

    def load(self) -> BreakerRecord | None:
        """What was saved last, if anything was."""
        ...

    def save(self, record: BreakerRecord | None) -> None:
        """Keep ``record``; ``None`` says that all is well."""
        ...


class CircuitBreaker:
    """Counts outcomes of calls to one part; safe to share between threads.

    ``threshold`` failures in a row open it. The cool-down starts at ``cooldown`` seconds, doubles
    with each failed probe up to ``longest``, and starts over after a success. While half-open only
    one call is let through at a time; a probe whose outcome never arrives (its thread died) counts
    as lost after one more cool-down.

    With a ``keeper`` processes share what they know: its record is taken over before the first
    answer of this breaker, and written with every outcome that changes it.
    """

    def __init__(
        self,
        *,
        threshold: int = 1,
        cooldown: float = 30.0,
        longest: float = 900.0,
        monotonic: Callable[[], float] = time.monotonic,
        clock: Callable[[], float] = time.time,
        keeper: BreakerKeeper | None = None,
    ) -> None:
        if threshold < 1 or cooldown <= 0 or longest < cooldown:
            raise ValueError("a breaker needs threshold >= 1 and 0 < cooldown <= longest")
        self._threshold = threshold
        self._cooldown = cooldown
        self._longest = longest
        self._monotonic = monotonic
        self._clock = clock
        self._keeper = keeper
        self._loaded = keeper is None
        self.begin()
        begin_in_children(self)
        self._failures = 0
        self._trips = 0
        self._reason = ""
        self._since: float | None = None
        self._retry_at = 0.0
        self._open = False
        self._probing = False

    def begin(self) -> None:
        """Begin with no call under way, in a forked child too: it knows what its parent knew."""
        self._lock = threading.Lock()

    def allow(self) -> bool:
        """Whether a call may be made now; one that may must report its outcome."""
        with self._lock:
            self._load()
            if not self._open:
                return True
            now = self._monotonic()
            if now < self._retry_at:
                return False
            self._probing = True
            # No other caller may try until the probe reports or has been silent for a cool-down.
            self._retry_at = now + self._pause()
            self._save()
            return True

    def succeeded(self) -> bool:
        """Report success; True if this closed the breaker (the part has recovered)."""
        with self._lock:
            self._load()
            recovered = self._open
            self._failures = self._trips = 0
            self._reason, self._since = "", None
            self._open = self._probing = False
            self._save()
            return recovered

    def failed(self, reason: str, *, retry_after: float | None = None) -> bool:
        """Report a failure; True if this opened the breaker (the part has degraded).

        ``retry_after`` are seconds the part itself asked to be left alone; an hour at the most.
        """
        with self._lock:
            self._load()
            self._failures += 1
            self._reason = reason
            if self._since is None:
                self._since = self._clock()
            was_open = self._open
            if self._open and not self._probing:
                return False  # a call from before it opened: the cool-down runs already
            if self._failures < self._threshold and not self._open:
                self._save()
                return False
            self._open, self._probing = True, False
            self._trips += 1
            asked = min(retry_after or 0.0, _LONGEST_ASKED)
            self._retry_at = self._monotonic() + max(self._pause(), asked)
            self._save()
            return not was_open

    def abandoned(self) -> None:
        """Report that a call ended without a word on the part (the caller was wrong)."""
        with self._lock:
            if self._probing:
                self._let_probe()

    def let_through(self) -> None:
        """Let the next call through whatever the cool-down: there is news of the part."""
        with self._lock:
            self._load()
            if self._open:
                self._let_probe()

    def state(self) -> BreakerState:
        """Where it stands, changing nothing."""
        with self._lock:
            self._load()
            name: Literal["closed", "open", "half-open"] = "closed"
            left = self._left()
            if self._open:
                name = "half-open" if self._probing or not left else "open"
            return BreakerState(name, self._reason, self._since, self._failures, left)

    def _left(self) -> float:
        return max(0.0, self._retry_at - self._monotonic()) if self._open else 0.0

    def _let_probe(self) -> None:
        self._probing = False
        self._retry_at = self._monotonic()
        self._save()

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        assert self._keeper is not None
        record = self._keeper.load()
        if record is not None:
            self._restore(record)

    def _save(self) -> None:
        if self._keeper is not None:
            self._keeper.save(self._record())

    def _record(self) -> BreakerRecord | None:
        if self._since is None:
            return None
        now = self._clock()
        retry_at = now + self._left() if self._open else 0.0
        return BreakerRecord(self._reason, self._since, self._failures, self._trips, retry_at, now)

    def _restore(self, record: BreakerRecord) -> None:
        """Take over what another breaker of the same part knew.

        A record from the future, but for a little, or of a pause that is longer than any can be,
        is no reason to wait: the clock was set, and the next call is a probe.
        """
        now = self._clock()
        self._reason, self._since = record.reason, min(record.since, now)
        self._failures, self._trips = record.failures, record.trips
        self._open, self._probing = record.retry_at > 0, False
        pause = record.retry_at - record.at
        believable = (
            pause <= max(self._longest, _LONGEST_ASKED) and record.at - now <= self._cooldown
        )
        left = min(record.retry_at - now, pause) if believable else 0.0
        self._retry_at = self._monotonic() + max(0.0, left)

    def _pause(self) -> float:
        # Bounded exponent: a breaker that trips for weeks must not overflow.
        doubled = self._cooldown * 2.0 ** min(max(self._trips - 1, 0), 32)
        return float(min(self._longest, doubled))


_HEAD = "commonplace breaker 1"
_LONGEST = 4096
_WORDS = 500


class BreakerFile:
    """Keeps the record of one breaker in the file at ``path``, which only its owner may read.

    A record counts only where ``mark`` is the one it was written with: settings that have changed
    since may have fixed the part. ``patient`` is False for work that a caller
    waits for: its reason and since are known, and yet the first call of a process goes through.

    A file that is missing, damaged or not ours counts as no record. Where it cannot be written, the
    record is not kept.
    """

    def __init__(self, path: str, *, mark: str = "", patient: bool = True) -> None:
        self.path = path
        self._mark = mark
        self._patient = patient

    def load(self) -> BreakerRecord | None:
        """What was saved last under this mark."""
        mark, record = _read(self.path)
        if record is None or mark != self._mark:
            return None
        if not self._patient and record.retry_at:
            return record._replace(retry_at=min(record.at, record.retry_at))
        return record

    def save(self, record: BreakerRecord | None) -> None:
        """Keep it, whole or not at all; ``None`` removes the file."""
        with contextlib.suppress(OSError):
            if record is None:
                os.unlink(self.path)
                return
            from commonplace.dirs import (
                write_whole,  # a search that fails nowhere needs none
            )

            times = f"{record.since!r} {record.retry_at!r} {record.at!r}"
            reason = " ".join(record.reason.split())[:_WORDS]
            text = f"{_HEAD}\n{self._mark}\n{times} {record.failures} {record.trips}\n{reason}\n"
            write_whole(self.path, text)


def recorded(path: str) -> BreakerRecord | None:
    """What was saved last in the file at ``path``, under whatever mark."""
    return _read(path)[1]


def _read(path: str) -> tuple[str, BreakerRecord | None]:
    try:
        # Plain lines, since reading JSON would cost each search the import of a parser.
        with open(path, encoding="utf-8", newline="\n") as file:
            head, mark, numbers, reason = file.read(_LONGEST).split("\n")[:4]
        since, retry_at, at, failures, trips = numbers.split(" ")
        record = BreakerRecord(
            reason, float(since), int(failures), int(trips), float(retry_at), float(at)
        )
    except (OSError, ValueError):
        return "", None
    sound = (
        head == _HEAD
        and all(map(isfinite, (record.since, record.retry_at, record.at)))
        and min(record.failures, record.trips + 1) > 0
    )
    return mark, record if sound else None
