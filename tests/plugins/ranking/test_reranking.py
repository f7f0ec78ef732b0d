"""Reranking over HTTP: the forms of requests, what may leave, and what happens when it fails."""

from __future__ import annotations

import importlib.util
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from commonplace import Memory
from commonplace.model.search import Candidate, Explanation, KeywordQuery, Query, StoredChunk
from commonplace.plugin import (
    CircuitBreaker,
    RankContext,
    RankerContext,
    RelevanceRanker,
    UnavailableError,
)
from commonplace_ranking.optional import RerankSettings, _rerank
from commonplace_ranking.reranking import Reranker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.providers.fakes.loopback import Loopback, Reply

FAKES = Path(__file__).parents[2] / "providers" / "fakes" / "loopback.py"
KEY = "sekrit-0123456789-abcdef"


def _load() -> Any:
    spec = importlib.util.spec_from_file_location("shared_loopback", FAKES)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if not TYPE_CHECKING:
    _loopback = _load()
    Loopback, Reply = _loopback.Loopback, _loopback.Reply


class Judge:
    """Any of the three forms: the more often a text has the query's first word, the better."""

    def respond(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        asked = json.loads(body)
        texts = asked.get("documents") or asked["texts"]
        word = asked["query"].split()[0]
        name = "score" if "texts" in asked else "relevance_score"
        judged = [{"index": i, name: text.count(word) / 10} for i, text in enumerate(texts)]
        judged.sort(key=lambda item: -item[name])
        answer: Any = judged if "texts" in asked else {"results": judged, "id": "x"}
        return 200, {"Content-Type": "application/json"}, json.dumps(answer).encode()


@pytest.fixture
def server() -> Iterator[Loopback]:
    made = Loopback(Judge())
    yield made
    made.close()


def hit(id_: int, score: float, text: str) -> Candidate:
    chunk = StoredChunk(id_, "memory", f"memory/{id_}.md", 1, 1, text, ("Top",))
    return Candidate(chunk, score, Explanation())


HITS = [hit(0, 0.9, "bee"), hit(1, 0.8, "ant"), hit(2, 0.7, "ant ant ant"), hit(3, 0.2, "ant ant")]
CONTEXT = RankContext(Query("ant hill path:memory", KeywordQuery(), "ant hill"), 0.0, 6)


def order(hits: list[Candidate]) -> list[object]:
    return [one.chunk.id for one in hits]


def reranked(url: str, **options: Any) -> RelevanceRanker:
    return RelevanceRanker("rerank", Reranker(url, **options))


def ranked(server: Loopback, path: str = "/v1/rerank", **options: Any) -> list[Candidate]:
    context = RankerContext(config=RerankSettings(url=server.url + path, **options))
    return list(_rerank(context).rank(HITS, CONTEXT))


@pytest.mark.parametrize(
    ("path", "form", "fields"),
    [
        ("/v2/rerank", "auto", {"query", "documents", "top_n"}),
        ("/anything", "cohere", {"query", "documents", "top_n"}),
        ("/v1/rerank", "auto", {"query", "documents", "top_n", "return_documents"}),
        ("/rerank", "auto", {"query", "texts", "truncate"}),
        ("", "auto", {"query", "texts", "truncate"}),
        ("/proxy/tei/rerank", "tei", {"query", "texts", "truncate"}),
    ],
)
def test_the_three_forms(server: Loopback, path: str, form: Any, fields: set[str]) -> None:
    after = ranked(server, path, form=form)
    assert order(after) == [2, 3, 1, 0]
    assert [one.score for one in after] == [0.7, 0.2, 0.8, 0.9]
    assert after[0].explain.steps[-1].note == "number 1 of 4 candidates (3 before), relevance 0.300"
    (request,) = server.requests
    assert request.path == f"{path.removesuffix('/rerank')}/rerank"
    assert set(request.json) == fields
    assert request.json["query"] == "ant hill"
    assert (request.json.get("documents") or request.json["texts"])[1] == "Top\n\nant"
    assert "authorization" not in request.headers


def test_the_key_and_the_model_are_sent(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    from commonplace.plugin import Secret

    monkeypatch.setenv("RERANK_KEY", KEY)
    ranked(server, api_key=Secret("${RERANK_KEY}"), model="m-1")
    (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.json["model"] == "m-1"


def test_only_the_first_candidates_are_sent(server: Loopback) -> None:
    after = ranked(server, candidates=3)
    assert order(after) == [2, 1, 0, 3]
    assert after[-1].explain.steps[-1].note == "not judged"
    assert len(server.requests[0].json["documents"]) == 3


def test_a_weight_keeps_some_of_the_order(server: Loopback) -> None:
    assert order(ranked(server, weight=0.0)) == [0, 1, 2, 3]
    assert order(ranked(server, weight=0.75)) == [2, 1, 0, 3]


def test_logits_become_shares(server: Loopback) -> None:
    scores = [{"index": at, "relevance_score": score} for at, score in enumerate((-1e9, 0, 4, -4))]
    server.script(Reply(body={"results": scores}))
    after = ranked(server)
    assert order(after) == [2, 1, 3, 0]
    assert after[0].explain.steps[-1].note.endswith("relevance 0.982")
    assert after[1].explain.steps[-1].note.endswith("relevance 0.500")


def test_what_is_not_judged_stays_behind(server: Loopback) -> None:
    server.script(Reply(body={"results": [{"index": 3, "relevance_score": 0.9}]}))
    after = ranked(server)
    assert order(after) == [3, 0, 1, 2]
    assert after[1].explain.steps[-1].note == "number 2 of 4 candidates (1 before), not judged"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"results": []},
        {"results": [{"index": 9, "relevance_score": 0.5}]},
        {"results": [{"index": 0, "relevance_score": 0.5}] * 2},
        {"results": [{"index": 0, "relevance_score": "high"}]},
        {"results": [None]},
        [[0.5]],
        b"<html>",
    ],
    ids=str,
)
def test_a_strange_answer_is_a_failure(server: Loopback, body: Any) -> None:
    server.script(Reply(body=body))
    with pytest.raises(UnavailableError, match="rerank"):
        ranked(server)


