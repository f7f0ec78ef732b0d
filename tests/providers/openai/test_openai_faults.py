"""Every failure is reported for what it is, tried as often as may help, and leaks no key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import ProviderError
from commonplace.plugin import ProviderContext
from commonplace.resilience.deadline import Deadline
from commonplace_openai.provider import OpenAIProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.providers.conftest import Failure, Loopback, Reply, Runs


@pytest.fixture
def openai(fake: Callable[[str], Loopback]) -> Loopback:
    return fake("openai")


@pytest.fixture
def provider(openai: Loopback, key: str) -> Iterator[OpenAIProvider]:
    context = ProviderContext(base_url=f"{openai.url}/v1", api_key=key)
    provider = OpenAIProvider(context)
    yield provider
    provider.close()


def soon() -> Deadline:
    return Deadline.after(60)


def test_a_fault_is_reported_for_what_it_is_and_leaks_no_key(
    fault: Failure,
    openai: Loopback,
    runner: Runs,
    reported: Callable[..., str],
    key: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = fault.arrange(openai, monkeypatch)
    provider = OpenAIProvider(ProviderContext(base_url=f"{base}/v1", api_key=key))
    running = runner(provider)
    with pytest.raises(ProviderError) as caught:
        running.one("short text", purpose="query", deadline=Deadline.after(fault.seconds))
    openai.release()
    provider.close()
    assert caught.value.kind == fault.kind
    assert caught.value.provider == "openai"
    assert running.requests == fault.attempts + (fault.kind == "bad_request")
    assert tuple(runner.pauses) == fault.pauses
    assert key not in reported(caught.value, provider, running, caught.value.request_id)
    assert "hidden-password" not in reported(caught.value)


def test_what_passes_by_itself_is_not_felt(
    provider: OpenAIProvider, openai: Loopback, runner: Runs, reply: type[Reply]
) -> None:
    openai.script(reply(500), reply(429, headers={"retry-after": "3"}))
    running = runner(provider)
    assert running.one("short text", purpose="query", deadline=soon())
    assert (running.requests, runner.pauses) == (3, [0.5, 3.0])


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (
            429,
            {"message": "x", "type": "insufficient_quota", "code": "insufficient_quota"},
            "quota",
        ),
        (429, {"message": "x", "type": "requests", "code": "billing_not_active"}, "quota"),
        (429, {"message": "Request too large for m on tokens per min (TPM)"}, "too_large"),
        (429, {"message": "Rate limit reached for m", "code": "rate_limit_exceeded"}, "rate_limit"),
        (402, {"message": "Insufficient credits", "code": 402}, "quota"),
        (400, {"message": "x", "code": "max_tokens_per_request"}, "too_large"),
        (400, {"message": "x", "code": "model_not_found"}, "not_found"),
        (400, {"message": "This model's maximum context length is 8192 tokens"}, "too_large"),
        (400, {"message": "the request exceeds the available context size"}, "too_large"),
        (422, {"message": "batch size 33 > maximum allowed batch size 32"}, "too_large"),
        (500, {"message": "input (600 tokens) is too large to process. batch"}, "too_large"),
        (500, {"message": "context deadline exceeded"}, "unavailable"),
        (500, {"message": "CUDA error in the batch"}, "unavailable"),
        (400, {"message": "unknown field"}, "bad_request"),
        (424, {"message": "model is no embedder"}, "bad_request"),
    ],
)
def test_the_words_of_a_refusal_tell_its_kind(
    provider: OpenAIProvider,
    openai: Loopback,
    runner: Runs,
    reply: type[Reply],
    status: int,
    error: dict[str, Any],
    kind: str,
) -> None:
    openai.always(reply(status, {"error": error}))
    with pytest.raises(ProviderError) as caught:
        runner(provider).one("short text", purpose="query", deadline=soon())
    assert (caught.value.kind, caught.value.status) == (kind, status)
    assert error["message"] in str(caught.value)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"message": "slow down", "code": 429}}, "rate_limit"),
        ({"error": {"message": "no such key", "code": "401"}}, "auth"),
        ({"error": {"message": "no money", "code": "insufficient_quota"}}, "quota"),
        ({"error": {"message": "none such", "code": "model_not_found"}}, "not_found"),
        ({"error": {"message": "no such key", "code": "invalid_api_key"}}, "auth"),
        ({"error": "upstream failed"}, "unavailable"),
        ({"object": "error", "message": "what is this", "code": 400}, "bad_request"),
        ({"error": "upstream failed", "data": []}, "unavailable"),
    ],
)
def test_an_error_behind_a_200_is_an_error(
    provider: OpenAIProvider,
    openai: Loopback,
    runner: Runs,
    reply: type[Reply],
    body: Any,
    kind: str,
) -> None:
    openai.always(reply(200, body))
    with pytest.raises(ProviderError) as caught:
        runner(provider).one("short text", purpose="query", deadline=soon())
    assert caught.value.kind == kind


def without_last(body: Any) -> Any:
    return {**body, "data": body["data"][:-1]}


def embedding_is(value: Any) -> Callable[[Any], Any]:
    return lambda body: {**body, "data": [{**item, "embedding": value} for item in body["data"]]}


def index_is(value: Any) -> Callable[[Any], Any]:
    return lambda body: {**body, "data": [{**item, "index": value} for item in body["data"]]}


@pytest.mark.parametrize(
    "twist",
    [
        without_last,
        index_is(7),
        index_is("0"),
        embedding_is([float("nan"), 1.0]),
        embedding_is([float("inf"), 1.0]),
        embedding_is([0.0, 0.0]),
        embedding_is([]),
        embedding_is(None),
        embedding_is("not base64!"),
        embedding_is("AAAA"),
        embedding_is(["1", "2"]),
        embedding_is([[1.0, 2.0]]),
        embedding_is([10**400]),
        lambda body: {**body, "data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]},
        lambda _: [{"index": 0, "embedding": [[1.0, 2.0]]}],
    ],
)
def test_vectors_that_cannot_be_right_are_refused(
    provider: OpenAIProvider, openai: Loopback, runner: Runs, twist: Callable[[Any], Any]
) -> None:
    openai.twist = twist
    running = runner(provider)
    with pytest.raises(ProviderError) as caught:
        list(running.many(["one text", "another"], dims=None, deadline=soon()))
    assert (caught.value.kind, running.requests) == ("protocol", 2)  # the text or the server?


def test_a_base_without_v1_is_recognised_by_llama_cpp_s_own_form(
    provider: OpenAIProvider, openai: Loopback
) -> None:
    openai.twist = lambda _: [{"index": 0, "embedding": [[1.0, 2.0]]}]
    with pytest.raises(ProviderError) as caught:
        provider.embed(["text"], purpose="query", deadline=soon())
    assert caught.value.hint == "add /v1 to remote.baseUrl"


def test_vectors_may_come_in_any_order_and_either_form(
    provider: OpenAIProvider, openai: Loopback, runner: Runs
) -> None:
    texts = [f"text {number}" for number in range(5)]

    def vectors() -> dict[int, bytes]:
        result = runner(provider).many(texts, dims=None, deadline=soon())
        return {i: v for run in result for i, v in zip(run.indices, run.vectors, strict=True)}

    packed = vectors()
    openai.twist = lambda body: {**body, "data": body["data"][::-1]}
    assert vectors() == packed
    openai.twist = lambda body: {
        **body,
        "data": [{"embedding": item["embedding"]} for item in body["data"]],
    }
    assert vectors() == packed
    openai.twist = None
    openai.vendor.base64 = False  # type: ignore[attr-defined]  # this vendor has it
    assert vectors() == packed


def test_dimensions_that_change_between_requests_are_refused(
    openai: Loopback, key: str, runner: Runs
) -> None:
    provider = OpenAIProvider(ProviderContext(base_url=f"{openai.url}/v1", api_key=key))
    lengths = iter(range(2, 100))

    def longer_each_time(body: Any) -> Any:
        return embedding_is([1.0] * next(lengths))(body)

    openai.twist = longer_each_time
    runs = runner(provider).many(["some text"] * 90, dims=None, deadline=soon())
    given: list[bytes] = []
    with pytest.raises(ProviderError) as caught:
        given.extend(vector for run in runs for vector in run.vectors)
    provider.close()
    assert caught.value.kind == "protocol"
    assert len({len(vector) for vector in given}) == 1
