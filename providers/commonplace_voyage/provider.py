"""The provider ``voyage``: one request at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from commonplace.plugin import Connection, Endpoint, Limits, read_vectors
from commonplace_voyage.models import Model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.plugin import BatchJobs, Deadline, ErrorInfo, ProviderContext

__all__ = ["VoyageProvider"]

_HOST = "api.voyageai.com"
_ATLAS_HOST = "ai.mongodb.com"
_ATLAS_KEY = "al-"
_TEXTS = 1000
_PROMPT = 32  # tokens, more than enough for what the server puts before a text by its type


class VoyageProvider:
    """Voyage's embedding models.

    ``truncation`` is always off: a text too long is refused, cut and reported by the host, where
    the server would drop its end without a word.

    Raises :class:`~commonplace.errors.ProviderError` for a base URL or a length of vectors that
    cannot work.
    """

    capabilities = frozenset({"batches"})
    concurrency = 8

    def __init__(self, context: ProviderContext) -> None:
        host = _ATLAS_HOST if (context.api_key or "").startswith(_ATLAS_KEY) else _HOST
        url = (context.base_url or "").strip() or f"https://{host}/v1"
        self._context = context
        self._endpoint = Endpoint("voyage", url, drop=("/embeddings",), root="/v1")
        self._model = Model(context.model, context.dims)
        self._prefixes = context.prefixes()
        longest = max(map(len, self._prefixes.values()))
        self.model = self._model.name
        self.limits = Limits(
            items=_TEXTS,
            tokens=self._model.tokens,
            item_tokens=max(1, self._model.item_tokens - _PROMPT - longest),
        )
        self.client = Connection("voyage", self._endpoint, context, explain=_explain)

    def fingerprint(self) -> str:
        """``voyage:space/dims/float:types``, with the endpoint if it is not the vendor's own.

        The space is that of a series, so an index made with ``voyage-4-large`` may be asked by
        ``voyage-4-lite``.
        """
        foreign = self._endpoint.host not in (_HOST, _ATLAS_HOST)
        place = f"@{self._endpoint.origin}" if foreign else ""
        query, document = self._prefixes.values()
        prefixes = f" {query!r} {document!r}" if query or document else ""
        return f"voyage{place}:{self._model.space}/{self._model.dims or ''}/float:types{prefixes}"

    def embed(
        self, texts: Sequence[str], *, purpose: Literal["query", "document"], deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        """One vector a text. Raises :class:`~commonplace.errors.ProviderError`."""
        from commonplace.plugin import vectors_of
        from commonplace_voyage.complaints import is_error

        client = self.client()
        prefix = self._prefixes[purpose]
        body = {"input": [prefix + text for text in texts], **self.parameters(purpose)}
        # A third of the size of numbers written out, and quicker to read.
        body["encoding_format"] = "base64"
        answer = client.post("embeddings", body, deadline=deadline)
        if is_error(answer.body):
            raise client.error_from(502, answer.headers, answer.body)
        return read_vectors(
            client,
            answer,
            lambda body: vectors_of(body, len(texts)),
            dims=self._model.sent,
            hint="remove outputDimensionality, or check that remote.baseUrl serves this model",
        )

    def parameters(self, purpose: Literal["query", "document"]) -> dict[str, Any]:
        """What a request says besides its texts."""
        said: dict[str, Any] = {
            "model": self._model.name,
            "input_type": purpose,
            "truncation": False,
        }
        if self._model.sent is not None:
            said["output_dimension"] = self._model.sent
        return said

    def batches(self) -> BatchJobs:
        """Jobs by ``/files`` and ``/batches``."""
        from commonplace_voyage.batch import voyage_batches

        return voyage_batches(
            self.client,
            parameters=self.parameters("document"),
            prefix=self._prefixes["document"],
            dims=self._model.sent,
        )

    def close(self) -> None:
        """Close connections; closing twice is fine."""
        self.client.close()


def _explain(status: int, headers: Mapping[str, str], body: Any) -> ErrorInfo | None:
    from commonplace_voyage.complaints import explain

    return explain(status, headers, body)
