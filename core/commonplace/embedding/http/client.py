"""One HTTP request to a provider's configured origin, answered with JSON or a typed error."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO

import httpx
from attrs import frozen

from commonplace.embedding.http.answers import (
    AnswerError,
    Asked,
    TimedReads,
    host_of,
    loads,
    no_json,
    read_answer,
    words_of,
)
from commonplace.embedding.http.errors import (
    ErrorInfo,
    hide_queries,
    hint_of,
    kind_of_status,
    message_of,
    redacted,
    retry_after_of,
    retry_of,
)
from commonplace.errors import DeadlineExceededError, ProviderError
from commonplace.resilience.bounded_call import Worker

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

    from commonplace.errors import ProviderErrorKind
    from commonplace.resilience.deadline import Deadline


_CONNECT_SECONDS = 5.0
_GRACE = 0.05  # seconds, for the call's own time-outs, which tidy up
_LONGEST_WAIT = 3600.0
_WORDS = 300
_NOTHING_ASKED = Asked()
_TRUSTED = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_WITHHELD = "no key was sent"
_OF_A_KEY = ("auth", "quota", "rate_limit")
_MAY_BE_SHOWN = 7  # characters: shorter words in headers are no credentials


@frozen
class Answer:
    """A successful answer: its JSON, and its headers with lower-case names."""

    body: Any
    headers: Mapping[str, str]


class RemoteClient:
    """Talks to one origin; safe to share between threads.

    ``explain`` reads an error answer, (status, headers, JSON or text) -> :class:`ErrorInfo`, or
    ``None`` to leave it to :func:`kind_of_status`. ``headers`` of the user replace ``defaults``,
    whatever their case; so do a user and a password in ``base_url``, which are removed from it.
    ``secrets`` are kept out of every message; ``key_origin`` says where the key stands, or why none
    is sent, for errors about keys. Redirects are never followed, so that credentials go
    to no other host. The environment's proxies are used, except for a server on this machine.
    """

    def __init__(
        self,
        provider: str,
        base_url: str,
        *,
        defaults: Mapping[str, str],
        headers: Mapping[str, str] | None = None,
        secrets: tuple[str, ...] = (),
        key_origin: str = "",
        explain: Callable[[int, Mapping[str, str], Any], ErrorInfo | None] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.provider = provider
        self._explain = explain
        self._secrets = secrets
        self._key_origin = key_origin
        self._base = httpx.URL("")
        self._transport = transport
        self._worker = Worker(provider)
        self._reads = TimedReads()
        hide_queries()
        base = self._parsed(base_url)
        user_headers = dict(headers or {})
        own = {name.lower() for name in user_headers}
        merged = {name: value for name, value in defaults.items() if name.lower() not in own}
        if base.userinfo and "authorization" not in own:
            merged = {n: v for n, v in merged.items() if n.lower() != "authorization"}
            merged["Authorization"] = _basic(base)
        if "accept-encoding" not in own:
            merged["Accept-Encoding"] = "gzip, deflate"
        merged.update(user_headers)
        # Any header of the user may hold a credential; only words too short for one may be shown.
        words = [word for value in user_headers.values() for word in (value, *value.split())]
        words += [base.username, base.password, *_basic(base).split(), *base.params.values()]
        self._secrets = (*secrets, *(word for word in words if len(word) > _MAY_BE_SHOWN))
        self._base = base.copy_with(username="", password="", fragment=None)
        self._check(merged)
        self._types_itself = "content-type" not in own
        try:
            self._client = httpx.Client(
                headers=merged,
                transport=transport,
                mounts=_past_proxies(self._base),
                verify=transport is not None or _certificates(*map(os.environ.get, _TRUSTED)),
                follow_redirects=False,
            )
        except (OSError, ValueError, ImportError, httpx.InvalidURL) as error:
            # Proxies and certificates are read from the environment here.
            raise self.error(
                "unavailable",
                f"the environment's proxy or certificates cannot be used: {error}",
                hint="check HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR",
            ) from None

    @property
    def origin(self) -> str:
        """Scheme, host, port and path of the base URL, without credentials or query."""
        return str(self._base.copy_with(query=None)).rstrip("/")

    def url(self, path: str) -> httpx.URL:
        """``path`` below the base URL, whose own query string survives."""
        joined = self._base.path.rstrip("/") + "/" + path.lstrip("/")
        return self._base.copy_with(path=joined)

    def post(
        self, path: str, body: object, *, deadline: Deadline, asked: Asked = _NOTHING_ASKED
    ) -> Answer:
        """POST ``body`` as JSON; ``asked`` says how long the answer may be."""
        return self.request("POST", self.url(path), deadline=deadline, asked=asked, json_body=body)

    def request(
        self,
        method: str,
        url: httpx.URL | str,
        *,
        deadline: Deadline,
        asked: Asked = _NOTHING_ASKED,
        **options: Any,
    ) -> Answer:
        """One request; ``options`` are ``json_body``, and what httpx takes (``files`` ...).

        Lists of many numbers come as arrays. Raises :class:`~commonplace.errors.ProviderError` for
        everything that is not a 2xx with JSON in time, and for more than was ``asked`` for.
        """
        status, headers, raw = self.fetch(method, url, deadline=deadline, asked=asked, **options)
        start = bytes(raw[:100])
        try:
            return Answer(loads(raw, asked) if raw.strip() else None, headers)
        except AnswerError as error:
            words = str(error)
        except ValueError:
            # The decoder's error holds the whole answer: ours must not have it as context.
            words = no_json(start, headers)
        raise self.error("protocol", words, status, headers, url=url)

    def fetch(
        self,
        method: str,
        url: httpx.URL | str,
        *,
        deadline: Deadline,
        asked: Asked = _NOTHING_ASKED,
        json_body: object = None,
        into: BinaryIO | None = None,
        **options: Any,
    ) -> tuple[int, Mapping[str, str], bytearray]:
        """As :meth:`request`, with the body as bytes: (status, headers, body).

        With ``into`` the body of a success goes there, up to 4 GiB, and a redirect is an answer
        like another, for the caller to follow.
        """
        if deadline.expired:
            raise self.error("timeout", "no time was left for the request", url=url)
        if json_body is not None:
            options["content"] = _encoded(json_body)
            if self._types_itself:
                own = options.get("headers", {})
                options["headers"] = {"content-type": "application/json", **own}
        try:
            response, raw = self._exchanged(method, url, deadline, asked, into, options)
        except (httpx.TimeoutException, DeadlineExceededError):
            raise self.error("timeout", "no answer came in time", url=url) from None
        except (httpx.UnsupportedProtocol, httpx.InvalidURL, UnicodeError) as error:
            # A UnicodeError is what looking up an overlong name ends in.
            raise self.error("not_found", str(error), url=url) from None
        except httpx.HTTPError as error:
            raise self.error("unavailable", words_of(error), url=url) from None
        except AnswerError as error:
            raise self.error("protocol", str(error), url=url) from None
        headers = {name.lower(): value for name, value in response.headers.items()}
        if response.is_success or (into is not None and response.has_redirect_location):
            return response.status_code, headers, raw
        raise self._refused(response.status_code, headers, raw, url)

    def _exchanged(
        self,
        method: str,
        url: httpx.URL | str,
        deadline: Deadline,
        asked: Asked,
        into: BinaryIO | None,
        options: dict[str, Any],
    ) -> tuple[httpx.Response, bytearray]:
        remaining = min(deadline.remaining(), _LONGEST_WAIT)
        options["timeout"] = httpx.Timeout(remaining, connect=min(_CONNECT_SECONDS, remaining))
        options["extensions"] = {"trace": self._reads.trace}

        def check() -> None:
            if deadline.expired:
                raise self.error("timeout", "the answer was not complete in time", url=url)

        def exchange() -> tuple[httpx.Response, bytearray]:
            with (
                self._reads.until(deadline, check),
                self._client.stream(method, url, **options) as response,
            ):
                return response, read_answer(response, asked, into, check)

        # A look-up of a name has no time limit at all: only a wait from outside keeps a deadline.
        patience = deadline.sooner(_LONGEST_WAIT).at_least(remaining + _GRACE)
        return self._worker.run(exchange, patience)

    def bare(self, url: str) -> RemoteClient:
        """A client for the host of ``url``, without any credential of this one; close it."""
        return RemoteClient(self.provider, url, defaults={}, transport=self._transport)

    def close(self) -> None:
        """Close connections; closing twice is fine."""
        self._client.close()

    def error(
        self,
        kind: ProviderErrorKind,
        message: str,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        retry_after: float | None = None,
        hint: str = "",
        url: httpx.URL | str | None = None,
    ) -> ProviderError:
        """An error of this provider, on one line and without secrets; raise it.

        With a status or a ``url`` it names the status, the address (by default the base URL) and,
        if it may be about the key, where that stands. ``headers`` of the answer give the request's
        id and, without ``retry_after``, the delay.
        """
        headers = headers or {}
        if retry_after is None:
            retry_after = retry_after_of(headers)
        words = redacted(" ".join(message.split()), self._secrets)[:_WORDS]
        facts = redacted(self._facts(kind, status, url), self._secrets)
        request_id = headers.get("x-request-id") or headers.get("request-id")
        return ProviderError(
            f"{self.provider}: {words}" + (f" ({facts})" if facts else ""),
            provider=self.provider,
            kind=kind,
            status=status,
            retry_after=retry_after,
            request_id=redacted(request_id, self._secrets) if request_id else None,
            retry=retry_of(headers),
            hint=hint or self._hint(kind),
        )

    def _hint(self, kind: ProviderErrorKind) -> str:
        if kind == "auth" and self._key_origin.startswith(_WITHHELD):
            return "set remote.apiKey to the key of this address"
        return hint_of(kind)

    def _facts(self, kind: str, status: int | None, url: httpx.URL | str | None) -> str:
        """Status and address of a request, and its key where that may be the cause."""
        if url is None and status is None:
            return ""  # of a job, or a line of one
        address = self._shown(url)
        facts = [f"HTTP {status} from {address}" if status is not None else address]
        if kind in _OF_A_KEY:
            origin = self._key_origin
            facts.append(origin if origin.startswith(_WITHHELD) else origin and f"key: {origin}")
        return "; ".join(filter(None, facts))

    def _shown(self, url: httpx.URL | str | None) -> str:
        """The address without credentials or query; elsewhere no path, which may be one."""
        try:
            address = self._base if url is None else httpx.URL(url)
        except httpx.InvalidURL:
            address = self._base
        whole = str(address.copy_with(username="", password="", query=None, fragment=None))
        below = f"{self._base.path.rstrip('/')}/"
        if url is None or (address.host == self._base.host and address.path.startswith(below)):
            return whole.rstrip("/")
        return f"{address.scheme}://{address.netloc.decode('ascii', 'replace')}"

    def error_from(
        self,
        status: int,
        headers: Mapping[str, str],
        body: Any,
        *,
        url: httpx.URL | str | None = None,
    ) -> ProviderError:
        """The error that ``body`` (JSON or text) means, as ``explain`` reads it; raise it.

        For bodies of error answers, and of those that hide an error behind a status of 200.
        """
        info = None
        if status == 407:  # only a proxy gives this one
            words = "the proxy wants a user and a password, or others"
            hint = "check them in HTTP_PROXY, HTTPS_PROXY or ALL_PROXY"
            info = ErrorInfo("auth", words, hint=hint)
        elif self._explain:
            info = self._explain(status, headers, body)
        info = info or ErrorInfo(kind_of_status(status), message_of(body))
        return self.error(
            info.kind,
            info.message or "it refused",
            status,
            headers,
            retry_after=info.retry_after,
            hint=info.hint,
            url=url,
        )

    def _refused(
        self, status: int, headers: Mapping[str, str], raw: bytearray, url: httpx.URL | str
    ) -> ProviderError:
        if 300 <= status < 400:
            return self.error(
                "protocol",
                f"it redirects to {host_of(headers.get('location', ''))}, which is not followed",
                status,
                headers,
                hint="set remote.baseUrl to where the server itself is",
                url=url,
            )
        body: Any
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError):
            body = raw.decode("utf-8", "replace")
        return self.error_from(status, headers, body, url=url)

    def _parsed(self, base_url: str) -> httpx.URL:
        try:
            base = httpx.URL(base_url.strip())
        except httpx.InvalidURL:
            base = httpx.URL("")
        if base.scheme in ("http", "https") and base.host and (base.port or 0) < 65536:
            return base
        shown = base_url.rpartition("@")[2]
        raise self.error(
            "not_found",
            f"the base URL {shown!r} is not an http(s) URL",
            hint="set remote.baseUrl to something like https://api.example.com/v1",
        )

    def _check(self, headers: Mapping[str, str]) -> None:
        # httpx would name the whole header, and so the key, in its error.
        for name, value in headers.items():
            if not (name + value).isascii() or not (name + value).replace("\t", " ").isprintable():
                raise self.error(
                    "auth",
                    f"the header {name.encode('ascii', 'replace').decode()} or the key in it holds"
                    " a character that no header may hold",
                    hint="copy the key again, without line breaks, quotes or other signs around it",
                )


def _encoded(body: object) -> bytes:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "replace")  # half a surrogate pair must not fail the request


def _basic(base: httpx.URL) -> str:
    return "Basic " + b64encode(f"{base.username}:{base.password}".encode()).decode()


@cache
def _certificates(*_trusted: str | None) -> ssl.SSLContext:
    return httpx.create_ssl_context()  # takes 25 ms of CPU


def _past_proxies(base: httpx.URL) -> dict[str, httpx.BaseTransport | None]:
    host = base.host
    if host == "localhost" or host.startswith("127.") or host == "::1":
        return {f"all://{f'[{host}]' if ':' in host else host}": None}
    return {}
