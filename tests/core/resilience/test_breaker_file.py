"""What one process knows of a part that fails, the next one knows; and no longer than it is so."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from commonplace.resilience.breaker import BreakerFile, BreakerRecord, CircuitBreaker

if TYPE_CHECKING:
    from pathlib import Path

COOLDOWN, LONGEST = 10.0, 40.0
WALL = 1_800_000_000.0


class Time:
    """Time that passes, and a clock on the wall that may be set."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.skew = WALL

    def monotonic(self) -> float:
        return self.passed

    def wall(self) -> float:
        return self.passed + self.skew


class Kept:
    """A keeper in memory."""

    def __init__(self) -> None:
        self.held: BreakerRecord | None = None
        self.loads = 0

    def load(self) -> BreakerRecord | None:
        self.loads += 1
        return self.held

    def save(self, record: BreakerRecord | None) -> None:
        self.held = record


def process(time: Time, keeper: Kept | BreakerFile, *, threshold: int = 1) -> CircuitBreaker:
    """The breaker of another process, whose monotonic clock began when it did."""
    begun = time.passed
    return CircuitBreaker(
        threshold=threshold,
        cooldown=COOLDOWN,
        longest=LONGEST,
        monotonic=lambda: time.passed - begun,
        clock=time.wall,
        keeper=keeper,
    )


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def file(tmp_path: Path) -> BreakerFile:
    return BreakerFile(str(tmp_path / "state" / "breakers" / "part.work"), mark="a1")


def test_the_next_process_leaves_it_alone_and_says_why_and_since_when(
    time: Time, file: BreakerFile
) -> None:
    process(time, file).failed("it\nhangs")
    time.passed += COOLDOWN - 1
    other = process(time, file)
    assert not other.allow()
    state = other.state()
    assert (state.state, state.reason, state.since) == ("open", "it hangs", WALL)
    time.passed += 1
    assert other.allow()
    assert process(time, file).state().state == "open"  # while the other one is trying
    assert other.succeeded()
    assert process(time, file).state() == CircuitBreaker().state()


def test_pauses_grow_from_process_to_process(time: Time, file: BreakerFile) -> None:
    waits = []
    for _ in range(4):
        begun = time.passed
        while not process(time, file).allow():
            time.passed += 1
        waits.append(time.passed - begun)
        process(time, file).failed("down")
        # The probe of a process that has ended is lost; what failed was another one.
        process(time, file).let_through()
        breaker = process(time, file)
        assert breaker.allow()
        breaker.failed("down")
    assert waits[0] == 0
    assert waits == sorted(waits)
    assert max(waits) == LONGEST


def test_failures_below_the_threshold_are_counted_over_processes(
    time: Time, file: BreakerFile
) -> None:
    for state in ("closed", "open"):
        breaker = process(time, file, threshold=2)
        assert breaker.allow()
        breaker.failed("no")
        assert process(time, file, threshold=2).state().state == state


def test_it_is_read_once_and_only_when_it_is_asked(time: Time) -> None:
    kept = Kept()
    breaker = process(time, kept)
    assert kept.loads == 0
    breaker.allow()
    breaker.succeeded()
    breaker.state()
    assert kept.loads == 1


def test_only_its_owner_may_read_it(time: Time, file: BreakerFile, tmp_path: Path) -> None:
    process(time, file).failed("down")
    (found,) = (tmp_path / "state" / "breakers").iterdir()
    assert stat.S_IMODE(found.stat().st_mode) == 0o600
    assert stat.S_IMODE(found.parent.stat().st_mode) == 0o700
    process(time, file).succeeded()
    assert not found.exists()


def test_another_mark_is_another_part(time: Time, file: BreakerFile) -> None:
    process(time, file).failed("wrong key")
    assert process(time, BreakerFile(file.path, mark="b2")).allow()


def test_who_waits_for_an_answer_is_let_through_once(time: Time, file: BreakerFile) -> None:
    process(time, file).failed("down")
    breaker = process(time, BreakerFile(file.path, mark="a1", patient=False))
    state = breaker.state()
    assert (state.state, state.reason, state.since) == ("half-open", "down", WALL)
    assert breaker.allow()
    breaker.failed("still down")
    assert not breaker.allow()


