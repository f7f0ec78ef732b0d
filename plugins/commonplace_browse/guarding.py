"""Who may ask: the token in the address, the session, ``Host``, ``Origin``, forms, and the CSP."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of every answer: nothing inline, nothing from anywhere else."""

HEADERS = {
    "content-security-policy": POLICY,
    # With "no-referrer" browsers send "Origin: null" with our own forms.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-dns-prefetch-control": "off",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_SAFE = ("GET", "HEAD")
_MOST_BODY = 1_000_000
_NO_SESSION = (
    "This address was used already, or has no token. The terminal that runs `commonplace browse` "
    "shows a new one."
)
_FOREIGN_FORM = "This form is not of this page: go back, reload it, and send it again."
_LONG_FORM = "This form is too long, or was cut off: change so long a text in an editor."


def loopback_names() -> tuple[str, ...]:
    """The names by which a browser on this machine reaches a loopback address."""
    return ("localhost", "127.0.0.1", "[::1]")


class Keys:
    """The secrets of one run: tokens that work once, the session, the token of its forms."""

    def __init__(self, port: int) -> None:
        # Cookies do not know ports: two servers must not overwrite each other's session.
        self.cookie = f"commonplace-{port}"
        self.session = secrets.token_urlsafe(32)
        self.csrf = hmac.new(self.session.encode(), b"form", hashlib.sha256).hexdigest()
        self._tokens: set[str] = set()

    def new_token(self) -> str:
        """A token for one browser; earlier ones that were not used are no longer valid."""
        token = secrets.token_urlsafe(24)
        self._tokens = {token}
        return token

    def use(self, token: str) -> bool:
        """Whether ``token`` was valid; it is not any more."""
        for known in self._tokens:
            if hmac.compare_digest(known.encode(), token.encode()):
                self._tokens.discard(known)
                return True
        return False

    def is_session(self, value: str) -> bool:
        """Whether ``value`` is the session's."""
        return hmac.compare_digest(self.session.encode(), value.encode())

    def is_form(self, value: str) -> bool:
        """Whether ``value`` is the token of our own forms."""
        return hmac.compare_digest(self.csrf.encode(), value.encode())


class Guard:
    """An ASGI application before ``app``: only what is from our own pages gets there.

    ``names`` are the accepted hosts, without port. ``used`` is called when a token was used.
    A ``POST`` gets through with the session, the form's token, an own ``Origin``, and not at all
    where ``read_only``; its fields are then in ``scope["state"]["form"]``.
    """

    def __init__(
        self,
        app: Any,
        keys: Keys,
        *,
        names: tuple[str, ...],
        read_only: bool,
        used: Callable[[], object],
    ) -> None:
        self._app = app
        self._keys = keys
        self._names = frozenset(name.lower() for name in names)
        self._read_only = read_only
        self._used = used

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request, or let ``app`` answer it; every answer gets our headers."""
        if scope["type"] != "http":
            return

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                own = [(key.encode(), value.encode()) for key, value in HEADERS.items()]
                others = message.get("headers", ())
                others = [pair for pair in others if pair[0].decode() not in HEADERS]
                message = {**message, "headers": [*others, *own]}
            await send(message)

        headers = {key.decode("latin-1"): text.decode("latin-1") for key, text in scope["headers"]}
        method = scope["method"]
        refused = self._refused_host(headers) or self._refused_change(method, headers)
        if refused:
            await _answer(guarded, 403, refused)
        elif scope["path"].startswith("/static/"):
            await self._app(scope, receive, guarded)
        elif await self._entered(scope, headers, guarded):
            if method not in _SAFE:
                form = await _form(receive)
                if form is None:
                    await _answer(guarded, 413, _LONG_FORM)
                    return
                if not self._keys.is_form(form.get("csrf", "")):
                    await _answer(guarded, 403, _FOREIGN_FORM)
                    return
                scope.setdefault("state", {})["form"] = form
            await self._app(scope, receive, guarded)

    async def _entered(self, scope: Any, headers: dict[str, str], send: Any) -> bool:
        """Whether the request has the session; otherwise it is answered here."""
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        has_session = self._keys.is_session(_cookie(headers, self._keys.cookie))
        if not token or scope["method"] != "GET":
            if not has_session:
                await _answer(send, 403, _NO_SESSION)
            return has_session
        if self._keys.use(token):
            cookie = f"{self._keys.cookie}={self._keys.session}; HttpOnly; SameSite=Strict; Path=/"
            await _answer(send, 303, "", (("location", "/"), ("set-cookie", cookie)))
            with suppress(OSError):  # nothing reads the terminal any more
                self._used()
        elif has_session:  # the address of an earlier visit
            await _answer(send, 303, "", (("location", "/"),))
        else:
            await _answer(send, 403, _NO_SESSION)
        return False

    def _refused_host(self, headers: dict[str, str]) -> str:
        """Why a request is refused whatever it asks for, or ``""``."""
        if _name(headers.get("host", "")) not in self._names:
            return (
                "Refused: the name of this server in the request (Host) is not known. "
                "`commonplace browse --allow-host NAME` makes it known."
            )
        return ""

    def _refused_change(self, method: str, headers: dict[str, str]) -> str:
        """Why what changes something is refused, or ``""``."""
        if method in _SAFE:
            return ""
        origin = _netloc(headers.get("origin", ""))
        reason = ""
        if method != "POST":
            reason = "Refused: only GET and POST."
        elif self._read_only:
            reason = "This memory is shown read-only: commonplace browse runs with --read-only."
        elif headers.get("sec-fetch-site", "same-origin") != "same-origin":
            reason = "Refused: the request comes from another site."
        elif not origin or origin != headers.get("host", "").lower():
            reason = "Refused: the request does not come from a page of this server (Origin)."
        return reason


def _name(host: str) -> str:
    """``host`` without its port, in lower case."""
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdecimal() else host.lower()


def _netloc(address: str) -> str:
    try:
        return urlsplit(address).netloc.lower()
    except ValueError:  # such as a bracket that is never closed
        return ""


def _cookie(headers: dict[str, str], name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


async def _form(receive: Any) -> dict[str, str] | None:
    """The fields of a urlencoded body, several values of one joined by lines.

    ``None`` for one that is too long or ends too early; none of ours has over 1,000 fields.
    """
    body = b""
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > _MOST_BODY:
            return None
    text = body.decode("utf-8", "replace")
    try:
        fields = parse_qs(text, keep_blank_values=True, max_num_fields=1000)
    except ValueError:
        return {}
    # A browser ends lines of a text field by CR LF.
    return {key: "\n".join(values).replace("\r\n", "\n") for key, values in fields.items()}


async def _answer(
    send: Any, status: int, text: str, headers: tuple[tuple[str, str], ...] = ()
) -> None:
    kind = ("content-type", "text/plain; charset=utf-8")
    pairs = [(key.encode(), value.encode()) for key, value in (kind, *headers)]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": text.encode()})
