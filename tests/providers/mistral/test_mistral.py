"""The provider ``mistral``: what it sends, and what it makes of what comes back."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import ProviderError
from commonplace.host.host import PluginHost
from commonplace.plugin import ProviderContext
from commonplace.resilience.deadline import Deadline
from commonplace_mistral.provider import MistralProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.providers.conftest import Failure, Loopback, Reply, Runs


@pytest.fixture
def mistral(fake: Callable[[str], Loopback]) -> Loopback:
    return fake("mistral")


@pytest.fixture
def make(mistral: Loopback, key: str) -> Iterator[Callable[..., MistralProvider]]:
    made: list[MistralProvider] = []

    def construct(**given: Any) -> MistralProvider:
        given = {"base_url": f"{mistral.url}/v1", "api_key": key, **given}
        made.append(MistralProvider(ProviderContext(**given)))
        return made[-1]

    yield construct
    for provider in made:
        provider.close()


def soon() -> Deadline:
    return Deadline.after(60)


@pytest.mark.slow
def test_a_fault_is_reported_for_what_it_is_and_leaks_no_key(
    fault: Failure,
    mistral: Loopback,
    make: Callable[..., MistralProvider],
    runner: Runs,
    reported: Callable[..., str],
    key: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    provider = make(base_url=f"{fault.arrange(mistral, monkeypatch)}/v1")
    running = runner(provider)
    with pytest.raises(ProviderError) as caught:
        running.one("short text", purpose="query", deadline=Deadline.after(fault.seconds))
    mistral.release()
    assert caught.value.kind == fault.kind
    assert caught.value.provider == "mistral"
    assert running.requests == fault.attempts + (fault.kind == "bad_request")
    assert tuple(runner.pauses) == fault.pauses
    assert key not in reported(caught.value, provider, running, caught.value.request_id)
    assert "hidden-password" not in reported(caught.value)


def flat(message: str, status: int) -> dict[str, Any]:
    return {"object": "error", "message": message, "type": "x", "raw_status_code": status}


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (401, {"detail": "Unauthorized"}, "auth", "Unauthorized"),
        (400, flat("Too many inputs in request, split into more batches.", 400), "too_large", "s"),
        (400, flat("Too many tokens in batch. Max is 16384", 400), "too_large", "16384"),
        (400, flat("Invalid model: mistral-emb", 400), "not_found", "mistral-emb"),
        (422, {"detail": [{"loc": ["input"], "msg": "bad input"}]}, "bad_request", "bad input"),
        (422, {"message": {"detail": [{"msg": "bad input"}]}}, "bad_request", "bad input"),
        (429, flat("Requests rate limit exceeded", 429), "rate_limit", "rate limit"),
        (200, flat("Requests rate limit exceeded", 429), "rate_limit", "rate limit"),
        (200, flat("it broke", 0), "unavailable", "it broke"),
    ],
)
def test_the_words_of_a_refusal_tell_its_kind(
    mistral: Loopback,
    make: Callable[..., MistralProvider],
    reply: type[Reply],
    status: int,
    body: Any,
    kind: str,
    words: str,
) -> None:
    mistral.always(reply(status, body))
    with pytest.raises(ProviderError) as caught:
        make().embed(["text"], purpose="query", deadline=soon())
    assert caught.value.kind == kind
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-1],
        lambda data: [{**item, "embedding": [float("nan")]} for item in data],
        lambda data: [{**item, "embedding": [0.0]} for item in data],
        lambda data: [{**item, "embedding": []} for item in data],
        lambda _: [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}],
    ],
)
def test_vectors_that_cannot_be_right_are_refused(
    mistral: Loopback,
    make: Callable[..., MistralProvider],
    runner: Runs,
    change: Callable[[Any], Any],
) -> None:
    mistral.twist = lambda body: {**body, "data": change(body["data"])}
    running = runner(make())
    with pytest.raises(ProviderError) as caught:
        list(running.many(["one text", "another"], dims=None, deadline=soon()))
    assert (caught.value.kind, running.requests) == ("protocol", 2)  # the text or the server?


def test_vectors_may_come_in_any_order(
    mistral: Loopback, make: Callable[..., MistralProvider]
) -> None:
    texts = ["one text", "another", "a third"]
    straight = make().embed(texts, purpose="document", deadline=soon())
    mistral.twist = lambda body: {**body, "data": body["data"][::-1]}
    assert make().embed(texts, purpose="document", deadline=soon()) == straight


@pytest.mark.parametrize(
    ("model", "dims"), [("mistral-embed", None), ("codestral-embed", None), ("codestral-embed", 4)]
)
def test_the_official_client_sends_the_same(
    mistral: Loopback,
    make: Callable[..., MistralProvider],
    key: str,
    model: str,
    dims: int | None,
) -> None:
    sdk = pytest.importorskip("mistralai.client", reason="the extra sdks is not installed")
    texts = ["first chunk", "zweites Stück", "第三"]
    asked = {"output_dimension": dims} if dims else {}
    with sdk.Mistral(api_key=key, server_url=mistral.url) as client:
        theirs = client.embeddings.create(model=model, inputs=texts, **asked)
    ours = make(model=model, dims=dims).embed(texts, purpose="document", deadline=soon())
    first, second = mistral.requests
    assert first.json == second.json
    assert (first.method, first.path) == (second.method, second.path)
    for header in ("authorization", "content-type"):
        assert first.headers[header] == second.headers[header]
    assert [list(vector) for vector in ours] == [item.embedding for item in theirs.data]


def test_requests_keep_to_the_limits(
    mistral: Loopback, make: Callable[..., MistralProvider], runner: Runs
) -> None:
    texts = [f"text {number}" for number in range(600)]
    result = runner(make()).many(texts, dims=None, deadline=soon())
    assert sum(len(run.indices) for run in result) == 600
    assert [len(request.json["input"]) for request in mistral.requests] == [256, 256, 88]


def test_prefixes_go_by_purpose(mistral: Loopback, make: Callable[..., MistralProvider]) -> None:
    provider = make(query_prefix="q: ", document_prefix="d: ")
    provider.embed(["a"], purpose="query", deadline=soon())
    provider.embed(["a"], purpose="document", deadline=soon())
    assert [request.json["input"] for request in mistral.requests] == [["q: a"], ["d: a"]]


@pytest.mark.parametrize("base", ["{}", "{}/", "{}/v1/", "{}/v1/embeddings"])
def test_the_base_url_may_be_written_in_many_ways(
    mistral: Loopback, make: Callable[..., MistralProvider], base: str
) -> None:
    provider = make(base_url=base.format(mistral.url))
    provider.embed(["text"], purpose="query", deadline=soon())
    assert provider.fingerprint() == make().fingerprint()


def test_the_fingerprint_changes_with_what_changes_vectors_alone(key: str) -> None:
    def of(**given: Any) -> str:
        return MistralProvider(ProviderContext(**given)).fingerprint()

    different: list[dict[str, Any]] = [
        {},
        {"model": "codestral-embed"},
        {"model": "codestral-embed", "dims": 512},
        {"base_url": "http://localhost/v1"},
        {"query_prefix": "a"},
        {"document_prefix": "a"},
    ]
    for one, other in combinations(different, 2):
        assert of(**one) != of(**other)
    for base in ("https://api.mistral.ai", "https://API.mistral.ai/v1/"):
        same = of(
            base_url=base,
            model="mistral/mistral-embed",
            api_key=key,
            headers={"authorization": key},
        )
        assert same == of()


@pytest.mark.parametrize(("model", "dims"), [("mistral-embed", 512), ("codestral-embed", 3073)])
def test_dimensions_that_a_model_does_not_have_are_reported_at_once(model: str, dims: int) -> None:
    with pytest.raises(ProviderError) as caught:
        MistralProvider(ProviderContext(model=model, dims=dims))
    assert caught.value.kind == "bad_request"


def test_mistral_s_own_dimensions_are_asked_of_no_model_that_has_no_others(
    mistral: Loopback, make: Callable[..., MistralProvider]
) -> None:
    mistral.twist = lambda body: {**body, "data": [{"index": 0, "embedding": [1.0] * 1024}]}
    assert make(dims=1024).embed(["text"], purpose="query", deadline=soon())
    assert "output_dimension" not in mistral.requests[-1].json


def test_other_dimensions_than_were_asked_for_are_refused(
    mistral: Loopback, make: Callable[..., MistralProvider]
) -> None:
    mistral.twist = lambda body: {**body, "data": [{"index": 0, "embedding": [1.0, 2.0]}]}
    with pytest.raises(ProviderError) as caught:
        make(model="codestral-embed", dims=4).embed(["text"], purpose="query", deadline=soon())
    assert caught.value.kind == "protocol"


def test_mistral_itself_is_not_asked_without_a_key() -> None:
    provider = MistralProvider(ProviderContext())
    with pytest.raises(ProviderError) as caught:
        provider.embed(["text"], purpose="query", deadline=soon())
    assert caught.value.kind == "auth"
    assert "MISTRAL_API_KEY" in caught.value.hint
    provider.close()
    provider.close()


def test_it_is_offered_with_where_its_key_is() -> None:
    registration = PluginHost(env={}).provider("mistral")
    assert registration.priority == 50
    assert registration.credentials is not None
    assert registration.credentials.env == ("MISTRAL_API_KEY",)
    assert registration.factory(ProviderContext()).model == "mistral-embed"