@given(damage=st.binary(max_size=60), at=st.integers(0, 200), cut=st.booleans())
def test_a_damaged_file_counts_as_none_and_locks_no_process_out(
    damage: bytes, at: int, cut: bool
) -> None:
    import tempfile
    from pathlib import Path

    time = Time()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part"
        file = BreakerFile(str(path))
        process(time, file).failed("down")
        raw = path.read_bytes()
        path.write_bytes(raw[:at] + damage + (b"" if cut else raw[at:]))
        breaker = process(time, file)
        if not breaker.allow():
            time.passed += 3600
            assert process(time, file).allow()


@pytest.mark.parametrize("kind", ["folder", "unwritable"])
def test_what_cannot_be_written_is_not(time: Time, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "part"
    if kind == "folder":
        path.mkdir()
    else:
        (tmp_path / "in the way").write_text("")
        path = tmp_path / "in the way" / "part"
    breaker = process(time, BreakerFile(str(path)))
    assert breaker.allow()
    assert breaker.failed("down")
    assert not breaker.allow()
    assert process(time, BreakerFile(str(path))).allow()


@given(
    record=st.builds(
        BreakerRecord,
        reason=st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        since=st.floats(0, 2e9),
        failures=st.integers(1, 9),
        trips=st.integers(0, 9),
        retry_at=st.floats(0, 2e9),
        at=st.floats(0, 2e9),
    )
)
def test_what_is_saved_is_loaded(record: BreakerRecord) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = BreakerFile(f"{folder}/part", mark="m")
        file.save(record)
        assert file.load() == record._replace(reason=" ".join(record.reason.split()))
        file.save(None)
        assert file.load() is None


@given(
    st.builds(
        BreakerRecord,
        reason=st.just("why"),
        since=st.floats(0, 1e12),
        failures=st.integers(1, 9),
        trips=st.integers(0, 99),
        retry_at=st.floats(0, 1e12),
        at=st.floats(0, 1e12),
    )
)
def test_no_record_whatever_it_holds_locks_out_for_long(record: BreakerRecord) -> None:
    time = Time()
    kept = Kept()
    kept.held = record
    assert process(time, kept).state().since == min(record.since, WALL)
    for _ in range(2):
        if process(time, kept).allow():
            return
        time.passed += 3600.0
    raise AssertionError(record)


class Machine(RuleBasedStateMachine):
    """One-shot processes and a lasting one; a part that fails and recovers; a clock that is set."""

    def __init__(self) -> None:
        super().__init__()
        self.time = Time()
        self.kept = Kept()
        self.staying = process(self.time, self.kept)
        self.well = True
        self.failed_at: float | None = None
        self.set_since = False

    @rule(seconds=st.integers(0, 60))
    def wait(self, seconds: int) -> None:
        self.time.passed += seconds

    @rule(seconds=st.sampled_from([-1e9, -3600.0, -15.0, -5.0, 5.0, 3600.0, 1e8]))
    def set_clock(self, seconds: float) -> None:
        if self.time.wall() + seconds < 0:
            return  # before 1970
        self.time.skew += seconds
        self.set_since = True

    @rule(well=st.booleans())
    def part_changes(self, well: bool) -> None:
        self.well = well

    @rule(stays=st.booleans())
    def call(self, stays: bool) -> None:
        breaker = self.staying if stays else process(self.time, self.kept)
        allowed = breaker.allow()
        if not stays:
            since = None if self.failed_at is None else self.time.passed - self.failed_at
            if since is None or (since > LONGEST + COOLDOWN and not self.set_since):
                assert allowed, "left alone for too long"
            elif not allowed:
                # A clock that was set back unseen may make that longer, but from now on no more.
                assert self.allowed_in(LONGEST + COOLDOWN), "left alone for too long"
            known = self.kept.held is not None and not self.set_since
            if known and since is not None and since < COOLDOWN:
                assert not allowed, "asked again too soon"
        if not allowed:
            return
        if self.well:
            breaker.succeeded()
            self.failed_at = None
        else:
            breaker.failed("why")
            self.failed_at, self.set_since = self.time.passed, False

    def allowed_in(self, seconds: float) -> bool:
        """Whether a process that comes so much later may ask."""
        later, kept = Time(), Kept()
        later.passed, later.skew = self.time.passed + seconds, self.time.skew
        kept.held = self.kept.held
        return process(later, kept).allow()

    @invariant()
    def who_comes_next_knows_why(self) -> None:
        state = process(self.time, self.kept).state()
        assert (state.since is None) == (self.kept.held is None)
        if state.since is not None:
            assert state.reason == "why"
            assert state.since <= self.time.wall()


TestRecordMachine = Machine.TestCase
