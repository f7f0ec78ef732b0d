"""Calls that are given up when their time is over."""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import suppress

import pytest

from commonplace.errors import DeadlineExceededError, UnavailableError
from commonplace.model.reports import Progress
from commonplace.resilience.bounded_call import ProgressGate, Worker, from_signal
from commonplace.resilience.deadline import NEVER, POLL_SECONDS, Deadline


def test_what_comes_back_in_time_is_handed_on() -> None:
    assert Worker("w").run(lambda: 42, Deadline.after(30)) == 42


def test_what_is_raised_is_raised_here() -> None:
    def fail() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Worker("w").run(fail, Deadline.after(30))


def test_without_a_deadline_there_is_no_thread() -> None:
    assert Worker("w").run(threading.current_thread, NEVER) is threading.current_thread()
    assert Worker("w").run(threading.current_thread, Deadline.after(30)).daemon


def test_a_late_answer_is_dropped_and_its_place_given_back() -> None:
    release, back = threading.Event(), threading.Event()

    def hang() -> str:
        release.wait(30)
        return "late"

    def given_up(event: threading.Event, _seconds: float) -> bool:
        if not release.is_set():
            return False
        return event.wait(30)

    worker = Worker("w", at_most=1, wait=given_up)
    with pytest.raises(DeadlineExceededError, match=r"w did not answer within 3 s"):
        worker.run(hang, Deadline(3, lambda: 0.0))
    with pytest.raises(UnavailableError, match="w: 1 calls have not come back"):
        worker.run(back.set, Deadline.after(30))
    assert not back.is_set(), "refused before it began"
    release.set()
    for thread in threading.enumerate():
        if thread.name == "commonplace-w":
            thread.join(30)
    assert worker.run(lambda: "next", Deadline.after(30)) == "next"


def test_who_is_not_patient_waits_for_all_calls_that_were_given_up() -> None:
    first, second = threading.Event(), threading.Event()
    waiting: list[threading.Event] = []

    def given_up(event: threading.Event, _seconds: float) -> bool:
        waiting.append(event)
        if len(waiting) == 1:  # another one is made, and given up, while the first is waited for
            with pytest.raises(DeadlineExceededError):
                worker.run(lambda: second.wait(30), Deadline(3, lambda: 0.0))
        return len(waiting) > 2 and event.wait(30)

    worker = Worker("w", patient=False, wait=given_up)
    with pytest.raises(DeadlineExceededError):
        worker.run(lambda: first.wait(30), Deadline(3, lambda: 0.0))
    for release, back in zip((first, second), waiting, strict=True):
        with pytest.raises(UnavailableError, match="an earlier call has not come back"):
            worker.run(lambda: "too early", Deadline.after(30))
        release.set()
        assert back.wait(30)
    assert worker.run(lambda: "next", Deadline.after(30)) == "next"


def test_a_call_that_is_cancelled_is_given_up() -> None:
    ended, cancelled = threading.Event(), threading.Event()

    def given_up(event: threading.Event, seconds: float) -> bool:
        assert seconds <= POLL_SECONDS
        cancelled.set()
        return event.is_set()

    deadline = Deadline(60.0, lambda: 0.0, cancelled=cancelled.is_set)
    with pytest.raises(DeadlineExceededError, match="w did not answer"):
        Worker("w", wait=given_up).run(lambda: ended.wait(30), deadline)
    ended.set()


def test_a_call_has_the_time_that_its_deadline_is_given_meanwhile() -> None:
    now, waited, release = [0.0], list[float](), threading.Event()
    deadline = Deadline(3.0, lambda: now[0])

    def wait(_: threading.Event, seconds: float) -> bool:
        waited.append(seconds)
        if len(waited) < 3:
            now[0] += 2
            deadline.renew(3)
        now[0] += seconds - 2
        return False

    with pytest.raises(DeadlineExceededError):
        Worker("w", wait=wait).run(lambda: release.wait(30), deadline)
    release.set()
    assert waited == [3.0, 2.0, 3.0]
    deadline.renew(-1)
    assert deadline.at == 8.0, "it never comes sooner"


def test_the_second_ctrl_c_in_a_loop_of_asyncio_is_the_users() -> None:
    seen: list[bool] = []

    def stop() -> None:
        raise KeyboardInterrupt

    async def work() -> None:
        signal.raise_signal(signal.SIGINT)  # asks the task to end
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            seen.append(from_signal(error))
        try:
            stop()
        except KeyboardInterrupt as error:
            seen.append(from_signal(error))

    with suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(work())
    assert seen == [True, False]


@pytest.mark.parametrize("interrupted", [1, 2], ids=["while it starts", "while it works"])
def test_ctrl_c_that_leaves_pythons_lock_open_is_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, interrupted: int
) -> None:
    release, waits = threading.Event(), []

    def wait(event: threading.Event, timeout: float | None = None) -> bool:
        if threading.current_thread() is threading.main_thread():
            waits.append(event)
            if len(waits) == interrupted:
                event_wait(event, 30 if interrupted == 1 else 0)
                try:
                    raise KeyboardInterrupt
                finally:
                    threading.Lock().release()  # what Condition.__exit__ does without its lock
        return event_wait(event, timeout)

    event_wait = threading.Event.wait
    worker = Worker("w", at_most=1)
    monkeypatch.setattr(threading.Event, "wait", wait)
    with pytest.raises(KeyboardInterrupt):
        worker.run(lambda: release.wait(30), Deadline.after(30))
    monkeypatch.undo()
    with pytest.raises(UnavailableError, match="1 calls have not come back"):
        worker.run(lambda: None, Deadline.after(30))
    release.set()
    for thread in threading.enumerate():
        if thread.name == "commonplace-w":
            thread.join(30)
    assert worker.run(lambda: "next", Deadline.after(30)) == "next"


def test_progress_gives_a_deadline_its_time_again_until_it_is_closed() -> None:
    now = 100.0
    shown: list[Progress] = []
    deadline = Deadline(105.0, lambda: now)
    gate = ProgressGate(shown.append)
    step = Progress(label="Indexing notes", completed=1, total=2)
    gate(step)
    assert (deadline.at, shown) == (105.0, [step]), "it was not asked to renew any"
    gate.renew(deadline)
    now = 104.0
    gate(step)
    assert deadline.at == 109.0
    assert len(shown) == 2
    gate.close()
    now = 108.0
    gate(step)
    assert deadline.at == 109.0
    assert len(shown) == 2


def test_a_gate_without_a_callback_renews_a_deadline_too() -> None:
    now = 0.0
    deadline = Deadline(5.0, lambda: now)
    gate = ProgressGate(None)
    gate.renew(deadline)
    now = 4.0
    gate(Progress(label="Indexing notes", completed=1, total=2))
    assert deadline.at == 9.0
