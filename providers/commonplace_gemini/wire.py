"""The shapes of what is sent to Gemini, what comes back, and where to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.plugin import Endpoint, ProviderError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from commonplace.plugin import ProviderContext
    from commonplace_gemini.models import Model

__all__ = ["HOST", "Form", "endpoint_of", "vectors_of"]

HOST = "generativelanguage.googleapis.com"
_TASKS = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}
_QUERY_TEXT = "task: search result | query: "
_DOCUMENT_TEXT = "title: none | text: "


class Form:
    """How a text becomes a request to one model.

    The prefixes of ``context`` stand before texts; without them, models that want their task in the
    text get it in the form that Google gives.
    """

    __slots__ = ("_dims", "_model", "_prefixes")

    def __init__(self, model: Model, context: ProviderContext) -> None:
        own = (_QUERY_TEXT, _DOCUMENT_TEXT) if model.task_in_text else ()
        self._model = model
        self._dims = context.dims
        self._prefixes = context.prefixes(*own)

    @property
    def overhead(self) -> int:
        """How many tokens the form adds to a text, at the most."""
        return max(map(len, self._prefixes.values()))

    @property
    def name(self) -> str:
        """The part of a fingerprint that tells forms apart."""
        query, document = self._prefixes.values()
        if self._model.task_in_text:
            known = (query, document) == (_QUERY_TEXT, _DOCUMENT_TEXT)
            return "text" if known else f"text {query!r} {document!r}"
        return f"task {query!r} {document!r}" if query or document else "task"

    def request(self, text: str, purpose: Literal["query", "document"]) -> dict[str, Any]:
        """One ``EmbedContentRequest``: never more than one part, which would be fused into one."""
        content = {"parts": [{"text": self._prefixes[purpose] + text}]}
        request: dict[str, Any] = {"model": f"models/{self._model.name}", "content": content}
        if not self._model.task_in_text:
            request["taskType"] = _TASKS[purpose]
        if self._dims is not None:
            request["outputDimensionality"] = self._dims
        return request


def endpoint_of(base_url: str | None) -> Endpoint:
    """Where requests go; a base URL has the API's version in it (``v1beta`` where it has no path).

    The ending ``/openai`` of the compatible surface is dropped: native calls know tasks. Raises
    :class:`~commonplace.errors.ProviderError` for what is no URL, and for one with a key in it.
    """
    url = (base_url or "").strip() or f"https://{HOST}/v1beta"
    query = url.partition("#")[0].partition("?")[2]
    if any(part.partition("=")[0].lower() in ("key", "access_token") for part in query.split("&")):
        raise ProviderError(
            "gemini: the base URL holds a key, which would end up in logs",
            provider="gemini",
            kind="auth",
            hint="take it out of remote.baseUrl and set remote.apiKey or GEMINI_API_KEY",
        )
    return Endpoint(
        "gemini", url, drop=("/openai/embeddings", "/openai", "/models"), root="/v1beta"
    )


def vectors_of(body: Any, *, single: bool) -> list[Sequence[float]]:
    """The vectors of an answer, in order. Raises ``ValueError``, saying what is wrong with it."""
    from commonplace.plugin import numbers_of

    held = body if isinstance(body, dict) else {}
    embeddings = [held.get("embedding")] if single else held.get("embeddings")
    if not isinstance(embeddings, list) or not all(isinstance(e, dict) for e in embeddings):
        raise ValueError("the answer holds no embeddings")
    return [numbers_of(embedding.get("values")) for embedding in embeddings]
