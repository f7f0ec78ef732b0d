"""Deadlines that pass by the clock, and those that a caller cancels."""

from __future__ import annotations

import threading
import time
from math import inf

import pytest

from commonplace.errors import DeadlineExceededError, IndexBusyError
from commonplace.resilience.bounded_call import Worker
from commonplace.resilience.deadline import NEVER, POLL_SECONDS, Deadline


def test_what_is_cancelled_has_no_time_left_and_neither_has_what_was_made_of_it() -> None:
    over = threading.Event()
    deadline = Deadline(inf, lambda: 5.0, cancelled=over.is_set)
    made = [deadline, deadline.sooner(3.0), deadline.at_least(7.0).sooner(1e9)]
    assert [each.remaining() for each in made] == [inf, 3.0, 1e9]
    assert all(each.cancellable for each in made)
    assert not any(each.expired for each in made)
    over.set()
    assert [each.remaining() for each in made] == [0.0, 0.0, 0.0]
    with pytest.raises(DeadlineExceededError, match="the work took longer"):
        made[1].check("the work")
    assert not NEVER.cancellable
    assert not NEVER.sooner(1.0).cancellable


def test_a_pause_ends_when_it_is_cancelled() -> None:
    slept: list[float] = []
    NEVER.pause(7.0, slept.append)
    assert slept == [7.0]
    slept.clear()
    Deadline(inf, cancelled=lambda: len(slept) == 3).pause(7.0, slept.append)
    assert slept == [POLL_SECONDS] * 3
    slept.clear()
    Deadline(inf, cancelled=lambda: False).pause(0.25, slept.append)
    assert sum(slept) == pytest.approx(0.25)


def test_a_cancelled_answer_is_not_waited_for() -> None:
    release = threading.Event()
    try:
        with pytest.raises(DeadlineExceededError):
            Worker("w").run(lambda: release.wait(60), _in(60.0, cancelled=True))
    finally:
        release.set()
    assert Worker("w").run(lambda: "in time", _in(60.0)) == "in time"
    with pytest.raises(IndexBusyError):
        Worker("w").run(lambda: _raise(IndexBusyError("now")), _in(60.0))


def test_a_late_answer_is_late_also_where_the_caller_could_cancel() -> None:
    release = threading.Event()
    try:
        with pytest.raises(DeadlineExceededError):
            Worker("w").run(lambda: release.wait(60), _in(0.01))
    finally:
        release.set()


def _in(seconds: float, *, cancelled: bool = False) -> Deadline:
    """A deadline that could be cancelled."""
    return Deadline(time.monotonic() + seconds, cancelled=lambda: cancelled)


def _raise(error: Exception) -> None:
    raise error
