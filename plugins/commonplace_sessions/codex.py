"""The reader of Codex's transcripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from commonplace_sessions.messages import Message, role_of, text_of, timestamp_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commonplace_sessions.messages import Record

__all__ = ["read_codex"]

_KINDS = ("input_text", "output_text", "text")
_PROGRAMS_OWN = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<user_action>",
    "# AGENTS.md instructions",
)


def read_codex(transcript: Iterable[Record]) -> Iterator[Message]:
    """What user and assistant said, without instructions, tools, reasoning and events.

    Older versions wrote the message itself where newer ones have it as a payload.
    """
    for line, record in transcript:
        item = record.get("payload") if record.get("type") == "response_item" else record
        if not isinstance(item, Mapping) or item.get("type") != "message":
            continue
        role = role_of(item)
        if role is None:
            continue
        text = text_of(item.get("content"), _KINDS)
        if role == "user" and text.lstrip().startswith(_PROGRAMS_OWN):
            continue
        yield Message(role, text, timestamp_of(record.get("timestamp")), line)