def test_nothing_is_sent_for_one_hit(server: Loopback) -> None:
    ranker = reranked(f"{server.url}/rerank")
    assert order(list(ranker.rank(HITS[:1], CONTEXT))) == [0]
    assert server.requests == []


def test_a_failing_server_is_left_alone_for_a_while(server: Loopback) -> None:
    now = [0.0]
    breaker = CircuitBreaker(monotonic=lambda: now[0], clock=lambda: now[0])
    ranker = reranked(f"{server.url}/rerank", breaker=breaker)
    server.always(Reply(503, {"error": "loading"}))
    for _ in range(3):
        with pytest.raises(UnavailableError, match="loading"):
            ranker.rank(HITS, CONTEXT)
    assert len(server.requests) == 1
    server.always(None)
    now[0] = 1_000.0
    assert order(list(ranker.rank(HITS, CONTEXT))) == [2, 3, 1, 0]


def test_an_answer_that_takes_too_long_is_not_waited_for(server: Loopback) -> None:
    server.script(Reply(manner="hang"))
    with pytest.raises(UnavailableError, match="in time"):
        ranked(server, seconds=0.1)


@pytest.mark.parametrize("url", ["", "rerank", "ftp://x/rerank"])
def test_an_address_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(UnavailableError) as caught:
        _rerank(RankerContext(config=RerankSettings(url=url)))
    assert "plugins.entries.rerank.config.url" in caught.value.hint


def answered(asked: list[httpx.Request]) -> httpx.MockTransport:
    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={"results": [{"index": 3, "relevance_score": 1}]})

    return httpx.MockTransport(answer)


