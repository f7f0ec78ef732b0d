"""The provider ``gemini``: one request at a time, to Google's native calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from commonplace.plugin import Connection, Limits, read_vectors
from commonplace_gemini.models import Model
from commonplace_gemini.wire import HOST, Form, endpoint_of, vectors_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.plugin import BatchJobs, Deadline, ErrorInfo, ProviderContext

__all__ = ["GeminiProvider"]

_REQUESTS = 100  # of one batchEmbedContents
# Of 4 MiB that a body may have: in the worst case JSON writes six bytes for one.
_BYTES = 600_000
_ACCESS_TOKEN = "ya29."  # noqa: S105 - how Google's OAuth tokens begin, not one of them


class GeminiProvider:
    """Gemini's embedding models.

    A query goes to ``embedContent``, documents go to ``batchEmbedContents``. Shortened vectors of
    ``gemini-embedding-001`` come back with a length other than 1; the host normalises all.

    Raises :class:`~commonplace.errors.ProviderError` for a base URL, a model's name or a length
    of vectors that cannot work.
    """

    capabilities = frozenset({"batches"})
    concurrency = 8

    def __init__(self, context: ProviderContext) -> None:
        self._context = context
        self._endpoint = endpoint_of(context.base_url)
        self._model = Model(context.model)
        self._model.check(context.dims)
        self._form = Form(self._model, context)
        self.model = self._model.name
        self.limits = Limits(
            items=_REQUESTS,
            bytes=_BYTES,
            item_tokens=max(1, self._model.item_tokens - self._form.overhead),
        )
        self.client = Connection(
            "gemini",
            self._endpoint,
            context,
            explain=_explain,
            credentials=_credentials,
            instead=("x-goog-api-key",),
        )

    def fingerprint(self) -> str:
        """``gemini:model/dims:form``, with the endpoint if it is not Google's own."""
        place = "" if self._endpoint.host == HOST else f"@{self._endpoint.origin}"
        dims = self._context.dims or self._model.dims or ""
        return f"gemini{place}:{self._model.name}/{dims}:{self._form.name}"

    def embed(
        self, texts: Sequence[str], *, purpose: Literal["query", "document"], deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        """One vector a text. Raises :class:`~commonplace.errors.ProviderError`."""
        client = self.client()
        requests = [self._form.request(text, purpose) for text in texts]
        single = purpose == "query" and len(texts) == 1
        answer = client.post(
            f"models/{self._model.name}:{'embedContent' if single else 'batchEmbedContents'}",
            requests[0] if single else {"requests": requests},
            deadline=deadline,
        )
        from commonplace_gemini.complaints import status_in

        status = status_in(answer.body)
        if status is not None:
            raise client.error_from(status, answer.headers, answer.body)
        return read_vectors(
            client,
            answer,
            lambda body: vectors_of(body, single=single),
            dims=self._context.dims,
            hint="remove outputDimensionality, or check that remote.baseUrl serves this model",
        )

    def batches(self) -> BatchJobs:
        """Jobs by ``asyncBatchEmbedContent``."""
        from commonplace_gemini.batch import GeminiBatches

        return GeminiBatches(
            self.client,
            model=self._model.name,
            request=lambda text: self._form.request(text, "document"),
            dims=self._context.dims,
            is_google=self._endpoint.host == HOST,
        )

    def close(self) -> None:
        """Close connections; closing twice is fine."""
        self.client.close()


def _credentials(key: str) -> dict[str, str]:
    if key.startswith(_ACCESS_TOKEN):
        return {"Authorization": f"Bearer {key}"}
    return {"x-goog-api-key": key}


def _explain(status: int, headers: Mapping[str, str], body: Any) -> ErrorInfo | None:
    from commonplace_gemini.complaints import explain

    return explain(status, headers, body)
