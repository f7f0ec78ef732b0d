"""Reranking by a cross-encoder behind HTTP: Cohere, Jina, or a server of one's own.

Three forms of one request are known. Cohere's ``POST /v2/rerank`` and Jina's ``POST /v1/rerank``
(also of llama-server, vLLM, LocalAI, Infinity) answer ``{"results": [{"index",
"relevance_score"}]}``; ``POST /rerank`` of text-embeddings-inference answers ``[{"index",
"score"}]``.
"""

from __future__ import annotations

import weakref
from math import exp, isfinite
from threading import Lock
from typing import TYPE_CHECKING, Any

from commonplace.plugin import (
    CircuitBreaker,
    Deadline,
    Endpoint,
    ProviderError,
    RemoteClient,
    UnavailableError,
    embedding_text,
    with_step,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal

    from commonplace.plugin import Answer, Candidate, RankContext

    Form = Literal["auto", "cohere", "jina", "tei"]
    Permit = Callable[[str, int, str], None]

_NAME = "rerank"
_KEY = "plugins.entries.rerank.config.apiKey"
_COHERE = "api.cohere.com"
_MODELS = {_COHERE: "rerank-v3.5", "api.jina.ai": "jina-reranker-v2-base-multilingual"}
_MOST_LOGIT = 700.0  # beyond it exp overflows


class Reranker:
    """One server that judges texts by a query.

    ``url`` is the address of its endpoint; ``form`` ``auto`` takes Cohere's for its host and for
    paths that end in ``/v2/rerank``, that of text-embeddings-inference for ``/rerank`` alone, else
    Jina's. ``permit(host, texts, key)`` is called before texts go to another machine, and raises
    where they must not; without it none go. A server that fails is left alone for a while.

    Raises :class:`~commonplace.errors.UnavailableError` for a URL that is none.
    """

    def __init__(
        self,
        url: str,
        *,
        form: Form = "auto",
        model: str | None = None,
        key: str = "",
        seconds: float = 3.0,
        permit: Permit | None = None,
        breaker: CircuitBreaker | None = None,
        transport: Any = None,
    ) -> None:
        try:
            self._endpoint = Endpoint(_NAME, url, drop=("/rerank",))
        except ProviderError as error:
            hint = "set plugins.entries.rerank.config.url to something like http://localhost:8080"
            raise UnavailableError(f"{str(error).partition(': ')[2]}", hint=hint) from None
        self._form = form if form != "auto" else _form_of(self._endpoint)
        self._model = model or _MODELS.get(self._endpoint.host, "")
        self._key = key
        self._seconds = seconds
        self._permit = permit
        self._breaker = breaker or CircuitBreaker()
        self._transport = transport
        self._lock = Lock()
        self._client: RemoteClient | None = None

    def relevances(self, query: str, texts: Sequence[str]) -> dict[int, float]:
        """How relevant ``texts`` are, 0..1 by their places; scores beyond that as 1 / (1 + e^-s).

        Raises :class:`~commonplace.errors.UnavailableError`.
        """
        self._check(len(texts))
        if not self._breaker.allow():
            reason = self._breaker.state().reason
            raise UnavailableError(f"it is left alone after failing: {reason}")
        try:
            answer = self._connected().post(
                _NAME, self._body(query, texts), deadline=Deadline.after(self._seconds)
            )
            relevances = self._read(answer, len(texts))
        except ProviderError as error:
            self._breaker.failed(str(error), retry_after=error.retry_after)
            raise
        self._breaker.succeeded()
        return relevances

    def _check(self, texts: int) -> None:
        endpoint = self._endpoint
        if endpoint.is_loopback:
            return
        if self._permit is None:
            raise UnavailableError(f"nothing is sent to {endpoint.server}, as no one can be asked")
        self._permit(endpoint.server, texts, _KEY if self._key else "")

    def _body(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        if self._form == "tei":
            return {"query": query, "texts": list(texts), "truncate": True}
        body: dict[str, Any] = {"query": query, "documents": list(texts), "top_n": len(texts)}
        if self._form == "jina":
            body["return_documents"] = False
        return {"model": self._model, **body} if self._model else body

    def _read(self, answer: Answer, count: int) -> dict[int, float]:
        items = answer.body
        if isinstance(items, dict):
            items = items.get("results", items.get("data"))
        scores: dict[int, float] = {}
        for item in items if isinstance(items, list) else ():
            index, score = _judged(item)
            if index in scores or not 0 <= index < count:
                raise self._connected().error("protocol", "it judged what it was not given", 200)
            scores[index] = score
        if not scores and count:
            raise self._connected().error("protocol", "its answer holds no list of scores", 200)
        if all(0 <= score <= 1 for score in scores.values()):
            return scores
        return {at: 1 / (1 + exp(min(_MOST_LOGIT, -score))) for at, score in scores.items()}

    def _connected(self) -> RemoteClient:
        with self._lock:
            if self._client is None:
                self._client = RemoteClient(
                    _NAME,
                    self._endpoint.url,
                    defaults={"Authorization": f"Bearer {self._key}"} if self._key else {},
                    secrets=(self._key,) if self._key else (),
                    key_origin=_KEY if self._key else "",
                    transport=self._transport,
                )
                weakref.finalize(self, self._client.close)
            return self._client


def _form_of(endpoint: Endpoint) -> Form:
    if endpoint.host == _COHERE or endpoint.path.endswith("/v2"):
        return "cohere"
    return "jina" if endpoint.path else "tei"


def _judged(item: Mapping[str, Any]) -> tuple[int, float]:
    """Index and score of one item; (-1, 0) for what is none."""
    if not isinstance(item, dict):
        return -1, 0.0
    index: Any = item.get("index")
    score: Any = item.get("relevance_score", item.get("score"))
    if type(index) is not int or type(score) not in {int, float} or not isfinite(score):
        return -1, 0.0
    return index, float(score)


class Rerank:
    """Puts the first ``candidates`` hits into the order that a cross-encoder gives them.

    They are ordered by weight x relevance + (1 - weight) x their share of the best score; the
    others stay behind them. Scores stay. Where the server fails, the order stays, and a note of the
    search says why: the host skips a ranker that raises.
    """

    id = "rerank"
    stage: Literal["select"] = "select"
    needs: frozenset[str] = frozenset()

    def __init__(self, reranker: Reranker, candidates: int = 20, weight: float = 1.0) -> None:
        if candidates < 1 or not 0 <= weight <= 1:
            raise ValueError("at least one candidate is ranked, and a weight is 0 to 1")
        self._reranker = reranker
        self._candidates = candidates
        self._weight = weight

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Ask, and reorder. Raises :class:`~commonplace.errors.UnavailableError`."""
        head, tail = list(hits[: self._candidates]), hits[self._candidates :]
        if len(head) < 2:
            return [with_step(hit, self.id, hit.score, "nothing to reorder") for hit in hits]
        query = context.query.words or context.query.text
        relevances = self._reranker.relevances(query, [embedding_text(hit.chunk) for hit in head])
        best = max(hit.score for hit in head) or 1.0
        keys = [
            self._weight * relevances.get(at, 0.0) + (1 - self._weight) * hit.score / best
            for at, hit in enumerate(head)
        ]
        ranked = []
        for place, at in enumerate(sorted(range(len(head)), key=lambda at: -keys[at]), 1):
            judged = f"relevance {relevances[at]:.3f}" if at in relevances else "not judged"
            moved = f"place {at + 1} to {place}, {judged}"
            ranked.append(with_step(head[at], self.id, head[at].score, moved))
        return ranked + [with_step(hit, self.id, hit.score, "not judged") for hit in tail]
