"""Batch jobs of Gemini's: uploads, states one level down, downloads; and Google's SDK's view."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.embedding.vectors import checked
from commonplace.errors import ProviderError
from commonplace.plugin import ProviderContext
from commonplace.resilience.deadline import Deadline
from commonplace_gemini.provider import GeminiProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.plugin import BatchJobs, BatchLine

LINES = {"c-1": "chunk one", "c-2": "chunk two — zwei", "c-3": "第三"}
CREDENTIAL = "AcredentialOfTheUploadAlone"
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture
def google(fake: Callable[[str], Any]) -> Any:
    return fake("gemini")


@pytest.fixture
def make(google: Any, key: str) -> Iterator[Callable[..., GeminiProvider]]:
    made: list[GeminiProvider] = []

    def construct(**given: Any) -> GeminiProvider:
        given = {"base_url": google.url, "api_key": key, "dims": 128, **given}
        made.append(GeminiProvider(ProviderContext(**given)))
        return made[-1]

    yield construct
    for provider in made:
        provider.close()


@pytest.fixture
def jobs(make: Callable[..., GeminiProvider]) -> BatchJobs:
    return make().batches()


@pytest.fixture
def sdk(google: Any, key: str) -> Iterator[Any]:
    genai = pytest.importorskip("google.genai", reason="the extra sdks is not installed")
    options = {"base_url": google.url, "api_version": "v1beta"}
    client = genai.Client(api_key=key, vertexai=False, http_options=options)
    yield client
    client.close()


def soon() -> Deadline:
    return Deadline.after(60)


def done(jobs: BatchJobs) -> str:
    job = jobs.submit("ours", LINES, deadline=soon())
    while jobs.poll(job, deadline=soon()).state == "running":
        pass
    return job


def collected(jobs: BatchJobs, job: str) -> dict[str, BatchLine]:
    return {line.custom_id: line for line in jobs.collect(job, deadline=soon())}


@pytest.mark.parametrize("model", ["gemini-embedding-001", "gemini-embedding-2"])
def test_a_job_gives_the_vectors_that_are_given_at_once(
    google: Any, make: Callable[..., GeminiProvider], model: str
) -> None:
    provider = make(model=model)
    jobs = provider.batches()
    job = done(jobs)
    assert jobs.poll(job, deadline=soon()) == ("done", "", 3, 3)
    lines = collected(jobs, job)
    at_once = provider.embed(list(LINES.values()), purpose="document", deadline=soon())
    vectors = [lines[id_].vector or [] for id_ in LINES]
    expected = checked(at_once, count=3, dims=128, provider="gemini")
    assert checked(vectors, count=3, dims=128, provider="gemini") == expected
    jobs.clean(job, deadline=soon())
    assert (google.vendor.batches.files, google.vendor.batches.operations) == ({}, {})


def test_google_s_sdk_sends_the_same(sdk: Any, google: Any, jobs: BatchJobs) -> None:
    jobs.submit("ours", LINES, deadline=soon())
    ours = list(google.requests)
    (content,) = google.vendor.batches.files.values()
    google.requests.clear()
    config = {"display_name": "ours", "mime_type": "application/jsonl"}
    file = sdk.files.upload(file=io.BytesIO(content), config=config)
    with pytest.warns(Warning, match="experimental"):
        sdk.batches.create_embeddings(
            model="gemini-embedding-001",
            src={"file_name": file.name},
            config={"display_name": "ours"},
        )
    for one, other in zip(ours, google.requests, strict=True):
        assert (one.method, one.path) == (other.method, other.path)
        # The SDK repeats those of the beginning with the bytes, which need them no more.
        shared = {name for name in one.headers if name.startswith("x-goog-upload")}
        assert {n: one.headers[n] for n in shared} == {n: other.headers[n] for n in shared}
    start, upload, create = ours
    their_start, their_upload, their_create = google.requests
    assert start.json == {"file": {"display_name": "ours"}}
    assert start.json["file"].items() <= their_start.json["file"].items()
    assert upload.body == their_upload.body == content
    (ours_in, theirs_in) = (one.json["batch"] for one in (create, their_create))
    assert ours_in.pop("inputConfig").keys() == {"fileName"}
    assert theirs_in.pop("inputConfig") == {"file_name": file.name}
    assert ours_in == theirs_in == {"displayName": "ours"}
    assert create.headers["x-goog-api-key"] == their_create.headers["x-goog-api-key"]


def test_google_s_sdk_understands_our_job_and_the_stand_in(sdk: Any, jobs: BatchJobs) -> None:
    job = done(jobs)
    name = job.partition(" ")[0]
    theirs = sdk.batches.get(name=name)
    assert (theirs.display_name, theirs.state.name) == ("ours", "JOB_STATE_SUCCEEDED")
    assert [one.name for one in sdk.batches.list()] == [name]
    raw = sdk.files.download(file=theirs.dest.file_name)
    assert {json.loads(line)["key"] for line in raw.splitlines()} == LINES.keys()
    sdk.batches.cancel(name=name)
    sdk.batches.delete(name=name)
    sdk.files.delete(name=theirs.dest.file_name)


def test_lines_that_fail_have_the_words_of_the_error(google: Any, jobs: BatchJobs) -> None:
    google.vendor.batches.refused, google.vendor.batches.silent = {"c-1"}, {"c-3"}
    lines = collected(jobs, done(jobs))
    assert lines.keys() == {"c-1", "c-2"}
    assert lines["c-1"].error == "gemini: this text is refused"
    assert lines["c-2"].vector


@pytest.mark.parametrize("prefix", ["BATCH_STATE_", "JOB_STATE_", ""])
@pytest.mark.parametrize(
    ("end", "state"),
    [
        ("SUCCEEDED", "done"),
        ("FAILED", "failed"),
        ("EXPIRED", "expired"),
        ("CANCELLED", "cancelled"),
    ],
)
def test_states_are_read_however_they_are_written(
    google: Any, jobs: BatchJobs, prefix: str, end: str, state: str
) -> None:
    google.vendor.batches.prefix, google.vendor.batches.end = prefix, end
    job = jobs.submit("ours", LINES, deadline=soon())
    assert jobs.poll(job, deadline=soon()).state == "running"
    held = jobs.poll(job, deadline=soon())
    assert held.state == state
    assert held.reason == ("" if state == "done" else f"gemini: The batch was {end.lower()}.")
    assert len(collected(jobs, job)) == (3 if state == "done" else 0)


def test_a_job_that_is_done_without_a_state_is_done(google: Any, jobs: BatchJobs) -> None:
    job = done(jobs)
    operation = google.vendor.batches.operations[job.partition(" ")[0]]
    del operation["metadata"]
    assert jobs.poll(job, deadline=soon()).state == "done"
    assert collected(jobs, job).keys() == LINES.keys()
    del operation["response"]
    assert collected(jobs, job) == {}


def test_downloads_lie_at_one_of_two_places(google: Any, jobs: BatchJobs) -> None:
    google.vendor.batches.by_host = True
    assert collected(jobs, done(jobs)).keys() == LINES.keys()
    assert google.requests[-1].path.startswith("/download/v1beta/files/")


def test_a_job_is_found_by_its_name_among_many(google: Any, jobs: BatchJobs) -> None:
    job = jobs.submit("ours", LINES, deadline=soon())
    name, file = job.split(" ")
    for number in range(150):
        batch = {"displayName": f"other {number}", "inputConfig": {"fileName": file}}
        google.vendor.batches._create("gemini-embedding-001", {"batch": batch})
    assert jobs.find("ours", deadline=soon()) == name
    assert jobs.find("unknown", deadline=soon()) is None


def test_a_beginning_that_was_not_answered_is_known_with_its_upload(
    google: Any, jobs: BatchJobs
) -> None:
    original = google.vendor.batches._create

    def lost(model: str, asked: Any) -> Any:
        original(model, asked)
        return 503, {}, b"{}"

    google.vendor.batches._create = lost
    with pytest.raises(ProviderError) as caught:
        jobs.submit("ours", LINES, deadline=soon())
    assert caught.value.kind == "unavailable"
    (file,) = google.vendor.batches.files
    assert jobs.find("ours", deadline=soon()) == f"batches/b1 {file}"


@pytest.mark.parametrize("status", [404, 501])
def test_a_model_without_jobs_says_so_and_keeps_no_upload(
    google: Any, jobs: BatchJobs, status: int
) -> None:
    body = json.dumps({"error": {"code": status, "message": "no", "status": "NOT_FOUND"}}).encode()
    google.vendor.batches._create = lambda *_: (status, {}, body)
    with pytest.raises(ProviderError) as caught:
        jobs.submit("ours", LINES, deadline=soon())
    assert (caught.value.kind, caught.value.status) == ("not_found", status)
    assert google.vendor.batches.files == {}


def test_an_upload_goes_to_the_host_of_the_base_url(google: Any, jobs: BatchJobs) -> None:
    google.vendor.batches.host = "https://generativelanguage.invalid:1"
    jobs.submit("ours", LINES, deadline=soon())
    assert google.requests[1].path.startswith("/upload/v1beta/files?upload_id=")


def test_an_upload_elsewhere_takes_no_key_there(
    fake: Callable[[str], Any], google: Any, key: str
) -> None:
    from commonplace_gemini.batch import GeminiBatches

    other = fake("gemini")
    other.vendor.batches._promised = google.vendor.batches._promised
    other.vendor.batches.files = google.vendor.batches.files
    google.vendor.batches.host = other.url
    provider = GeminiProvider(ProviderContext(base_url=google.url, api_key=key))
    jobs = GeminiBatches(
        provider.client,
        model="gemini-embedding-001",
        make_request=lambda text: {"model": "m", "content": {"parts": [{"text": text}]}},
        dims=None,
        is_google=True,
    )
    jobs.submit("ours", LINES, deadline=soon())
    provider.close()
    (upload,) = other.requests
    assert not {"x-goog-api-key", "authorization"} & upload.headers.keys()


@pytest.mark.parametrize("place", ["", "nonsense", "http://["])
def test_an_upload_without_an_address_is_an_error(
    google: Any, jobs: BatchJobs, reply: Any, place: str
) -> None:
    google.always(reply(200, b"", {"x-goog-upload-url": place}))
    with pytest.raises(ProviderError) as caught:
        jobs.submit("ours", LINES, deadline=soon())
    assert caught.value.kind == "protocol"


@pytest.mark.parametrize(
    "body", [{"error": {"code": 503, "message": "busy"}}, {}, {"name": "files/../x"}, [], None, "x"]
)
def test_answers_that_are_none_begin_no_job(google: Any, jobs: BatchJobs, body: Any) -> None:
    google.vendor.batches._create = lambda *_: (200, {}, json.dumps(body).encode())
    with pytest.raises(ProviderError) as caught:
        jobs.submit("ours", LINES, deadline=soon())
    assert caught.value.kind in ("protocol", "unavailable")
    with pytest.raises(ProviderError):
        jobs.poll("batches/none", deadline=soon())


def test_neither_key_nor_address_of_an_upload_is_in_any_message(
    google: Any, jobs: BatchJobs, reported: Callable[..., str], key: str
) -> None:
    job = jobs.submit("ours", LINES, deadline=soon())
    original = google.vendor.batches._upload

    def broken(method: str, path: str, headers: Any, body: bytes) -> Any:
        if headers.get("x-goog-upload-command") == "start":
            return original(method, path, headers, body)
        words = {"error": {"message": f"no {key} at http://x/{path}"}}
        return 500, {}, json.dumps(words).encode()

    google.vendor.batches._upload = broken
    with pytest.raises(ProviderError) as caught:
        jobs.submit("other", LINES, deadline=soon())
    seen = reported(caught.value, jobs, job)
    assert "upload_id=" in seen, "the test must see what it looks for"
    assert CREDENTIAL not in seen
    assert key not in seen
