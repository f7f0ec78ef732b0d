"""One HTTP request to a provider's configured origin, answered with JSON or a typed error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
from attrs import frozen

from commonplace.embedding.redact import redacted
from commonplace.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.deadline import Deadline
    from commonplace.errors import ProviderErrorKind

__all__ = ["Answer", "Complaint", "RemoteClient", "kind_of_status", "retry_after_of"]

_CONNECT_SECONDS = 5.0
_WORDS = 300
_LONGEST_BODY = 256 * 1024 * 1024


@frozen
class Complaint:
    """What an error answer means, in a vendor's own terms."""

    kind: ProviderErrorKind
    message: str
    retry_after: float | None = None


@frozen
class Answer:
    """A successful answer: its JSON, and its headers with lower-case names."""

    body: Any
    headers: Mapping[str, str]


class RemoteClient:
    """Talks to one origin; safe to share between threads.

    ``explain`` reads an error answer, (status, headers, JSON or text) -> :class:`Complaint`, or
    ``None`` to leave it to :func:`kind_of_status`. ``headers`` of the user win over ``defaults``,
    whatever their case. ``secrets`` are kept out of every message. Redirects are never followed:
    a provider's endpoint has no business elsewhere, and credentials must not travel.
    """

    def __init__(
        self,
        provider: str,
        base_url: str,
        *,
        defaults: Mapping[str, str],
        headers: Mapping[str, str] | None = None,
        secrets: tuple[str, ...] = (),
        explain: Callable[[int, Mapping[str, str], Any], Complaint | None] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.provider = provider
        self._base = httpx.URL(base_url.strip())
        if self._base.scheme not in ("http", "https") or not self._base.host:
            raise ProviderError(
                f"{provider}: the base URL {redacted(base_url, secrets)!r} is not an http(s) URL",
                provider=provider,
                kind="not_found",
                mend="set remote.baseUrl to something like https://api.example.com/v1",
            )
        own = {name.lower() for name in headers or {}}
        merged = {name: value for name, value in defaults.items() if name.lower() not in own}
        merged.update(headers or {})
        # Any header of the user may hold a credential; only words too short for one may be shown.
        self._secrets = (*secrets, *(v for v in (headers or {}).values() if len(v) > 7))
        self._explain = explain
        self._client = httpx.Client(headers=merged, transport=transport, follow_redirects=False)

    @property
    def origin(self) -> str:
        """Scheme, host, port and path of the base URL, without credentials or query."""
        base = self._base.copy_with(username=None, password=None, query=None, fragment=None)
        return str(base).rstrip("/")

    def url(self, path: str) -> httpx.URL:
        """``path`` below the base URL, whose own query string survives."""
        joined = self._base.path.rstrip("/") + "/" + path.lstrip("/")
        return self._base.copy_with(path=joined)

    def post(self, path: str, body: object, *, deadline: Deadline) -> Answer:
        """POST ``body`` as JSON."""
        return self.request("POST", self.url(path), deadline=deadline, json_body=body)

    def request(
        self,
        method: str,
        url: httpx.URL | str,
        *,
        deadline: Deadline,
        json_body: object = None,
        **options: Any,
    ) -> Answer:
        """One request; ``options`` go to httpx (``content``, ``files``, ``headers`` ...).

        Raises :class:`~commonplace.errors.ProviderError` for everything that is not a 2xx with
        JSON in time.
        """
        status, headers, raw = self.fetch(
            method, url, deadline=deadline, json_body=json_body, **options
        )
        try:
            return Answer(json.loads(raw) if raw.strip() else None, headers)
        except ValueError:
            raise self._error("protocol", _no_json(raw, headers), status, headers) from None

    def fetch(
        self,
        method: str,
        url: httpx.URL | str,
        *,
        deadline: Deadline,
        json_body: object = None,
        **options: Any,
    ) -> tuple[int, Mapping[str, str], bytes]:
        """As :meth:`request`, with the body as bytes: (status, headers, body)."""
        if deadline.expired:
            raise self._error("timeout", "no time was left for the request")
        if json_body is not None:
            options["json"] = json_body
        remaining = min(deadline.remaining(), 3600.0)
        timeout = httpx.Timeout(remaining, connect=min(_CONNECT_SECONDS, remaining))
        try:
            with self._client.stream(method, url, timeout=timeout, **options) as response:
                raw = self._read(response, deadline)
        except httpx.TimeoutException:
            raise self._error("timeout", "no answer came in time") from None
        except httpx.UnsupportedProtocol as error:
            raise self._error("not_found", str(error)) from None
        except httpx.HTTPError as error:
            raise self._error("unavailable", _words_of(error)) from None
        headers = {name.lower(): value for name, value in response.headers.items()}
        if response.is_success:
            return response.status_code, headers, raw
        raise self._refused(response.status_code, headers, raw)

    def close(self) -> None:
        """Close connections; closing twice is fine."""
        self._client.close()

    def _read(self, response: httpx.Response, deadline: Deadline) -> bytes:
        # A read time-out starts anew with each byte: a slow drip must meet the deadline itself.
        parts: list[bytes] = []
        size = 0
        for part in response.iter_bytes():
            parts.append(part)
            size += len(part)
            if deadline.expired:
                raise self._error("timeout", "the answer was not complete in time")
            if size > _LONGEST_BODY:
                raise self._error("protocol", "the answer is longer than any answer may be")
        return b"".join(parts)

    def _refused(self, status: int, headers: Mapping[str, str], raw: bytes) -> ProviderError:
        if 300 <= status < 400:
            target = httpx.URL(headers.get("location", "")).host or "another place"
            return self._error(
                "protocol", f"it redirects to {target}, which is not followed", status, headers
            )
        body: Any
        try:
            body = json.loads(raw)
        except ValueError:
            body = raw.decode("utf-8", "replace")
        complaint = self._explain(status, headers, body) if self._explain else None
        if complaint is None:
            complaint = Complaint(kind_of_status(status), message_of(body) or f"HTTP {status}")
        return self._error(
            complaint.kind,
            f"{complaint.message} (HTTP {status})",
            status,
            headers,
            retry_after=complaint.retry_after,
        )

    def _error(
        self,
        kind: ProviderErrorKind,
        message: str,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        retry_after: float | None = None,
    ) -> ProviderError:
        headers = headers or {}
        if retry_after is None:
            retry_after = retry_after_of(headers)
        words = redacted(" ".join(message.split()), self._secrets)[:_WORDS]
        return ProviderError(
            f"{self.provider}: {words}",
            provider=self.provider,
            kind=kind,
            status=status,
            retry_after=retry_after,
            request_id=headers.get("x-request-id") or headers.get("request-id"),
            mend=_MENDS.get(kind, ""),
        )


_MENDS: dict[str, str] = {
    "auth": "check the API key of this provider",
    "quota": "the account has no quota left: top it up, or choose another provider",
    "not_found": "check remote.baseUrl and the model's name",
}


def kind_of_status(status: int) -> ProviderErrorKind:
    """What an HTTP status means where the vendor says nothing better."""
    if status in (401, 403):
        return "auth"
    if status in (404, 405, 501):
        return "not_found"
    if status == 413:
        return "too_large"
    if status == 429:
        return "rate_limit"
    if status in (408, 409) or status >= 500:
        return "unavailable"
    return "bad_request"


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """Seconds from ``retry-after-ms`` or ``retry-after`` (seconds, or an HTTP date), if any."""
    from email.utils import parsedate_to_datetime

    milliseconds, plain = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
        if plain is not None:
            return max(0.0, float(plain))
    except ValueError:
        pass
    if plain is None:
        return None
    try:
        import time

        return max(0.0, parsedate_to_datetime(plain).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def message_of(body: Any) -> str:
    """The words of an error body in any of the forms that servers use, or ``""``."""
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else body.strip()
    if isinstance(body, list):
        return message_of(body[0]) if body else ""
    if not isinstance(body, dict):
        return ""
    for key in ("error", "message", "detail", "msg"):
        value = body.get(key)
        if value:
            return message_of(value)
    return ""


def _no_json(raw: bytes, headers: Mapping[str, str]) -> str:
    if raw.lstrip()[:1] == b"<" or "html" in headers.get("content-type", ""):
        return "it answered with a web page instead of JSON: is the base URL complete (/v1)?"
    return "it answered with broken JSON"


def _words_of(error: httpx.HTTPError) -> str:
    words = str(error) or type(error).__name__
    if isinstance(error, httpx.ProxyError):
        return f"the proxy failed: {words}"
    if "certificate" in words.lower() or "ssl" in words.lower():
        return f"no secure connection: {words}"
    if isinstance(error, httpx.ConnectError):
        return f"no connection: {words}"
    return f"the connection broke: {words}"
