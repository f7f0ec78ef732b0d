"""Batch jobs of OpenAI's: what is sent, what is made of answers, and the official client's view."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.embedding.vectors import checked
from commonplace.errors import ProviderError
from commonplace.plugin import ProviderContext
from commonplace.resilience.deadline import Deadline
from commonplace_openai.provider import OpenAIProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.plugin import BatchJobs, BatchLine

LINES = {"c-1": "first chunk", "c-2": "zweites Stück\u2028mit Umbruch", "c-3": "第三"}


@pytest.fixture
def openai(fake: Callable[[str], Any]) -> Any:
    return fake("openai")


@pytest.fixture
def make(openai: Any, key: str) -> Iterator[Callable[..., OpenAIProvider]]:
    made: list[OpenAIProvider] = []

    def construct(**given: Any) -> OpenAIProvider:
        given = {"base_url": f"{openai.url}/v1", "api_key": key, **given}
        made.append(OpenAIProvider(ProviderContext(**given)))
        return made[-1]

    yield construct
    for provider in made:
        provider.close()


@pytest.fixture
def jobs(make: Callable[..., OpenAIProvider]) -> BatchJobs:
    return make().batches()


@pytest.fixture
def sdk(openai: Any, key: str) -> Iterator[Any]:
    module = pytest.importorskip("openai", reason="the extra sdks is not installed")
    with module.OpenAI(base_url=f"{openai.url}/v1", api_key=key, max_retries=0) as client:
        yield client


def soon() -> Deadline:
    return Deadline.after(60)


def finished(jobs: BatchJobs, job: str) -> str:
    while (state := jobs.poll(job, deadline=soon()).state) == "running":
        pass
    return state


def collected(jobs: BatchJobs, job: str) -> dict[str, BatchLine]:
    return {line.custom_id: line for line in jobs.collect(job, deadline=soon())}


def test_a_provider_says_that_it_has_jobs(make: Callable[..., OpenAIProvider]) -> None:
    assert "batches" in make().capabilities


def test_a_job_gives_the_vectors_that_are_given_at_once(
    make: Callable[..., OpenAIProvider], openai: Any
) -> None:
    provider = make(dims=4)
    jobs = provider.batches()
    job = jobs.submit("ours", LINES, deadline=soon())
    assert jobs.poll(job, deadline=soon()).state == "running"
    assert jobs.poll(job, deadline=soon()) == ("done", "", 3, 3)
    lines = collected(jobs, job)
    at_once = provider.embed(list(LINES.values()), purpose="document", deadline=soon())
    expected = checked(at_once, count=3, dims=4, provider="openai")
    vectors = [lines[id_].vector or [] for id_ in LINES]
    assert checked(vectors, count=3, dims=4, provider="openai") == expected
    jobs.clean(job, deadline=soon())
    assert openai.vendor.batches.files == {}


def test_the_official_client_sends_the_same(sdk: Any, openai: Any, jobs: BatchJobs) -> None:
    jobs.submit("ours", LINES, deadline=soon())
    upload, create = openai.requests
    content = openai.vendor.batches.files[create.json["input_file_id"]][1]
    theirs = sdk.files.create(file=("b.jsonl", io.BytesIO(content)), purpose="batch")
    batch = sdk.batches.create(
        input_file_id=theirs.id,
        endpoint="/v1/embeddings",
        completion_window="24h",
        metadata={"commonplace": "ours"},
    )
    their_upload, their_create = openai.requests[2:]
    assert openai.vendor.batches.files[theirs.id][1] == content
    assert their_create.json == {**create.json, "input_file_id": theirs.id}
    for ours, other in ((upload, their_upload), (create, their_create)):
        assert (ours.method, ours.path) == (other.method, other.path)
        assert ours.headers["authorization"] == other.headers["authorization"]
        kind = ours.headers["content-type"].partition(";")[0]
        assert kind == other.headers["content-type"].partition(";")[0]
    jobs.cancel(batch.id, deadline=soon())
    sdk.batches.cancel(batch.id)
    ours, other = openai.requests[-2:]
    assert (ours.method, ours.path, ours.body) == (other.method, other.path, other.body)


def test_the_official_client_understands_our_job_and_the_stand_in(
    sdk: Any, jobs: BatchJobs
) -> None:
    job = jobs.submit("ours", LINES, deadline=soon())
    assert [batch.id for batch in sdk.batches.list(limit=1)] == [job]
    assert finished(jobs, job) == "done"
    batch = sdk.batches.retrieve(job)
    assert (batch.status, batch.request_counts.total) == ("completed", 3)
    text = sdk.files.content(batch.output_file_id).text
    lines = [json.loads(line) for line in text.splitlines()]
    assert {line["custom_id"] for line in lines} == LINES.keys()
    assert all(line["response"]["status_code"] == 200 for line in lines)
    assert sdk.files.retrieve(batch.input_file_id).purpose == "batch"
    sdk.files.delete(batch.input_file_id)
    jobs.clean(job, deadline=soon())


def test_lines_that_fail_have_the_words_of_the_error(openai: Any, jobs: BatchJobs) -> None:
    openai.vendor.batches.refused, openai.vendor.batches.silent = {"c-1"}, {"c-3"}
    job = jobs.submit("ours", LINES, deadline=soon())
    assert finished(jobs, job) == "done"
    lines = collected(jobs, job)
    assert lines.keys() == {"c-1", "c-2"}
    assert lines["c-1"].error == "openai: this text is refused"
    assert lines["c-2"].vector


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_what_is_finished_may_be_had_of_jobs_that_were_not(
    openai: Any, jobs: BatchJobs, end: str
) -> None:
    openai.vendor.batches.end = end
    job = jobs.submit("ours", LINES, deadline=soon())
    assert finished(jobs, job) == end
    lines = collected(jobs, job)
    assert [bool(lines[id_].vector) for id_ in LINES] == [True, False, False]
    assert lines["c-3"].error == "openai: This request was not executed."


def test_a_job_that_is_refused_says_why_and_holds_nothing(openai: Any, jobs: BatchJobs) -> None:
    openai.vendor.batches.end = "failed"
    job = jobs.submit("ours", LINES, deadline=soon())
    jobs.poll(job, deadline=soon())
    state = jobs.poll(job, deadline=soon())
    assert (state.state, state.reason) == ("failed", "openai: rejected")
    assert collected(jobs, job) == {}


def test_other_dimensions_than_were_asked_for_are_an_error(
    make: Callable[..., OpenAIProvider], openai: Any
) -> None:
    jobs = make(dims=4).batches()
    job = jobs.submit("ours", {"c-1": "text"}, deadline=soon())
    openai.vendor._embedded = lambda _: {"data": [{"embedding": [1.0, 2.0]}]}
    assert finished(jobs, job) == "done"
    assert "4 dimensions were asked for" in collected(jobs, job)["c-1"].error


def test_a_job_is_found_by_its_name_among_many(openai: Any, jobs: BatchJobs) -> None:
    job = jobs.submit("ours", LINES, deadline=soon())
    for number in range(150):
        file = openai.vendor.batches.batches[job]["input_file_id"]
        other = {"input_file_id": file, "endpoint": "/v1/embeddings", "completion_window": "24h"}
        openai.vendor.batches._create({**other, "metadata": {"commonplace": str(number)}})
    assert jobs.find("ours", deadline=soon()) == job
    assert jobs.find("unknown", deadline=soon()) is None


def test_what_was_uploaded_is_used_again_where_the_beginning_failed(
    openai: Any, jobs: BatchJobs, reply: Any
) -> None:
    upload = openai.vendor.batches._said(
        200, openai.vendor.batches._file(openai.vendor.batches._keep("ours.jsonl", b""))
    )
    openai.script(reply(200, upload[2]), reply(503, {"error": {"message": "busy"}}))
    with pytest.raises(ProviderError) as caught:
        jobs.submit("ours", LINES, deadline=soon())
    assert caught.value.kind == "unavailable"
    jobs.submit("ours", LINES, deadline=soon())
    assert [request.path for request in openai.requests] == [
        "/v1/files",
        "/v1/batches",
        "/v1/batches",
    ]


def test_what_was_uploaded_is_deleted_where_the_beginning_is_refused(
    make: Callable[..., OpenAIProvider], openai: Any
) -> None:
    openai.vendor.batches._begin = lambda _: "not for you"
    with pytest.raises(ProviderError) as caught:
        make().batches().submit("ours", LINES, deadline=soon())
    assert caught.value.kind == "bad_request"
    assert openai.vendor.batches.files == {}


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_server_without_jobs_says_so(
    openai: Any, jobs: BatchJobs, reply: Any, status: int
) -> None:
    openai.always(reply(status, {"detail": "Not Found"}))
    with pytest.raises(ProviderError) as caught:
        jobs.submit("ours", LINES, deadline=soon())
    assert (caught.value.kind, caught.value.status) == ("not_found", status)
    assert len(openai.requests) == 1
    assert jobs.find("ours", deadline=soon()) is None


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "the upstream failed"}},
        {"status": "ok"},
        {"id": "../../elsewhere"},
        {"id": 7},
        [],
        "text",
    ],
)
def test_answers_that_are_none_begin_no_job(
    openai: Any, jobs: BatchJobs, reply: Any, body: Any
) -> None:
    openai.always(reply(200, body))
    with pytest.raises(ProviderError) as caught:
        jobs.submit("ours", LINES, deadline=soon())
    assert caught.value.kind in ("protocol", "unavailable")


def test_results_that_are_broken_are_left_out(openai: Any, jobs: BatchJobs) -> None:
    job = jobs.submit("ours", LINES, deadline=soon())
    assert finished(jobs, job) == "done"
    batch = openai.vendor.batches.batches[job]
    name, content = openai.vendor.batches.files[batch["output_file_id"]]
    first, second, third, _ = content.split(b"\n")
    strange = [first, b"{broken", b"[]", b"", b'{"custom_id": 7}', second[:40], b"null", third]
    openai.vendor.batches.files[batch["output_file_id"]] = (name, b"\n".join(strange))
    lines = collected(jobs, job)
    assert lines.keys() == {"c-1", "c-3"}
    nothing = b'{"custom_id": "c-1", "response": {"status_code": 200, "body": {}}, "error": null}'
    openai.vendor.batches.files[batch["output_file_id"]] = (name, nothing)
    assert collected(jobs, job)["c-1"].error == "openai: the answer holds no list of embeddings"


def test_a_key_is_in_no_message(
    openai: Any, jobs: BatchJobs, reply: Any, reported: Callable[..., str], key: str
) -> None:
    job = jobs.submit("ours", LINES, deadline=soon())
    assert finished(jobs, job) == "done"
    batch = openai.vendor.batches.batches[job]
    name, content = openai.vendor.batches.files[batch["output_file_id"]]
    spoken = content.replace(b'"error": null', b'"error": {"message": "no, %s"}' % key.encode())
    openai.vendor.batches.files[batch["output_file_id"]] = (name, spoken)
    batch["errors"] = {"data": [{"message": f"no, {key}"}]}
    lines = collected(jobs, job)
    openai.always(reply(403, {"error": {"message": f"no, {key}"}}))
    with pytest.raises(ProviderError) as caught:
        jobs.submit("other", LINES, deadline=soon())
    seen = reported(caught.value, lines, jobs, jobs.limits)
    assert "no, ***" in seen
    assert key not in seen


def test_the_query_of_the_base_url_and_the_user_s_headers_survive(
    openai: Any, make: Callable[..., OpenAIProvider], key: str
) -> None:
    jobs = make(
        base_url=f"{openai.url}/v1?api-version=1",
        headers={"Content-Type": "application/json", "X-Team": "ours"},
    ).batches()
    job = jobs.submit("ours", LINES, deadline=soon())
    jobs.find("ours", deadline=soon())
    jobs.poll(job, deadline=soon())
    assert all("api-version=1" in request.path for request in openai.requests)
    assert all(request.headers["x-team"] == "ours" for request in openai.requests)
    assert openai.requests[0].headers["content-type"].startswith("multipart/form-data; boundary=")
