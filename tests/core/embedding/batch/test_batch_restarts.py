"""Batch jobs that outlive a process, or are not waited for: nothing is lost or begun twice."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from commonplace.embedding.batch.jobs import Clocks, JobRecord, JobStore
from commonplace.embedding.batch.run import WORTH, BatchOutcome
from commonplace.errors import IndexBusyError, ProviderError
from commonplace.protocols.providers import BatchLimits
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.core.embedding.conftest import Bench

    from commonplace.errors import ProviderErrorKind

KEY = "fingerprint|document"
MANY = WORTH + 20


def texts(count: int = MANY, start: int = 0) -> dict[str, str]:
    return {f"{number:064x}": f"text {number}" for number in range(start, start + count)}


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
            bench.holds("job-7", "commonplace-1", texts())
        assert bench.run(texts()).plain == ()
        assert bench.vendor.calls[0] == "find"
        assert bench.vendor.count("submit") == (0 if known else 1)
        assert bench.jobs() == []


def test_a_job_that_the_vendor_has_forgotten_is_begun_again_and_counts_nothing(
    bench: Bench,
) -> None:
    bench.run(texts(), bench.process(wait=False))
    bench.vendor.remote.clear()
    batching = bench.process()
    assert bench.run(texts(), batching).plain == ()
    assert bench.vendor.count("submit") == 2
    assert batching.failures == 0


@pytest.mark.parametrize(("count", "submits"), [(MANY, 2), (WORTH, 1)])
def test_what_the_vendor_forgets_while_one_waits_is_not_lost(
    bench: Bench, count: int, submits: int
) -> None:
    bench.vendor.polls = 10
    bench.run(texts(), bench.process(wait=False))

    def forget(progress: Any) -> None:
        bench.vendor.remote.pop("job-0", None)
        bench.vendor.polls = 0

    wanted = texts(count)
    outcome = bench.run(wanted, progress=forget)
    assert sorted([*outcome.plain, *bench.kept]) == sorted(wanted)
    assert bench.vendor.count("submit") == submits
    assert bench.jobs() == []


@pytest.mark.parametrize("kind", [None, "auth", "quota", "unavailable", "not_found"])
def test_jobs_too_old_are_dropped(bench: Bench, kind: ProviderErrorKind | None) -> None:
    bench.run(texts(), bench.process(wait=False))
    bench.time.now += bench.vendor.limits.kept_seconds + 1
    bench.vendor.calls.clear()
    if kind is not None:
        bench.vendor.faults["poll"] = [ProviderError("no", provider="vendor", kind=kind)] * 3
    assert bench.run(texts(10)).plain == tuple(texts(10))
    assert set(bench.vendor.calls) == ({"poll", "cancel", "clean"} if kind is None else {"poll"})
    assert bench.jobs() == []


def test_an_old_job_without_any_text_of_the_work_is_not_looked_at(bench: Bench) -> None:
    bench.run(texts(), bench.process(wait=False))
    bench.time.now += bench.vendor.limits.kept_seconds + 1
    bench.vendor.calls.clear()
    bench.run(texts(10, 1000))
    assert bench.vendor.calls == ["cancel", "clean"]
    assert bench.jobs() == []


def test_what_a_job_made_is_not_paid_for_again_only_because_it_is_old(bench: Bench) -> None:
    bench.vendor.polls = 0
    bench.run(texts(), bench.process(wait=False))
    bench.time.now += bench.vendor.limits.kept_seconds + 1
    assert bench.run(texts()).plain == ()
    assert (len(bench.kept), bench.vendor.count("submit"), bench.jobs()) == (MANY, 1, [])


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
        raise IndexBusyError("another process writes")

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


@pytest.mark.parametrize("count", [10, MANY])
def test_where_the_jobs_cannot_be_listed_texts_are_embedded_at_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    def refused(folder: str) -> NoReturn:
        raise PermissionError(13, "Permission denied", folder)

    monkeypatch.setattr("commonplace.embedding.batch.jobs.os.scandir", refused)
    batching = bench.process()
    (unknown,) = batching.notices(KEY)
    reason = f"the batch jobs in {bench.folder} cannot be listed: Permission denied"
    assert unknown.startswith(reason)
    outcome = bench.run(texts(count), batching)
    assert outcome.plain == tuple(texts(count))
    assert outcome.note == batching.off == f"batch jobs are off for now: {reason}"
    assert batching.notices(KEY) == [batching.off]
    assert bench.vendor.calls == []


def test_where_jobs_of_another_process_cannot_be_listed_nothing_is_left_to_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(folder: str) -> NoReturn:
        raise OSError(5, "Input/output error", folder)

    with JobStore(bench.folder).lease():
        monkeypatch.setattr("commonplace.embedding.batch.jobs.os.scandir", failing)
        outcome = bench.run(texts())
    assert outcome.plain == tuple(texts())
    assert outcome.note.endswith("cannot be listed: Input/output error")


def test_a_job_may_hold_texts_of_another_agent(bench: Bench) -> None:
    bench.run(texts(), bench.process(wait=False))
    assert bench.run(texts(10)).plain == ()
    assert len(bench.kept) == MANY, "all of it goes into the cache that both share"


def test_jobs_that_share_texts_give_each_once(bench: Bench) -> None:
    store, now = JobStore(bench.folder), bench.time.now
    for number, wanted in enumerate((texts(80), texts(80, 40))):
        record = JobRecord(f"commonplace-{number}", "vendor", KEY, tuple(wanted), now, f"{number}")
        store.save(record)
        bench.holds(str(number), record.name, wanted, polls=number)
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
    assert f"the batch jobs in {bench.folder} cannot be written" in outcome.note
    assert bench.vendor.calls == []
