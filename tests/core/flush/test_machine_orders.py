"""Any order of events: each cycle is flushed once before its compaction, none twice, none lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from commonplace.config.settings import FlushSettings
from commonplace.flush.machine import (
    Compact,
    Compacted,
    CompactionDue,
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
    step,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

SETTINGS = FlushSettings()
READ_ONLY, POLL = Situation(workspace="ro"), Situation(heartbeat=True)
SITUATIONS = (Situation(), READ_ONLY, POLL)
TOKENS = (0, 10**6, None)


class Known(NamedTuple):
    """What an observer knows that sees only the events and the decisions.

    ``covered`` are the cycles of flushes that succeeded, ``excused`` those that were compacted
    where nothing may be written. ``failed`` is whether a flush has failed since the last question.
    """

    cycle: int = 0
    covered: frozenset[int] = frozenset()
    excused: frozenset[int] = frozenset()
    running: tuple[int, tuple[int, ...]] | None = None
    situation: Situation = SITUATIONS[0]
    failed: bool = False
    saving: tuple[FlushMark, Known] | None = None


class World(NamedTuple):
    """The machine, its observer, and what a crash would leave of both."""

    state: FlushState = FlushState()
    known: Known = Known()
    disk: tuple[FlushMark, Known] = (FlushMark(), Known())


def events(world: World) -> Iterator[Event | None]:
    """Every event that may come next; ``None`` is a crash of the host."""
    for situation in SITUATIONS:
        for tokens in TOKENS if situation == SITUATIONS[0] else (10**6,):
            yield TurnStarting(window=200_000, tokens=tokens, situation=situation)
        yield CompactionDue(cause="overflow", situation=situation)
    yield Compacted()
    yield Compacted(situation=READ_ONLY)
    attempts = {0, world.state.attempts}
    for attempt in attempts:
        yield FlushDone(attempt=attempt)
        yield FlushFailed(attempt=attempt)
    if world.known.saving is not None:
        yield Saved(mark=world.known.saving[0])
        yield SaveFailed()
    yield None


def after(world: World, event: Event | None) -> World:
    """The world after ``event``, every law checked."""
    if event is None:
        mark, known = world.disk
        return World(FlushState.of(mark), known, world.disk)
    known = _seen(world.known, event)
    disk = world.disk
    if isinstance(event, Saved) and known.saving is not None:
        disk = known.saving
    state, decision = step(world.state, event, SETTINGS)
    match decision:
        case Flush():
            assert known.situation == SITUATIONS[0], "never while read-only, never in a heartbeat"
            assert known.running is None, "one flush at a time"
            assert not known.covered.intersection(decision.cycles), "never twice"
            assert decision.cycles[-1] <= known.cycle
            known = known._replace(running=(decision.attempt, decision.cycles))
        case Compact():
            lawful = known.situation != SITUATIONS[0] or known.failed
            assert known.cycle in known.covered or lawful, "never before its flush"
            if known.cycle in known.covered and not isinstance(event, SaveFailed):
                assert disk[0].flushed == known.cycle, "never before its marker is saved"
        case Save():
            _check_mark(decision.mark, known)
            past = known.excused - {known.cycle}  # a crash forgets the excuse of this cycle
            kept = known._replace(running=None, saving=None, excused=past)
            known = known._replace(saving=(decision.mark, kept))
    _check_mark(state.mark, known)
    return World(state, known, disk)


def _seen(known: Known, event: Event) -> Known:
    match event:
        case TurnStarting() | CompactionDue():
            known = known._replace(situation=event.situation)
            if known.running is None:
                known = known._replace(failed=False)
            if event.situation != READ_ONLY:
                known = known._replace(excused=known.excused - {known.cycle})
            elif isinstance(event, CompactionDue) and known.running is None:
                known = known._replace(excused=known.excused | {known.cycle})
        case Compacted():
            begun = known.running is not None and known.cycle in known.running[1]
            if event.situation == READ_ONLY and not begun:
                known = known._replace(excused=known.excused | {known.cycle})
            known = known._replace(cycle=known.cycle + 1)
        case FlushDone() if known.running is not None and known.running[0] == event.attempt:
            assert not known.covered.intersection(known.running[1])
            covered = known.covered.union(known.running[1])
            known = known._replace(covered=covered, running=None)
        case FlushFailed() if known.running is not None and known.running[0] == event.attempt:
            known = known._replace(running=None, failed=True)
    return known


def _check_mark(mark: FlushMark, known: Known) -> None:
    """The marker counts right, names a flushed cycle, and owes all that was lost."""
    assert mark.compactions == known.cycle
    assert mark.flushed == max(known.covered, default=-1)
    running = set(known.running[1]) if known.running else set()
    done = known.covered | known.excused
    lost = {cycle for cycle in range(known.cycle) if cycle not in done}
    assert set(mark.owed) | running >= lost, "never lost"
    assert lost | running >= set(mark.owed)
    assert list(mark.owed) == sorted(set(mark.owed))


def all_orders(length: int) -> int:
    """Check every order of ``length`` events or fewer; the number of situations met."""
    met = reached = {World()}
    for _ in range(length):
        reached = {after(world, event) for world in reached for event in events(world)} - met
        met = met | reached
        for world in reached:
            compacts_at_last(world)
    return len(met)


def compacts_at_last(world: World) -> None:
    """From wherever it is, a session with a working model and disk is flushed and compacted."""
    if world.known.running is not None:
        world = after(world, FlushDone(attempt=world.known.running[0]))
    event: Event = CompactionDue()
    for _ in range(6):
        state, decision = step(world.state, event, SETTINGS)
        world = after(world, event)
        match decision:
            case Flush():
                event = FlushDone(attempt=decision.attempt)
            case Save():
                event = Saved(mark=decision.mark)
            case Compact():
                assert world.known.cycle in world.known.covered
                assert not state.mark.owed
                return
    pytest.fail(f"not compacted: {world}")


def test_all_short_orders() -> None:
    assert all_orders(3) > 200


@pytest.mark.slow
def test_all_orders_of_seven_events() -> None:
    assert all_orders(7) > 10_000


class Orders(RuleBasedStateMachine):
    """Long orders, at random."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()

    @rule(pick=st.integers(0, 10**6))
    def happens(self, pick: int) -> None:
        choices = list(events(self.world))
        self.world = after(self.world, choices[pick % len(choices)])

    @rule()
    def goes_well(self) -> None:
        """A whole flush, as a host runs it."""
        compacts_at_last(self.world)
        if self.world.known.running is not None:
            self.world = after(self.world, FlushDone(attempt=self.world.known.running[0]))
        if self.world.known.saving is not None:
            self.world = after(self.world, Saved(mark=self.world.known.saving[0]))

    @invariant()
    def only_one_flush_runs(self) -> None:
        assert (self.world.state.running is None) == (self.world.known.running is None)


def test_long_orders() -> None:
    run_state_machine_as_test(
        Orders, settings=settings(max_examples=15, stateful_step_count=40, deadline=None)
    )


@pytest.mark.slow
def test_many_long_orders() -> None:
    run_state_machine_as_test(
        Orders, settings=settings(max_examples=400, stateful_step_count=60, deadline=None)
    )
