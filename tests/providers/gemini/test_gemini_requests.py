"""What gemini sends, and what it makes of the answers."""

from __future__ import annotations

from math import isclose, sqrt
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.embedding.vectors import floats
from commonplace.plugin import ProviderContext
from commonplace.resilience.deadline import Deadline
from commonplace_gemini.provider import GeminiProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

QUERY = "where is the vlan config?"


@pytest.fixture
def google(fake: Callable[[str], Any]) -> Any:
    return fake("gemini")


@pytest.fixture
def make(google: Any, key: str) -> Iterator[Callable[..., GeminiProvider]]:
    made: list[GeminiProvider] = []

    def provider(**context: Any) -> GeminiProvider:
        kept = {"base_url": f"{google.url}/v1beta", "api_key": key, **context}
        made.append(GeminiProvider(ProviderContext(**kept)))
        return made[-1]

    yield provider
    for one in made:
        one.close()


def soon() -> Deadline:
    return Deadline.after(60)


def test_a_query_goes_to_embed_content_with_its_task(make: Any, google: Any, key: str) -> None:
    vectors = make(dims=768).embed([QUERY], purpose="query", deadline=soon())
    assert [len(vector) for vector in vectors] == [768]
    (request,) = google.requests
    assert request.path == "/v1beta/models/gemini-embedding-001:embedContent"
    assert request.headers["x-goog-api-key"] == key
    assert "authorization" not in request.headers
    assert request.json == {
        "model": "models/gemini-embedding-001",
        "content": {"parts": [{"text": QUERY}]},
        "taskType": "RETRIEVAL_QUERY",
        "outputDimensionality": 768,
    }


def test_documents_go_to_batch_embed_contents_one_content_each(make: Any, google: Any) -> None:
    provider = make()
    vectors = provider.embed(["chunk one", "chunk two"], purpose="document", deadline=soon())
    (request,) = google.requests
    assert request.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert request.json == {
        "requests": [
            {
                "model": "models/gemini-embedding-001",
                "content": {"parts": [{"text": text}]},
                "taskType": "RETRIEVAL_DOCUMENT",
            }
            for text in ("chunk one", "chunk two")
        ]
    }
    alone = provider.embed(["chunk two"], purpose="document", deadline=soon())
    assert list(alone[0]) == list(vectors[1]) != list(vectors[0])
    assert google.requests[-1].path.endswith(":batchEmbedContents")


def test_the_second_model_has_its_task_in_the_text_and_no_task_type(make: Any, google: Any) -> None:
    provider = make(model="gemini-embedding-2")
    provider.embed([QUERY], purpose="query", deadline=soon())
    provider.embed(["chunk"], purpose="document", deadline=soon())
    query, documents = (request.json for request in google.requests)
    assert query["content"] == {"parts": [{"text": f"task: search result | query: {QUERY}"}]}
    sent = documents["requests"][0]
    assert sent["content"] == {"parts": [{"text": "title: none | text: chunk"}]}
    assert "taskType" not in query
    assert "taskType" not in sent


@pytest.mark.parametrize("model", ["gemini-embedding-001", "gemini-embedding-2"])
def test_prefixes_of_the_user_take_the_place_of_the_forms(
    make: Any, google: Any, model: str
) -> None:
    provider = make(model=model, query_prefix="Q: ", document_prefix="")
    provider.embed(["a"], purpose="query", deadline=soon())
    provider.embed(["b"], purpose="document", deadline=soon())
    query, documents = (request.json for request in google.requests)
    assert query["content"]["parts"] == [{"text": "Q: a"}]
    assert documents["requests"][0]["content"]["parts"] == [{"text": "b"}]


def test_several_queries_at_once_stay_queries(make: Any, google: Any) -> None:
    provider = make(dims=128)
    together = provider.embed(["a", "b"], purpose="query", deadline=soon())
    apart = provider.embed(["b"], purpose="query", deadline=soon())
    assert list(together[1]) == list(apart[0])


