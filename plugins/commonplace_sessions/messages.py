"""What a reader of transcripts gives: who said what, when, and on which line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, Literal, NamedTuple

__all__ = ["Message", "Reader", "Record", "Role", "role_of", "spoken", "text_of", "timestamp_of"]

Role = Literal["user", "assistant"]

Record = tuple[int, Mapping[str, Any]]
"""A JSON object of a transcript, with the 1-based line it stands on."""

_SECONDS_BELOW = 1e11
_LATEST = 253_402_300_799_999  # milliseconds; the end of the calendar


class Message(NamedTuple):
    """One message. ``timestamp`` is epoch milliseconds, 0 where it is not known.

    After one that ``is_border``, a reader that begins anew makes the same of what follows.
    """

    role: Role
    text: str
    timestamp: float
    line: int
    is_border: bool = True


Reader = Callable[[Iterable[Record]], Iterator[Message]]
"""The messages among the records of one transcript, in their order.

A reader knows one format, and looks at no record after that of the message it gives. It leaves out
what nobody said: tool calls and their results, thoughts, and what the program put into the
conversation by itself. Texts are as they stand there.
"""


def spoken(record: Mapping[str, Any]) -> tuple[Role, Mapping[str, Any]] | None:
    """Role and body of the record's message, where a user or an assistant speaks."""
    message = record.get("message")
    if not isinstance(message, Mapping):
        return None
    role = role_of(message)
    return (role, message) if role is not None else None


def role_of(message: Mapping[str, Any]) -> Role | None:
    """Who speaks, if that is a user or an assistant."""
    role = message.get("role")
    return role if role in ("user", "assistant") else None


def text_of(content: object, kinds: tuple[str, ...] = ("text",)) -> str:
    """The text of a message's content: a string, or blocks, of which those of ``kinds`` count."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(
        block["text"]
        for block in content
        if isinstance(block, Mapping)
        and block.get("type") in kinds
        and isinstance(block.get("text"), str)
    )


def timestamp_of(*candidates: object) -> float:
    """The first of ``candidates`` that is a time, in epoch milliseconds; 0 if none is.

    Numbers below 1e11 are seconds, others milliseconds; texts are ISO 8601, in UTC where they name
    no zone.
    """
    for value in candidates:
        found = 0.0
        if isinstance(value, int | float) and not isinstance(value, bool):
            found = _from_number(value)
        elif isinstance(value, str):
            found = _from_text(value)
        if 0 < found <= _LATEST:
            return found
    return 0


def _from_number(value: float) -> float:
    try:
        number = float(value)
    except OverflowError:
        return 0
    if not isfinite(number):
        return 0
    return number * 1000 if number < _SECONDS_BELOW else number


def _from_text(value: str) -> float:
    from datetime import UTC, datetime

    try:
        found = datetime.fromisoformat(value.strip())
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000
    except (ValueError, OverflowError):
        return 0
