"""Readers of transcripts, one for each format: who said what, when, and on which line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


Role = Literal["user", "assistant"]

Record = tuple[int, Mapping[str, Any]]
"""A JSON object of a transcript, with the 1-based line it stands on."""

_SECONDS_BELOW = 1e11
_LATEST = 253_402_300_799_999  # milliseconds; the end of the calendar


class Message(NamedTuple):
    """One message. ``timestamp`` is epoch milliseconds, 0 if unknown.

    A new reader that starts after a message that ``is_border`` reads the rest alike.
    """

    role: Role
    text: str
    timestamp: float
    line: int
    is_border: bool = True


Reader = Callable[[Iterable[Record]], Iterator[Message]]
"""The messages among the records of one transcript, in their order.

A reader reads no record after that of the message it yields. It skips tool calls and their results,
reasoning, and what the program added to the conversation. Texts are verbatim.
"""


def spoken(record: Mapping[str, Any]) -> tuple[Role, Mapping[str, Any]] | None:
    """Role and body of the record's message, if it is a user's or an assistant's."""
    message = record.get("message")
    if not isinstance(message, Mapping):
        return None
    role = role_of(message)
    return (role, message) if role is not None else None


def role_of(message: Mapping[str, Any]) -> Role | None:
    """The role, if it is user or assistant."""
    role = message.get("role")
    return role if role in ("user", "assistant") else None


def text_of(content: object, kinds: tuple[str, ...] = ("text",)) -> str:
    """The text of a message's content: a string, or the blocks of ``kinds``."""
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

    Numbers below 1e11 are seconds, others milliseconds; texts are ISO 8601, in UTC without a zone.
    """
    for value in candidates:
        try:
            found = _milliseconds(value)
        except (ValueError, OverflowError):
            continue
        if 0 < found <= _LATEST:
            return found
    return 0


def _milliseconds(value: object) -> float:
    if isinstance(value, str):
        from datetime import UTC, datetime

        found = datetime.fromisoformat(value.strip())
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    number = float(value)
    return number * 1000 if number < _SECONDS_BELOW else number


_BLOCKS = (
    ("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"),
    ("<relevant-memories>", "</relevant-memories>"),
    ("<active_memory_plugin>", "</active_memory_plugin>"),
)
_METADATA = ("(untrusted metadata):", "(untrusted, for context):")
_EVENT = re.compile(r"System(?: \(untrusted\))?: \[[^\]]*\]")
_MORE_EVENT = re.compile(r"System(?: \(untrusted\))?: ")
_STAMP = re.compile(r"\[[A-Za-z]{3} \d{4}-\d{2}-\d{2} \d{2}:\d{2}[^\]\n]{0,40}\] *")


def without_injected(text: str) -> str:
    """The user's own words, without metadata, recalled memories and system events."""
    text = without_blocks(text, _BLOCKS)
    if "(untrusted" in text:
        text = "\n".join(_without_metadata(text.split("\n")))
    text = _without_events(text.lstrip()).lstrip()
    stamp = _STAMP.match(text)
    return text[stamp.end() :] if stamp else text


def without_blocks(text: str, marks: Sequence[tuple[str, str]]) -> str:
    """``text`` without the pairs of ``marks`` and what they enclose.

    A mark that is never closed is kept: a message may mention it.
    """
    for begin, end in marks:
        if begin in text:
            first, *others = text.split(begin)
            text = first + "".join(
                after if closed else begin + inside
                for inside, closed, after in (other.partition(end) for other in others)
            )
    return text


def _without_metadata(lines: list[str]) -> Iterator[str]:
    """The lines outside metadata, which is a heading with a block of JSON below it."""
    expected = fenced = False
    for line in lines:
        bare = line.strip()
        if fenced:
            fenced = bare != "```"
        elif expected and bare.startswith("```"):
            expected, fenced = False, True
        elif bare.endswith(_METADATA):
            expected = True
        else:
            expected = expected and not bare
            yield line