def test_at_most_a_hundred_documents_go_in_one_request(make: Any, google: Any, runner: Any) -> None:
    texts = [f"chunk {number}" for number in range(250)]
    provider = make(dims=128)
    found: dict[int, bytes] = {}
    for done in runner(provider).many(texts, dims=None, deadline=soon()):
        found.update(zip(done.indices, done.vectors, strict=True))
    assert sorted(len(request.json["requests"]) for request in google.requests) == [50, 100, 100]
    alone = runner(provider).many([texts[137]], dims=128, deadline=soon())
    assert found[137] == next(iter(alone)).vectors[0]
    assert sorted(found) == list(range(250))


def test_shortened_vectors_of_the_first_model_leave_the_host_with_length_one(
    make: Any, runner: Any
) -> None:
    provider = make(dims=256)
    (raw,) = provider.embed([QUERY], purpose="query", deadline=soon())
    assert sqrt(sum(value * value for value in raw)) < 0.5
    stored = floats(runner(provider).one(QUERY, purpose="query", deadline=soon()))
    assert isclose(sqrt(sum(value * value for value in stored)), 1, rel_tol=1e-5)


def test_a_body_stays_below_four_megabytes_whatever_the_script(
    make: Any, google: Any, runner: Any
) -> None:
    texts = [sign * 2000 for sign in ("\x01", "é", "漢", "𒀀") for _ in range(60)]
    list(runner(make(dims=128)).many(texts, dims=128, deadline=soon()))
    assert max(len(request.body) for request in google.requests) < 4_194_304


def test_too_many_at_once_is_halved_where_a_proxy_allows_fewer(
    make: Any, google: Any, reply: Any, runner: Any
) -> None:
    message = "BatchEmbedContentsRequest.requests: at most 3 requests can be in one batch"
    error = {"code": 400, "status": "INVALID_ARGUMENT", "message": message}
    google.script(reply(400, {"error": error}))
    done = list(runner(make(dims=128)).many(list("abcd"), dims=128, deadline=soon()))
    assert [len(request.json["requests"]) for request in google.requests] == [4, 2, 2]
    assert sorted(index for part in done for index in part.indices) == [0, 1, 2, 3]


def test_the_users_headers_win_whatever_their_case(make: Any, google: Any) -> None:
    provider = make(headers={"X-Goog-Api-Key": google.vendor.key, "X-Team": "notes"}, api_key="no")
    provider.embed(["a"], purpose="query", deadline=soon())
    (request,) = google.requests
    assert request.headers["x-goog-api-key"] == google.vendor.key
    assert request.headers["x-team"] == "notes"


def test_an_access_token_goes_where_oauth_wants_it(make: Any, google: Any) -> None:
    make(api_key="ya29.a0-token").embed(["a"], purpose="query", deadline=soon())
    (request,) = google.requests
    assert request.headers["authorization"] == "Bearer ya29.a0-token"
    assert "x-goog-api-key" not in request.headers


def test_a_server_that_ignores_the_length_asked_for_is_reported(
    make: Any, google: Any, runner: Any
) -> None:
    google.twist = lambda body: {"embedding": {"values": body["embedding"]["values"] * 2}}
    with pytest.raises(
        Exception, match="128 dimensions were asked for, and 256 came back"
    ) as caught:
        runner(make(dims=128)).one("a", purpose="query", deadline=soon())
    assert getattr(caught.value, "kind", None) == "protocol"


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=5))
def test_every_text_gets_its_own_vector_in_order(google: Any, key: str, texts: list[str]) -> None:
    def answered(request: httpx.Request) -> httpx.Response:
        status, _, body = google.vendor.respond(
            request.method, request.url.path, request.headers, request.content
        )
        return httpx.Response(status, content=body)

    transport = httpx.MockTransport(answered)
    provider = GeminiProvider(ProviderContext(api_key=key, dims=128, transport=transport))
    together = provider.embed(texts, purpose="document", deadline=soon())
    apart = [provider.embed([text], purpose="document", deadline=soon())[0] for text in texts]
    assert [list(vector) for vector in together] == [list(vector) for vector in apart]
    provider.close()