def test_nothing_goes_to_another_machine_unasked() -> None:
    asked: list[httpx.Request] = []
    asked_for: list[tuple[str, int, str]] = []

    def permit(server: str, texts: int, key: str) -> None:
        asked_for.append((server, texts, key))
        if len(asked_for) > 1:
            raise UnavailableError("nothing is sent: you said no")

    url = "https://api.cohere.com/v2/rerank"
    with pytest.raises(UnavailableError, match="as no one can be asked"):
        reranked(url, transport=answered(asked)).rank(HITS, CONTEXT)
    assert asked == []
    ranker = RelevanceRanker(
        "rerank", Reranker(url, key=KEY, permit=permit, transport=answered(asked))
    )
    assert order(ranker.rank(HITS, CONTEXT)) == [3, 0, 1, 2]
    assert asked_for == [("https://api.cohere.com", 4, "plugins.entries.rerank.config.apiKey")]
    assert str(asked[0].url) == url
    assert json.loads(asked[0].content)["model"] == "rerank-v3.5"
    with pytest.raises(UnavailableError, match="you said no"):
        ranker.rank(HITS, CONTEXT)
    assert len(asked) == 1


@pytest.fixture
def opener(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Callable[..., Memory]:
    caplog.set_level(logging.WARNING)
    workspace = tmp_path / "notes"
    workspace.mkdir()
    for name, text in (("a", "ant " * 3), ("b", "ant bee"), ("c", "ant " * 9 + "cow cow")):
        (workspace / f"{name}.md").write_text(f"{text}\n")

    def opened(url: str, *, consent: str = "ask", **options: Any) -> Memory:
        search = {
            "ranking": {"chain": ["weighted", "rerank"]},
            "remote": {"consent": consent},
            "provider": "none",
        }
        rerank = {"config": {"url": url, "apiKey": KEY}}
        config = {
            "agents": {"defaults": {"memorySearch": search}},
            "plugins": {"entries": {"rerank": rerank}},
        }
        env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
        return Memory.open(workspace=workspace, config=config, env=env, **options)

    return opened


def test_a_search_is_reranked_and_says_so(server: Loopback, opener: Callable[..., Memory]) -> None:
    with opener(f"{server.url}/v1/rerank") as memory:
        result = memory.search("cow ant")
    assert [one.path for one in result.hits] == ["c.md", "a.md", "b.md"]
    assert result.notes == ()
    assert result.hits[0].explain.steps[-1].ranker == "rerank"
    assert sum(amount for _, amount in result.hits[0].explain.parts) == pytest.approx(
        result.hits[0].score
    )


def test_where_it_fails_the_order_stays_and_a_note_says_why(
    server: Loopback, opener: Callable[..., Memory], caplog: pytest.LogCaptureFixture
) -> None:
    server.always(Reply(500, {"error": f"boom {KEY}"}))
    with opener(f"{server.url}/v1/rerank") as memory:
        results = [memory.search("cow ant") for _ in range(2)]
    for result in results:
        assert [one.score for one in result.hits] == sorted(
            (one.score for one in result.hits), reverse=True
        )
        (note,) = result.notes
        assert "the ranker 'rerank'" in note
        assert "boom" in note
        assert KEY not in note
    assert len(server.requests) == 1
    assert KEY not in caplog.text


def test_the_user_is_asked_before_the_first_request(opener: Callable[..., Memory]) -> None:
    uploads: list[Any] = []
    with opener("https://rerank.invalid/v1/rerank", on_upload=uploads.append) as memory:
        (note,) = memory.search("cow ant").notes
    assert "before you agree" in note
    (upload,) = uploads
    assert (upload.provider, upload.host) == ("the ranker rerank", "https://rerank.invalid")
    assert (upload.texts, upload.named, upload.query) == (3, True, True)
    assert upload.never == "take rerank out of ranking.chain"
    with opener("https://rerank.invalid/v1/rerank", consent="no") as memory:
        (note,) = memory.search("cow ant").notes
    assert 'remote.consent is "no"' in note
