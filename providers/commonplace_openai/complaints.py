"""What OpenAI's error answers mean, and those of the servers that imitate them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from commonplace.plugin import ErrorInfo, kind_of_status, message_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.plugin import ProviderErrorKind

__all__ = ["explain", "hides_error", "is_of_count", "is_of_encoding"]

_NO_MONEY = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_TOO_LARGE_CODES = ("max_tokens_per_request", "context_length_exceeded", "string_above_max_length")
_STATUS_OF = {"invalid_api_key": 401, "rate_limit_exceeded": 429, "invalid_request_error": 400}
_TOO_LARGE = re.compile(
    r"""(?ix)
    too\ (?: large | long | many )
    | \bmax (?:imum)? [ _] (?: context | sequence | input | allowed | batch | tokens | length
                               | model | number | client )
    | context \ (?: length | size | window ) | exceed\w* \ .{0,40} context
    | batch \ size
    | split \ .{0,20} batches
    """
)
# A server's own failure may speak of batches and limits too: these words are of the input alone.
_TOO_LARGE_500 = re.compile(r"(?i)too (?:large|long|many)|batch size|context (?:length|size)")
_COUNT = re.compile(
    r"""(?ix)
    array \ too \ long | too \ many \ (?: inputs | items | texts )
    | (?<! physical \ ) (?<! current \ ) batch \ size
    | split \ .{0,20} batches | max \w* \ (?: number \ of \ )? (?: inputs | items | texts )
    """
)


def explain(status: int, _headers: Mapping[str, str], body: Any) -> ErrorInfo:
    """What an error answer means; with status 200, what one means that hides an error."""
    message = message_of(body)
    words = _words(body)
    kind = _kind(_hidden_status(body, words) if status < 300 else status, words, message)
    return ErrorInfo(kind, message, hint=_mend(kind, status, message))


def hides_error(body: Any) -> bool:
    """Whether an answer with status 200 is an error: proxies pass on an upstream's so."""
    return (
        isinstance(body, dict)
        and not body.get("data")
        and bool(body.get("error") or body.get("object") == "error")
    )


def is_of_count(message: str) -> bool:
    """Whether a request was too large by its number of texts, not by the length of any."""
    return _COUNT.search(message) is not None


def is_of_encoding(message: str) -> bool:
    """Whether a request was refused because of ``encoding_format``."""
    return "encoding_format" in message or "base64" in message.lower()


def _kind(status: int, words: frozenset[str], message: str) -> ProviderErrorKind:
    if words.intersection(_NO_MONEY):
        return "quota"
    if words.intersection(_TOO_LARGE_CODES) or _is_too_large(status, message):
        return "too_large"
    if "model_not_found" in words:
        return "not_found"
    return kind_of_status(status)


def _hidden_status(body: Any, words: frozenset[str]) -> int:
    """The status that the body speaks of; what says no better is an upstream's failure."""
    error = body.get("error")
    inner = error if isinstance(error, dict) else body
    for name in ("code", "status", "status_code"):
        value = str(inner.get(name))
        if value.isascii() and value.isdigit() and 400 <= int(value) < 600:
            return int(value)
    return next((status for word, status in _STATUS_OF.items() if word in words), 502)


def _is_too_large(status: int, message: str) -> bool:
    if status in (400, 413, 422):
        return _TOO_LARGE.search(message) is not None or status == 413
    if status == 500:
        return _TOO_LARGE_500.search(message) is not None
    # More tokens at once than the account may send in a minute: waiting does not help.
    return status == 429 and message.lower().startswith("request too large")


def _mend(kind: ProviderErrorKind, status: int, message: str) -> str:
    if kind == "auth" and status == 403:
        return "check that the key's project and country may use this model"
    if kind == "bad_request" and "dimension" in message.lower():
        return "remove outputDimensionality, or choose a model whose vectors can be shortened"
    if kind == "bad_request" and "input_type" in message:
        return "remove inputType, queryInputType and documentInputType"
    return ""


def _words(body: Any) -> frozenset[str]:
    inner = body.get("error") if isinstance(body, dict) else None
    inner = inner if isinstance(inner, dict) else body
    if not isinstance(inner, dict):
        return frozenset()
    return frozenset(v for name in ("code", "type") if isinstance(v := inner.get(name), str))
