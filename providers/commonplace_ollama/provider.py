"""Embeddings by Ollama's ``POST /api/embed``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from commonplace.plugin import Connection, Endpoint, Limits, read_vectors
from commonplace_ollama.prompts import prompts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.plugin import Deadline, ErrorInfo, ProviderContext

__all__ = ["OllamaProvider"]

_BASE = "http://127.0.0.1:11434"
_SAME = (_BASE, "http://localhost:11434", "http://[::1]:11434")
_MODEL = "nomic-embed-text"
_ITEMS = 32


class OllamaProvider:
    """An Ollama server.

    Prompts are those of the model's family, unless the context has its own (``""`` for none).
    Texts that are too long are refused and not cut in silence, so that the host knows. ``env`` is
    looked at for ``OLLAMA_HOST`` alone, in which Ollama's own client finds its server.
    """

    # One model on one machine computes no faster for more.
    capabilities: frozenset[str] = frozenset()
    concurrency = 1

    def __init__(self, context: ProviderContext, *, env: Mapping[str, str]) -> None:
        base = (context.base_url or "").strip() or _host_in(env) or _BASE
        drop = ("/api/embed", "/api/embeddings", "/v1/embeddings", "/api", "/v1")
        self._endpoint = Endpoint("ollama", base, drop=drop)
        self.model = context.model.strip().removeprefix("ollama/") or _MODEL
        self._context = context
        own = prompts_of(self.model)
        self._prefixes = context.prefixes(own.query, own.document)
        self.client = Connection("ollama", self._endpoint, context, explain=self._explain)

    @property
    def limits(self) -> Limits:
        """Ollama names none: few texts, and time to load the model and to do without a GPU."""
        return Limits(
            items=_ITEMS, bytes=1_000_000, item_tokens=8192, query_seconds=60, request_seconds=600
        )

    def fingerprint(self) -> str:
        """Model, endpoint if it is not Ollama's usual one, dimensions and prompts."""
        parts = ["ollama", repr(self.model.removesuffix(":latest"))]
        if self._endpoint.origin not in _SAME:
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
        from commonplace.plugin import numbers_of

        client = self.client()
        answer = client.post("api/embed", self.body(texts, purpose), deadline=deadline)
        body = answer.body if isinstance(answer.body, dict) else {}
        if body.get("error"):
            raise client.error_from(502, answer.headers, body)
        embeddings = body.get("embeddings")
        if not isinstance(embeddings, list):
            raise client.error(
                "protocol",
                "the answer holds no embeddings",
                hint="check that remote.baseUrl is Ollama's; for other servers use `openai`",
            )
        return read_vectors(
            client,
            answer,
            lambda _: [numbers_of(embedding) for embedding in embeddings],
            dims=self._context.dims,
            hint="remove outputDimensionality, or update Ollama",
        )

    def body(self, texts: Sequence[str], purpose: Literal["query", "document"]) -> dict[str, Any]:
        """What is sent for ``texts``."""
        prefix = self._prefixes[purpose]
        body: dict[str, Any] = {
            "model": self.model,
            "input": [prefix + text for text in texts],
            "truncate": False,
        }
        if self._context.dims is not None:
            body["dimensions"] = self._context.dims
        return body

    def close(self) -> None:
        """Close connections; closing twice is fine."""
        self.client.close()

    def _explain(self, status: int, _headers: Mapping[str, str], body: Any) -> ErrorInfo:
        from commonplace.plugin import ErrorInfo, kind_of_status, message_of

        message = message_of(body)
        words = message.lower()
        if status < 500 and ("context length" in words or "too long" in words):
            return ErrorInfo("too_large", message)
        if "not found" in words and "model" in words:
            return ErrorInfo("not_found", message, hint=f"ollama pull {self.model}")
        if "does not support embed" in words:
            hint = "choose an embedding model, such as nomic-embed-text"
            return ErrorInfo("bad_request", message, hint=hint)
        return ErrorInfo(kind_of_status(status), message)


def _host_in(env: Mapping[str, str]) -> str:
    """``OLLAMA_HOST`` as a URL: it may lack scheme and port, and tell a server to listen to all."""
    host = env.get("OLLAMA_HOST", "").strip().strip("\"'")
    if not host:
        return ""
    scheme, separator, rest = host.rpartition("://")
    place, slash, path = rest.partition("/")
    if not place or place.startswith(":"):
        place = f"127.0.0.1{place}"
    place = place.replace("0.0.0.0", "127.0.0.1")  # noqa: S104 - replaced, not bound to
    if not separator and ":" not in place.rpartition("]")[2]:
        place += ":11434"
    return f"{scheme or 'http'}://{place}{slash}{path}"
