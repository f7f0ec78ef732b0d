"""Embeddings by Mistral's ``POST /v1/embeddings``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from commonplace.plugin import Endpoint, HttpProvider, Limits, ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.plugin import Answer, ErrorInfo, ProviderContext, Purpose, RemoteClient


_BASE = "https://api.mistral.ai/v1"
_MODEL = "mistral-embed"
_NO_KEY = "set MISTRAL_API_KEY, or remote.apiKey, or models.providers.mistral.apiKey"
_FIXED = 1024
_LONGEST = 3072
_TOO_LARGE = r"(?i)too (?:many|large|long)|exceed|split into more batches|max\w* \w*"


class MistralProvider(HttpProvider):
    """Mistral. ``output_dimension`` goes to models other than ``mistral-embed``, which has 1024.

    Raises :class:`~commonplace.errors.ProviderError` for an invalid base URL, and for dimensions
    that the model does not have.
    """

    name = "mistral"
    home = (_BASE,)
    concurrency = 1  # the free tier takes about one request a second
    limits = Limits(items=256, tokens=16_000, item_tokens=8192)
    dims_key = "output_dimension"
    dims_hint = "remove outputDimensionality: this model cannot shorten vectors"

    def __init__(self, context: ProviderContext) -> None:
        base = (context.base_url or "").strip() or _BASE
        endpoint = Endpoint("mistral", base, drop=("/embeddings",), root="/v1")
        model = context.model.strip().removeprefix("mistral/") or _MODEL
        wanted = _NO_KEY if endpoint.origin == _BASE else ""
        super().__init__(context, endpoint, model, wanted=wanted)
        dims, fixed = self.dims, model == _MODEL
        if dims is not None and not (dims == _FIXED if fixed else dims <= _LONGEST):
            has = f"always has {_FIXED}" if fixed else f"has at most {_LONGEST}"
            raise ProviderError(
                f"mistral: {model} {has} dimensions, and {dims} were asked for",
                provider="mistral",
                kind="bad_request",
                hint="remove outputDimensionality, or choose codestral-embed with up to 3072",
            )

    def body(self, texts: Sequence[str], purpose: Purpose) -> dict[str, Any]:
        """The request's JSON; ``mistral-embed`` refuses to be asked for a length."""
        body = super().body(texts, purpose)
        if self.model == _MODEL:
            body.pop(self.dims_key, None)
        return body

    def check(self, client: RemoteClient, answer: Answer) -> None:
        """An error with status 200 may hold its own as ``raw_status_code``."""
        body = answer.body
        if isinstance(body, dict) and not body.get("data") and body.get("object") == "error":
            status = body.get("raw_status_code")
            hidden = status if isinstance(status, int) and 400 <= status < 600 else 502
            raise client.error_from(hidden, answer.headers, body)

    def explain(self, status: int, headers: Mapping[str, str], body: Any) -> ErrorInfo | None:  # noqa: ARG002
        """Tells texts that are too large, and a wrong model, by their messages."""
        from commonplace.plugin import ErrorInfo, message_of

        message = message_of(body)
        if status in (400, 413, 422) and re.search(_TOO_LARGE, message):
            return ErrorInfo("too_large", message)
        if status == 400 and "invalid model" in message.lower():
            return ErrorInfo("not_found", message)
        return None
