"""Embeddings by Mistral's ``POST /v1/embeddings``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from commonplace.plugin import Connection, Endpoint, Limits, ProviderError, read_vectors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.plugin import Deadline, ErrorInfo, ProviderContext

__all__ = ["MistralProvider"]

_BASE = "https://api.mistral.ai/v1"
_MODEL = "mistral-embed"
_NO_KEY = "set MISTRAL_API_KEY, or remote.apiKey, or models.providers.mistral.apiKey"
_FIXED = 1024
_LONGEST = 3072
_TOO_LARGE = re.compile(r"(?i)too (?:many|large|long)|exceed|split into more batches|max\w* \w*")


class MistralProvider:
    """Mistral. ``output_dimension`` goes to models other than ``mistral-embed``, which has 1024.

    Raises :class:`~commonplace.errors.ProviderError` for a base URL that is none, and for
    dimensions that the model does not have.
    """

    # The free tier bears about one request a second.
    capabilities: frozenset[str] = frozenset()
    concurrency = 1

    def __init__(self, context: ProviderContext) -> None:
        base = (context.base_url or "").strip() or _BASE
        self._endpoint = Endpoint("mistral", base, drop=("/embeddings",), root="/v1")
        self.model = context.model.strip().removeprefix("mistral/") or _MODEL
        self._context = context
        self._check_dims()
        self._prefixes = context.prefixes()
        self.client = Connection(
            "mistral",
            self._endpoint,
            context,
            explain=_explain,
            wanted=_NO_KEY if self._endpoint.origin == _BASE else "",
        )

    @property
    def limits(self) -> Limits:
        """256 texts are taken, 257 refused; about 16 K tokens in all."""
        return Limits(items=256, tokens=16_000, item_tokens=8192)

    def fingerprint(self) -> str:
        """Model, endpoint if it is not Mistral's own, and whatever is added to texts."""
        parts = ["mistral", repr(self.model)]
        if self._endpoint.origin != _BASE:
            parts.append(self._endpoint.origin)
        if self._context.dims is not None:
            parts.append(f"dims={self._context.dims}")
        parts += [f"{name}={prefix!r}" for name, prefix in self._prefixes.items() if prefix]
        return " ".join(parts)

    def embed(
        self,
        texts: Sequence[str],
        *,
        purpose: Literal["query", "document"],
        deadline: Deadline,
    ) -> Sequence[Sequence[float]]:
        """One request."""
        from commonplace.plugin import vectors_of

        client = self.client()
        answer = client.post("embeddings", self.body(texts, purpose), deadline=deadline)
        body = answer.body
        if isinstance(body, dict) and not body.get("data") and body.get("object") == "error":
            raise client.error_from(_hidden_status(body), answer.headers, body)
        return read_vectors(
            client,
            answer,
            lambda body: vectors_of(body, len(texts)),
            dims=self._context.dims,
            hint="remove outputDimensionality: this model cannot shorten vectors",
        )

    def body(self, texts: Sequence[str], purpose: Literal["query", "document"]) -> dict[str, Any]:
        """What is sent for ``texts``."""
        prefix = self._prefixes[purpose]
        body: dict[str, Any] = {"model": self.model, "input": [prefix + text for text in texts]}
        if self._context.dims is not None and self.model != _MODEL:
            body["output_dimension"] = self._context.dims
        return body

    def close(self) -> None:
        """Close connections; closing twice is fine."""
        self.client.close()

    def _check_dims(self) -> None:
        dims = self._context.dims
        if dims is None or (dims == _FIXED if self.model == _MODEL else dims <= _LONGEST):
            return
        has = f"always has {_FIXED}" if self.model == _MODEL else f"has at most {_LONGEST}"
        raise ProviderError(
            f"mistral: {self.model} {has} dimensions, and {dims} were asked for",
            provider="mistral",
            kind="bad_request",
            hint="remove outputDimensionality, or choose codestral-embed with up to 3072",
        )


def _explain(status: int, _headers: Mapping[str, str], body: Any) -> ErrorInfo:
    from commonplace.plugin import ErrorInfo, kind_of_status, message_of

    message = message_of(body)
    if status in (400, 413, 422) and _TOO_LARGE.search(message):
        return ErrorInfo("too_large", message)
    if status == 400 and "invalid model" in message.lower():
        return ErrorInfo("not_found", message)
    return ErrorInfo(kind_of_status(status), message)


def _hidden_status(body: dict[str, Any]) -> int:
    status = body.get("raw_status_code")
    return status if isinstance(status, int) and 400 <= status < 600 else 502
