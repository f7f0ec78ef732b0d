"""The reader of OpenClaw's transcripts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from commonplace_sessions.injected import without_injected
from commonplace_sessions.messages import Message, spoken, text_of, timestamp_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commonplace_sessions.messages import Record

__all__ = ["read_openclaw"]

_SILENT = "NO_REPLY"
_ALIVE = "HEARTBEAT_OK"
_ACKNOWLEDGED = 300  # characters beside the sign of life up to which nothing was delivered
_MARKUP = " \t\r\n*_`~.!-"
_POLLS = ("Read HEARTBEAT.md if it exists", "[OpenClaw heartbeat poll]")
_SCHEDULED = re.compile(r"\[cron:[^\]]+\]")
_DREAMING = "dreaming-narrative-"


def read_openclaw(transcript: Iterable[Record]) -> Iterator[Message]:
    """What user and assistant said, without what the program told the model in the user's name.

    That is: metadata of channels and recalled memories before a message, system events, polls
    (heartbeats) with answers that nobody was sent, prompts of the scheduler, messages of other
    sessions. A transcript of the program's own dreaming ends where it says that it is one.
    """
    polled = False
    for line, record in transcript:
        if _is_dreaming(record):
            return
        found = spoken(record) if record.get("type") == "message" else None
        if found is None:
            continue
        role, message = found
        text = text_of(message.get("content"))
        if role == "user":
            if _from_another_session(message):
                continue
            text = without_injected(text).strip()
            polled = text.startswith(_POLLS)
            if polled or _SCHEDULED.match(text):
                continue
        elif _is_nothing(text, polled=polled):
            continue
        timestamp = timestamp_of(message.get("timestamp"), record.get("timestamp"))
        yield Message(role, text, timestamp, line, is_border=not polled)


def _is_nothing(answer: str, *, polled: bool) -> bool:
    """Whether an assistant's message was for the program alone."""
    plain = answer.strip(_MARKUP)
    if plain in (_SILENT, _ALIVE):
        return True
    acknowledges = polled and (plain.startswith(_ALIVE) or plain.endswith(_ALIVE))
    return acknowledges and len(plain) <= len(_ALIVE) + _ACKNOWLEDGED


def _from_another_session(message: Mapping[str, Any]) -> bool:
    provenance = message.get("provenance")
    return isinstance(provenance, Mapping) and provenance.get("kind") == "inter_session"


def _is_dreaming(record: Mapping[str, Any]) -> bool:
    data = record.get("data")
    run = data.get("runId") if isinstance(data, Mapping) else None
    return any(
        isinstance(id_, str) and id_.startswith(_DREAMING) for id_ in (run, record.get("runId"))
    )
