"""Embeddings by Ollama's ``POST /api/embed``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.plugin import Endpoint, HttpProvider, Limits, numbers_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.plugin import Answer, ErrorInfo, ProviderContext, Purpose, RemoteClient


_BASE = "http://127.0.0.1:11434"
_MODEL = "nomic-embed-text"
_DROP = ("/api/embed", "/api/embeddings", "/v1/embeddings", "/api", "/v1")
_QWEN = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
_PASSAGES = "Represent this sentence for searching relevant passages: "
_CHINESE_PASSAGES = "为这个句子生成表示以用于检索相关文章："

# How a model's name begins, without publisher and tag, and the prompts of a query and of a
# document, which Ollama does not add; the first that fits.
_FAMILIES = (
    ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("qwen3-embedding", _QWEN, ""),
    ("mxbai-embed", _PASSAGES, ""),
    ("snowflake-arctic-embed2", "query: ", ""),
    ("snowflake-arctic-embed", _PASSAGES, ""),
    ("bge-m3", "", ""),
    ("bge-multilingual", "", ""),
    ("bge-small-zh", _CHINESE_PASSAGES, ""),
    ("bge-base-zh", _CHINESE_PASSAGES, ""),
    ("bge-large-zh", _CHINESE_PASSAGES, ""),
    ("bge-", _PASSAGES, ""),
    ("multilingual-e5", "query: ", "passage: "),
    ("e5-", "query: ", "passage: "),
)


class OllamaProvider(HttpProvider):
    """An Ollama server.

    Prompts are those of the model's family, unless the context has its own (``""`` for none).
    Texts that are too long are refused and not cut silently, so that the host knows. Its address
    may be written as in ``OLLAMA_HOST``, by which Ollama's own client finds its server.
    """

    name = "ollama"
    home = (_BASE, "http://localhost:11434", "http://[::1]:11434")
    concurrency = 1  # one model on one machine computes no faster for more
    # Ollama names none: few texts, and time to load the model and to compute without a GPU.
    limits = Limits(
        items=32, bytes=1_000_000, item_tokens=8192, query_seconds=60, request_seconds=600
    )
    dims_hint = "remove outputDimensionality, or update Ollama"

    def __init__(self, context: ProviderContext) -> None:
        base = _address(context.base_url or "") or _BASE
        model = context.model.strip().removeprefix("ollama/") or _MODEL
        endpoint = Endpoint("ollama", base, drop=_DROP)
        super().__init__(context, endpoint, model, prefixes=prompts_of(model))

    def fingerprint(self) -> str:
        """As for all, with ``model:latest`` called ``model``."""
        latest, plain = repr(self.model), repr(self.model.removesuffix(":latest"))
        return super().fingerprint().replace(latest, plain, 1)

    def request(self, texts: Sequence[str], purpose: Purpose) -> tuple[str, object]:
        """Asks for texts that are too long to be refused."""
        return "api/embed", {**self.body(texts, purpose), "truncate": False}

    def check(self, client: RemoteClient, answer: Answer) -> None:
        """Raise for an error with status 200, and for another kind of server."""
        body = answer.body if isinstance(answer.body, dict) else {}
        if body.get("error"):
            raise client.error_from(502, answer.headers, body)
        if not isinstance(body.get("embeddings"), list):
            raise client.error(
                "protocol",
                "the answer holds no embeddings",
                hint="check that remote.baseUrl is Ollama's; for other servers use `openai`",
            )

    def read(self, body: Any, *_: object) -> list[Sequence[float]]:
        """Plain lists of numbers."""
        return [numbers_of(embedding) for embedding in body["embeddings"]]

    def explain(self, status: int, headers: Mapping[str, str], body: Any) -> ErrorInfo | None:  # noqa: ARG002
        """Tells texts that are too long and a missing or wrong model by their messages."""
        from commonplace.plugin import ErrorInfo, message_of

        message = message_of(body)
        words = message.lower()
        if status < 500 and ("context length" in words or "too long" in words):
            return ErrorInfo("too_large", message)
        if "not found" in words and "model" in words:
            return ErrorInfo("not_found", message, hint=f"ollama pull {self.model}")
        if "does not support embed" in words:
            hint = "choose an embedding model, such as nomic-embed-text"
            return ErrorInfo("bad_request", message, hint=hint)
        return None


def prompts_of(model: str) -> tuple[str, str]:
    """The prompts of ``model``'s family, for a query and a document; empty for other families."""
    name = model.rpartition("/")[2].partition(":")[0].lower()
    return next((found[1:] for found in _FAMILIES if name.startswith(found[0])), ("", ""))


def _address(written: str) -> str:
    """``OLLAMA_HOST`` as a URL: it may lack scheme and port, and tell a server to listen to all."""
    host = written.strip().strip("\"'")
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
