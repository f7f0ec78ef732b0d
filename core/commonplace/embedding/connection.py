"""What providers behind HTTP have in common: a client made when it is first needed."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from commonplace.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.embedding.endpoint import Endpoint
    from commonplace.embedding.refusals import Complaint
    from commonplace.embedding.remote import Answer, RemoteClient
    from commonplace.protocols.providers import ProviderContext

__all__ = ["Connection", "bearer", "read_vectors"]


def bearer(key: str) -> dict[str, str]:
    """The header that most vendors want a key in."""
    return {"Authorization": f"Bearer {key}"}


class Connection:
    """A provider's way to its endpoint; calling it gives the client, which is made only then.

    ``explain`` is for :class:`~commonplace.embedding.remote.RemoteClient`, ``credentials`` puts the
    key of ``context`` into headers. Without a key there are none at all, since some servers refuse
    empty ones; nor where one of the user's own headers is among ``instead`` (lower-case names), for
    then the key has no business there. Where ``wanted`` says how to fix it, a missing key is an
    error.
    """

    def __init__(
        self,
        provider: str,
        endpoint: Endpoint,
        context: ProviderContext,
        *,
        explain: Callable[[int, Mapping[str, str], Any], Complaint | None],
        credentials: Callable[[str], Mapping[str, str]] = bearer,
        instead: tuple[str, ...] = ("authorization",),
        wanted: str = "",
    ) -> None:
        self._provider = provider
        self._endpoint = endpoint
        self._context = context
        self._explain = explain
        self._credentials = credentials
        self._instead = instead
        self._wanted = wanted
        self._client: RemoteClient | None = None
        self._lock = Lock()

    def __call__(self) -> RemoteClient:
        """The client. Raises :class:`~commonplace.errors.ProviderError`."""
        with self._lock:
            if self._client is None:
                self._client = self._made()
            return self._client

    def close(self) -> None:
        """Close connections; closing twice is fine."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _made(self) -> RemoteClient:
        # Imported here: whoever finds a query in the cache pays for no HTTP.
        from commonplace.embedding.remote import RemoteClient

        key = (self._context.api_key or "").strip()
        headers = self._context.headers
        has_own = any(name.lower() in self._instead for name in headers)
        if self._wanted and not key and not has_own:
            raise ProviderError(
                f"{self._provider}: no API key found",
                provider=self._provider,
                kind="auth",
                hint=self._wanted,
            )
        return RemoteClient(
            self._provider,
            self._endpoint.url,
            defaults=self._credentials(key) if key and not has_own else {},
            headers=headers,
            secrets=(key,) if key else (),
            explain=self._explain,
            transport=self._context.transport,
        )


def read_vectors(
    client: RemoteClient,
    answer: Answer,
    read: Callable[[Any], list[Sequence[float]]],
    *,
    dims: int | None,
    hint: str,
) -> list[Sequence[float]]:
    """The vectors that ``read`` finds in an answer's body, all as long as was asked for, if it was.

    Raises an error of kind ``protocol`` where ``read`` raises ``ValueError``, in its words; with
    ``hint`` where the length is another.
    """
    try:
        vectors = read(answer.body)
    except ValueError as error:
        raise client.error("protocol", str(error), 200, answer.headers) from None
    odd = next((len(vector) for vector in vectors if dims and len(vector) != dims), None)
    if odd is not None:
        words = f"{dims} dimensions were asked for, and {odd} came back"
        raise client.error("protocol", words, 200, answer.headers, hint=hint)
    return vectors
