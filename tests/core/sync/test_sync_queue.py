"""One sync at a time, and no request is lost, whichever caller fails, waits or leaves."""

from __future__ import annotations

import random
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from commonplace.errors import CallerError, DeadlineExceededError, IndexBusyError
from commonplace.model.reports import Progress, SyncReport
from commonplace.resilience.deadline import Deadline
from commonplace.sync.queue import SyncQueue, SyncRequest, SyncWorker, merged

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    Ending = Literal["done", "failed", "interrupted"]

DEMAND = SyncRequest(("demand",))
PATIENCE = 60.0


def until(holds: Callable[[], object]) -> None:
    give_up = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < give_up, "it never came to be"
        time.sleep(0.0005)


class Round:
    """A sync under way, which ends as the test says."""

    def __init__(self, number: int, request: SyncRequest) -> None:
        self.number = number
        self.request = request
        self.covers = {int(path) for path in request.paths}
        self.thread = threading.current_thread()
        self._end = threading.Event()
        self._how: Ending = "done"

    def end(self, how: Ending) -> None:
        self._how = how
        self._end.set()

    def outcome(self) -> SyncReport:
        assert self._end.wait(PATIENCE)
        if self._how == "failed":
            raise IndexBusyError(str(self.number))
        if self._how == "interrupted":
            raise KeyboardInterrupt
        return SyncReport(added=self.number)


class Caller:
    """A thread that asks once; ``late`` is set to end its patience."""

    def __init__(self, queue: SyncQueue, number: int, request: SyncRequest, rounds: int) -> None:
        self.number = number
        self.rounds_before = rounds  # that had begun when it asked
        self.late = threading.Event()
        seconds = request.until.remaining()
        until = Deadline(seconds, lambda: 0.0, cancelled=self.late.is_set)
        self.request = request._replace(paths=frozenset({str(number)}), until=until)
        self.report: SyncReport | None = None
        self.error: BaseException | None = None
        self._queue = queue
        self.thread = threading.Thread(target=self._ask, daemon=True)
        self.thread.start()

    def _ask(self) -> None:
        try:
            self.report = self._queue.run(self.request)
        except BaseException as error:  # noqa: BLE001 - looked at by the test
            self.error = error


