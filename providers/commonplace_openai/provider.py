"""Embeddings by ``POST {base}/embeddings``, of OpenAI and of the servers that imitate it."""

from __future__ import annotations

import re
from threading import Lock
from typing import TYPE_CHECKING, Any

from attrs import evolve

from commonplace.plugin import Endpoint, HttpProvider, Limits, ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.plugin import (
        Answer,
        BatchJobs,
        Deadline,
        ErrorInfo,
        ProviderContext,
        ProviderErrorKind,
        Purpose,
        RemoteClient,
    )


_BASE = "https://api.openai.com/v1"
_MODEL = "text-embedding-3-small"
_LONGEST = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072}
_ITEMS = 2048
_TEI_ITEMS = 32  # the smallest default of any server that is known
_TEI_BYTES = 1_500_000  # 2 MB of body, less what JSON adds
_NO_KEY = (
    "set OPENAI_API_KEY, or remote.apiKey, or models.providers.openai.apiKey"
    " (a ChatGPT or Codex sign-in is none)"
)
_BATCH_URL = "/v1/embeddings"

_NO_MONEY = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_TOO_LARGE_CODES = ("max_tokens_per_request", "context_length_exceeded", "string_above_max_length")
_STATUS_OF = {"invalid_api_key": 401, "rate_limit_exceeded": 429, "invalid_request_error": 400}
_TOO_LARGE = r"""(?ix)
    too\ (?: large | long | many )
    | \bmax (?:imum)? [ _] (?: context | sequence | input | allowed | batch | tokens | length
                               | model | number | client )
    | context \ (?: length | size | window ) | exceed\w* \ .{0,40} context
    | batch \ size
    | split \ .{0,20} batches
    """
# A server's own failure may name batches and limits too: these words are of the input alone.
_TOO_LARGE_500 = r"(?i)too (?:large|long|many)|batch size|context (?:length|size)"
_TOO_MANY = r"""(?ix)
    array \ too \ long | too \ many \ (?: inputs | items | texts )
    | (?<! physical \ ) (?<! current \ ) batch \ size
    | split \ .{0,20} batches | max \w* \ (?: number \ of \ )? (?: inputs | items | texts )
    """


class OpenAIProvider(HttpProvider):
    """OpenAI, or with a base URL any server with the same API.

    Raises :class:`~commonplace.errors.ProviderError` for an invalid base URL, and for vectors
    longer than OpenAI's model can give.
    """

    name = "openai"
    home = (_BASE,)
    capabilities = frozenset({"batches", "remote"})
    instead = ("authorization", "api-key", "x-api-key")
    dims_hint = "remove outputDimensionality: this server or model cannot shorten vectors"

    def __init__(self, context: ProviderContext) -> None:
        base = (context.base_url or "").strip() or _BASE
        endpoint = Endpoint("openai", base, drop=("/embeddings",))
        host = endpoint.host
        self._is_openai = host == "api.openai.com" or host.endswith(".api.openai.com")
        if self._is_openai and not endpoint.path:
            endpoint = Endpoint("openai", base, root="/v1")
        model = context.model.strip() or _MODEL
        if self._is_openai:  # elsewhere it belongs to the name: OpenRouter's models are called so
            model = model.removeprefix("openai/")
        super().__init__(context, endpoint, model, wanted=_NO_KEY if self._is_openai else "")
        self._check_dims()
        options = context.options
        self.input_types = {
            purpose: options.get(f"{purpose}_input_type") or options.get("input_type")
            for purpose in ("query", "document")
        }
        self._growing = GrowingLimit(_TEI_ITEMS, _ITEMS)
        self._encoding: str | None = "base64"

    @property
    def limits(self) -> Limits:
        """OpenAI's own; elsewhere few texts at first, and more while the server takes them."""
        if self._is_openai:
            return Limits(items=_ITEMS, tokens=300_000, item_tokens=8191)
        learnt = Limits(items=self._growing.texts, bytes=_TEI_BYTES, item_tokens=8192)
        if self.endpoint.is_local:  # it may have to load its model first, and have no GPU
            return evolve(learnt, query_seconds=60.0, request_seconds=600.0)
        return learnt

    @property
    def concurrency(self) -> int:
        """Few for a server of one's own, which computes no faster for more."""
        return 2 if self.endpoint.is_local else 4

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose, deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        """One request; a second one where the server does not know base64."""
        encoding = self._encoding
        try:
            vectors = super().embed(texts, purpose=purpose, deadline=deadline)
        except ProviderError as error:
            words = str(error)
            of_encoding = "encoding_format" in words or "base64" in words.lower()
            if error.kind == "bad_request" and encoding and of_encoding:
                self._encoding = None
                return self.embed(texts, purpose=purpose, deadline=deadline)
            if error.kind == "too_large" and len(texts) > 1 and re.search(_TOO_MANY, words):
                self._growing.refused(len(texts))
            raise
        self._growing.succeeded(len(texts))
        return vectors

    def body(self, texts: Sequence[str], purpose: Purpose) -> dict[str, Any]:
        """The request's JSON, for vectors as base64 unless the server refused that."""
        body = super().body(texts, purpose)
        if self._encoding:
            body["encoding_format"] = self._encoding
        return body

    def check(self, client: RemoteClient, answer: Answer) -> None:
        """Raise for an error with status 200, and for llama.cpp's own form."""
        body = answer.body
        if isinstance(body, dict) and not body.get("data"):
            if body.get("error") or body.get("object") == "error":
                raise client.error_from(200, answer.headers, body)
        elif isinstance(body, list):
            raise client.error(
                "protocol", "it answered in llama.cpp's own form", hint="add /v1 to remote.baseUrl"
            )

    def explain(self, status: int, headers: Mapping[str, str], body: Any) -> ErrorInfo:  # noqa: ARG002
        """What an error answer means; with status 200, what one means that hides an error."""
        from commonplace.plugin import ErrorInfo, message_of

        message = message_of(body)
        words = _words(body)
        kind = _kind(_hidden_status(body, words) if status < 300 else status, words, message)
        return ErrorInfo(kind, message, hint=_hint(kind, status, message))

    def batches(self) -> BatchJobs:
        """Jobs by ``/files`` and ``/batches``, which few other servers have.

        Half the price, done within a day.
        """
        from commonplace.plugin import FileBatches

        def line(id_: str, text: str) -> dict[str, Any]:
            body = self.body([text], "document")
            body["input"] = body["input"][0]
            return {"custom_id": id_, "method": "POST", "url": _BATCH_URL, "body": body}

        wanted = {"endpoint": _BATCH_URL, "completion_window": "24h"}
        return FileBatches(self.client, line=line, wanted=wanted, dims=self.dims)

    def _check_dims(self) -> None:
        if self.dims is None or not self._is_openai:
            return
        longest = _LONGEST.get(self.model)
        fixed = self.model == "text-embedding-ada-002"
        if fixed or (longest is not None and self.dims > longest):
            what = f"has at most {longest} dimensions" if longest else "cannot shorten its vectors"
            raise ProviderError(
                f"openai: {self.model} {what}, and {self.dims} were asked for",
                provider="openai",
                kind="bad_request",
                hint="remove outputDimensionality, or choose another model",
            )


