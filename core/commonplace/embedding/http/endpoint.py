"""A provider's base URL in one form, however people write it, without importing an HTTP client."""

from __future__ import annotations

from commonplace.errors import ProviderError

__all__ = ["Endpoint"]

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