class QueueMachine(RuleBasedStateMachine):
    """Callers come, go and are interrupted while rounds are held open."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = SyncQueue(self._sync)
        self.rounds: list[Round] = []
        self.under_way: Round | None = None
        self.at_once = 0
        self.callers: dict[int, Caller] = {}
        self.waiting: set[int] = set()

    def _sync(self, request: SyncRequest) -> SyncReport:
        assert self.under_way is None, "two rounds at once"
        this = Round(len(self.rounds) + 1, request)
        self.under_way = this
        self.rounds.append(this)
        try:
            return this.outcome()
        finally:
            self.under_way = None

    @precondition(lambda self: len(self.waiting) < 6)
    @rule(force=st.booleans(), embed=st.booleans(), eager=st.booleans())
    def ask(self, force: bool, embed: bool, eager: bool) -> None:
        idle = self.under_way is None
        request = SyncRequest(("demand",), force=force, embed=embed, eager=eager)
        caller = Caller(self.queue, len(self.callers), request, len(self.rounds))
        self.callers[caller.number] = caller
        self.waiting.add(caller.number)
        if idle:
            until(lambda: self.under_way)
        else:
            until(lambda: caller.number in self._queued())

    @precondition(lambda self: self.under_way)
    @rule(how=st.sampled_from(["done", "failed", "interrupted"]))
    def end_round(self, how: Ending) -> None:
        this = self.under_way
        assert this is not None
        leader = next(caller for caller in self.callers.values() if caller.thread is this.thread)
        queued = self._queued()
        again = this.covers - {leader.number} if how == "interrupted" else set()
        this.end(how)
        over = {leader.number} if how == "interrupted" else set(this.covers)
        for number in over:
            caller = self.callers[number]
            caller.thread.join(PATIENCE)
            self._check(caller, this, how)
        self.waiting -= over
        if queued or again & self.waiting:
            until(lambda: self.under_way and self.under_way is not this)
            assert self.under_way is not None
            assert self.under_way.covers == (queued | again) & self.waiting, "one round for all"

    @precondition(lambda self: self._queued())
    @rule(data=st.data())
    def lose_patience(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self._queued())))
        caller = self.callers[number]
        caller.late.set()
        caller.thread.join(PATIENCE)
        assert isinstance(caller.error, DeadlineExceededError)
        self.waiting.discard(number)

    def _queued(self) -> set[int]:
        return {int(path) for ticket in self.queue._waiting for path in ticket.request.paths}

    def _check(self, caller: Caller, this: Round, how: Ending) -> None:
        assert this.number > caller.rounds_before, "it had begun before it was asked for"
        assert this.request.force >= caller.request.force
        assert this.request.embed >= caller.request.embed
        assert this.request.eager >= caller.request.eager
        if how == "done":
            assert caller.report == SyncReport(added=this.number)
        elif how == "failed":
            assert isinstance(caller.error, IndexBusyError)
            assert str(caller.error) == str(this.number)
        else:
            assert isinstance(caller.error, KeyboardInterrupt)

    @invariant()
    def what_runs_is_reported(self) -> None:
        running = self.queue.running
        assert (running is None) == (self.under_way is None)
        if self.under_way is not None:
            assert running == self.under_way.request

    def teardown(self) -> None:
        while self.waiting:
            until(lambda: self.under_way)
            self.end_round("done")


@pytest.mark.slow
def test_every_request_is_covered_by_a_round_that_began_after_it() -> None:
    run_state_machine_as_test(
        QueueMachine, settings=settings(max_examples=15, stateful_step_count=20, deadline=None)
    )


def test_threads_that_ask_at_will_are_all_served() -> None:
    moment = [0]
    counting = threading.Lock()
    under_way: list[object] = []
    covered: dict[str, tuple[int, bool]] = {}
    rounds = 0

    def tick() -> int:
        with counting:
            moment[0] += 1
            return moment[0]

    def sync(request: SyncRequest) -> SyncReport:
        nonlocal rounds
        began = tick()
        under_way.append(request)
        assert len(under_way) == 1
        rounds += 1
        covered.update(dict.fromkeys(request.paths, (began, request.force)))
        time.sleep(0)
        under_way.pop()
        if rounds % 7 == 0:
            raise IndexBusyError("just now")
        return SyncReport()

    queue = SyncQueue(sync)
    wrong: list[str] = []

    def ask(name: int) -> None:
        choose = random.Random(name)
        for count in range(60):
            key, force, asked = f"{name}.{count}", choose.random() < 0.2, tick()
            request = SyncRequest(("demand",), force=force, paths=frozenset({key}))
            with suppress(IndexBusyError):
                queue.run(request)
            began, forced = covered[key]
            if began < asked or forced < force:
                wrong.append(key)

    threads = [threading.Thread(target=ask, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not wrong
    assert len(covered) == 360
    assert queue.running is None


def test_the_time_of_a_request_bounds_the_wait_for_its_turn() -> None:
    release = threading.Event()

    def sync(_: SyncRequest) -> SyncReport:
        assert release.wait(PATIENCE)
        return SyncReport(added=1)

    queue = SyncQueue(sync)
    first = Caller(queue, 1, DEMAND, 0)
    until(lambda: queue.running)
    second = Caller(queue, 2, DEMAND, 0)
    until(lambda: queue._waiting)
    with pytest.raises(DeadlineExceededError, match="another sync took longer"):
        queue.run(DEMAND._replace(until=Deadline(0.0)))
    release.set()
    for caller in (first, second):
        caller.thread.join(PATIENCE)
        assert caller.report == SyncReport(added=1)


def test_a_caller_with_little_time_does_not_run_the_sync_of_one_that_has_more() -> None:
    release = [threading.Event(), threading.Event()]
    began: list[threading.Thread] = []

    def sync(_: SyncRequest) -> SyncReport:
        began.append(threading.current_thread())
        assert release[len(began) - 1].wait(PATIENCE)
        return SyncReport(added=len(began))

    queue = SyncQueue(sync)
    Caller(queue, 1, DEMAND, 0)
    until(lambda: began)
    hasty = Caller(queue, 2, DEMAND._replace(until=Deadline.after(PATIENCE)), 0)
    until(lambda: len(queue._waiting) == 1)
    patient = Caller(queue, 3, DEMAND, 0)
    until(lambda: len(queue._waiting) == 2)
    release[0].set()
    until(lambda: len(began) == 2)
    assert began[1] is patient.thread
    hasty.late.set()
    hasty.thread.join(PATIENCE)
    assert isinstance(hasty.error, DeadlineExceededError), "it need not wait for the end"
    release[1].set()
    patient.thread.join(PATIENCE)
    assert patient.report == SyncReport(added=2)


def test_a_caller_within_a_round_gets_an_error_instead_of_waiting_for_ever() -> None:
    def sync(request: SyncRequest) -> SyncReport:
        return queue.run(request)

    queue = SyncQueue(sync)
    with pytest.raises(CallerError, match="a sync cannot wait for another one"):
        queue.run(DEMAND)
    assert queue.running is None


def test_a_closed_queue_refuses_and_lets_the_round_under_way_end() -> None:
    release, began = threading.Event(), threading.Event()

    def sync(request: SyncRequest) -> SyncReport:
        began.set()
        assert release.wait(PATIENCE)
        return SyncReport(added=1)

    queue = SyncQueue(sync)
    first = Caller(queue, 1, DEMAND, 0)
    assert began.wait(PATIENCE)
    second = Caller(queue, 2, DEMAND, 0)
    until(lambda: queue._waiting)
    queue.close()
    second.thread.join(PATIENCE)
    assert isinstance(second.error, CallerError)
    with pytest.raises(CallerError, match="this memory is closed"):
        queue.run(DEMAND)
    assert not queue.settle(0)
    release.set()
    assert queue.settle(PATIENCE)
    first.thread.join(PATIENCE)
    assert first.report == SyncReport(added=1)


@pytest.mark.parametrize("defect", [ZeroDivisionError(), SystemExit(3)])
def test_what_a_round_in_the_background_raises_is_logged_and_ends_no_thread(
    defect: BaseException, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("commonplace.sync.queue._RETRY_SECONDS", 0.0)
    ran: list[SyncRequest] = []
    again = threading.Event()

    def run(request: SyncRequest) -> bool:
        ran.append(request)
        if len(ran) == 1:
            raise defect
        again.set()
        return True

    worker = SyncWorker(run, name="sync", debounce=0)
    assert worker.ask(DEMAND)
    assert again.wait(PATIENCE), "what was left undone is due again"
    assert worker.close(PATIENCE) is None
    assert ran == [DEMAND, DEMAND]
    assert worker.running is None
    assert "commonplace-sync failed in the background" in caplog.text


def test_after_a_fork_another_thread_syncs() -> None:
    ran: list[SyncRequest] = []
    done = threading.Event()

    def run(request: SyncRequest) -> bool:
        ran.append(request)
        done.set()
        return True

    worker = SyncWorker(run, name="sync", debounce=0)
    worker._thread = threading.Thread()  # as the child sees that of its parent
    assert worker.ask(DEMAND)
    assert done.wait(PATIENCE)
    assert worker.close(PATIENCE) is None
    assert ran == [DEMAND]


def test_all_who_want_to_know_get_the_progress() -> None:
    heard: list[tuple[str, int]] = []

    def teller(name: str) -> Callable[[Progress], None]:
        return lambda progress: heard.append((name, progress.completed))

    requests = [DEMAND._replace(progress=teller(name)) for name in "ab"]
    both = merged([*requests, DEMAND])
    assert both.progress is not None
    both.progress(Progress(label="Indexing notes", completed=3, total=4))
    assert heard == [("a", 3), ("b", 3)]
    assert merged([DEMAND, DEMAND]).progress is None


def test_reasons_are_gathered_once_each() -> None:
    requests = [
        SyncRequest(("watch",), paths=frozenset({"/a"}), embed=False),
        SyncRequest(("interval", "watch"), paths=frozenset({"/b"}), wait=3.0, embed=False),
    ]
    assert merged(requests) == SyncRequest(
        ("watch", "interval"), paths=frozenset({"/a", "/b"}), wait=3.0, embed=False
    )
