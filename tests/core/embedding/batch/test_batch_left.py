"""Batch jobs that the vendor says nothing of for now: they may be paid for, and are not lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace.embedding.batch.jobs import JobStore
from commonplace.embedding.batch.run import WORTH
from commonplace.errors import ProviderError
from commonplace.protocols.providers import BatchLimits

if TYPE_CHECKING:
    from tests.core.embedding.conftest import Bench

    from commonplace.errors import ProviderErrorKind

KEY = "fingerprint|document"
MANY = WORTH + 20


def texts(count: int = MANY, start: int = 0) -> dict[str, str]:
    return {f"{number:064x}": f"text {number}" for number in range(start, start + count)}


def refused(kind: ProviderErrorKind) -> list[Exception | None]:
    """As often as a request is tried."""
    return [ProviderError("refused", provider="vendor", kind=kind)] * 3


def a_job_under_way(bench: Bench, *, known: bool) -> str:
    """The name of a job of all texts that is done; ``known``: its id was noted in time."""
    bench.vendor.polls = 0
    bench.run(texts(), bench.process(wait=False))
    (record,) = bench.jobs()
    if not known:  # the process ended before it knew the vendor's id of it
        JobStore(bench.folder).save(record._replace(job=""))
    return record.name


@pytest.mark.parametrize("call", ["poll", "collect", "find"])
def test_texts_of_a_job_that_a_quota_keeps_from_us_wait_and_are_not_paid_for_twice(
    bench: Bench, call: str
) -> None:
    name = a_job_under_way(bench, known=call != "find")
    bench.vendor.faults[call] = refused("quota")[:1]
    outcome = bench.run(texts())
    assert (outcome.plain, outcome.pending, outcome.begun) == ((), MANY, 0)
    assert outcome.note == "a batch job was left to a later sync: refused"
    assert [job.name for job in bench.jobs()] == [name]
    assert bench.run(texts()).plain == ()
    assert (len(bench.kept), bench.vendor.count("submit"), bench.jobs()) == (MANY, 1, [])


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("poll", "auth"),
        ("poll", "protocol"),
        ("poll", "bad_request"),
        ("collect", "auth"),
        ("collect", "protocol"),
        ("find", "auth"),
        ("find", "protocol"),
        ("find", "unavailable"),
    ],
)
def test_a_job_that_may_never_be_looked_at_is_left_and_its_texts_are_embedded_at_once(
    bench: Bench, call: str, kind: ProviderErrorKind
) -> None:
    name = a_job_under_way(bench, known=call != "find")
    bench.vendor.faults[call] = refused(kind)
    outcome = bench.run(texts(), bench.process(wait=False))
    assert outcome.plain == tuple(texts())
    assert outcome.note == "a batch job was left to a later sync: refused"
    assert [(job.name, job.ids) for job in outcome.left] == [(name, tuple(texts()))]
    assert [job.name for job in bench.jobs()] == [name]
    assert "clean" not in bench.vendor.calls
    bench.vendor.faults.clear()
    assert bench.run(texts()).plain == (), "what could not be embedded at once is collected"
    assert (len(bench.kept), bench.vendor.count("submit"), bench.jobs()) == (MANY, 1, [])


@pytest.mark.parametrize("kind", ["quota", "unavailable", "auth"])
def test_a_job_that_may_have_been_begun_is_not_forgotten_where_the_vendor_does_not_say(
    bench: Bench, kind: ProviderErrorKind
) -> None:
    bench.vendor.faults = {
        "lost": [ProviderError("no answer", provider="vendor", kind="timeout")],
        "find": refused(kind) * 2,
    }
    outcome = bench.run(texts())
    waits = kind == "quota"
    assert (outcome.plain, outcome.pending) == (((), MANY) if waits else (tuple(texts()), 0))
    bench.vendor.faults.clear()
    assert bench.run(texts()).plain == ()
    assert (len(bench.kept), bench.vendor.count("submit")) == (MANY, 1)


def test_where_the_vendor_knows_of_no_job_its_failure_is_counted(bench: Bench) -> None:
    bench.vendor.faults["submit"] = refused("timeout")
    batching = bench.process()
    outcome = bench.run(texts(), batching)
    assert (outcome.plain, outcome.left, batching.failures) == (tuple(texts()), (), 1)
    assert outcome.note == "a batch job failed, and its texts were embedded at once: refused"
    assert bench.jobs() == []


def test_of_a_job_left_only_texts_without_a_vector_are_waited_for(bench: Bench) -> None:
    a_job_under_way(bench, known=True)
    bench.vendor.faults["poll"] = refused("auth")
    batching = bench.process()
    left = bench.run(texts(80), batching).left
    assert batching.notices(KEY) == [f"{MANY} texts wait for 1 batch job of vendor"]
    batching.settle(left, list(texts(3)))
    others = MANY - 80
    assert batching.notices(KEY) == [f"{3 + others} texts wait for 1 batch job of vendor"]
    with JobStore(bench.folder).lease():
        batching.settle(left, ())
    assert len(bench.jobs()[0].ids) == 3 + others, "another process works with it"
    bench.vendor.faults = {call: refused("auth") for call in ("cancel", "clean")}
    batching.settle([left[0]._replace(ids=tuple(texts()))], ())
    assert (batching.notices(KEY), bench.jobs()) == ([], [])
    assert bench.vendor.calls[-2:] == ["cancel", "clean"]
    batching.settle(left, texts())
    assert bench.jobs() == [], "what another process has collected does not come back"


@pytest.mark.parametrize("wait", [True, False])
def test_a_download_that_breaks_for_now_does_not_lose_what_was_paid_for(
    bench: Bench, *, wait: bool
) -> None:
    bench.vendor.polls = 0
    bench.vendor.faults["collect"] = refused("unavailable")
    outcome = bench.run(texts(), bench.process(wait=wait))
    assert outcome.plain == ()
    for _ in range(0 if wait else 2):
        assert bench.run(texts(), bench.process(wait=False)).plain == ()
    assert (len(bench.kept), bench.vendor.count("submit"), bench.jobs()) == (MANY, 1, [])


def test_a_download_that_never_works_is_given_up_in_the_end(bench: Bench) -> None:
    bench.vendor.polls = 0
    bench.vendor.faults["collect"] = refused("unavailable") * 100
    batching = bench.process(timeout_minutes=2)
    assert bench.run(texts(), batching).plain == tuple(texts())
    assert (batching.failures, bench.jobs()) == (1, [])


def test_jobs_under_way_are_collected_though_there_will_be_no_more(bench: Bench) -> None:
    bench.vendor.limits = BatchLimits(lines=60)
    bench.run(texts(), bench.process(wait=False))
    assert bench.vendor.count("submit") == 2
    batching = bench.process()
    batching.switch_off("two failures")
    outcome = bench.run(texts(2 * MANY), batching)
    assert outcome.plain == tuple(texts(2 * MANY))[MANY:]
    assert outcome.note == "batch jobs are off for now: two failures"
    assert (len(bench.kept), bench.vendor.count("submit"), bench.jobs()) == (MANY, 2, [])
