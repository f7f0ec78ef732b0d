"""Updates beside the searches: one at a time, and their outcome for the thread that waits."""

from __future__ import annotations

import threading

import pytest

from commonplace.errors import UnavailableError
from commonplace.model.reports import SyncReport
from commonplace_qmd.update import BackgroundUpdates


class Work:
    """Counts its rounds; each waits until it may end."""

    def __init__(self) -> None:
        self.done = 0
        self.begun = threading.Event()
        self.may_end = threading.Event()

    def __call__(self) -> SyncReport:
        self.begun.set()
        assert self.may_end.wait(60)
        self.done += 1
        return SyncReport(added=self.done)


def test_a_round_is_made_when_asked_for_and_its_outcome_kept() -> None:
    work = Work()
    work.may_end.set()
    updates = BackgroundUpdates(work, 0)
    assert updates.wait(0) is None
    for number in (1, 2):
        updates.start(now=True)
        assert updates.wait(60) == SyncReport(added=number)
    assert updates.close(60)


def test_an_outcome_is_returned_once_even_if_it_came_first() -> None:
    work = Work()
    work.may_end.set()
    updates = BackgroundUpdates(work, 0)
    updates.start(now=True)
    updates.settle(60)
    assert updates.wait(0) == SyncReport(added=1)
    assert updates.wait(0) is None
    assert updates.close(60)


def test_while_one_runs_no_second_is_made() -> None:
    work = Work()
    updates = BackgroundUpdates(work, 0)
    updates.start(now=True)
    assert work.begun.wait(60)
    updates.start(now=True)
    assert updates.wait(0) is None
    work.may_end.set()
    assert updates.wait(60) == SyncReport(added=1)
    assert updates.close(60)
    assert work.done == 1


def test_what_is_raised_is_returned() -> None:
    error = UnavailableError("broken")

    def fail() -> SyncReport:
        raise error

    updates = BackgroundUpdates(fail, 0)
    updates.start(now=True)
    assert updates.wait(60) is error
    assert updates.close(60)


@pytest.mark.parametrize("defect", [ZeroDivisionError("of a defect"), SystemExit(3)])
def test_a_defect_is_returned_and_logged_and_updates_go_on(
    defect: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    defects = [defect]

    def update() -> SyncReport:
        if defects:
            raise defects.pop()
        return SyncReport(added=1)

    updates = BackgroundUpdates(update, 0)
    updates.start(now=True)
    outcome = updates.wait(60)
    assert isinstance(outcome, UnavailableError)
    assert str(outcome) == f"internal error: {type(defect).__name__}: {defect}"
    assert "an update of QMD failed" in caplog.text
    updates.start(now=True)
    assert updates.wait(60) == SyncReport(added=1)
    assert updates.close(60)


def test_rounds_come_by_themselves() -> None:
    work = Work()
    work.may_end.set()
    updates = BackgroundUpdates(work, 0.001)
    updates.start(now=False)
    assert work.begun.wait(60)
    assert updates.close(60)


def test_nothing_runs_that_was_not_asked_for() -> None:
    work = Work()
    updates = BackgroundUpdates(work, 0)
    updates.start(now=False)
    assert updates.close(0)
    updates.start(now=True)
    assert not work.begun.is_set()


def test_closing_is_not_kept_by_a_round_that_does_not_end() -> None:
    work = Work()
    updates = BackgroundUpdates(work, 0)
    updates.start(now=True)
    assert work.begun.wait(60)
    assert not updates.close(0)
    assert updates.wait(60) is None
    work.may_end.set()
    assert updates.close(60)
