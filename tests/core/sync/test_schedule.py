"""When a sync is due: soon after a change, never at once, never never."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from commonplace.sync.queue import Schedule, SyncRequest

SEARCH = SyncRequest(("search",), embed=False)
FORCED = SyncRequest(("demand",), force=True)


def taken(schedule: Schedule, now: float) -> SyncRequest:
    """What is due at ``now``, and was not a moment before."""
    due = schedule.due()
    assert due is not None
    assert due == pytest.approx(now)
    assert schedule.take(due - 0.001) is None
    request = schedule.take(due)
    assert request is not None
    return request


def test_nothing_is_due_while_nothing_is_wanted() -> None:
    schedule = Schedule(debounce=1.5, now=100.0)
    assert schedule.due() is None
    assert schedule.take(1e9) is None
    assert schedule.left(1e9) is None


def test_a_change_waits_until_it_is_quiet() -> None:
    schedule = Schedule(debounce=1.5, now=100.0)
    schedule.notice({"/a"}, 100.0)
    schedule.notice({"/b"}, 101.0)
    assert schedule.outlook(0.0)[0] == 2
    assert taken(schedule, 102.5) == SyncRequest(("watch",), paths=frozenset({"/a", "/b"}))
    schedule.ended(103.0, done=True)
    assert schedule.due() is None
    assert schedule.outlook(0.0)[0] == 0


def test_all_files_are_compared_again_a_while_after_changes_alone_were() -> None:
    schedule = Schedule(debounce=1.0, now=0.0, full_scan=600.0)
    for at in (10.0, 300.0):
        schedule.notice({"/a"}, at)
        request = taken(schedule, at + 1.0)
        assert request == SyncRequest(("watch",), paths=frozenset({"/a"}), partial=True)
        schedule.ended(at + 2.0, done=True)
        assert schedule.outlook(at + 2.0) == (0, None, 610.0 - at), "counted from the first"
    assert taken(schedule, 612.0) == SyncRequest(("interval",))
    schedule.ended(613.0, done=True)
    assert schedule.outlook(613.0) == (0, None, None)
    schedule.notice({"/a"}, 700.0)
    schedule.ask(SEARCH, 700.0)
    assert not taken(schedule, 700.0).partial, "the other one is not"
    schedule.ended(701.0, done=True)
    assert schedule.due() is None


def test_the_changes_that_wait_are_all_there_are_while_nothing_else_is_wanted() -> None:
    schedule = Schedule(debounce=1.0, now=0.0, full_scan=600.0)
    assert schedule.noticed() == frozenset()
    schedule.notice({"/a"}, 0.0)
    assert schedule.noticed() == frozenset({"/a"})
    taken(schedule, 1.0)
    assert schedule.noticed() is None, "they are being looked at"
    schedule.ended(1.0, done=False)
    assert schedule.noticed() is None, "they were not all indexed"
    taken(schedule, 3.0)
    schedule.ended(3.0, done=True)
    assert schedule.noticed() == frozenset()
    schedule.ask(SEARCH, 4.0)
    assert schedule.noticed() is None, "something else has changed"
    assert Schedule(debounce=1.0, now=0.0).noticed() is None, "no sync is of changes alone"


def test_changes_are_not_forgotten_by_a_sync_of_them_that_fails() -> None:
    schedule = Schedule(debounce=1.0, now=0.0, full_scan=600.0)
    schedule.notice({"/a"}, 0.0)
    taken(schedule, 1.0)
    schedule.ended(1.0, done=False)
    schedule.notice({"/b"}, 1.5)
    both = SyncRequest(("watch",), paths=frozenset({"/a", "/b"}), partial=True)
    assert taken(schedule, 3.0) == both


@given(
    st.floats(min_value=0.001, max_value=120),
    st.lists(st.floats(min_value=0.0001, max_value=0.999), min_size=40, max_size=400),
)
def test_a_file_that_is_never_quiet_is_indexed_all_the_same(
    debounce: float, shares: list[float]
) -> None:
    schedule = Schedule(debounce=debounce, now=0.0)
    now, waited_since, syncs = 0.0, 0.0, 0
    ceiling = max(debounce, min(10 * debounce, 30.0))
    for share in shares:  # each before it could be quiet
        if schedule.outlook(0.0)[0] == 0:
            waited_since = now
        schedule.notice({"/log"}, now)
        due = schedule.due()
        assert due is not None
        assert now <= due <= waited_since + ceiling * 1.0001
        now += share * debounce
        if schedule.take(now) is not None:
            syncs += 1
            schedule.ended(now, done=True)
    assert syncs >= int(now / (ceiling + debounce))


def test_what_is_asked_for_is_due_at_once_with_all_that_waits() -> None:
    schedule = Schedule(debounce=1.5, now=0.0)
    schedule.notice({"/a"}, 10.0)
    schedule.ask(SEARCH, 10.5)
    assert taken(schedule, 10.5) == SyncRequest(("search", "watch"), paths=frozenset({"/a"}))
    schedule.ended(11.0, done=True)
    assert schedule.due() is None


def test_an_interval_is_counted_from_the_last_sync_of_any_kind() -> None:
    schedule = Schedule(debounce=1.5, now=0.0)
    schedule.every(60.0)
    assert taken(schedule, 60.0).reasons == ("interval",)
    schedule.ended(70.0, done=True)
    schedule.ask(SEARCH, 100.0)
    assert taken(schedule, 100.0).reasons == ("search",)
    schedule.ended(101.0, done=True)
    assert taken(schedule, 161.0).reasons == ("interval",)
    schedule.ended(162.0, done=True)
    schedule.every(0)
    assert schedule.due() is None


def test_a_failure_is_tried_again_ever_more_rarely_and_everything_waits_for_it() -> None:
    schedule = Schedule(debounce=1.5, now=0.0)
    schedule.ask(SyncRequest(("post-compaction",), eager=True), 0.0)
    now, pauses = 0.0, []
    for turn in range(12):
        due = schedule.due()
        assert due is not None
        request = schedule.take(due)
        assert request is not None
        assert request.eager, "what failed is not forgotten"
        pauses.append(due - now)
        now = due + 1.0
        schedule.ended(now, done=False)
        schedule.notice({f"/{turn}"}, now)
        schedule.ask(SEARCH, now)
    assert pauses == [0, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
    request = taken(schedule, now + 300)
    assert request.paths == frozenset(f"/{turn}" for turn in range(12))
    schedule.ended(5000.0, done=True)
    assert schedule.due() is None
    schedule.ask(SEARCH, 5001.0)
    assert taken(schedule, 5001.0) == SEARCH


class ScheduleMachine(RuleBasedStateMachine):
    """Whatever happens, everything that is wanted is taken, no sooner than it may."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.schedule = Schedule(debounce=2.0, now=0.0)
        self.wanted = SyncRequest((), embed=False)
        self.running: SyncRequest | None = None

    def want(self, request: SyncRequest) -> None:
        self.wanted = SyncRequest(
            (*self.wanted.reasons, *request.reasons),
            force=self.wanted.force or request.force,
            embed=self.wanted.embed or request.embed,
            paths=self.wanted.paths | request.paths,
        )

    @rule(seconds=st.floats(min_value=0, max_value=1000))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(name=st.sampled_from("abcdef"))
    def a_file_changes(self, name: str) -> None:
        self.schedule.notice({name}, self.now)
        self.want(SyncRequest(("watch",), paths=frozenset({name})))

    @rule(request=st.sampled_from([SEARCH, FORCED, SyncRequest(("session-start",))]))
    def a_caller_asks(self, request: SyncRequest) -> None:
        self.schedule.ask(request, self.now)
        self.want(request)

    @precondition(lambda self: self.running is None)
    @rule()
    def stamps_of(self) -> None:
        due = self.schedule.due()
        request = self.schedule.take(self.now)
        assert (request is not None) == (due is not None and due <= self.now)
        if request is not None:
            self.covers_all_wanted(request)
            self.running, self.wanted = request, SyncRequest((), embed=False)

    @precondition(lambda self: self.running is not None)
    @rule(done=st.booleans(), seconds=st.floats(min_value=0, max_value=100))
    def end(self, done: bool, seconds: float) -> None:
        self.now += seconds
        self.schedule.ended(self.now, done=done)
        if not done:
            assert self.running is not None
            self.want(self.running)
            due = self.schedule.due()
            assert due is not None
            assert self.now + 2 <= due <= self.now + 300
        self.running = None

    @precondition(lambda self: self.running is None)
    @rule()
    def close(self) -> None:
        left = self.schedule.left(self.now)
        assert (left is None) == (not self.wanted.reasons)
        if left is not None:
            self.covers_all_wanted(left)
        self.wanted = SyncRequest((), embed=False)

    def covers_all_wanted(self, request: SyncRequest) -> None:
        assert set(request.reasons) == set(self.wanted.reasons)
        assert request.force == self.wanted.force
        assert request.embed == self.wanted.embed
        assert request.paths == self.wanted.paths

    @invariant()
    def what_is_wanted_is_due_some_day(self) -> None:
        if self.wanted.reasons:
            due = self.schedule.due()
            assert due is not None
            assert due <= self.now + 300
        elif self.running is None:
            assert self.schedule.due() is None


def test_nothing_that_is_wanted_is_lost() -> None:
    run_state_machine_as_test(ScheduleMachine)
