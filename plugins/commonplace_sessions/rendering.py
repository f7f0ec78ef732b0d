"""From messages to the lines that are indexed: on one line each, redacted, not too long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace_sessions.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace_sessions.messages import Message

__all__ = ["WIDTH", "render"]

WIDTH = 800
"""The most characters of a message on one line, without the name of its speaker."""

_SPEAKERS = {"user": "User", "assistant": "Assistant"}


def render(message: Message) -> Iterator[str]:
    """The lines of ``message``, each with the speaker's name; none for a blank one.

    Secrets are masked before anything is cut, so that none can hide in two halves.
    """
    text = redact(_whole(" ".join(message.text.split())))
    speaker = _SPEAKERS[message.role]
    return (f"{speaker}: {piece}" for piece in _wrapped(text))


def _whole(text: str) -> str:
    """``text`` without halves of characters, which JSON can spell and no file can hold."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _wrapped(text: str) -> Iterator[str]:
    at = 0
    while len(text) - at > WIDTH:
        space = text.rfind(" ", at + 1, at + WIDTH + 1)
        end = space if space > 0 else at + WIDTH
        yield text[at:end]
        at = end + (space > 0)
    if at < len(text):
        yield text[at:]
