"""What a server's error answer means; and keeping secrets out of messages and logs."""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from contextlib import suppress
from datetime import UTC
from math import isfinite
from typing import TYPE_CHECKING, Any

from attrs import frozen

from commonplace.resilience.bounded_call import failure_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from commonplace.errors import CommonplaceError, ProviderErrorKind


SEE_TRACEBACK = "run it with COMMONPLACE_DEBUG=1 to see its traceback"
"""The hint where the code of a plugin has failed."""

_FAR = 366 * 86400.0
_LOGGERS = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy")
_QUERY = re.compile(r"""(https?://[^\s"'?]+)\?[^\s"')\]]+""")


@frozen
class ErrorInfo:
    """The meaning of an error answer.

    ``retry_after`` are seconds (``None``: the headers decide). ``hint`` is one line for the user
    (``""``: the kind decides).
    """

    kind: ProviderErrorKind
    message: str
    retry_after: float | None = None
    hint: str = ""


_HINTS: dict[ProviderErrorKind, str] = {
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


def hint_of(kind: ProviderErrorKind) -> str:
    """The general hint for errors of a kind, or ``""``."""
    return _HINTS.get(kind, "")


def retry_after_of(
    headers: Mapping[str, str], *, clock: Callable[[], float] = time.time
) -> float | None:
    """Seconds from ``retry-after-ms`` or ``retry-after`` (seconds, or an HTTP date), if any.

    At least 0: a date that has passed asks for no wait. It is compared with the header ``date``,
    as this machine's clock, ``clock`` in epoch seconds, may be another than the server's.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    plain = headers.get("retry-after")
    seconds = _number(plain)
    if seconds is not None or plain is None:
        return seconds
    at = _date(plain)
    if at is None:
        return None
    now = _date(headers.get("date"))
    return max(0.0, at - (clock() if now is None else now))


def _date(text: str | None) -> float | None:
    """Epoch seconds of a date as HTTP writes it."""
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(text or "")
        # HTTP knows no other zone, whatever is written.
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


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


# Beside what every redaction masks: parts of keys, as vendors' errors quote them.
_KEY_LIKE = re.compile(
    r"""(?ix)
    \b(?: sk | pa | al | hf | gsk | rk )[-_][A-Za-z0-9_\-*]{6,}   # vendors' own prefixes
    | \bAIza[A-Za-z0-9_\-]{10,}
    | (?<=bearer\s)[^\s"',;]+
    | (?<=[?&]key=)[^\s&"']+
    | (?<=upload_id=)[^\s&"']+
    | (?<=://)[^\s/@:"']*:[^\s/@"']+(?=@)                       # a password in an address
    """
)
_SHORTEST = 4


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """``text`` with every one of ``secrets``, and whatever looks like a key, made unreadable."""
    for secret in sorted((s for s in secrets if len(s) >= _SHORTEST), key=len, reverse=True):
        text = text.replace(secret, "***")
    from commonplace.text.redaction import redact  # its patterns are many, and errors are few

    return redact(_KEY_LIKE.sub("***", text))


def describe(error: CommonplaceError) -> str:
    """The error and its fix, on one line and without keys: it may be kept in a file."""
    return redacted(f"{error}. Fix: {error.hint}" if error.hint else str(error))


def show_traceback(error: BaseException, secrets: Iterable[str] = ()) -> None:
    """Write the traceback of a plugin's error to standard error, if ``COMMONPLACE_DEBUG`` is set.

    Its message may hold a key: ``secrets``, and what looks like one, are removed here, and
    elsewhere the error is only named. Raises ``error`` again where a signal raised it, such as
    Ctrl-C.
    """
    failure_of(error)
    if os.environ.get("COMMONPLACE_DEBUG"):
        from traceback import format_exception

        shown = redacted("".join(format_exception(error)), secrets)
        if sys.stderr is not None:  # closed by who started this process
            with suppress(OSError, ValueError):
                sys.stderr.write(shown)


class _WithoutQueries(logging.Filter):
    """Removes the queries of URLs from log records, and lets every record through."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        shown = _QUERY.sub(r"\1?***", message)
        if shown != message:
            record.msg, record.args = shown, None
        return True


_FILTER = _WithoutQueries()


def hide_queries() -> None:
    """Keep queries of URLs out of what httpx logs, for the whole process.

    Upload addresses and those of stored results are credentials by themselves, and httpx logs each
    address that is requested (at INFO), and the headers of answers (at DEBUG).
    """
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)
