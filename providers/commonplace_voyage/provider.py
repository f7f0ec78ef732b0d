"""The provider ``voyage``: Voyage AI's models, with jobs for large numbers of documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from commonplace.plugin import Endpoint, HttpProvider, Limits, ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.plugin import Answer, BatchJobs, ErrorInfo, ProviderContext, RemoteClient


_HOST = "api.voyageai.com"
_ATLAS_HOST = "ai.mongodb.com"
_ATLAS_KEY = "al-"
_TEXTS = 1000
_PROMPT = 32  # tokens, more than enough for what the server puts before a text by its type

_DEFAULT_MODEL = "voyage-4-large"
_DIMS = 1024
_OFFERED = (256, 512, 1024, 2048)
_FIXED = ("voyage-finance-2", "voyage-law-2")
_FLEXIBLE = ("voyage-4", "voyage-3-large", "voyage-3.5", "voyage-code-3")
_TOKENS = {
    "voyage-4": 320_000,
    "voyage-3.5": 320_000,
    "voyage-2": 320_000,
    "voyage-4-lite": 1_000_000,
    "voyage-3.5-lite": 1_000_000,
}
_SHORT_CONTEXT = ("voyage-law-2", "voyage-code-2")

# The vendor tells these apart by words alone.
_TOO_LARGE = r"""(?ix)
    \b tokens? \b .{0,80} \b (?: batch | context | exceed\w* | limit | lower | max\w* )
    | \b (?: exceed\w* | limit | max\w* | many ) \b .{0,80} \b tokens? \b
    | batch \ size | too \ (?: large | long | many ) | (?: list | input ) .{0,40} \b length
    """
_NO_SUCH_MODEL = r"(?i)\bmodel\b.{0,80}\bis not (?:supported|available|valid)"
_UNPAID = r"(?i)payment method"
# Without a payment method an account has three requests a minute.
_UNPAID_PAUSE = 20.0


class VoyageProvider(HttpProvider):
    """Voyage's embedding models.

    ``truncation`` is always off: a text too long is refused, cut and reported by the host, where
    the server would silently drop its end.

    Raises :class:`~commonplace.errors.ProviderError` for a base URL or a length of vectors that
    cannot work.
    """

    name = "voyage"
    capabilities = frozenset({"batches", "remote"})
    concurrency = 8

    def __init__(self, context: ProviderContext) -> None:
        host = _ATLAS_HOST if (context.api_key or "").startswith(_ATLAS_KEY) else _HOST
        url = (context.base_url or "").strip() or f"https://{host}/v1"
        endpoint = Endpoint("voyage", url, drop=("/embeddings",), root="/v1")
        written = context.model.strip()
        model = written.removeprefix("voyage/").removeprefix("voyageai/") or _DEFAULT_MODEL
        super().__init__(context, endpoint, model)
        flexible = any(model == known or model.startswith(f"{known}-") for known in _FLEXIBLE)
        offered = _OFFERED if flexible else (_DIMS,) if model in _FIXED else ()
        if self.dims is not None and offered and self.dims not in offered:
            raise ProviderError(
                f"voyage: {model} has no vectors of {self.dims} dimensions",
                provider="voyage",
                kind="bad_request",
                hint=f"set outputDimensionality to one of {', '.join(map(str, offered))},"
                " or remove it",
            )
        # What vectors are comparable in: all of series 4 share one space.
        series = "voyage-4" if model == "voyage-4" or model.startswith("voyage-4-") else model
        self._space = f"{series}/{self.dims or (_DIMS if offered else '')}"
        if model in _FIXED:  # which refuse to be asked for a length
            self.dims = None
        longest = max(map(len, self.prefixes.values()))
        most = 16_000 if model in _SHORT_CONTEXT else 32_000
        self.limits = Limits(
            items=_TEXTS,
            tokens=_TOKENS.get(model, 120_000),
            item_tokens=max(1, most - _PROMPT - longest),
        )

    def fingerprint(self) -> str:
        """``voyage:space/dims/float:types``, with the endpoint if it is not the vendor's own.

        The space is that of a series, so an index made with ``voyage-4-large`` may be asked by
        ``voyage-4-lite``.
        """
        foreign = self.endpoint.host not in (_HOST, _ATLAS_HOST)
        place = f"@{self.endpoint.origin}" if foreign else ""
        query, document = self.prefixes.values()
        prefixes = f" {query!r} {document!r}" if query or document else ""
        return f"voyage{place}:{self._space}/float:types{prefixes}{self.routing()}"

    def body(self, texts: Sequence[str], purpose: Literal["query", "document"]) -> dict[str, Any]:
        """The request's JSON; base64 has a third of the size of numbers, and is quicker to read."""
        prefix = self.prefixes[purpose]
        return {
            "input": [prefix + text for text in texts],
            **self.parameters(purpose),
            "encoding_format": "base64",
        }

    def parameters(self, purpose: Literal["query", "document"]) -> dict[str, Any]:
        """The fields of a request besides its texts."""
        fields: dict[str, Any] = {"model": self.model, "input_type": purpose, "truncation": False}
        if self.dims is not None:
            fields["output_dimension"] = self.dims
        return fields

    def check(self, client: RemoteClient, answer: Answer) -> None:
        """An error with status 200 counts as a proxy's 502."""
        from commonplace.plugin import message_of

        body = answer.body
        if isinstance(body, dict) and not body.get("data") and message_of(body):
            raise client.error_from(502, answer.headers, body)

    def explain(self, status: int, headers: Mapping[str, str], body: Any) -> ErrorInfo | None:
        """Tells errors apart by their messages."""
        from commonplace.plugin import ErrorInfo, message_of

        message = message_of(body)
        if status == 400 and re.search(_NO_SUCH_MODEL, message):
            return ErrorInfo("not_found", message)
        if status == 400 and re.search(_TOO_LARGE, message):
            return ErrorInfo("too_large", message)
        if status == 403:
            hint = "check that the key may be used from this network address"
            return ErrorInfo("auth", message, hint=hint)
        if status == 429 and re.search(_UNPAID, message):
            pause = None if "retry-after" in headers else _UNPAID_PAUSE
            return ErrorInfo("rate_limit", message, pause, "add a payment method to the account")
        return None

    def batches(self) -> BatchJobs:
        """Jobs by ``/files`` and ``/batches``: a third off the price, done within half a day."""
        from commonplace.plugin import FileBatches

        prefix = self.prefixes["document"]
        return FileBatches(
            self.client,
            line=lambda id_, text: {"custom_id": id_, "body": {"input": [prefix + text]}},
            wanted={
                "endpoint": "/v1/embeddings",
                "completion_window": "12h",
                "request_params": self.parameters("document"),
            },
            dims=self.dims,
        )
