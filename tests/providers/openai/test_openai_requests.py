"""What is sent to OpenAI and to servers that speak its form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import ProviderError
from commonplace.plugin import ProviderContext
from commonplace.resilience.deadline import Deadline
from commonplace_openai.provider import OpenAIProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.providers.conftest import Loopback, Reply, Runs


@pytest.fixture
def openai(fake: Callable[[str], Loopback]) -> Loopback:
    loopback = fake("openai")
    loopback.vendor.strict = False  # type: ignore[attr-defined]  # this vendor has it
    return loopback


@pytest.fixture
def make(openai: Loopback, key: str) -> Iterator[Callable[..., OpenAIProvider]]:
    made: list[OpenAIProvider] = []

    def construct(**given: Any) -> OpenAIProvider:
        given = {"base_url": f"{openai.url}/v1", "api_key": key, **given}
        made.append(OpenAIProvider(ProviderContext(**given)))
        return made[-1]

    yield construct
    for provider in made:
        provider.close()


def soon() -> Deadline:
    return Deadline.after(60)


def test_the_official_client_sends_the_same(
    openai: Loopback, make: Callable[..., OpenAIProvider], key: str
) -> None:
    sdk = pytest.importorskip("openai", reason="the extra sdks is not installed")
    texts = ["first chunk", "zweites Stück", "第三"]
    with sdk.OpenAI(base_url=f"{openai.url}/v1", api_key=key, max_retries=0) as client:
        theirs = client.embeddings.create(model="text-embedding-3-small", input=texts, dimensions=4)
    ours = make(dims=4).embed(texts, purpose="document", deadline=soon())
    first, second = openai.requests
    assert first.json == second.json
    assert (first.method, first.path) == (second.method, second.path)
    for header in ("authorization", "content-type"):
        assert first.headers[header] == second.headers[header]
    assert [list(vector) for vector in ours] == [item.embedding for item in theirs.data]


def test_the_official_client_meets_the_same_refusals(openai: Loopback, key: str) -> None:
    sdk = pytest.importorskip("openai", reason="the extra sdks is not installed")
    openai.vendor.strict = True  # type: ignore[attr-defined]  # this vendor has it
    with sdk.OpenAI(base_url=f"{openai.url}/v1", api_key="sk-wrong", max_retries=0) as client:
        with pytest.raises(sdk.AuthenticationError) as wrong_key:
            client.embeddings.create(model="text-embedding-3-small", input="text")
        assert wrong_key.value.code == "invalid_api_key"
    with sdk.OpenAI(base_url=f"{openai.url}/v1", api_key=key, max_retries=0) as client:
        with pytest.raises(sdk.NotFoundError) as no_model:
            client.embeddings.create(model="text-embedding-9", input="text")
        assert no_model.value.code == "model_not_found"
        with pytest.raises(sdk.BadRequestError):
            client.embeddings.create(model="text-embedding-3-small", input=[])


@pytest.mark.parametrize(
    "base",
    ["{}/v1", "{}/v1/", " {}/v1// ", "{}/v1/embeddings", "{}/v1/embeddings/"],
)
def test_the_base_url_may_be_written_in_many_ways(
    openai: Loopback, make: Callable[..., OpenAIProvider], base: str
) -> None:
    provider = make(base_url=base.format(openai.url))
    provider.embed(["text"], purpose="query", deadline=soon())
    assert openai.requests[-1].path == "/v1/embeddings"
    assert provider.fingerprint() == make().fingerprint()


def test_the_query_of_the_base_url_survives(
    openai: Loopback, make: Callable[..., OpenAIProvider], reported: Callable[..., str]
) -> None:
    provider = make(
        base_url=f"{openai.url}/v1?api-version=2024-02-01",
        api_key="the-key-of-openai",
        headers={"api-key": "the-key-of-another"},
    )
    with pytest.raises(ProviderError) as caught:  # the stand-in wants its own key
        provider.embed(["text"], purpose="query", deadline=soon())
    assert caught.value.kind == "auth"
    request = openai.requests[-1]
    assert request.path == "/v1/embeddings?api-version=2024-02-01"
    assert request.headers["api-key"] == "the-key-of-another"
    assert "authorization" not in request.headers, "a key of OpenAI's has no business elsewhere"
    assert "the-key-of" not in reported(caught.value, provider)
    assert "api-version" not in provider.fingerprint()


@pytest.mark.parametrize(
    "base", ["localhost:1234/v1", "ftp://example.test", "http://", "", "http://h:port/", "http:/x"]
)
def test_a_base_url_that_is_none_is_reported_at_once(base: str) -> None:
    if not base:
        assert OpenAIProvider(ProviderContext(base_url=base)).fingerprint()
        return
    with pytest.raises(ProviderError) as caught:
        OpenAIProvider(ProviderContext(base_url=base))
    assert caught.value.kind == "not_found"
    assert "remote.baseUrl" in caught.value.hint


def test_without_a_key_there_is_no_authorization_at_all(
    openai: Loopback, make: Callable[..., OpenAIProvider]
) -> None:
    openai.vendor.key = None  # type: ignore[attr-defined]  # this vendor has it
    make(api_key=None).embed(["text"], purpose="query", deadline=soon())
    assert "authorization" not in openai.requests[-1].headers


def test_openai_itself_is_not_asked_without_a_key() -> None:
    provider = OpenAIProvider(ProviderContext())
    with pytest.raises(ProviderError) as caught:
        provider.embed(["text"], purpose="query", deadline=soon())
    assert caught.value.kind == "auth"
    assert "OPENAI_API_KEY" in caught.value.hint


def test_headers_of_the_user_win_whatever_their_case(
    openai: Loopback, make: Callable[..., OpenAIProvider], key: str
) -> None:
    headers = {"AUTHORIZATION": f"Bearer {key}", "X-Title": "notes"}
    make(api_key="another", headers=headers).embed(["text"], purpose="query", deadline=soon())
    request = openai.requests[-1]
    assert request.headers["authorization"] == f"Bearer {key}"
    assert request.headers["x-title"] == "notes"


def test_a_key_that_no_header_can_hold_is_reported_without_showing_it(
    openai: Loopback, make: Callable[..., OpenAIProvider], reported: Callable[..., str]
) -> None:
    for odd in ("sekrit“quoted”", "sekrit\nof two lines"):
        with pytest.raises(ProviderError) as caught:
            make(api_key=odd).embed(["text"], purpose="query", deadline=soon())
        assert caught.value.kind == "auth"
        assert "sekrit" not in reported(caught.value)
    assert openai.requests == []


def test_prefixes_and_input_types_go_by_purpose(
    openai: Loopback, make: Callable[..., OpenAIProvider]
) -> None:
    provider = make(
        query_prefix="query: ",
        document_prefix="passage: ",
        options={"input_type": "both", "query_input_type": "search_query"},
    )
    provider.embed(["a"], purpose="query", deadline=soon())
    provider.embed(["b"], purpose="document", deadline=soon())
    query, document = (request.json for request in openai.requests)
    assert (query["input"], query["input_type"]) == (["query: a"], "search_query")
    assert (document["input"], document["input_type"]) == (["passage: b"], "both")


def test_a_server_that_knows_no_base64_is_asked_without_it_from_then_on(
    openai: Loopback, make: Callable[..., OpenAIProvider], reply: type[Reply]
) -> None:
    openai.script(reply(422, {"detail": [{"msg": "extra fields: encoding_format"}]}))
    provider = make()
    for _ in range(2):
        assert len(provider.embed(["text"], purpose="query", deadline=soon())) == 1
    assert ["encoding_format" in request.json for request in openai.requests] == [
        True,
        False,
        False,
    ]


def test_an_unknown_server_is_given_more_texts_as_it_takes_them(
    openai: Loopback, make: Callable[..., OpenAIProvider], runner: Runs
) -> None:
    provider = make()
    result = runner(provider).many(["some text"] * 600, dims=None, deadline=soon())
    assert sum(len(run.indices) for run in result) == 600
    sizes = [len(request.json["input"]) for request in openai.requests]
    assert sizes[0] == 32
    assert max(sizes) > 100


def test_a_server_s_limit_of_texts_is_learnt_once(
    openai: Loopback, make: Callable[..., OpenAIProvider], runner: Runs
) -> None:
    openai.vendor.most = 40  # type: ignore[attr-defined]  # this vendor has it
    provider = make()
    for _ in range(2):
        result = runner(provider).many(["some text"] * 400, dims=None, deadline=soon())
        assert sorted(i for run in result for i in run.indices) == list(range(400))
    sizes = [len(request.json["input"]) for request in openai.requests]
    refused = [size for size in sizes if size > 40]
    assert 1 <= len(refused) <= provider.concurrency
    assert max(sizes[-8:]) <= 40


def test_a_text_that_is_too_long_is_cut_and_said_so(
    openai: Loopback, make: Callable[..., OpenAIProvider], runner: Runs
) -> None:
    long = "a " * 9000
    (run,) = runner(make()).many([long, "short"], dims=None, deadline=soon())
    assert run.cut == (0,)
    assert len(run.vectors) == 2
    assert provider_limit(make()) >= 32, "a long text says nothing of the number of texts"


def provider_limit(provider: OpenAIProvider) -> int:
    return provider.limits.items or 0


def test_other_dimensions_than_were_asked_for_are_refused(
    openai: Loopback, make: Callable[..., OpenAIProvider]
) -> None:
    openai.twist = lambda body: {**body, "data": [{"index": 0, "embedding": [0.6, 0.8]}]}
    with pytest.raises(ProviderError) as caught:
        make(dims=4).embed(["text"], purpose="query", deadline=soon())
    assert caught.value.kind == "protocol"
    assert "outputDimensionality" in caught.value.hint
