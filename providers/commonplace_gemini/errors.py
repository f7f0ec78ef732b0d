"""What Google's error answers mean: status, kind, delay."""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.plugin import ProviderErrorKind

_KINDS: dict[str, ProviderErrorKind] = {
    "UNAUTHENTICATED": "auth",
    "PERMISSION_DENIED": "auth",
    "FAILED_PRECONDITION": "auth",
    "RESOURCE_EXHAUSTED": "rate_limit",
    "NOT_FOUND": "not_found",
    "UNIMPLEMENTED": "not_found",
    "ABORTED": "unavailable",
    "CANCELLED": "unavailable",
    "DEADLINE_EXCEEDED": "unavailable",
    "INTERNAL": "unavailable",
    "UNAVAILABLE": "unavailable",
    "UNKNOWN": "unavailable",
}
_TOO_LARGE = r"""(?ix)
    at\ most\ \d+\ requests | payload\ size | too\ (?: large | long )
    | tokens? \b .{0,80} \b (?: exceed\w* | limit | maximum | up\ to )
    | exceed\w* \b .{0,80} \b tokens?
    """


def status_in(body: Any) -> int | None:
    """The status that an error body carries, if ``body`` is one, else ``None``.

    Proxies pass an upstream's error on with status 200; what says no better counts as 502.
    """
    error = error_in(body)
    if error is None:
        return None
    code = error.get("code")
    return code if type(code) is int and 400 <= code < 600 else 502


def error_in(body: Any) -> dict[str, Any] | None:
    """The error object of a body, or ``None``."""
    if isinstance(body, list) and len(body) == 1:
        body = body[0]  # streaming answers are lists, and errors in their place too
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else None


def kind_of(
    status: int, error: Mapping[str, Any], message: str, details: list[dict[str, Any]]
) -> ProviderErrorKind:
    """The kind of a failure, by its status and Google's own words."""
    # A wrong key is an invalid argument to Google: 400, and not 401.
    if any(str(one.get("reason")).startswith("API_KEY_") for one in details):
        return "auth"
    name = error.get("status")
    if name == "INVALID_ARGUMENT" or status in (400, 413):
        if "api key" in message.lower():
            return "auth"
        if status == 413 or re.search(_TOO_LARGE, message):
            return "too_large"
    from commonplace.plugin import kind_of_status

    known = _KINDS.get(name) if isinstance(name, str) else None
    return known or kind_of_status(status)


def is_for_today(details: list[dict[str, Any]]) -> bool:
    """Whether a daily quota is used up."""
    violations = [one for held in details for one in list_of(held.get("violations"))]
    return any("PerDay" in str(one.get("quotaId")) for one in violations if isinstance(one, dict))


def delay_in(details: list[dict[str, Any]]) -> float | None:
    """Seconds of a ``RetryInfo``: Google promises no ``Retry-After``."""
    for one in details:
        text = one.get("retryDelay")
        if not isinstance(text, str) or not text.endswith("s"):
            continue
        try:
            seconds = float(text[:-1])
        except ValueError:
            continue
        if isfinite(seconds) and seconds >= 0:
            return seconds
    return None


def list_of(value: Any) -> list[Any]:
    """``value`` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []
