"""Trying a request again: when it may help, how long to wait, when to give up."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, TypeVar

from attrs import field, frozen

from commonplace.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.resilience.deadline import Deadline


T = TypeVar("T")

PASSING = frozenset({"rate_limit", "unavailable", "timeout"})
"""Kinds of error that may pass by themselves."""


@frozen
class RetryPolicy:
    """``attempts`` in all; waits of ``first`` seconds, doubling up to ``longest``, with jitter.

    A server's own delay is obeyed up to ``obey`` seconds; one that asks for longer is left alone.
    ``sleep`` and ``jitter`` (a factor of 0.75 to 1 for each wait) are injected by tests.
    """

    attempts: int = 3
    first: float = 0.5
    longest: float = 8.0
    obey: float = 120.0
    sleep: Callable[[float], None] = field(default=time.sleep, eq=False)
    jitter: Callable[[], float] = field(default=lambda: random.uniform(0.75, 1.0), eq=False)  # noqa: S311 - spreads load, guards nothing


def with_retries(
    call: Callable[[], T],
    policy: RetryPolicy,
    *,
    deadline: Deadline,
    pauses: Deadline | None = None,
) -> T:
    """The result of ``call``, tried again where its :class:`ProviderError` may pass.

    ``pauses`` is where waits must have ended, if that is before ``deadline``.

    Own code instead of stamina or tenacity: they cannot take both the delay a server asks for and
    a deadline that was set far above, and their clocks cannot be injected for one call alone.

    Raises the last error; it is raised at once where waiting would pass either.
    """
    attempt = 0
    while True:
        try:
            return call()
        except ProviderError as error:
            attempt += 1
            if not _may_pass(error) or attempt >= policy.attempts:
                raise
            pause = _pause(error, attempt, policy)
            if pause is None or pause >= deadline.remaining():
                raise
            if pauses is not None and pause >= pauses.remaining():
                raise
        deadline.pause(pause, policy.sleep)


def _may_pass(error: ProviderError) -> bool:
    return error.kind in PASSING if error.retry is None else error.retry


def _pause(error: ProviderError, attempt: int, policy: RetryPolicy) -> float | None:
    if error.retry_after:  # 0, or a date that has passed, says nothing that helps
        return error.retry_after if error.retry_after <= policy.obey else None
    return min(policy.longest, policy.first * 2.0 ** (attempt - 1)) * policy.jitter()
