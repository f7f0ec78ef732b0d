"""Embeddings by ``POST {base}/embeddings``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from attrs import evolve

from commonplace.plugin import Connection, Endpoint, Limits, ProviderError, read_vectors
from commonplace_openai.growing import GrowingLimit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.plugin import (
        Answer,
        BatchJobs,
        Deadline,
        ErrorInfo,
        ProviderContext,
        RemoteClient,
    )

__all__ = ["OpenAIProvider"]

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

Purpose = Literal["query", "document"]


class OpenAIProvider:
    """OpenAI, or with a base URL any server that speaks its form.

    ``env`` is looked at for ``OPENAI_BASE_URL`` alone. Raises
    :class:`~commonplace.errors.ProviderError` for a base URL that is none, and for vectors longer
    than OpenAI's model can give.
    """

    capabilities = frozenset({"batches"})

    def __init__(self, context: ProviderContext, *, env: Mapping[str, str]) -> None:
        base = context.base_url or env.get("OPENAI_BASE_URL", "").strip() or _BASE
        self._endpoint = Endpoint("openai", base, drop=("/embeddings",))
        host = self._endpoint.host
        self._is_openai = host == "api.openai.com" or host.endswith(".api.openai.com")
        if self._is_openai and not self._endpoint.path:
            self._endpoint = Endpoint("openai", base, root="/v1")
        model = context.model.strip() or _MODEL
        # Elsewhere it belongs to the name: OpenRouter's models are called so.
        self.model = model.removeprefix("openai/") if self._is_openai else model
        self._context = context
        self._check_dims()
        self._prefixes = context.prefixes()
        both = context.options.get("input_type")
        self._input_types = {
            "query": context.options.get("query_input_type") or both,
            "document": context.options.get("document_input_type") or both,
        }
        self._growing = GrowingLimit(_TEI_ITEMS, _ITEMS)
        self._encoding: str | None = "base64"
        self.client = Connection(
            "openai",
            self._endpoint,
            context,
            explain=_explain,
            instead=("authorization", "api-key", "x-api-key"),
            wanted=_NO_KEY if self._is_openai else "",
        )

    @property
    def limits(self) -> Limits:
        """OpenAI's own; elsewhere few texts at first, and more while the server takes them."""
        if self._is_openai:
            return Limits(items=_ITEMS, tokens=300_000, item_tokens=8191)
        learnt = Limits(items=self._growing.texts, bytes=_TEI_BYTES, item_tokens=8192)
        if self._endpoint.is_local:  # it may have to load its model first, and have no GPU
            return evolve(learnt, query_seconds=60.0, request_seconds=600.0)
        return learnt

    @property
    def concurrency(self) -> int:
        """Few for a server of one's own, which computes no faster for more."""
        return 2 if self._endpoint.is_local else 4

    def fingerprint(self) -> str:
        """Model, endpoint if it is not OpenAI's own, and whatever is added to texts."""
        parts = ["openai", repr(self.model)]
        if self._endpoint.origin != _BASE:
            parts.append(self._endpoint.origin)
        if self._context.dims is not None:
            parts.append(f"dims={self._context.dims}")
        for purpose in ("query", "document"):
            if self._prefixes[purpose]:
                parts.append(f"{purpose}={self._prefixes[purpose]!r}")
            if self._input_types[purpose]:
                parts.append(f"{purpose}_type={self._input_types[purpose]!r}")
        return " ".join(parts)

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose, deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        """One request; a second one where the server does not know base64."""
        client = self.client()
        encoding = self._encoding
        try:
            answer = client.post("embeddings", self.body(texts, purpose), deadline=deadline)
            vectors = self._read(client, answer, len(texts))
        except ProviderError as error:
            from commonplace_openai.complaints import is_of_count, is_of_encoding

            if error.kind == "bad_request" and encoding and is_of_encoding(str(error)):
                self._encoding = None
                return self.embed(texts, purpose=purpose, deadline=deadline)
            if error.kind == "too_large" and len(texts) > 1 and is_of_count(str(error)):
                self._growing.refused(len(texts))
            raise
        self._growing.succeeded(len(texts))
        return vectors

    def body(self, texts: Sequence[str], purpose: Purpose) -> dict[str, Any]:
        """What is sent for ``texts``."""
        prefix = self._prefixes[purpose]
        body: dict[str, Any] = {"model": self.model, "input": [prefix + text for text in texts]}
        if self._encoding:
            body["encoding_format"] = self._encoding
        if self._context.dims is not None:
            body["dimensions"] = self._context.dims
        if self._input_types[purpose]:
            body["input_type"] = self._input_types[purpose]
        return body

    def batches(self) -> BatchJobs:
        """Jobs by ``/files`` and ``/batches``, which few of the other servers have."""
        from commonplace_openai.batch import openai_batches

        return openai_batches(
            self.client,
            body=lambda texts: self.body(texts, "document"),
            dims=self._context.dims,
        )

    def close(self) -> None:
        """Close connections; closing twice is fine."""
        self.client.close()

    def _read(self, client: RemoteClient, answer: Answer, count: int) -> list[Sequence[float]]:
        from commonplace.plugin import vectors_of
        from commonplace_openai.complaints import hides_error

        if hides_error(answer.body):
            raise client.error_from(200, answer.headers, answer.body)
        if isinstance(answer.body, list):
            raise client.error(
                "protocol",
                "it answered in llama.cpp's own form",
                hint="add /v1 to remote.baseUrl",
            )
        return read_vectors(
            client,
            answer,
            lambda body: vectors_of(body, count),
            dims=self._context.dims,
            hint="remove outputDimensionality: this server or model cannot shorten vectors",
        )

    def _check_dims(self) -> None:
        dims = self._context.dims
        if dims is None or not self._is_openai:
            return
        longest = _LONGEST.get(self.model)
        if self.model == "text-embedding-ada-002" or (longest is not None and dims > longest):
            what = f"has at most {longest} dimensions" if longest else "cannot shorten its vectors"
            raise ProviderError(
                f"openai: {self.model} {what}, and {dims} were asked for",
                provider="openai",
                kind="bad_request",
                hint="remove outputDimensionality, or choose another model",
            )


def _explain(status: int, headers: Mapping[str, str], body: Any) -> ErrorInfo:
    from commonplace_openai.complaints import explain

    return explain(status, headers, body)
