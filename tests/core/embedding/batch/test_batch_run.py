"""Batch jobs as the host drives them: what is begun, waited for, kept, given up."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

import pytest

from commonplace.embedding.batch.run import WORTH, BatchOutcome
from commonplace.errors import ProviderError, ProviderErrorKind
from commonplace.protocols.providers import BatchLimits, BatchLine, Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.core.embedding.conftest import Bench

MANY = WORTH + 20


def texts(count: int = MANY, start: int = 0) -> dict[str, str]:
    return {f"{number:064x}": f"text {number}" for number in range(start, start + count)}


def refusal(kind: ProviderErrorKind, status: int | None = None) -> ProviderError:
    return ProviderError(f"vendor: {kind}", provider="vendor", kind=kind, status=status)


def test_many_texts_get_their_vectors_from_a_job_which_leaves_nothing_behind(bench: Bench) -> None:
    outcome = bench.run(texts())
    assert outcome == BatchOutcome(plain=(), begun=1)
    assert bench.kept.keys() == texts().keys()
    assert all(len(vector) == 8 for vector in bench.kept.values())
    assert bench.jobs() == []
    assert bench.vendor.calls[-1] == "clean"
    assert bench.reported[-1].completed == bench.reported[-1].total == MANY


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
        answers = bench.vendor.made(lines)
        first = answers[0]._replace(vector=[9.0, 9.0])
        return [*reversed(answers), first, BatchLine("unknown", [1.0, 2.0])]

    bench.run(texts())
    plainly = dict(bench.kept)
    bench.kept.clear()
    bench.vendor.answer = shuffled
    assert bench.run(texts()).plain == ()
    assert bench.kept == plainly


def test_texts_that_a_job_refuses_or_forgets_are_embedded_at_once(bench: Bench) -> None:
    def holey(lines: Mapping[str, str]) -> list[BatchLine]:
        answers = bench.vendor.made(lines)
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
    bench.vendor.answer = lambda lines: bench.vendor.made(lines)[:70]
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


def test_a_success_between_resets_the_count(bench: Bench) -> None:
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
    batching.settle(outcome.left, ())
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
