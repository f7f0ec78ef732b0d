"""What voyage sends, and what it makes of the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.errors import ProviderError
from commonplace.plugin import ProviderContext
from commonplace.resilience.deadline import Deadline
from commonplace_voyage.provider import VoyageProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

QUERY = "where is the vlan config?"


@pytest.fixture
def vendor(fake: Callable[[str], Any]) -> Any:
    return fake("voyage")


@pytest.fixture
def make(vendor: Any, key: str) -> Iterator[Callable[..., VoyageProvider]]:
    made: list[VoyageProvider] = []

    def provider(**context: Any) -> VoyageProvider:
        kept = {"base_url": f"{vendor.url}/v1", "api_key": key, **context}
        made.append(VoyageProvider(ProviderContext(**kept)))
        return made[-1]

    yield provider
    for one in made:
        one.close()


def soon() -> Deadline:
    return Deadline.after(60)


@pytest.mark.parametrize("purpose", ["query", "document"])
def test_the_type_says_what_a_text_is_and_nothing_is_cut_in_silence(
    make: Any, vendor: Any, key: str, purpose: str
) -> None:
    vectors = make().embed(["one", "two"], purpose=purpose, deadline=soon())
    assert [len(vector) for vector in vectors] == [1024, 1024]
    (request,) = vendor.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {key}"
    assert request.json == {
        "model": "voyage-4-large",
        "input": ["one", "two"],
        "input_type": purpose,
        "truncation": False,
        "encoding_format": "base64",
    }


def test_queries_and_documents_differ(make: Any) -> None:
    provider = make()
    (query,) = provider.embed([QUERY], purpose="query", deadline=soon())
    (document,) = provider.embed([QUERY], purpose="document", deadline=soon())
    assert list(query) != list(document)


def test_a_length_is_asked_for_by_the_vendor_s_name_for_it(make: Any, vendor: Any) -> None:
    (vector,) = make(dims=256).embed([QUERY], purpose="query", deadline=soon())
    assert len(vector) == 256
    (request,) = vendor.requests
    assert request.json["output_dimension"] == 256
    assert "dimensions" not in request.json


def test_models_of_one_length_are_not_asked_for_it(make: Any, vendor: Any) -> None:
    make(model="voyage-law-2", dims=1024).embed(["a"], purpose="document", deadline=soon())
    (request,) = vendor.requests
    assert "output_dimension" not in request.json


def test_prefixes_of_the_user_stand_before_texts(make: Any, vendor: Any) -> None:
    provider = make(query_prefix="Q: ", document_prefix="D: ")
    provider.embed(["a"], purpose="query", deadline=soon())
    provider.embed(["b"], purpose="document", deadline=soon())
    assert [request.json["input"] for request in vendor.requests] == [["Q: a"], ["D: b"]]


def test_the_users_headers_win_whatever_their_case(make: Any, vendor: Any) -> None:
    headers = {"AUTHORIZATION": f"Bearer {vendor.vendor.key}", "X-Team": "notes"}
    make(headers=headers, api_key="another").embed(["a"], purpose="query", deadline=soon())
    (request,) = vendor.requests
    assert request.headers["authorization"] == headers["AUTHORIZATION"]
    assert request.headers["x-team"] == "notes"


def test_without_a_key_none_is_sent(make: Any, vendor: Any) -> None:
    with pytest.raises(ProviderError) as caught:
        make(api_key=None).embed(["a"], purpose="query", deadline=soon())
    assert caught.value.kind == "auth"
    assert "authorization" not in vendor.requests[0].headers


def test_at_most_a_thousand_texts_go_in_one_request(make: Any, vendor: Any, runner: Any) -> None:
    texts = [f"chunk {number}" for number in range(1200)]
    done = list(runner(make(dims=256)).many(texts, dims=256, deadline=soon()))
    assert sorted(len(request.json["input"]) for request in vendor.requests) == [200, 1000]
    assert sorted(index for part in done for index in part.indices) == list(range(1200))


def test_more_tokens_than_a_request_may_have_are_halved_until_they_fit(
    make: Any, vendor: Any, runner: Any
) -> None:
    # By our estimate 116 K tokens, by the server's count 174 K of the 120 K that it takes.
    texts = [str(number) * 50_000 for number in range(7)]
    provider = make(dims=256)
    done = list(runner(provider).many(texts, dims=256, deadline=soon()))
    assert [len(request.json["input"]) for request in vendor.requests] == [7, 3, 4]
    assert sorted(index for part in done for index in part.indices) == list(range(7))
    assert [part.cut for part in done] == [()]


def test_a_text_beyond_the_context_is_cut_and_reported(make: Any, vendor: Any, runner: Any) -> None:
    # 30 K tokens by our estimate, 45 K by the server's count, which refuses to truncate.
    (done,) = runner(make(dims=256)).many(["a" * 90_000], dims=256, deadline=soon())
    assert done.cut == (0,)
    assert [len(request.json["input"][0]) for request in vendor.requests] == [90_000, 45_000]


def test_a_list_longer_than_a_proxy_allows_is_halved(
    make: Any, vendor: Any, reply: Any, runner: Any
) -> None:
    words = "The batch size limit is 3. Your batch size is 4."
    vendor.script(reply(400, {"detail": words}))
    list(runner(make(dims=256)).many(list("abcd"), dims=256, deadline=soon()))
    assert [len(request.json["input"]) for request in vendor.requests] == [4, 2, 2]


def test_vectors_are_put_in_order_by_their_index(make: Any, vendor: Any) -> None:
    provider = make(dims=256)
    straight = provider.embed(list("abc"), purpose="document", deadline=soon())
    vendor.twist = lambda body: {**body, "data": body["data"][::-1]}
    shuffled = provider.embed(list("abc"), purpose="document", deadline=soon())
    assert [list(vector) for vector in shuffled] == [list(vector) for vector in straight]


def test_numbers_written_out_do_as_well_as_base64(make: Any, vendor: Any, reply: Any) -> None:
    data = [{"object": "embedding", "embedding": [0.6, 0.8], "index": 0}]
    vendor.script(reply(200, {"object": "list", "data": data}))
    (vector,) = make().embed(["a"], purpose="query", deadline=soon())
    assert list(vector) == [0.6, 0.8]


def test_series_4_answers_in_one_space(make: Any) -> None:
    large, lite = make(model="voyage-4-large"), make(model="voyage-4-lite")
    assert large.fingerprint() == lite.fingerprint()
    (one,) = large.embed(["a"], purpose="document", deadline=soon())
    (other,) = lite.embed(["a"], purpose="document", deadline=soon())
    assert list(one) == list(other)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=5))
def test_every_text_gets_its_own_vector_in_order(vendor: Any, key: str, texts: list[str]) -> None:
    def answered(request: httpx.Request) -> httpx.Response:
        assert request.url.host == "api.voyageai.com"
        status, _, body = vendor.vendor.respond(
            request.method, request.url.path, request.headers, request.content
        )
        return httpx.Response(status, content=body)

    transport = httpx.MockTransport(answered)
    provider = VoyageProvider(ProviderContext(api_key=key, dims=256, transport=transport))
    together = provider.embed(texts, purpose="document", deadline=soon())
    apart = [provider.embed([text], purpose="document", deadline=soon())[0] for text in texts]
    assert [list(vector) for vector in together] == [list(vector) for vector in apart]
    provider.close()
