"""Reranking by a cross-encoder behind HTTP: Cohere, Jina, or a server of one's own.

Three forms of one request are known. Cohere's ``POST /v2/rerank`` and Jina's ``POST /v1/rerank``
(also of llama-server, vLLM, LocalAI, Infinity) answer ``{"results": [{"index",
"relevance_score"}]}``; ``POST /rerank`` of text-embeddings-inference answers ``[{"index",
"score"}]``.
"""

from __future__ import annotations

import weakref
from math import isfinite
from threading import Lock
from typing import TYPE_CHECKING, Any

from commonplace.plugin import (
    CircuitBreaker,
    Deadline,
    Endpoint,
    ProviderError,
    RemoteClient,
    UnavailableError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal

    from commonplace.plugin import Answer

    Form = Literal["auto", "cohere", "jina", "tei"]
    Permit = Callable[[str, int, str], None]

_NAME = "rerank"
_KEY = "plugins.entries.rerank.config.apiKey"
_COHERE = "api.cohere.com"
_MODELS = {_COHERE: "rerank-v3.5", "api.jina.ai": "jina-reranker-v2-base-multilingual"}


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

    def judge(self, query: str, texts: Sequence[str]) -> dict[int, float]:
        """The server's scores of ``texts`` by their places; it may leave some out.

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
            scores = self._read(answer, len(texts))
        except ProviderError as error:
            self._breaker.failed(str(error), retry_after=error.retry_after)
            raise
        self._breaker.succeeded()
        return scores

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
        return scores

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
