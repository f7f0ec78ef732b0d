"""Google's own SDK judges the fake, and the provider by what both send."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.plugin import ProviderContext
from commonplace.resilience.deadline import Deadline
from commonplace_gemini.provider import GeminiProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TEXTS = ["chunk one", "chunk two — zwei"]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def google(fake: Callable[[str], Any]) -> Any:
    return fake("gemini")


@pytest.fixture
def sdk(google: Any, key: str) -> Iterator[Any]:
    genai = pytest.importorskip("google.genai", reason="the extra sdks is not installed")
    options = {"base_url": google.url, "api_version": "v1beta"}
    client = genai.Client(api_key=key, vertexai=False, http_options=options)
    yield client
    client.close()


def asked(sdk: Any, model: str, texts: list[str], **config: Any) -> list[list[float]]:
    contents = [{"parts": [{"text": text}]} for text in texts]
    answer = sdk.models.embed_content(model=model, contents=contents, config=config)
    return [embedding.values for embedding in answer.embeddings]


def plain(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The requests without the role, which the SDK adds and the API does not need."""
    kept = []
    for request in body["requests"]:
        content = {name: held for name, held in request["content"].items() if name != "role"}
        kept.append({**request, "content": content})
    return kept


def test_both_send_the_same_for_documents(sdk: Any, google: Any, key: str) -> None:
    theirs = asked(
        sdk,
        "gemini-embedding-001",
        TEXTS,
        task_type="RETRIEVAL_DOCUMENT",
        output_dimensionality=768,
    )
    context = ProviderContext(base_url=google.url, api_key=key, dims=768)
    provider = GeminiProvider(context)
    ours = provider.embed(TEXTS, purpose="document", deadline=Deadline.after(60))
    provider.close()
    first, second = google.requests
    assert plain(first.json) == plain(second.json)
    assert first.path == second.path
    assert first.headers["x-goog-api-key"] == second.headers["x-goog-api-key"] == key
    assert [list(vector) for vector in ours] == theirs


def test_the_sdk_asks_for_a_query_as_a_batch_of_one_and_gets_the_same(
    sdk: Any, google: Any, key: str
) -> None:
    (theirs,) = asked(sdk, "gemini-embedding-001", ["q"], task_type="RETRIEVAL_QUERY")
    provider = GeminiProvider(ProviderContext(base_url=google.url, api_key=key))
    (ours,) = provider.embed(["q"], purpose="query", deadline=Deadline.after(60))
    provider.close()
    batch, single = google.requests
    assert plain(batch.json) == [single.json]
    assert list(ours) == theirs


def test_the_sdk_sees_a_task_type_do_nothing_for_the_second_model(sdk: Any) -> None:
    model = "gemini-embedding-2"
    (query,) = asked(sdk, model, ["a"], task_type="RETRIEVAL_QUERY")
    (document,) = asked(sdk, model, ["a"], task_type="RETRIEVAL_DOCUMENT")
    assert query == document
    (other,) = asked(sdk, model, ["task: search result | query: a"])
    assert other != query


def test_the_sdk_understands_the_fake_s_errors(sdk: Any, google: Any, key: str) -> None:
    errors = pytest.importorskip("google.genai.errors")
    google.vendor.key = "another"
    with pytest.raises(errors.ClientError) as caught:
        asked(sdk, "gemini-embedding-001", ["a"])
    assert (caught.value.code, caught.value.status) == (400, "INVALID_ARGUMENT")
    google.vendor.key = key
    with pytest.raises(errors.ClientError, match="at most 100 requests"):
        asked(sdk, "gemini-embedding-001", ["a"] * 101)