class GrowingLimit:
    """How many texts an unknown server takes in one request.

    Starts at ``start`` and doubles with each full request that succeeds, up to ``most``. Once a
    number of texts was refused, half as many are the most from then on.
    """

    def __init__(self, start: int, most: int) -> None:
        self._limit = start
        self._most = most
        self._lock = Lock()

    @property
    def texts(self) -> int:
        """The most texts that the next request may hold."""
        return self._limit

    def succeeded(self, texts: int) -> None:
        """A request of ``texts`` was answered."""
        with self._lock:
            if texts >= self._limit:
                self._limit = min(2 * texts, self._most)

    def refused(self, texts: int) -> None:
        """A request of ``texts`` was refused because they are too many."""
        with self._lock:
            self._most = self._limit = max(1, min(self._limit, texts // 2))


def _kind(status: int, words: frozenset[str], message: str) -> ProviderErrorKind:
    from commonplace.plugin import kind_of_status

    if words.intersection(_NO_MONEY):
        return "quota"
    if words.intersection(_TOO_LARGE_CODES) or _is_too_large(status, message):
        return "too_large"
    if "model_not_found" in words:
        return "not_found"
    return kind_of_status(status)


def _hidden_status(body: Any, words: frozenset[str]) -> int:
    """The status that the body states; without one, an upstream's failure."""
    error = body.get("error")
    inner = error if isinstance(error, dict) else body
    for name in ("code", "status", "status_code"):
        value = str(inner.get(name))
        if value.isascii() and value.isdigit() and 400 <= int(value) < 600:
            return int(value)
    return next((status for word, status in _STATUS_OF.items() if word in words), 502)


def _is_too_large(status: int, message: str) -> bool:
    if status in (400, 413, 422):
        return status == 413 or re.search(_TOO_LARGE, message) is not None
    if status == 500:
        return re.search(_TOO_LARGE_500, message) is not None
    # More tokens at once than the account may send in a minute: waiting does not help.
    return status == 429 and message.lower().startswith("request too large")


def _hint(kind: ProviderErrorKind, status: int, message: str) -> str:
    if kind == "auth" and status == 403:
        return "check that the key's project and country may use this model"
    if kind == "bad_request" and "dimension" in message.lower():
        return "remove outputDimensionality, or choose a model whose vectors can be shortened"
    if kind == "bad_request" and "input_type" in message:
        return "remove inputType, queryInputType and documentInputType"
    return ""


def _words(body: Any) -> frozenset[str]:
    inner = body.get("error") if isinstance(body, dict) else None
    inner = inner if isinstance(inner, dict) else body
    if not isinstance(inner, dict):
        return frozenset()
    return frozenset(v for name in ("code", "type") if isinstance(v := inner.get(name), str))
