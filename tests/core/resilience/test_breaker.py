"""The circuit breaker as a state machine, against what its docstrings promise."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from commonplace.resilience.breaker import CircuitBreaker

COOLDOWN, LONGEST = 10.0, 40.0


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def breaker(clock: Clock, threshold: int = 1) -> CircuitBreaker:
    return CircuitBreaker(
        threshold=threshold, cooldown=COOLDOWN, longest=LONGEST, monotonic=clock, clock=clock
    )


def test_opens_at_the_threshold_and_says_why_and_since_when() -> None:
    clock = Clock()
    clock.now = 5.0
    one = breaker(clock, threshold=2)
    assert one.failed("first") is False
    assert one.state().state == "closed"
    clock.now = 6.0
    assert one.failed("second") is True
    state = one.state()
    assert (state.state, state.reason, state.since) == ("open", "second", 5.0)


def test_a_success_between_failures_starts_the_count_over() -> None:
    one = breaker(Clock(), threshold=2)
    one.failed("a")
    one.succeeded()
    assert one.failed("b") is False


def test_only_one_probe_after_the_cool_down() -> None:
    clock = Clock()
    one = breaker(clock)
    one.failed("down")
    assert not one.allow()
    clock.now = COOLDOWN
    assert one.state().state == "half-open"
    assert one.allow()
    assert not one.allow()
    assert one.succeeded() is True
    assert one.allow()
    assert one.state().since is None


def test_failed_probes_wait_longer_each_time_up_to_the_longest() -> None:
    clock = Clock()
    one = breaker(clock)
    waits = []
    one.failed("down")
    for _ in range(4):
        begun = clock.now
        while not one.allow():
            clock.now += 1.0
        waits.append(clock.now - begun)
        one.failed("still down")
    assert waits == [10.0, 20.0, 40.0, 40.0]


def test_a_part_that_asks_for_time_gets_it() -> None:
    clock = Clock()
    one = breaker(clock)
    one.failed("rate limit", retry_after=100.0)
    clock.now = 99.0
    assert not one.allow()
    clock.now = 100.0
    assert one.allow()


def test_a_lost_probe_does_not_close_the_door_for_ever() -> None:
    clock = Clock()
    one = breaker(clock)
    one.failed("down")
    clock.now = COOLDOWN
    assert one.allow()
    clock.now = 2 * COOLDOWN
    assert one.allow()


def test_a_probe_that_said_nothing_gives_its_place_back() -> None:
    clock = Clock()
    one = breaker(clock)
    one.failed("down")
    clock.now = COOLDOWN
    assert one.allow()
    one.abandoned()
    assert one.allow()


@pytest.mark.parametrize("wrong", [{"threshold": 0}, {"cooldown": 0.0}, {"longest": 1.0}])
def test_nonsense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="breaker"):
        CircuitBreaker(**{"cooldown": 2.0, **wrong})  # type: ignore[arg-type]  # the point


class Machine(RuleBasedStateMachine):
    """Any sequence of calls, outcomes and time."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.one = breaker(self.clock, threshold=2)
        self.in_flight = 0
        self.run = 0

    @rule(seconds=st.integers(0, 50))
    def wait(self, seconds: int) -> None:
        self.clock.now += seconds

    @rule()
    def call(self) -> None:
        before = self.one.state()
        allowed = self.one.allow()
        if before.state == "closed":
            assert allowed
        if before.state == "open":
            assert not allowed
        self.in_flight += allowed

    @precondition(lambda self: self.in_flight)
    @rule()
    def succeed(self) -> None:
        self.one.succeeded()
        self.in_flight -= 1
        self.run = 0
        assert self.one.state().state == "closed"

    @precondition(lambda self: self.in_flight)
    @rule()
    def fail(self) -> None:
        self.one.failed("why")
        self.in_flight -= 1
        self.run += 1

    @invariant()
    def closed_means_few_failures_and_open_has_a_reason(self) -> None:
        state = self.one.state()
        if state.state == "closed":
            assert self.run < 2
        else:
            assert self.run >= 2
            assert state.reason == "why"
            assert state.since is not None
            assert state.since <= self.clock.now

    @invariant()
    def a_broken_part_is_always_tried_again_in_bounded_time(self) -> None:
        state = self.one.state()
        if state.state == "open":
            assert state.retry_in <= LONGEST


TestBreakerMachine = Machine.TestCase
