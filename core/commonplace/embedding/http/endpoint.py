"""A provider's base URL in one form, however people write it, without importing an HTTP client."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from commonplace.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.embedding.http.client import Answer, RemoteClient
    from commonplace.embedding.http.errors import ErrorInfo
    from commonplace.protocols.providers import ProviderContext

__all__ = [
    "Connection",
    "Endpoint",
    "bearer",
    "read_vectors",
]


_PORTS = {"http": "80", "https": "443"}
_THIS_MACHINE = ("localhost", "::1", "0.0.0.0")  # noqa: S104 - compared with, not bound to


class Endpoint:
    """Where requests go.

    ``url`` is the base URL with what the user's had of credentials and query; never show it.
    ``origin`` is scheme, host, port (unless it is the scheme's own) and path, which is all that
    may be shown, and what a fingerprint holds. ``host`` is in lower case, without brackets.

    White space around it, slashes at its end and the upper case of scheme and host are dropped,
    and so is the first of ``drop`` that the path ends with (``/embeddings``). ``root`` is the path
    for a URL that has none. Raises :class:`~commonplace.errors.ProviderError` of kind
    ``not_found`` for what is no http(s) URL.
    """

    __slots__ = ("host", "origin", "path", "url")

    def __init__(
        self, provider: str, url: str, *, drop: tuple[str, ...] = (), root: str = ""
    ) -> None:
        scheme, separator, rest = url.strip().partition("://")
        scheme = scheme.lower()
        rest = rest.partition("#")[0]
        rest, mark, query = rest.partition("?")
        authority, _, path = rest.partition("/")
        userinfo, at, place = authority.rpartition("@")
        host, port = _split(place.lower())
        if not separator or scheme not in _PORTS or not host or not _is_port(port):
            shown = url.strip().rpartition("@")[2].partition("?")[0]
            raise ProviderError(
                f"{provider}: the base URL {shown!r} is not an http(s) URL",
                provider=provider,
                kind="not_found",
                hint="set remote.baseUrl to something like https://api.example.com/v1",
            )
        path = _trimmed(f"/{path}".rstrip("/"), drop) or root
        shown_host = f"[{host}]" if ":" in host else host
        place = shown_host if port in ("", _PORTS[scheme]) else f"{shown_host}:{port}"
        self.host = host
        self.path = path
        self.origin = f"{scheme}://{place}{path}"
        self.url = f"{scheme}://{userinfo}{at}{place}{path}{mark}{query}"

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine, or in a private network as far as the address tells."""
        host = self.host
        if host in _THIS_MACHINE or ("." not in host and ":" not in host):
            return True  # a bare name is of this machine, a container or a local network
        if host.endswith((".local", ".localhost", ".internal", ".lan", ".home.arpa")):
            return True
        if ":" not in host and not host.rpartition(".")[2].isdigit():
            return False
        from ipaddress import ip_address

        try:
            return ip_address(host).is_private
        except ValueError:
            return False


def _split(place: str) -> tuple[str, str]:
    if place.startswith("["):
        host, _, port = place[1:].partition("]")
        return host, port.removeprefix(":")
    host, _, port = place.partition(":")
    return host, port


def _is_port(text: str) -> bool:
    return not text or (text.isascii() and text.isdigit() and int(text) < 65536)


def _trimmed(path: str, drop: tuple[str, ...]) -> str:
    for ending in drop:
        if path.endswith(ending):
            return path.removesuffix(ending).rstrip("/")
    return path


def bearer(key: str) -> dict[str, str]:
    """The header that most vendors want a key in."""
    return {"Authorization": f"Bearer {key}"}


class Connection:
    """A provider's way to its endpoint; calling it gives the client, which is made only then.

    ``explain`` is that of :class:`~commonplace.embedding.http.client.RemoteClient`. ``credentials``
    puts the context's key into headers: none without a key, since some servers refuse empty ones,
    and none if one of the user's headers is among ``instead`` (lower-case names), which replaces
    the key. A missing key is an error with the hint ``wanted``, if that is given.
    """

    def __init__(
        self,
        provider: str,
        endpoint: Endpoint,
        context: ProviderContext,
        *,
        explain: Callable[[int, Mapping[str, str], Any], ErrorInfo | None],
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
        from commonplace.embedding.http.client import RemoteClient

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
