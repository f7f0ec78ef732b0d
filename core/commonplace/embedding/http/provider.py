"""The base of embedding providers that are asked over HTTP, and the endpoints they use."""

from __future__ import annotations

import sys
from array import array
from binascii import a2b_base64
from threading import Lock
from typing import TYPE_CHECKING, Any

from commonplace.embedding.vectors import MOST_DIMS, has_truths
from commonplace.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.embedding.http.client import Answer, RemoteClient
    from commonplace.embedding.http.errors import ErrorInfo
    from commonplace.protocols.providers import ProviderContext, Purpose
    from commonplace.resilience.deadline import Deadline


_LONGEST_BASE64 = -(-4 * MOST_DIMS // 3) * 4
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
    def server(self) -> str:
        """Scheme, host and port, without a path."""
        return self.origin.removesuffix(self.path) if self.path else self.origin

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine."""
        host = self.host
        if host in _THIS_MACHINE or host.endswith(".localhost"):
            return True
        digits = host.split(".")
        return digits[0] == "127" and len(digits) <= 4 and all(map(str.isdecimal, digits))

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


class HttpProvider:
    """One request for each ``embed``: ``POST {endpoint}/embeddings`` unless a vendor differs.

    A vendor sets the class attributes, adds ``limits``, and overrides the methods in which it
    differs. ``name`` is its id, ``home`` the origins of its own servers, which a fingerprint leaves
    out; ``dims_key`` is the field for the length of vectors, and ``dims_hint`` the hint if another
    comes back. ``instead`` are headers of the user (lower-case names) that replace the key. Without
    a key there is no such header at all, since some servers refuse empty ones; a missing key is an
    error with the hint ``wanted``, if that is given.

    ``prefixes`` of the context stand before texts, or else those given, for a query and a document.
    """

    name: str
    home: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset({"remote"})
    dims_key = "dimensions"
    dims_hint = "remove outputDimensionality, or check that remote.baseUrl serves this model"
    instead: tuple[str, ...] = ("authorization",)

    def __init__(
        self,
        context: ProviderContext,
        endpoint: Endpoint,
        model: str,
        *,
        prefixes: tuple[str, str] = ("", ""),
        wanted: str = "",
    ) -> None:
        self.context = context
        self.endpoint = endpoint
        self.model = model
        self.dims = context.dims
        self.prefixes = context.prefixes(*prefixes)
        self.input_types: Mapping[str, str | None] = {}
        self._wanted = wanted
        self._client: RemoteClient | None = None
        self._lock = Lock()

    @property
    def host(self) -> str:
        """The server that texts are sent to; ``""`` if it is on this machine."""
        return "" if self.endpoint.is_loopback else self.endpoint.server

    def fingerprint(self) -> str:
        """Name, model, endpoint if it is not at home, dimensions, prompts and headers."""
        parts = [self.name, repr(self.model)]
        if self.endpoint.origin not in self.home:
            parts.append(self.endpoint.origin)
        if self.dims is not None:
            parts.append(f"dims={self.dims}")
        for purpose, prefix in self.prefixes.items():
            if prefix:
                parts.append(f"{purpose}={prefix!r}")
            if self.input_types.get(purpose):
                parts.append(f"{purpose}_type={self.input_types[purpose]!r}")
        return " ".join(parts) + self.routing()

    def routing(self) -> str:
        """The part of the fingerprint for the user's headers, which gateways route by; or ``""``.

        A digest, since any of them may be a secret. Those that carry the key are left out: keys
        decide no vector.
        """
        carrying = {"authorization", "proxy-authorization", *self.instead}
        headers = sorted(
            (name.lower(), value)
            for name, value in self.context.headers.items()
            if name.lower() not in carrying
        )
        if not headers:
            return ""
        from hashlib import sha256

        return f" headers={sha256(repr(headers).encode('utf-8', 'replace')).hexdigest()[:16]}"

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose, deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        """One vector a text. Raises :class:`~commonplace.errors.ProviderError`."""
        from commonplace.embedding.http.answers import Asked

        client = self.client()
        path, body = self.request(texts, purpose)
        asked = Asked(len(texts), self.dims)
        answer = client.post(path, body, deadline=deadline, asked=asked)
        self.check(client, answer)
        try:
            vectors = self.read(answer.body, len(texts), purpose)
        except ValueError as error:
            raise client.error("protocol", str(error), 200, answer.headers) from None
        dims = self.dims
        odd = next((len(vector) for vector in vectors if dims and len(vector) != dims), None)
        if odd is not None:
            words = f"{dims} dimensions were asked for, and {odd} came back"
            raise client.error("protocol", words, 200, answer.headers, hint=self.dims_hint)
        return vectors

    def request(self, texts: Sequence[str], purpose: Purpose) -> tuple[str, object]:
        """Path and JSON of the request for ``texts``."""
        return "embeddings", self.body(texts, purpose)

    def body(self, texts: Sequence[str], purpose: Purpose) -> dict[str, Any]:
        """The JSON of a request in OpenAI's form."""
        prefix = self.prefixes[purpose]
        body: dict[str, Any] = {"model": self.model, "input": [prefix + text for text in texts]}
        if self.dims is not None:
            body[self.dims_key] = self.dims
        if self.input_types.get(purpose):
            body["input_type"] = self.input_types[purpose]
        return body

    def check(self, client: RemoteClient, answer: Answer) -> None:
        """Raise for an error with status 200, as proxies pass on those of others."""

    def read(self, body: Any, count: int, purpose: Purpose) -> list[Sequence[float]]:  # noqa: ARG002
        """The vectors of an answer to ``count`` texts. Raises ``ValueError``."""
        return vectors_of(body, count)

    def explain(self, status: int, headers: Mapping[str, str], body: Any) -> ErrorInfo | None:  # noqa: ARG002
        """What an error answer means; ``None`` leaves it to its status and message."""
        return None

    def credentials(self, key: str) -> dict[str, str]:
        """The header for a key."""
        return {"Authorization": f"Bearer {key}"}

    def client(self) -> RemoteClient:
        """The connection, made by the first call: a cached query needs no HTTP library."""
        with self._lock:
            if self._client is None:
                self._client = self._connected()
            return self._client

    def close(self) -> None:
        """Close connections; closing twice is fine."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _connected(self) -> RemoteClient:
        from commonplace.embedding.http.client import RemoteClient

        key = (self.context.api_key or "").strip()
        headers = self.context.headers
        has_own = any(name.lower() in self.instead for name in headers)
        if self._wanted and not key and not has_own:
            withheld = self.context.key_origin
            raise ProviderError(
                f"{self.name}: no API key found" + (f"; {withheld}" if withheld else ""),
                provider=self.name,
                kind="auth",
                hint=self._wanted,
            )
        return RemoteClient(
            self.name,
            self.endpoint.url,
            defaults=self.credentials(key) if key and not has_own else {},
            headers=headers,
            secrets=(key,) if key else (),
            key_origin="remote.headers" if has_own else self.context.key_origin,
            explain=self.explain,
            transport=self.context.transport,
        )


def vectors_of(body: Any, count: int) -> list[Sequence[float]]:
    """The vectors of ``{"data": [{"index": 0, "embedding": ...}, ...]}`` in the order of the texts.

    If any item has an ``index``, all must have one, and these give the order. Raises
    ``ValueError``, whose message goes into the provider's error.
    """
    data = body.get("data") if isinstance(body, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise ValueError("the answer holds no list of embeddings")
    if len(data) != count:
        raise ValueError(f"{len(data)} vectors came back for {count} texts")
    indices = [item.get("index") for item in data]
    if any(index is not None for index in indices):
        placed = {i: item for i, item in zip(indices, data, strict=True) if type(i) is int}
        if placed.keys() != set(range(count)):
            raise ValueError("the vectors' indices are not those of the texts")
        data = [placed[index] for index in range(count)]
    return [numbers_of(item.get("embedding")) for item in data]


def numbers_of(embedding: Any) -> Sequence[float]:
    """One vector, sent as a list of numbers or as base64 of float32, little-endian.

    Servers that were asked for one form may give the other. Raises ``ValueError``.
    """
    if isinstance(embedding, str):
        return _unpacked(embedding)
    if not isinstance(embedding, list | array) or has_truths(embedding):
        raise ValueError("a vector is missing, or not a list of numbers")
    if len(embedding) > MOST_DIMS:
        raise ValueError(f"a vector has {len(embedding):,} dimensions, more than {MOST_DIMS:,}")
    try:
        return array("d", embedding)
    except (TypeError, OverflowError):
        raise ValueError("a vector is missing, or not a list of numbers") from None


def _unpacked(text: str) -> Sequence[float]:
    vector = array("f")
    if len(text) > _LONGEST_BASE64:
        raise ValueError(f"a vector has more than {MOST_DIMS:,} dimensions")
    try:
        vector.frombytes(a2b_base64(text, strict_mode=True))
    except ValueError:  # binascii.Error is one
        raise ValueError("a vector is not base64 of float32 numbers") from None
    if sys.byteorder == "big":
        vector.byteswap()
    return vector
