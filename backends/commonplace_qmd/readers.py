"""Readers of QMD's settings whose type alone does not say what may be written."""

from __future__ import annotations

import os
import re
import shlex
from math import floor, isfinite
from typing import TYPE_CHECKING, Any, Literal

from attrs import field, frozen

from commonplace.plugin import Setting, WrongValueError, convert, described, expand_user, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.plugin import Reading

__all__ = [
    "ALLOW_DIRECT",
    "Scope",
    "ScopeRule",
    "command",
    "interval_reader",
    "or_default",
    "path_text",
    "scope",
]

Action = Literal["allow", "deny"]

_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_PART = r"(\d+(?:\.\d+)?)(ms|s|m|h|d)"
_INTERVAL = re.compile(rf"(?:{_PART})+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_AS_IT_IS = Setting("", None, {})


def _chat_type(raw: object, reading: Reading) -> str:
    text = reading.text(raw)
    if text == "dm":
        return "direct"
    if text not in ("direct", "group", "channel"):
        raise WrongValueError('must be one of "direct", "group" or "channel"')
    return text


@frozen
class ScopeRule:
    """A rule matches a chat that has everything it names."""

    action: Action = field(metadata=described("What to do."))
    channel: str | None = field(default=None, metadata=described("Channel.", key="match.channel"))
    chat_type: str | None = field(
        default=None,
        metadata=described("Kind of chat.", key="match.chatType", read=_chat_type),
    )
    key_prefix: str | None = field(
        default=None, metadata=described("Start of the normalised key.", key="match.keyPrefix")
    )
    raw_key_prefix: str | None = field(
        default=None, metadata=described("Start of the key.", key="match.rawKeyPrefix")
    )


@frozen
class Scope:
    """Which chats may search: the first rule that matches, else ``default``."""

    default: Action = field(default="allow", metadata=described("Where no rule matches."))
    rules: tuple[ScopeRule, ...] = field(default=(), metadata=described("In order."))


ALLOW_DIRECT = Scope(default="deny", rules=(ScopeRule(action="allow", chat_type="direct"),))
"""The scope where none is configured: the safer of what the original documents and does."""


def scope(raw: object, reading: Reading) -> Scope:
    """A scope in the form of ``session.sendPolicy``."""
    read: Scope = convert(Scope, raw, _AS_IT_IS, reading)
    return read


def path_text(raw: object, reading: Reading) -> str:
    """A path with ``~`` expanded; one that is relative starts from the workspace."""
    text = expand_user(reading.text(raw).strip(), reading.env)
    if not text:
        raise WrongValueError("must not be empty")
    return text


def command(raw: object, reading: Reading) -> str:
    """The program: the first word as a shell would split it.

    A path into Homebrew that is gone, as its updates leave behind, becomes ``qmd``.
    """
    try:
        words = shlex.split(reading.text(raw))
    except ValueError:
        raise WrongValueError("has a quote that is not closed") from None
    if not words:
        raise WrongValueError("must not be empty")
    program = expand_user(words[0], reading.env)
    brewed = "/homebrew/" in program.lower() or "/cellar/" in program.lower()
    return "qmd" if brewed and not os.path.exists(program) else program


def interval_reader(default_minutes: int) -> Callable[[object, Reading], float]:
    """A reader of intervals, in seconds: ``"90s"``, ``"1h30m"``; a bare number is minutes.

    What cannot be understood is doubted, and the default taken, as the original does.
    """

    def read(raw: object, reading: Reading) -> float:
        if isinstance(raw, bool) or not isinstance(raw, int | float | str):
            raise WrongValueError(f'must be an interval such as "5m", not {kind_of(raw)}')
        seconds = _seconds(reading.text(raw) if isinstance(raw, str) else raw)
        if seconds is None:
            reading.doubts.append(
                f'is no interval such as "5m" or "1h"; {default_minutes}m is taken'
            )
            return default_minutes * 60.0
        return seconds

    return read


def _seconds(raw: float | str) -> float | None:
    if isinstance(raw, int | float):
        return raw * 60.0 if isfinite(raw) and raw >= 0 else None
    text = raw.strip().lower().replace(" ", "")
    if _NUMBER.fullmatch(text):
        return float(text) * 60.0
    if not _INTERVAL.fullmatch(text):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in re.findall(_PART, text))


def or_default(default: Any, *, positive: bool = False) -> Callable[[object, Reading], Any]:
    """A reader of whole numbers of at least 0, where 0 stands for ``default``.

    ``positive`` ones refuse 0 in a file. Given by a program, whatever is not above 0 becomes the
    default, and a fraction is dropped.
    """
    least = 1 if positive else 0

    def read(raw: object, reading: Reading) -> Any:
        wanted = f"must be a whole number of at least {least}"
        if isinstance(raw, bool) or not isinstance(raw, int | float):
            raise WrongValueError(f"{wanted}, not {kind_of(raw)}")
        if reading.programmatic:
            return floor(raw) if isfinite(raw) and raw >= 1 else default
        if not isfinite(raw) or raw != floor(raw) or raw < least:
            raise WrongValueError(wanted)
        return floor(raw) or default

    return read
