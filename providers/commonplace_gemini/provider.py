"""The provider ``gemini``: one request at a time, to Google's native calls."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Literal

from commonplace.spec import Limits
from commonplace_gemini.models import Model
from commonplace_gemini.wire import HOST, Form, endpoint_of, vectors_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.deadline import Deadline
    from commonplace.embedding.remote import RemoteClient
    from commonplace.spec import BatchJobs, ProviderContext

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

    def __init__(self, context: ProviderContext) -> None:
        self._context = context
        self._endpoint = endpoint_of(context.base_url)
        self._model = Model(context.model)
        self._model.check(context.dims)
        self._form = Form(
            self._model,
            context.dims,
            query_prefix=context.query_prefix,
            document_prefix=context.document_prefix,
        )
        self._limits = Limits(
            items=_REQUESTS,
            bytes=_BYTES,
            item_tokens=max(1, self._model.item_tokens - self._form.overhead),
        )
        self._lock = Lock()
        self._client: RemoteClient | None = None
        self._batches: BatchJobs | None = None

    @property
    def model(self) -> str:
        """The model's name without a prefix."""
        return self._model.name

    @property
    def limits(self) -> Limits:
        """What one request may hold."""
        return self._limits

    @property
    def concurrency(self) -> int:
        """Requests at once."""
        return 8

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
            raise client.refused(status, answer.headers, answer.body)
        try:
            vectors = vectors_of(answer.body, single=single)
        except ValueError as error:
            raise client.error("protocol", str(error), headers=answer.headers) from None
        dims = self._context.dims
        odd = next((len(vector) for vector in vectors if dims and len(vector) != dims), None)
        if odd is not None:
            raise client.error(
                "protocol",
                f"vectors of {odd} dimensions came back where {dims} were asked for",
                headers=answer.headers,
                mend="remove outputDimensionality, or check that remote.baseUrl serves this model",
            )
        return vectors

    def batches(self) -> BatchJobs:
        """Jobs by ``asyncBatchEmbedContent``."""
        from commonplace_gemini.batch import GeminiBatches

        with self._lock:
            if self._batches is None:
                self._batches = GeminiBatches(
                    self.client,
                    model=self._model.name,
                    request=lambda text: self._form.request(text, "document"),
                    dims=self._context.dims,
                    is_google=self._endpoint.host == HOST,
                )
            return self._batches

    def client(self) -> RemoteClient:
        """The connection to the endpoint, made when it is first needed."""
        from commonplace.embedding.remote import RemoteClient
        from commonplace_gemini.complaints import explain

        context = self._context
        key = context.api_key or ""
        with self._lock:
            if self._client is None:
                self._client = RemoteClient(
                    "gemini",
                    self._endpoint.url,
                    defaults=_credentials(key),
                    headers=context.headers,
                    secrets=(key,) if key else (),
                    explain=explain,
                    transport=context.transport,
                )
            return self._client

    def close(self) -> None:
        """Close connections; closing twice is fine."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()


def _credentials(key: str) -> dict[str, str]:
    if key.startswith(_ACCESS_TOKEN):
        return {"Authorization": f"Bearer {key}"}
    return {"x-goog-api-key": key} if key else {}
