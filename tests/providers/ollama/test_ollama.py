"""The provider ``ollama``: what it sends, and what it makes of what comes back."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import ProviderError
from commonplace.host.host import PluginHost
from commonplace.plugin import ProviderContext
from commonplace.resilience.deadline import Deadline
from commonplace_ollama.provider import OllamaProvider, prompts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.providers.conftest import Failure, Loopback, Reply, Runs


@pytest.fixture
def ollama(fake: Callable[[str], Loopback]) -> Loopback:
    return fake("ollama")


@pytest.fixture
def make(ollama: Loopback) -> Iterator[Callable[..., OllamaProvider]]:
    made: list[OllamaProvider] = []

    def construct(**given: Any) -> OllamaProvider:
        made.append(OllamaProvider(ProviderContext(**{"base_url": ollama.url, **given})))
        return made[-1]

    yield construct
    for provider in made:
        provider.close()


def soon() -> Deadline:
    return Deadline.after(60)


@pytest.mark.slow
def test_a_fault_is_reported_for_what_it_is_and_leaks_no_key(
    fault: Failure,
    ollama: Loopback,
    make: Callable[..., OllamaProvider],
    runner: Runs,
    reported: Callable[..., str],
    key: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    provider = make(base_url=fault.arrange(ollama, monkeypatch), api_key=key)
    running = runner(provider)
    with pytest.raises(ProviderError) as caught:
        running.one("t", purpose="query", deadline=Deadline.after(fault.seconds))
    ollama.release()
    assert caught.value.kind == fault.kind
    assert caught.value.provider == "ollama"
    assert running.requests == fault.attempts + (fault.kind == "bad_request")
    assert tuple(runner.pauses) == fault.pauses
    assert key not in reported(caught.value, provider, running, caught.value.request_id)
    assert "hidden-password" not in reported(caught.value)


def test_a_model_that_is_not_there_is_to_be_pulled(make: Callable[..., OllamaProvider]) -> None:
    with pytest.raises(ProviderError) as caught:
        make(model="ollama/qwen3-embedding:0.6b").embed(["text"], purpose="query", deadline=soon())
    assert (caught.value.kind, caught.value.hint) == (
        "not_found",
        "ollama pull qwen3-embedding:0.6b",
    )


def test_a_model_that_only_talks_is_no_embedding_model(make: Callable[..., OllamaProvider]) -> None:
    with pytest.raises(ProviderError) as caught:
        make(model="llama3.2").embed(["text"], purpose="query", deadline=soon())
    assert caught.value.kind == "bad_request"
    assert "embedding model" in caught.value.hint


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": "it broke"}, "unavailable"),
        ({"embeddings": []}, "protocol"),
        ({"embeddings": [[1.0], [1.0], [1.0]]}, "protocol"),
        ({"embeddings": [[1.0], [1.0, 2.0]]}, "protocol"),
        ({"embeddings": [[], []]}, "protocol"),
        ({"embeddings": [[0.0], [0.0]]}, "protocol"),
        ({"embeddings": [[float("nan")], [float("nan")]]}, "protocol"),
        ({"embeddings": [None, None]}, "protocol"),
        ({"embeddings": "text"}, "protocol"),
        ({"data": [{"embedding": [1.0]}]}, "protocol"),
    ],
)
def test_answers_that_cannot_be_right_are_refused(
    ollama: Loopback,
    make: Callable[..., OllamaProvider],
    runner: Runs,
    reply: type[Reply],
    body: Any,
    kind: str,
) -> None:
    ollama.always(reply(200, body))
    with pytest.raises(ProviderError) as caught:
        list(runner(make()).many(["one text", "another"], dims=None, deadline=soon()))
    assert caught.value.kind == kind


def test_a_text_that_is_too_long_is_cut_by_the_host_and_said_so(
    ollama: Loopback, make: Callable[..., OllamaProvider], runner: Runs
) -> None:
    texts = ["short", "word " * 400, "also short"]
    result = list(runner(make()).many(texts, dims=None, deadline=soon()))
    assert sorted(i for run in result for i in run.indices) == [0, 1, 2]
    assert [i for run in result for i in run.cut] == [1]
    assert all(request.json["truncate"] is False for request in ollama.requests)


def test_models_get_the_words_they_were_trained_with(
    ollama: Loopback, make: Callable[..., OllamaProvider]
) -> None:
    for provider in (make(), make(model="embeddinggemma"), make(query_prefix="", dims=4)):
        provider.embed(["text"], purpose="query", deadline=soon())
        provider.embed(["text"], purpose="document", deadline=soon())
    sent = [request.json["input"] for request in ollama.requests]
    assert sent == [
        ["search_query: text"],
        ["search_document: text"],
        ["task: search result | query: text"],
        ["title: none | text: text"],
        ["text"],
        ["search_document: text"],
    ]
    assert ollama.requests[-1].json["dimensions"] == 4


@pytest.mark.parametrize(
    ("model", "begins"),
    [
        ("nomic-embed-text:v1.5", "search_query: "),
        ("library/Nomic-Embed-Text", "search_query: "),
        ("embeddinggemma:300m-qat-q8_0", "task: search result"),
        ("qwen3-embedding:8b", "Instruct: "),
        ("hf.co/Qwen/Qwen3-Embedding-0.6B-GGUF:Q8_0", "Instruct: "),
        ("mxbai-embed-large", "Represent this"),
        ("bge-large", "Represent this"),
        ("bge-large-zh-v1.5", "为这个句子"),
        ("snowflake-arctic-embed2", "query: "),
        ("jeffh/intfloat-e5-base", ""),
        ("jeffh/e5-base", "query: "),
        ("bge-m3", ""),
        ("all-minilm", ""),
        ("anything", ""),
    ],
)
def test_a_family_is_known_by_the_start_of_the_name(model: str, begins: str) -> None:
    query = prompts_of(model)[0]
    assert query.startswith(begins)
    assert bool(query) == bool(begins)
    assert begins or prompts_of(model) == ("", "")


def test_the_key_is_sent_if_there_is_one(
    ollama: Loopback, make: Callable[..., OllamaProvider], key: str
) -> None:
    make().embed(["text"], purpose="query", deadline=soon())
    make(api_key=key).embed(["text"], purpose="query", deadline=soon())
    without, with_key = ollama.requests
    assert "authorization" not in without.headers
    assert with_key.headers["authorization"] == f"Bearer {key}"


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/", "/api", "/api/embed", "/v1/embeddings"])
def test_the_base_url_may_be_written_in_many_ways(
    ollama: Loopback, make: Callable[..., OllamaProvider], ending: str
) -> None:
    provider = make(base_url=ollama.url + ending)
    assert provider.embed(["text"], purpose="query", deadline=soon())
    assert provider.fingerprint() == make().fingerprint()


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("", None),
        ("127.0.0.1", None),
        ("localhost:11434", None),
        ("0.0.0.0", None),
        ("0.0.0.0:8000", "http://127.0.0.1:8000"),
        (":8000", "http://127.0.0.1:8000"),
        ("[::1]", None),
        ("gpu.lan", "http://gpu.lan:11434"),
        ("https://gpu.example.org", "https://gpu.example.org"),
        ("gpu.lan:1/prefix/", "http://gpu.lan:1/prefix"),
    ],
)
def test_the_server_is_found_where_ollama_s_own_client_finds_it(
    host: str, shown: str | None
) -> None:
    def of(base_url: str | None = None) -> str:
        return OllamaProvider(ProviderContext(base_url=base_url)).fingerprint()

    registration = PluginHost(env={}).provider("ollama")
    assert registration.credentials is not None
    assert registration.credentials.address == "OLLAMA_HOST"
    assert of(host) == of(shown)
    assert (shown is None) == (of(host) == of())


def test_the_fingerprint_changes_with_what_changes_vectors_alone(key: str) -> None:
    def of(**given: Any) -> str:
        return OllamaProvider(ProviderContext(**given)).fingerprint()

    different: list[dict[str, Any]] = [
        {},
        {"model": "all-minilm"},
        {"model": "nomic-embed-text:v1.5"},
        {"dims": 256},
        {"base_url": "http://gpu.lan:11434"},
        {"query_prefix": ""},
        {"query_prefix": "a"},
        {"document_prefix": ""},
        {"document_prefix": "a"},
    ]
    for one, other in combinations(different, 2):
        assert of(**one) != of(**other)
    same = of(base_url="http://LOCALHOST:11434/v1/", model="nomic-embed-text:latest", api_key=key)
    assert same == of()


def test_other_dimensions_than_were_asked_for_are_refused(
    ollama: Loopback, make: Callable[..., OllamaProvider]
) -> None:
    ollama.twist = lambda body: {**body, "embeddings": [[1.0, 2.0]]}
    with pytest.raises(ProviderError) as caught:
        make(dims=4).embed(["text"], purpose="query", deadline=soon())
    assert caught.value.kind == "protocol"


def test_it_is_offered_but_never_chosen_unasked() -> None:
    registration = PluginHost(env={}).provider("ollama")
    assert registration.priority is None
    assert registration.credentials is not None
    assert registration.credentials.optional
    made = registration.factory(ProviderContext(base_url="http://h"))
    assert (made.model, made.concurrency) == ("nomic-embed-text", 1)
    made.close()
    made.close()
