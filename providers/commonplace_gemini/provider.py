"""The provider ``gemini``: Google's embedding models, by its native calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.plugin import Endpoint, HttpProvider, Limits, ProviderError, numbers_of
from commonplace_gemini.errors import delay_in, error_in, is_for_today, kind_of, list_of, status_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.plugin import (
        Answer,
        BatchJobs,
        ErrorInfo,
        ProviderContext,
        Purpose,
        RemoteClient,
    )


HOST = "generativelanguage.googleapis.com"
_DEFAULT_MODEL = "gemini-embedding-001"
_SHORTEST, _LONGEST = 128, 3072
_REQUESTS = 100  # of one batchEmbedContents
# Of 4 MiB that a body may have: in the worst case JSON writes six bytes for one.
_BYTES = 600_000
_ACCESS_TOKEN = "ya29."  # noqa: S105 - how Google's OAuth tokens begin, not one of them
_TASKS = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}
_TEXT_FORM = ("task: search result | query: ", "title: none | text: ")


class GeminiProvider(HttpProvider):
    """Gemini's embedding models.

    A query goes to ``embedContent``, documents go to ``batchEmbedContents``. Shortened vectors of
    ``gemini-embedding-001`` come back with a length other than 1; the host normalises all.

    Raises :class:`~commonplace.errors.ProviderError` for a base URL, a model's name or a length
    of vectors that cannot work.
    """

    name = "gemini"
    capabilities = frozenset({"batches", "remote"})
    concurrency = 8
    instead = ("x-goog-api-key",)

    def __init__(self, context: ProviderContext) -> None:
        endpoint = _endpoint(context.base_url)
        model = _bare(context.model) or _DEFAULT_MODEL
        if not model.isascii() or not model.translate(_SIGNS).isalnum():
            raise ProviderError(
                f"gemini: {context.model!r} is no model's name",
                provider="gemini",
                kind="not_found",
                hint=f"set memorySearch.model to {_DEFAULT_MODEL} or gemini-embedding-2",
            )
        # Such models want their task written into the text, others as ``taskType``; each ignores
        # what the other takes, at a great loss of quality.
        self._task_in_text = model.startswith("gemini-embedding-2")
        self._form = _TEXT_FORM if self._task_in_text else ("", "")
        super().__init__(context, endpoint, model, prefixes=self._form)
        self._own_dims = _LONGEST if model.startswith("gemini-embedding-") else None
        if self.dims is not None and self._own_dims and not _SHORTEST <= self.dims <= _LONGEST:
            raise ProviderError(
                f"gemini: {model} has no vectors of {self.dims} dimensions",
                provider="gemini",
                kind="bad_request",
                hint=f"set outputDimensionality to 768, 1536 or {_LONGEST}, or remove it",
            )
        longest = max(map(len, self.prefixes.values()))
        read = 8192 if self._task_in_text else 2048  # tokens of a text: the rest is dropped
        self.limits = Limits(items=_REQUESTS, bytes=_BYTES, item_tokens=max(1, read - longest))

    def fingerprint(self) -> str:
        """``gemini:model/dims:form``, with the endpoint if it is not Google's own."""
        place = "" if self.endpoint.host == HOST else f"@{self.endpoint.origin}"
        query, document = self.prefixes.values()
        form = "text" if self._task_in_text else "task"
        if (query, document) != self._form:
            form += f" {query!r} {document!r}"
        dims = self.dims or self._own_dims or ""
        return f"gemini{place}:{self.model}/{dims}:{form}{self.routing()}"

    def request(self, texts: Sequence[str], purpose: Purpose) -> tuple[str, object]:
        """One call for a query, one for up to a hundred documents."""
        requests = [self.one_request(text, purpose) for text in texts]
        if purpose == "query" and len(texts) == 1:
            return f"models/{self.model}:embedContent", requests[0]
        return f"models/{self.model}:batchEmbedContents", {"requests": requests}

    def one_request(self, text: str, purpose: Purpose) -> dict[str, Any]:
        """One ``EmbedContentRequest``: never more than one part, which would be fused into one."""
        content = {"parts": [{"text": self.prefixes[purpose] + text}]}
        request: dict[str, Any] = {"model": f"models/{self.model}", "content": content}
        if not self._task_in_text:
            request["taskType"] = _TASKS[purpose]
        if self.dims is not None:
            request["outputDimensionality"] = self.dims
        return request

    def check(self, client: RemoteClient, answer: Answer) -> None:
        """Raise for an error with status 200."""
        status = status_in(answer.body)
        if status is not None:
            raise client.error_from(status, answer.headers, answer.body)

    def read(self, body: Any, count: int, purpose: Purpose) -> list[Sequence[float]]:
        """The vectors of either call."""
        held = body if isinstance(body, dict) else {}
        single = purpose == "query" and count == 1
        embeddings = [held.get("embedding")] if single else held.get("embeddings")
        if not isinstance(embeddings, list) or not all(isinstance(e, dict) for e in embeddings):
            raise ValueError("the answer holds no embeddings")
        return [numbers_of(embedding.get("values")) for embedding in embeddings]

    def credentials(self, key: str) -> dict[str, str]:
        """Google's own header, unless the key is an access token."""
        if key.startswith(_ACCESS_TOKEN):
            return super().credentials(key)
        return {"x-goog-api-key": key}

    def explain(self, status: int, headers: Mapping[str, str], body: Any) -> ErrorInfo | None:  # noqa: ARG002
        """Reads Google's error details."""
        from commonplace.plugin import ErrorInfo, message_of

        error = error_in(body)
        if error is None:
            return None
        message = message_of(error)
        details = [one for one in list_of(error.get("details")) if isinstance(one, dict)]
        kind = kind_of(status, error, message, details)
        if kind == "rate_limit" and is_for_today(details):
            hint = "the day's quota is used up: wait until tomorrow, or choose another provider"
            return ErrorInfo("quota", message, hint=hint)
        if error.get("status") == "FAILED_PRECONDITION":
            hint = "check that Gemini is offered in your region, and the billing"
            return ErrorInfo(kind, message, hint=hint)
        return ErrorInfo(kind, message, delay_in(details))

    def batches(self) -> BatchJobs:
        """Jobs by ``asyncBatchEmbedContent``."""
        from commonplace_gemini.batch import GeminiBatches

        return GeminiBatches(
            self.client,
            model=self.model,
            make_request=lambda text: self.one_request(text, "document"),
            dims=self.dims,
            is_google=self.endpoint.host == HOST,
        )


_SIGNS = {ord(sign): "a" for sign in "-._"}


def _bare(written: str) -> str:
    name = written.strip()
    head, slash, rest = name.partition("/")
    while slash and head in ("models", "gemini", "google"):
        name = rest
        head, slash, rest = name.partition("/")
    return name


def _endpoint(base_url: str | None) -> Endpoint:
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
