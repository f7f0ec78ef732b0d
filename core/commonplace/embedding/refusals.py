"""What a server's error answer means: its kind, its words, how long it wants to be left alone."""

from __future__ import annotations

import time
from datetime import UTC
from math import isfinite
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.errors import ProviderErrorKind

__all__ = [
    "Complaint",
    "complaint_of_proxy",
    "kind_of_status",
    "mend_of",
    "message_of",
    "retry_after_of",
    "retry_of",
]

_FAR = 366 * 86400.0


@frozen
class Complaint:
    """What an error answer means, in a vendor's own terms.

    ``retry_after`` are seconds; without it the headers decide. ``hint`` is one line for people;
    without it the kind decides.
    """

    kind: ProviderErrorKind
    message: str
    retry_after: float | None = None
    hint: str = ""


_MENDS: dict[ProviderErrorKind, str] = {
    "auth": "check the API key of this provider",
    "quota": "the account has no quota left: top it up, or choose another provider",
    "not_found": "check remote.baseUrl and the model's name",
}
_KINDS: dict[int, ProviderErrorKind] = {
    401: "auth",
    402: "quota",
    403: "auth",
    404: "not_found",
    405: "not_found",
    408: "unavailable",
    409: "unavailable",
    413: "too_large",
    429: "rate_limit",
    501: "not_found",
}


def kind_of_status(status: int) -> ProviderErrorKind:
    """What an HTTP status means where the vendor says nothing better."""
    return _KINDS.get(status, "unavailable" if status >= 500 else "bad_request")


def complaint_of_proxy(status: int) -> Complaint | None:
    """What a status means that no server but only a proxy gives, if it is one."""
    if status != 407:
        return None
    words = "the proxy wants a user and a password, or others"
    return Complaint("auth", words, hint="check them in HTTP_PROXY, HTTPS_PROXY or ALL_PROXY")


def mend_of(kind: ProviderErrorKind) -> str:
    """What may help against errors of a kind where nobody knows better, or ``""``."""
    return _MENDS.get(kind, "")


def retry_after_of(
    headers: Mapping[str, str], *, clock: Callable[[], float] = time.time
) -> float | None:
    """Seconds from ``retry-after-ms`` or ``retry-after`` (seconds, or an HTTP date), if any.

    At least 0: a date that has passed asks for no wait. ``clock`` gives epoch seconds.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    plain = headers.get("retry-after")
    seconds = _number(plain)
    if seconds is not None or plain is None:
        return seconds
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(plain)
        # HTTP knows no other zone, whatever is written.
        stamp = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, stamp - clock())


def retry_of(headers: Mapping[str, str]) -> bool | None:
    """What ``x-should-retry`` says, if anything: it overrides what a status means."""
    return {"true": True, "false": False}.get(headers.get("x-should-retry", "").strip().lower())


def message_of(body: Any) -> str:
    """The words of an error body in any of the forms that servers use, or ``""``."""
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else body.strip()
    if isinstance(body, list):
        return message_of(body[0]) if body else ""
    if isinstance(body, dict):
        for key in ("error", "message", "detail", "msg"):
            if words := message_of(body.get(key)):
                return words
    return ""


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    if not isfinite(value):
        return _FAR if value > 0 else None
    return max(0.0, value)
