"""What Voyage's error answers mean."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from commonplace.plugin import ErrorInfo, kind_of_status, message_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["explain", "is_error"]

# The vendor tells these apart by words alone.
_TOO_LARGE = re.compile(
    r"""(?ix)
    \b tokens? \b .{0,80} \b (?: batch | context | exceed\w* | limit | lower | max\w* )
    | \b (?: exceed\w* | limit | max\w* | many ) \b .{0,80} \b tokens? \b
    | batch \ size | too \ (?: large | long | many ) | (?: list | input ) .{0,40} \b length
    """
)
_NO_SUCH_MODEL = re.compile(r"(?i)\bmodel\b.{0,80}\bis not (?:supported|available|valid)")
_UNPAID = re.compile(r"(?i)payment method")
# Without a payment method an account has three requests a minute.
_UNPAID_PAUSE = 20.0


def explain(status: int, headers: Mapping[str, str], body: Any) -> ErrorInfo | None:
    """For :class:`~commonplace.embedding.http.client.RemoteClient`."""
    message = message_of(body)
    if status == 400 and _NO_SUCH_MODEL.search(message):
        return ErrorInfo("not_found", message)
    if status == 400 and _TOO_LARGE.search(message):
        return ErrorInfo("too_large", message)
    if status == 403:
        return ErrorInfo(
            "auth", message, hint="check that the key may be used from this network address"
        )
    if status == 429 and _UNPAID.search(message):
        pause = None if "retry-after" in headers else _UNPAID_PAUSE
        return ErrorInfo("rate_limit", message, pause, "add a payment method to the account")
    return ErrorInfo(kind_of_status(status), message)


def is_error(body: Any) -> bool:
    """Whether the body of a 2xx answer is an error: proxies pass on an upstream's so."""
    return isinstance(body, dict) and not body.get("data") and message_of(body) != ""