def _without_events(text: str) -> str:
    """``text`` without its leading system events, which may have several lines."""
    lines = text.split("\n")
    at = 0
    while at < len(lines) and (
        _EVENT.match(lines[at]) or (at and _MORE_EVENT.match(lines[at])) or not lines[at].strip()
    ):
        at += 1
    return "\n".join(lines[at:])


_SILENT = "NO_REPLY"
_ALIVE = "HEARTBEAT_OK"
_ACKNOWLEDGED = 300  # characters beside the sign of life up to which an answer is not delivered
_MARKUP = " \t\r\n*_`~.!-"
_POLLS = ("Read HEARTBEAT.md if it exists", "[OpenClaw heartbeat poll]")
_SCHEDULED = re.compile(r"\[cron:[^\]]+\]")
_DREAMING = "dreaming-narrative-"


def read_openclaw(transcript: Iterable[Record]) -> Iterator[Message]:
    """The messages of OpenClaw's format, without those that the program sent in the user's name.

    Skipped are metadata of channels and recalled memories before a message, system events, polls
    (heartbeats) with answers that were not delivered, prompts of the scheduler, and messages of
    other sessions. A transcript of the program's own dreaming ends at the record that names it.
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
            provenance = message.get("provenance")
            if isinstance(provenance, Mapping) and provenance.get("kind") == "inter_session":
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
    """Whether an assistant's message was for the program only."""
    plain = answer.strip(_MARKUP)
    if plain in (_SILENT, _ALIVE):
        return True
    acknowledges = polled and (plain.startswith(_ALIVE) or plain.endswith(_ALIVE))
    return acknowledges and len(plain) <= len(_ALIVE) + _ACKNOWLEDGED


def _is_dreaming(record: Mapping[str, Any]) -> bool:
    data = record.get("data")
    run = data.get("runId") if isinstance(data, Mapping) else None
    return any(
        isinstance(id_, str) and id_.startswith(_DREAMING) for id_ in (run, record.get("runId"))
    )


_SKIPPED = ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage")
_REMINDERS = (("<system-reminder>", "</system-reminder>"),)
_CLAUDE_CODE_OWN = (
    "<command-",
    "<local-command-",
    "<bash-",
    "Caveat: The messages below were generated by the user while running local commands",
    "[Request interrupted by user",
)


def read_claude_code(transcript: Iterable[Record]) -> Iterator[Message]:
    """The messages of Claude Code's format, without reminders, commands and summaries."""
    for line, record in transcript:
        if record.get("type") not in ("user", "assistant") or any(map(record.get, _SKIPPED)):
            continue
        found = spoken(record)
        if found is None:
            continue
        role, message = found
        text = text_of(message.get("content"))
        if role == "user":
            text = without_blocks(text, _REMINDERS).strip()
            if text.startswith(_CLAUDE_CODE_OWN):
                continue
        yield Message(role, text, timestamp_of(record.get("timestamp")), line)


_CODEX_KINDS = ("input_text", "output_text", "text")
_CODEX_OWN = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<user_action>",
    "# AGENTS.md instructions",
)


def read_codex(transcript: Iterable[Record]) -> Iterator[Message]:
    """The messages of Codex's format, without instructions and events.

    In older versions the record is the message, in newer ones its payload.
    """
    for line, record in transcript:
        item = record.get("payload") if record.get("type") == "response_item" else record
        if not isinstance(item, Mapping) or item.get("type") != "message":
            continue
        role = role_of(item)
        if role is None:
            continue
        text = text_of(item.get("content"), _CODEX_KINDS)
        if role == "user" and text.lstrip().startswith(_CODEX_OWN):
            continue
        yield Message(role, text, timestamp_of(record.get("timestamp")), line)


READERS: dict[str, Reader] = {
    "sessions": read_openclaw,
    "claude-code": read_claude_code,
    "codex": read_codex,
}
"""By the id of the source."""


def masking(reader: Reader, patterns: tuple[str, ...]) -> Reader:
    """``reader``, with what the user's own ``patterns`` match masked in its messages."""
    if not patterns:
        return reader
    from commonplace.plugin import redact

    def masked(records: Iterable[Record]) -> Iterator[Message]:
        for message in reader(records):
            yield message._replace(text=redact(message.text, patterns))

    return masked
