"""Batch jobs of Voyage's: what differs from OpenAI's, and results that lie with a storage."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.embedding.vectors import checked
from commonplace.errors import ProviderError
from commonplace.plugin import ProviderContext
from commonplace.resilience.deadline import Deadline
from commonplace_voyage.provider import VoyageProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.plugin import BatchJobs, BatchLine

LINES = {"c-1": "chunk one", "c-2": "chunk two", "c-3": "第三"}


@pytest.fixture
def voyage(fake: Callable[[str], Any]) -> Any:
    return fake("voyage")


@pytest.fixture
def provider(voyage: Any, key: str) -> Iterator[VoyageProvider]:
    made = VoyageProvider(
        ProviderContext(
            base_url=f"{voyage.url}/v1",
            api_key=key,
            dims=256,
            headers={"X-Secret-Header": "only-for-voyage"},
        )
    )
    yield made
    made.close()


@pytest.fixture
def jobs(provider: VoyageProvider) -> BatchJobs:
    return provider.batches()


def soon() -> Deadline:
    return Deadline.after(60)


def done(jobs: BatchJobs) -> str:
    job = jobs.submit("ours", LINES, deadline=soon())
    while jobs.poll(job, deadline=soon()).state == "running":
        pass
    return job


def collected(jobs: BatchJobs, job: str) -> dict[str, BatchLine]:
    return {line.custom_id: line for line in jobs.collect(job, deadline=soon())}


def test_what_all_lines_share_is_said_once(voyage: Any, jobs: BatchJobs) -> None:
    jobs.submit("ours", LINES, deadline=soon())
    _, create = voyage.requests
    name, content = voyage.vendor.batches.files[create.json["input_file_id"]]
    assert name == "ours.jsonl"
    assert [json.loads(line) for line in content.splitlines()] == [
        {"custom_id": id_, "body": {"input": [text]}} for id_, text in LINES.items()
    ]
    assert create.json == {
        "input_file_id": create.json["input_file_id"],
        "endpoint": "/v1/embeddings",
        "completion_window": "12h",
        "request_params": {
            "model": "voyage-4-large",
            "input_type": "document",
            "truncation": False,
            "output_dimension": 256,
        },
        "metadata": {"commonplace": "ours"},
    }


def test_a_job_gives_the_vectors_that_are_given_at_once(
    voyage: Any, provider: VoyageProvider, jobs: BatchJobs
) -> None:
    job = done(jobs)
    lines = collected(jobs, job)
    at_once = provider.embed(list(LINES.values()), purpose="document", deadline=soon())
    expected = checked(at_once, count=3, dims=256, provider="voyage")
    vectors = [lines[id_].vector or [] for id_ in LINES]
    ours = checked(vectors, count=3, dims=256, provider="voyage")
    for one, other in zip(ours, expected, strict=True):
        assert one == other
    jobs.clean(job, deadline=soon())
    assert voyage.vendor.batches.files == {}


def test_lines_that_fail_have_the_words_of_the_error(voyage: Any, jobs: BatchJobs) -> None:
    voyage.vendor.batches.refused = {"c-2"}
    lines = collected(jobs, done(jobs))
    assert [bool(lines[id_].vector) for id_ in LINES] == [True, False, True]
    assert lines["c-2"].error == "voyage: this text is refused"


def test_results_are_followed_to_a_storage_without_any_credential(
    fake: Callable[[str], Any],
    voyage: Any,
    jobs: BatchJobs,
    reported: Callable[..., str],
    key: str,
) -> None:
    storage = fake("voyage")
    storage.vendor.batches = voyage.vendor.batches
    voyage.vendor.batches.storage = storage.url
    job = done(jobs)
    assert collected(jobs, job).keys() == LINES.keys()
    (request,) = storage.requests
    assert not {"authorization", "x-secret-header"} & request.headers.keys()
    assert key not in repr(request)
    assert "signed-" not in reported(jobs), "the address of a storage is a credential"


def test_a_storage_of_the_same_origin_gets_what_the_user_wants_it_to(
    voyage: Any, jobs: BatchJobs
) -> None:
    job = done(jobs)
    id_ = voyage.vendor.batches.batches[job]["output_file_id"]
    content = voyage.vendor.batches.files[id_][1]
    voyage.vendor.batches.stored = lambda *_: (200, {}, content)
    voyage.vendor.batches.storage = ""
    original = voyage.vendor.batches.respond

    def relative(method: str, path: str, headers: Any, body: bytes) -> Any:
        if path.endswith("/content"):
            return 302, {"location": f"/storage/{id_}"}, b""
        return original(method, path, headers, body)

    voyage.vendor.batches.respond = relative
    assert collected(jobs, job).keys() == LINES.keys()
    assert voyage.requests[-1].headers["x-secret-header"] == "only-for-voyage"


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://elsewhere.test/x", "/v1/again"])
def test_redirects_to_nowhere_are_an_error(
    voyage: Any, jobs: BatchJobs, reply: Any, location: str
) -> None:
    job = done(jobs)
    original = voyage.vendor.batches.respond

    def redirecting(method: str, path: str, headers: Any, body: bytes) -> Any:
        if path.endswith("/content"):
            voyage.always(reply(302, b"", {"location": location}))
            return 302, {"location": location}, b""
        return original(method, path, headers, body)

    voyage.vendor.batches.respond = redirecting
    with pytest.raises(ProviderError) as caught:
        collected(jobs, job)
    assert caught.value.kind == "protocol"
    assert "redirects" in str(caught.value)
    assert len(voyage.requests) < 20


def test_an_account_without_jobs_cannot_begin_one(voyage: Any, jobs: BatchJobs, reply: Any) -> None:
    voyage.always(reply(404, {"detail": "Not Found"}))
    with pytest.raises(ProviderError) as caught:
        jobs.submit("ours", LINES, deadline=soon())
    assert (caught.value.kind, caught.value.status) == ("not_found", 404)


def test_a_job_is_found_by_its_name(jobs: BatchJobs) -> None:
    job = jobs.submit("ours", LINES, deadline=soon())
    assert jobs.find("ours", deadline=soon()) == job
    assert jobs.find("other", deadline=soon()) is None
    jobs.cancel(job, deadline=soon())
    assert jobs.poll(job, deadline=soon()).state == "cancelled"
