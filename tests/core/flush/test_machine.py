"""When a flush is due, and what each event is answered with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.config.settings import FlushSettings
from commonplace.flush import machine
from commonplace.flush.machine import (
    Compact,
    Compacted,
    CompactionDue,
    Continue,
    Decision,
    Event,
    Flush,
    FlushDone,
    FlushFailed,
    FlushMark,
    FlushState,
    Save,
    Saved,
    SaveFailed,
    Situation,
    TurnStarting,
    Wait,
    flush_threshold,
    step,
)

SETTINGS = FlushSettings()
WINDOW = 200_000
DUE = TurnStarting(window=WINDOW, tokens=176_000)
EARLY = TurnStarting(window=WINDOW, tokens=175_999)


class Session:
    """Hands events to the machine, and saves what it is asked to save."""

    def __init__(self, settings: FlushSettings = SETTINGS, *, saves: bool = True) -> None:
        self.state = FlushState()
        self.settings = settings
        self.saves = saves
        self.disk = FlushMark()

    def on(self, event: Event) -> Decision:
        self.state, decision = step(self.state, event, self.settings)
        while self.saves and isinstance(decision, Save):
            self.disk = decision.mark
            self.state, decision = step(self.state, Saved(mark=decision.mark), self.settings)
        return decision

    def flush(self, event: Event) -> Decision:
        """``event`` starts a flush, which succeeds."""
        decision = self.on(event)
        assert isinstance(decision, Flush)
        return self.on(FlushDone(attempt=decision.attempt))

    def restart(self) -> None:
        self.state = FlushState.of(self.disk)


@pytest.mark.parametrize(
    ("window", "threshold"),
    [(200_000, 176_000), (1_000_000, 976_000), (32_768, 20_576), (100, 38), (3, 2), (1, 1), (0, 0)],
)
def test_the_threshold_scales_with_small_windows(window: int, threshold: int) -> None:
    assert flush_threshold(window, SETTINGS) == threshold


@given(st.integers(0, 3_000_000), st.integers(0, 10**6), st.integers(0, 10**6))
def test_every_window_has_a_threshold_and_larger_ones_no_lower(
    window: int, reserve: int, soft: int
) -> None:
    settings = FlushSettings(reserve_tokens_floor=reserve, soft_threshold_tokens=soft)
    threshold = flush_threshold(window, settings)
    assert 0 <= threshold <= window
    assert (threshold > 0) == (window > 0)
    assert flush_threshold(window + 1, settings) >= threshold


def test_a_turn_at_the_threshold_flushes_once() -> None:
    session = Session()
    assert session.on(EARLY) == Continue(reason="175999 of 176000 tokens")
    assert session.on(DUE) == Flush(attempt=1, cycles=(0,), cause="tokens")
    assert session.on(FlushDone(attempt=1, at=12.5)) == Continue(reason="flushed")
    assert session.disk == FlushMark(flushed=0, flushed_at=12.5)
    assert session.on(DUE) == Continue(reason="this cycle is flushed")
    assert session.on(CompactionDue()) == Compact(reason="flushed")


def test_every_cycle_is_flushed_and_not_every_second_one() -> None:
    """The original saved the incremented count when the flush turn itself was compacted."""
    session = Session()
    flushed: list[tuple[int, ...]] = []
    for _ in range(6):
        decision = session.on(DUE)
        assert isinstance(decision, Flush)
        flushed.append(decision.cycles)
        session.on(Compacted())  # while the flush runs
        session.on(FlushDone(attempt=decision.attempt))
    assert flushed == [(0,), (1,), (2,), (3,), (4,), (5,)]
    assert session.disk == FlushMark(compactions=6, flushed=5)


@pytest.mark.parametrize("cause", ["overflow", "manual", "threshold"])
def test_no_way_to_a_compaction_goes_past_the_flush(cause: str) -> None:
    """In the original, what an overflow made necessary was compacted without a flush."""
    session = Session()
    due = CompactionDue(cause=cause)  # type: ignore[arg-type]  # one of the three
    assert session.flush(due) == Compact(reason="flushed")


def test_tokens_that_are_not_known_put_off_the_flush_and_say_so() -> None:
    """Where no usage was reported, the original never flushed and said nothing."""
    session = Session()
    answer = session.on(TurnStarting(window=WINDOW))
    assert isinstance(answer, Continue)
    assert "not known" in answer.reason
    assert session.flush(CompactionDue()) == Compact(reason="flushed")


def test_a_program_that_compacts_by_itself_is_passed_over_with_the_reason() -> None:
    """For such backends the original never flushed and said nothing."""
    session = Session()
    cli = Situation(cli_backend=True)
    for event in (DUE.replace(situation=cli), CompactionDue(situation=cli)):
        answer = session.on(event)
        assert isinstance(answer, Continue | Compact)
        assert answer.reason == machine.CLI_BACKEND
    assert "archive" in machine.CLI_BACKEND


@pytest.mark.parametrize(
    ("situation", "settings", "reason"),
    [
        (Situation(workspace="ro"), SETTINGS, machine.READ_ONLY),
        (Situation(workspace="none"), SETTINGS, machine.READ_ONLY),
        (Situation(writable=False), SETTINGS, machine.NOT_WRITABLE),
        (Situation(cli_backend=True), SETTINGS, machine.CLI_BACKEND),
        (Situation(), FlushSettings(enabled=False), machine.DISABLED),
    ],
)
def test_what_may_not_be_written_is_not_owed(
    situation: Situation, settings: FlushSettings, reason: str
) -> None:
    session = Session(settings)
    assert session.on(DUE.replace(situation=situation)) == Continue(reason=reason)
    assert session.on(CompactionDue(situation=situation)) == Compact(reason=reason)
    session.on(Compacted())
    assert session.disk == FlushMark(compactions=1)


def test_a_compaction_in_a_heartbeat_is_flushed_by_the_next_turn() -> None:
    session = Session()
    poll = Situation(heartbeat=True)
    assert session.on(DUE.replace(situation=poll)) == Continue(reason=machine.HEARTBEAT)
    assert session.on(CompactionDue(cause="overflow", situation=poll)) == Compact(
        reason=machine.HEARTBEAT
    )
    session.on(Compacted(situation=poll))
    assert session.on(EARLY) == Flush(attempt=1, cycles=(0,), cause="owed")
    assert session.on(FlushDone(attempt=1)) == Continue(reason="flushed")
    assert session.on(DUE) == Flush(attempt=2, cycles=(1,), cause="tokens")


def test_a_failure_is_tried_again_and_the_reply_is_never_held_up() -> None:
    session = Session()
    for attempt in (1, 2, 3):
        assert session.on(DUE) == Flush(attempt=attempt, cycles=(0,), cause="tokens")
        answer = session.on(FlushFailed(attempt=attempt, reason="no model"))
        assert answer == Continue(reason="the flush failed: no model")
    assert "3 flushes failed" in str(session.on(DUE))
    assert session.disk.flushed == -1
    assert session.flush(CompactionDue()) == Compact(reason="flushed")


def test_a_compaction_waits_for_two_failures_and_the_cycle_stays_owed() -> None:
    session = Session()
    assert session.on(CompactionDue()) == Flush(attempt=1, cycles=(0,), cause="threshold")
    assert session.on(FlushFailed(attempt=1)) == Flush(attempt=2, cycles=(0,), cause="threshold")
    assert session.on(FlushFailed(attempt=2, reason="x")) == Compact(reason="the flush failed: x")
    session.on(Compacted())
    session.restart()
    assert session.on(CompactionDue()) == Flush(attempt=1, cycles=(0, 1), cause="threshold")


def test_a_compaction_that_was_not_asked_about_is_owed() -> None:
    session = Session()
    session.on(Compacted())
    assert session.on(DUE) == Flush(attempt=1, cycles=(0, 1), cause="tokens")


def test_bytes_count_from_the_last_flush_or_compaction() -> None:
    """Counted from the start, a long transcript is flushed as soon as each cycle begins."""
    session = Session()
    limit = SETTINGS.force_flush_transcript_bytes

    def turn(size: int) -> TurnStarting:
        return TurnStarting(window=WINDOW, tokens=10, transcript_bytes=size)

    assert isinstance(session.on(turn(limit - 1)), Continue)
    assert session.flush(turn(limit)) == Continue(reason="flushed")
    assert session.disk.base == limit
    session.on(Compacted(transcript_bytes=limit + 5))
    assert isinstance(session.on(turn(2 * limit + 4)), Continue)
    assert isinstance(session.on(turn(2 * limit + 5)), Flush)


def test_a_transcript_that_became_smaller_is_another_file() -> None:
    session = Session()
    session.on(Compacted(transcript_bytes=10**9))
    session.state = session.state.replace(mark=session.state.mark.replace(owed=()))
    limit = SETTINGS.force_flush_transcript_bytes
    assert isinstance(session.on(TurnStarting(window=9, tokens=0, transcript_bytes=limit)), Flush)


def test_bytes_may_be_switched_off() -> None:
    session = Session(FlushSettings(force_flush_transcript_bytes=0))
    event = TurnStarting(window=WINDOW, tokens=1, transcript_bytes=10**12)
    assert isinstance(session.on(event), Continue)


def test_the_marker_is_saved_before_the_compaction_is_granted() -> None:
    session = Session(saves=False)
    decision = session.on(CompactionDue())
    assert isinstance(decision, Flush)
    saving = session.on(FlushDone(attempt=decision.attempt))
    assert saving == Save(mark=FlushMark(flushed=0))
    assert session.on(CompactionDue()) == Save(mark=FlushMark(flushed=0))
    assert session.on(Saved(mark=FlushMark(flushed=0))) == Compact(reason="flushed")


def test_a_marker_that_cannot_be_saved_does_not_stop_the_session() -> None:
    session = Session(saves=False)
    session.on(DUE)
    session.on(FlushDone(attempt=1))
    assert session.on(SaveFailed(reason="disk full")) == Continue(
        reason="the marker is not saved: disk full"
    )
    assert session.on(CompactionDue()) == Save(mark=FlushMark(flushed=0))
    granted = session.on(SaveFailed(reason="disk full"))
    assert isinstance(granted, Compact)


def test_what_comes_while_a_flush_runs_waits() -> None:
    session = Session()
    session.on(DUE)
    assert session.on(DUE) == Continue(reason="a flush is running")
    assert session.on(CompactionDue()) == Wait(reason="a flush is running")
    session.on(FlushDone(attempt=1))
    assert session.on(CompactionDue()) == Compact(reason="flushed")


def test_a_flush_that_was_given_up_counts_no_more() -> None:
    session = Session()
    session.on(DUE)
    session.on(FlushFailed(attempt=1, reason="it took too long"))
    late = session.on(FlushDone(attempt=1))
    assert late == Continue(reason="this flush is over already")
    assert session.disk.flushed == -1


def test_a_compaction_during_its_own_flush_is_not_granted_a_second_time() -> None:
    session = Session()
    session.on(CompactionDue())
    session.on(Compacted())
    assert session.on(FlushDone(attempt=1)) == Continue(
        reason="the session was compacted meanwhile"
    )
    assert session.disk == FlushMark(compactions=1, flushed=0)
