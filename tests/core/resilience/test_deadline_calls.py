"""What counts against a part, and what of it is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace.errors import (
    CallerError,
    DeadlineExceededError,
    DeclinedError,
    ProviderError,
    UnavailableError,
)
from commonplace.resilience.bounded_call import Worker
from commonplace.resilience.breaker import CircuitBreaker
from commonplace.resilience.deadline import (
    NEVER,
    Deadline,
    Failure,
    GuardedCaller,
    current_deadline,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def call(
    caller: GuardedCaller, work: str, ask: Callable[[], int], deadline: Deadline = NEVER
) -> int:
    with caller.counted(work, deadline):
        return caller.run(ask, deadline)


class Guarded:
    """A caller with two kinds of work, its clock, and the changes it reported."""

    def __init__(self, **options: object) -> None:
        self.now = 1000.0
        self.changes: list[tuple[str, str | None]] = []
        self.caller = GuardedCaller(
            "p",
            {
                work: CircuitBreaker(clock=lambda: self.now, monotonic=lambda: self.now)
                for work in ("query", "document")
            },
            changed=lambda id_, reason: self.changes.append((id_, reason)),
            **options,  # type: ignore[arg-type]  # the test's own
        )

    def fail(self, work: str, error: Exception) -> None:
        with pytest.raises(type(error)), self.caller.counted(work):
            raise error


@pytest.fixture
def guarded() -> Callable[..., Guarded]:
    return Guarded


def test_a_failure_is_known_until_the_next_success(guarded: Callable[..., Guarded]) -> None:
    part = guarded()
    assert part.caller.failure("query") is None
    part.fail("query", UnavailableError("down", hint="start it"))
    assert part.caller.failure("query") == Failure("down (start it)", 1000.0, 30.0)
    assert not part.caller.allows("query")
    assert part.caller.allows("document"), "each kind of work fails apart"
    part.now += 10
    assert part.caller.failure("query") == Failure("down (start it)", 1000.0, 20.0)
    part.caller.let_through("query")
    assert part.caller.allows("query")
    assert call(part.caller, "query", lambda: 7) == 7
    assert part.caller.failure("query") is None


def test_a_change_is_reported_once_for_all_kinds_of_work(guarded: Callable[..., Guarded]) -> None:
    part = guarded()
    part.fail("query", UnavailableError("down"))
    part.fail("document", UnavailableError("down too"))
    assert part.changes == [("p", "down")]
    part.now += 30
    call(part.caller, "document", lambda: 1)
    assert len(part.changes) == 1, "queries still fail"
    call(part.caller, "query", lambda: 1)
    assert part.changes == [("p", "down"), ("p", None)]


@pytest.mark.parametrize("error", [DeclinedError("no"), CallerError("you"), KeyError("mistake")])
def test_other_errors_count_nothing(guarded: Callable[..., Guarded], error: Exception) -> None:
    part = guarded()
    part.fail("query", error)
    assert part.caller.failure("query") is None


def test_only_the_class_asked_for_counts(guarded: Callable[..., Guarded]) -> None:
    part = guarded(counts=ProviderError, reason=lambda error: f"<{error}>")
    part.fail("query", UnavailableError("the index"))
    assert part.caller.failure("query") is None
    part.fail(
        "query", ProviderError("slow down", provider="p", kind="rate_limit", retry_after=600.0)
    )
    assert part.caller.failure("query") == Failure("<slow down>", 1000.0, 600.0)


@pytest.mark.parametrize(("seconds", "counted"), [(0.5, False), (5.0, True)])
def test_too_little_time_counts_against_no_part(
    guarded: Callable[..., Guarded], seconds: float, counted: bool
) -> None:
    part = guarded(worker=Worker("p", wait=lambda _event, _seconds: False))
    with pytest.raises(DeadlineExceededError):
        call(part.caller, "query", lambda: 1, Deadline.after(seconds))
    assert (part.caller.failure("query") is not None) == counted


def test_breakers_are_made_when_something_fails() -> None:
    caller = GuardedCaller("p")
    assert call(caller, "search", lambda: 1, NEVER) == 1
    assert caller.failure("search") is None
    with pytest.raises(UnavailableError), caller.counted("search"):
        raise UnavailableError("down")
    failure = caller.failure("search")
    assert failure is not None
    assert (failure.reason, caller.allows("search")) == ("down", False)


@pytest.mark.parametrize("worker", [None, Worker("part")])
def test_what_is_called_can_ask_for_its_deadline(worker: Worker | None) -> None:
    caller, deadline = GuardedCaller("part", worker=worker), Deadline.after(60)
    assert caller.run(current_deadline, deadline) is deadline
    with caller.counted("search", deadline):
        assert current_deadline() is deadline
    assert current_deadline() is NEVER
