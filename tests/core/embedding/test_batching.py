"""Batch jobs as the host drives them: what is begun, waited for, kept, picked up, given up."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, cast

import pytest
from attrs import define, field

from commonplace.config.search import BatchSettings
from commonplace.deadline import Deadline
from commonplace.embedding.batching import WORTH, Batching, BatchOutcome, Clocks, Work
from commonplace.embedding.batching_jobs import JobRecord, JobStore
from commonplace.embedding.retry import RetryPolicy
from commonplace.errors import IndexBusyError, ProviderError, ProviderErrorKind
from commonplace.spec import BatchLimits, BatchLine, BatchState, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

MANY = WORTH + 20
KEY = "fingerprint|document"


def texts(count: int = MANY, start: int = 0) -> dict[str, str]:
    return {f"{number:064x}": f"text {number}" for number in range(start, start + count)}


def refusal(kind: ProviderErrorKind, status: int | None = None) -> ProviderError:
    return ProviderError(f"vendor: {kind}", provider="vendor", kind=kind, status=status)


@define
class Time:
    """A clock that only waiting moves."""

    now: float = 1000.0
    pauses: list[float] = field(factory=list)

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    def __call__(self) -> float:
        return self.now


@define
class Remote:
    """One job as the vendor has it: ``polls`` looks from now it is in ``end``."""

    name: str
    lines: dict[str, str]
    polls: int
    end: str = "done"
    reason: str = ""


def made(lines: Mapping[str, str]) -> list[BatchLine]:
    return [BatchLine(id_, [float(len(text)), 1.0]) for id_, text in lines.items()]


@define
class Vendor:
    """Batch jobs in memory, which outlive any process of ours."""

    polls: int = 1
    end: str = "done"
    reason: str = ""
    limits: BatchLimits = field(factory=BatchLimits)
    answer: Callable[[Mapping[str, str]], list[BatchLine]] = made
    remote: dict[str, Remote] = field(factory=dict)
    calls: list[str] = field(factory=list)
    faults: dict[str, list[Exception | None]] = field(factory=dict)

    def submit(self, name: str, lines: Mapping[str, str], *, deadline: Deadline) -> str:
        job = f"job-{len(self.remote)}"
        lost = self._fault("lost")
        self._say("submit")
        self.remote[job] = Remote(name, dict(lines), self.polls, self.end, self.reason)
        if lost is not None:
            raise lost
        return job

    def find(self, name: str, *, deadline: Deadline) -> str | None:
        self._say("find")
        return next((job for job, held in self.remote.items() if held.name == name), None)

    def poll(self, job: str, *, deadline: Deadline) -> BatchState:
        self._say("poll")
        held = self._held(job)
        held.polls -= 1
        state: Any = held.end if held.polls < 0 else "running"
        return BatchState(state, held.reason if state != "running" else "", 1, len(held.lines))

    def collect(self, job: str, *, deadline: Deadline) -> Iterator[BatchLine]:
        self._say("collect")
        yield from self.answer(self._held(job).lines)
        self._say("collected")

    def cancel(self, job: str, *, deadline: Deadline) -> None:
        self._say("cancel")
        self._held(job)

    def clean(self, job: str, *, deadline: Deadline) -> None:
        self._say("clean")
        self._held(job)

    def count(self, call: str) -> int:
        return self.calls.count(call)

    def _say(self, call: str) -> None:
        self.calls.append(call)
        fault = self._fault(call)
        if fault is not None:
            raise fault

    def _fault(self, call: str) -> Exception | None:
        waiting = self.faults.get(call)
        return waiting.pop(0) if waiting else None

    def _held(self, job: str) -> Remote:
        if job not in self.remote:
            raise refusal("not_found", 404)
        return self.remote[job]


@define
class Bench:
    """What a process is made of; each ``process()`` is a new one on the same folder."""

    folder: str
    vendor: Vendor = field(factory=Vendor)
    time: Time = field(factory=Time)
    kept: dict[str, bytes] = field(factory=dict)
    told: list[Any] = field(factory=list)

    def process(self, **settings: Any) -> Batching:
        clocks = Clocks(monotonic=self.time, epoch=self.time, sleep=self.time.sleep)
        policy = RetryPolicy(sleep=lambda _: None, jitter=lambda: 1.0)
        return Batching(
            "vendor",
            self.vendor,
            BatchSettings(enabled=True, **settings),
            JobStore(self.folder),
            clocks=clocks,
            policy=policy,
        )

    def work(self, wanted: Mapping[str, str], **given: Any) -> Work:
        fixed: dict[str, Any] = {
            "key": KEY,
            "limits": Limits(),
            "dims": None,
            "keep": self.kept.update,
            "deadline": Deadline.after(1e6, self.time),
            "progress": self.told.append,
        }
        return Work(texts=wanted, **{**fixed, **given})

    def run(
        self, wanted: Mapping[str, str], batching: Batching | None = None, **given: Any
    ) -> BatchOutcome:
        return (batching or self.process()).run(self.work(wanted, **given))

    def jobs(self) -> list[JobRecord]:
        return JobStore(self.folder).load()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(str(tmp_path / "state" / "memory" / "batches"))


def test_many_texts_get_their_vectors_from_a_job_which_leaves_nothing_behind(bench: Bench) -> None:
    outcome = bench.run(texts())
    assert outcome == BatchOutcome(plain=(), begun=1)
    assert bench.kept.keys() == texts().keys()
    assert all(len(vector) == 8 for vector in bench.kept.values())
    assert bench.jobs() == []
    assert bench.vendor.calls[-1] == "clean"
    assert bench.told[-1].completed == bench.told[-1].total == MANY


def test_few_texts_are_left_to_be_embedded_at_once_and_no_file_is_made(bench: Bench) -> None:
    wanted = texts(WORTH)
    assert bench.run(wanted) == BatchOutcome(plain=tuple(wanted))
    assert bench.vendor.calls == []
    assert not os.path.exists(bench.folder)


def test_one_looks_at_a_job_less_and_less_often(bench: Bench) -> None:
    bench.vendor.polls = 12
    bench.run(texts(), bench.process(poll_interval_ms=2000))
    pauses = bench.time.pauses
    assert pauses[0] == 2.0
    assert pauses == sorted(pauses)
    assert max(pauses) == 60.0


def test_an_interval_of_nothing_does_not_hammer_the_vendor(bench: Bench) -> None:
    bench.run(texts(), bench.process(poll_interval_ms=0))
    assert min(bench.time.pauses) >= 0.1


def test_jobs_hold_no_more_lines_and_bytes_than_they_may(bench: Bench) -> None:
    bench.vendor.limits = BatchLimits(lines=50)
    bench.run(texts())
    assert [len(job.lines) for job in bench.vendor.remote.values()] == [50, 50, MANY - 100]
    bench.vendor.remote.clear()
    bench.vendor.limits = BatchLimits(bytes=20_000)
    bench.run(texts())
    sizes = [len(job.lines) for job in bench.vendor.remote.values()]
    assert sum(sizes) == MANY
    assert len(sizes) > 1
    assert max(sizes) * 400 <= 20_000


def test_no_more_jobs_are_under_way_than_asked_for(bench: Bench) -> None:
    bench.vendor.limits = BatchLimits(lines=30)
    bench.vendor.polls = 2
    bench.run(texts(), bench.process(concurrency=2))
    under_way = most = 0
    for call in bench.vendor.calls:
        under_way += {"submit": 1, "clean": -1}.get(call, 0)
        most = max(most, under_way)
    assert most == 2
    assert len(bench.kept) == MANY


def test_texts_too_long_are_cut_and_counted(bench: Bench) -> None:
    wanted = {**texts(), "f" * 64: "a long text " * 50}
    outcome = bench.run(wanted, limits=Limits(item_tokens=20))
    assert outcome.cut == 1
    (job,) = bench.vendor.remote.values()
    assert wanted["f" * 64].startswith(job.lines["f" * 64])
    assert len(job.lines["f" * 64]) <= 60


def test_results_may_come_in_any_order_twice_and_with_strangers(bench: Bench) -> None:
    def shuffled(lines: Mapping[str, str]) -> list[BatchLine]:
        answers = made(lines)
        first = answers[0]._replace(vector=[9.0, 9.0])
        return [*reversed(answers), first, BatchLine("somebody's", [1.0, 2.0])]

    bench.run(texts())
    plainly = dict(bench.kept)
    bench.kept.clear()
    bench.vendor.answer = shuffled
    assert bench.run(texts()).plain == ()
    assert bench.kept == plainly


def test_texts_that_a_job_refuses_or_forgets_are_embedded_at_once(bench: Bench) -> None:
    def holey(lines: Mapping[str, str]) -> list[BatchLine]:
        answers = made(lines)
        answers[0] = BatchLine(answers[0].custom_id, error="vendor: too long")
        answers[1] = answers[1]._replace(vector=[float("nan"), 1.0])
        answers[2] = answers[2]._replace(vector=[0.0, 0.0])
        answers[3] = answers[3]._replace(vector=[1.0, 2.0, 3.0])
        answers[4] = answers[4]._replace(vector=cast("Any", ["no", "numbers"]))
        answers[5] = answers[5]._replace(vector=[])
        return answers[:-1]

    bench.vendor.answer = holey
    batching = bench.process()
    outcome = bench.run(texts(), batching)
    ids = list(texts())
    assert outcome.plain == (*ids[:6], ids[-1])
    assert outcome.note == "7 texts of a batch job were embedded at once: vendor: too long"
    assert len(bench.kept) == MANY - 7
    assert batching.failures == 0


def test_the_length_that_is_known_decides_over_what_comes(bench: Bench) -> None:
    outcome = bench.run(texts(), dims=3)
    assert len(outcome.plain) == MANY
    assert bench.kept == {}
    assert "3 were expected" in outcome.note


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_what_was_finished_before_the_end_is_kept(bench: Bench, end: str) -> None:
    bench.vendor.end = end
    bench.vendor.answer = lambda lines: made(lines)[:70]
    batching = bench.process()
    outcome = bench.run(texts(), batching)
    assert len(bench.kept) == 70
    assert outcome.plain == tuple(texts())[70:]
    assert end in outcome.note
    assert (batching.failures, bench.jobs()) == (1, [])


def test_two_failures_switch_jobs_off_and_the_rest_is_embedded_at_once(bench: Bench) -> None:
    bench.vendor.end, bench.vendor.reason = "failed", "vendor: the file is not good"
    bench.vendor.limits = BatchLimits(lines=30)
    batching = bench.process(concurrency=1)
    outcome = bench.run(texts(), batching)
    assert bench.vendor.count("submit") == 2
    assert outcome.plain == tuple(texts())
    assert outcome.note == (
        "batch jobs are off for now: 2 failures, the last: vendor: the file is not good"
    )
    assert bench.run(texts(), batching) == BatchOutcome(tuple(texts()), note=outcome.note)
    assert bench.vendor.count("submit") == 2
    assert bench.jobs() == []


def test_a_success_between_begins_the_count_anew(bench: Bench) -> None:
    batching = bench.process()
    for end in ("failed", "done", "failed", "done"):
        bench.vendor.end = end
        bench.run(texts(), batching)
    assert batching.failures == 0
    assert not batching.off


def test_a_job_of_which_every_line_failed_is_a_failure(bench: Bench) -> None:
    bench.vendor.answer = lambda lines: [BatchLine(id_, error="vendor: no") for id_ in lines]
    batching = bench.process()
    outcome = bench.run(texts(), batching)
    assert (len(outcome.plain), batching.failures) == (MANY, 1)
    assert "vendor: no" in outcome.note


def test_time_that_runs_out_is_given_once_more_and_then_counts_twice(bench: Bench) -> None:
    bench.vendor.polls = 10**6
    batching = bench.process(timeout_minutes=2)
    outcome = bench.run(texts(), batching)
    assert (bench.vendor.count("submit"), bench.vendor.count("cancel")) == (2, 2)
    assert outcome.plain == tuple(texts())
    assert batching.off.startswith("batch jobs are off for now: 2 failures")
    assert "no result within 2 min" in batching.off
    assert 240 <= bench.time.now - 1000 <= 300
    assert bench.jobs() == []


def test_the_second_time_may_succeed(bench: Bench) -> None:
    bench.vendor.polls = 10**6

    def watched(progress: Any) -> None:
        bench.vendor.polls = 1  # of jobs that begin from now on

    batching = bench.process(timeout_minutes=1)
    assert bench.run(texts(), batching, progress=watched).plain == ()
    assert len(bench.kept) == MANY
    assert (bench.vendor.count("submit"), batching.failures) == (2, 0)


@pytest.mark.parametrize("status", [404, 405, 501])
def test_an_endpoint_without_jobs_is_asked_once(bench: Bench, status: int) -> None:
    bench.vendor.faults["submit"] = [refusal("not_found", status)]
    bench.vendor.limits = BatchLimits(lines=30)
    batching = bench.process()
    outcome = bench.run(texts(), batching)
    assert (outcome.plain, batching.failures) == (tuple(texts()), 0)
    assert outcome.note == "batch jobs are off for now: vendor offers none here"
    bench.run(texts(), batching)
    assert bench.vendor.calls == ["submit"]
    assert bench.jobs() == []


def test_what_may_pass_is_tried_again(bench: Bench) -> None:
    bench.vendor.faults = {
        "submit": [refusal("rate_limit"), refusal("unavailable"), None],
        "poll": [refusal("unavailable"), refusal("timeout"), None],
        "collected": [refusal("unavailable"), None],
    }
    batching = bench.process()
    assert bench.run(texts(), batching).plain == ()
    assert len(bench.kept) == MANY
    assert (len(bench.vendor.remote), batching.failures) == (1, 0)


def test_what_will_not_pass_is_a_failure(bench: Bench) -> None:
    bench.vendor.faults["submit"] = [refusal("auth", 401)]
    batching = bench.process()
    assert bench.run(texts(), batching).plain == tuple(texts())
    assert (bench.vendor.calls, batching.failures) == (["submit"], 1)
    bench.vendor.faults["poll"] = [refusal("auth", 401)]
    assert bench.run(texts(), batching).plain == tuple(texts())
    assert "vendor: auth" in batching.off


@pytest.mark.parametrize("call", ["submit", "poll", "collect", "collected", "clean"])
def test_whatever_goes_wrong_inside_a_provider_s_jobs_is_its_failure(
    bench: Bench, call: str
) -> None:
    bench.vendor.faults[call] = [ZeroDivisionError("with a key in it")]
    batching = bench.process()
    outcome = bench.run(texts(), batching)
    assert len(outcome.plain) + len(bench.kept) == MANY
    assert batching.failures == (0 if call == "clean" else 1)
    assert "a key" not in outcome.note
    assert call == "clean" or "ZeroDivisionError" in outcome.note
    assert bench.jobs() == []


def test_a_download_that_always_breaks_is_a_failure_and_keeps_what_came(bench: Bench) -> None:
    bench.vendor.faults["collected"] = [refusal("unavailable")] * 3
    batching = bench.process()
    outcome = bench.run(texts(), batching)
    assert outcome.plain == ()
    assert (len(bench.kept), batching.failures) == (MANY, 1)


def test_a_job_that_was_begun_without_an_answer_is_found_and_not_begun_again(bench: Bench) -> None:
    bench.vendor.faults["lost"] = [refusal("timeout")]
    assert bench.run(texts()).plain == ()
    assert bench.vendor.calls[:2] == ["submit", "find"]
    assert len(bench.vendor.remote) == 1


def test_the_last_try_is_looked_for_too(bench: Bench) -> None:
    bench.vendor.faults = {
        "submit": [refusal("unavailable"), refusal("unavailable"), None],
        "lost": [None, None, refusal("timeout")],
    }
    assert bench.run(texts()).plain == ()
    assert len(bench.vendor.remote) == 1


def test_a_process_started_again_picks_its_jobs_up(bench: Bench) -> None:
    bench.vendor.polls = 5

    class Killed(BaseException):
        pass

    def killed(seconds: float) -> None:
        raise Killed

    batching = bench.process()
    batching.clocks = Clocks(monotonic=bench.time, epoch=bench.time, sleep=killed)
    with pytest.raises(Killed):
        bench.run(texts(), batching)
    (record,) = bench.jobs()
    assert (record.job, record.key, record.ids) == ("job-0", KEY, tuple(texts()))
    assert bench.run(texts()).plain == ()
    assert bench.vendor.count("submit") == 1
    assert len(bench.kept) == MANY
    assert bench.jobs() == []


def test_texts_that_are_in_no_job_yet_get_one_besides_those_under_way(bench: Bench) -> None:
    bench.vendor.polls = 3
    bench.run(texts(), bench.process(wait=False))
    outcome = bench.run(texts(MANY + 40))
    assert len(outcome.plain) == 40
    assert len(bench.kept) == MANY
    bench.run(texts(MANY, 1000), bench.process(wait=False))
    assert bench.run(texts(2 * MANY, 1000)).plain == ()
    assert bench.vendor.count("submit") == 3


def test_what_a_process_that_died_had_begun_is_found_by_its_name(bench: Bench) -> None:
    for known in (True, False):
        bench.vendor.remote.clear()
        bench.vendor.calls.clear()
        record = JobRecord("commonplace-1", "vendor", KEY, tuple(texts()), bench.time.now)
        JobStore(bench.folder).save(record)
        if known:
            bench.vendor.remote["job-7"] = Remote("commonplace-1", texts(), 1)
        assert bench.run(texts()).plain == ()
        assert bench.vendor.calls[0] == "find"
        assert bench.vendor.count("submit") == (0 if known else 1)
        assert bench.jobs() == []


def test_a_job_that_the_vendor_has_forgotten_is_begun_anew_and_counts_nothing(bench: Bench) -> None:
    bench.run(texts(), bench.process(wait=False))
    bench.vendor.remote.clear()
    batching = bench.process()
    assert bench.run(texts(), batching).plain == ()
    assert bench.vendor.count("submit") == 2
    assert batching.failures == 0


def test_jobs_too_old_are_dropped(bench: Bench) -> None:
    bench.run(texts(), bench.process(wait=False))
    bench.time.now += bench.vendor.limits.kept_seconds + 1
    bench.vendor.calls.clear()
    assert bench.run(texts(10)).plain == tuple(texts(10))
    assert bench.vendor.calls == ["cancel", "clean"]
    assert bench.jobs() == []


def test_jobs_of_another_provider_stay_until_they_are_long_forgotten(bench: Bench) -> None:
    bench.run(texts(), bench.process(wait=False))
    bench.vendor.calls.clear()
    bench.run(texts(), bench.process(wait=False), key="another|document")
    assert bench.vendor.calls == ["submit"]
    assert len(bench.jobs()) == 2
    bench.time.now += 31 * 86400
    bench.run(texts(3), key="a third|document")
    assert bench.jobs() == []


def test_without_waiting_jobs_are_begun_and_collected_by_a_later_sync(bench: Bench) -> None:
    bench.vendor.limits = BatchLimits(lines=50)
    batching = bench.process(wait=False, concurrency=2)
    outcome = bench.run(texts(), batching)
    assert (outcome.plain, outcome.pending, outcome.begun) == ((), MANY, 2)
    assert outcome.note.startswith(f"{MANY} texts wait for batch jobs")
    assert bench.kept == {}
    assert bench.time.pauses == []
    outcome = bench.run(texts(), batching)
    assert outcome.pending == 100, "they run still"
    assert outcome.plain == tuple(texts())[100:], "so few are worth no job of their own"
    outcome = bench.run(texts(100), batching)
    assert (outcome, len(bench.kept)) == (BatchOutcome(()), 100)
    assert bench.vendor.count("submit") == 2


def test_a_job_that_is_not_waited_for_never_runs_out_of_time(bench: Bench) -> None:
    bench.vendor.polls = 3
    batching = bench.process(wait=False, timeout_minutes=1)
    for _ in range(5):
        bench.run(texts(), batching)
        bench.time.now += 3600
    assert (bench.vendor.count("submit"), len(bench.kept)) == (1, MANY)


def test_a_call_s_own_deadline_leaves_the_job_to_a_later_sync(bench: Bench) -> None:
    bench.vendor.polls = 20
    batching = bench.process()
    outcome = bench.run(texts(), batching, deadline=Deadline.after(30, bench.time))
    assert (outcome.plain, outcome.pending, batching.failures) == ((), MANY, 0)
    assert bench.time.now <= 1031
    assert bench.run(texts(), batching).plain == ()
    assert bench.vendor.count("submit") == 1


def test_a_store_that_cannot_take_the_vectors_loses_no_job(bench: Bench) -> None:
    def busy(vectors: Mapping[str, bytes]) -> None:
        raise IndexBusyError("somebody writes")

    with pytest.raises(IndexBusyError):
        bench.run(texts(), keep=busy)
    assert len(bench.jobs()) == 1
    assert bench.run(texts()).plain == ()
    assert bench.vendor.count("submit") == 1


def test_vectors_are_kept_some_at_a_time(bench: Bench) -> None:
    sizes: list[int] = []
    bench.run(texts(1200), keep=lambda vectors: sizes.append(len(vectors)))
    assert sizes == [500, 500, 200]


def test_two_at_once_do_not_begin_the_same_twice(bench: Bench) -> None:
    bench.run(texts(), bench.process(wait=False))
    with JobStore(bench.folder).lease():
        outcome = bench.run(texts(MANY + 5))
    assert (len(outcome.plain), outcome.pending) == (5, MANY)
    assert outcome.note == "another process works with the batch jobs"
    assert bench.vendor.calls == ["submit"]


def test_a_job_may_hold_texts_of_another_agent(bench: Bench) -> None:
    bench.run(texts(), bench.process(wait=False))
    assert bench.run(texts(10)).plain == ()
    assert len(bench.kept) == MANY, "all of it goes into the cache that both share"


def test_jobs_that_share_texts_give_each_once(bench: Bench) -> None:
    store, now = JobStore(bench.folder), bench.time.now
    for number, wanted in enumerate((texts(80), texts(80, 40))):
        record = JobRecord(f"commonplace-{number}", "vendor", KEY, tuple(wanted), now, f"{number}")
        store.save(record)
        bench.vendor.remote[str(number)] = Remote(record.name, wanted, number)
    kept: list[str] = []
    assert bench.run(texts(120), keep=kept.extend).plain == ()
    assert sorted(kept) == sorted(texts(120))


def test_status_can_tell_what_is_under_way(bench: Bench) -> None:
    bench.vendor.limits = BatchLimits(lines=70)
    batching = bench.process(wait=False)
    assert batching.notices(KEY) == []
    bench.run(texts(70), batching, deadline=Deadline.after(10, bench.time))
    bench.run(texts(), batching)
    assert batching.notices(KEY) == [f"{MANY} texts wait for 2 batch jobs of vendor"]
    assert batching.notices("another|document") == []
    batching.switch_off("a reason")
    assert batching.notices(KEY)[0] == "batch jobs are off for now: a reason"


def test_only_the_owner_may_read_what_is_kept_and_no_text_is(bench: Bench) -> None:
    bench.run(texts(), bench.process(wait=False))
    for name in os.listdir(bench.folder):
        path = os.path.join(bench.folder, name)
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        with open(path, encoding="utf-8") as file:
            assert "text 1" not in file.read()
    assert stat.S_IMODE(os.stat(bench.folder).st_mode) == 0o700


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"[]",
        b"{",
        b'{"version": 2}',
        b"\xff",
        b'{"version": 1, "name": "x", "ids": 3}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_no_job(bench: Bench, damage: bytes) -> None:
    os.makedirs(bench.folder)
    with open(os.path.join(bench.folder, "x.json"), "wb") as file:
        file.write(damage)
    assert bench.jobs() == []
    assert bench.run(texts()).plain == ()


def test_where_nothing_can_be_kept_jobs_are_off(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file in the way")
    outcome = bench.run(texts())
    assert outcome.plain == tuple(texts())
    assert "batch jobs cannot be kept in" in outcome.note
    assert bench.vendor.calls == []
