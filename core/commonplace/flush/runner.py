"""One flush: a model is asked for notes, with a tool that reads and one that only appends."""

from __future__ import annotations

import json
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from commonplace.errors import CallerError, CommonplaceError, UnavailableError, reason_of
from commonplace.flush.plan import asked
from commonplace.model.prompt import unfenced
from commonplace.model.tools import ToolDefinition
from commonplace.model.tuples import NamedTuple, Record
from commonplace.tools.answers import lines_read
from commonplace.tools.definitions import checked, memory_get_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from commonplace.flush.plan import FlushPlan
    from commonplace.model.reports import NoteText

    Model = Callable[[list[dict[str, Any]], list[dict[str, Any]]], Mapping[str, Any]]

MOST_CALLS = 8
"""Calls of the model for one part of a conversation."""

LONGEST_NOTE = 20_000
"""Characters that one call of the tool may append."""

_READ_CHARS = 12_000


class Notes(Protocol):
    """What a flush may do with notes."""

    def get(self, path: str, *, start: int | None = None, lines: int | None = None) -> NoteText:
        """Lines of a note."""
        ...

    def append(self, path: str, text: str) -> str:
        """Append ``text`` to the note; a word on what was changed in it, or ``""``.

        Raises :class:`~commonplace.errors.CommonplaceError` where it is not written.
        """
        ...


class FlushReport(Record):
    """What a flush did. ``done``: the model was heard to the end, and all it wrote was written.

    ``path`` is the note, ``written`` what was appended to it, ``calls`` how often the model was
    called. ``reason`` says why it is not done.
    """

    done: bool
    path: str = ""
    written: tuple[str, ...] = ()
    calls: int = 0
    reason: str = ""


def write_tool(path: str) -> ToolDefinition:
    """The tool that appends to ``path``, and can do nothing else."""
    return ToolDefinition(
        name="write",
        title="Append to the note of the day",
        description=f"Append Markdown to {path}. Nothing that stands there is changed, and no "
        "other file can be written.",
        parameters={
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": f"{path}, which need not be named.",
                },
                "content": {
                    "type": "string",
                    "minLength": 1,
                    "description": "The Markdown to append.",
                },
            },
            "required": ["content"],
            "additionalProperties": False,
        },
        effect="adds",
    )


def read_tool() -> ToolDefinition:
    """The tool that reads a note: ``memory_get`` under the name that the prompts use."""
    return memory_get_tool().replace(name="read")


class FlushTools:
    """The two tools of one flush. After :meth:`close` nothing is written any more."""

    def __init__(self, plan: FlushPlan, notes: Notes) -> None:
        self._plan = plan
        self._notes = notes
        self._read, self._write = read_tool(), write_tool(plan.path)
        self._lock = Lock()
        self._closed = False
        self._failed: dict[str, str] = {}
        self.written: list[str] = []
        self.calls = 0

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """Both, for function calling."""
        return [self._read.function(), self._write.function()]

    @property
    def failure(self) -> str:
        """Why something is not written that should be, or ``""``."""
        return next(iter(self._failed.values()), "")

    def report(self, reason: str) -> FlushReport:
        """What the flush has done so far; ``reason`` says why it is not done, ``""`` if it is."""
        return FlushReport(
            done=not reason,
            path=self._plan.path,
            written=tuple(self.written),
            calls=self.calls,
            reason=reason,
        )

    def close(self) -> None:
        """Refuse what is still to come, from a model that answers too late."""
        with self._lock:
            self._closed = True

    def call(self, name: str, arguments: object) -> str:
        """What the tool answers; what goes wrong is an answer too."""
        try:
            if name == "read":
                given = checked(self._read, arguments)
                note = self._notes.get(
                    given["path"], start=given.get("from"), lines=given.get("lines")
                )
                return lines_read(note, budget=_READ_CHARS, limited=False).text
            if name == "write":
                return self._append(checked(self._write, arguments))
            raise CallerError(f"there is no tool {name[:80]!r}", hint="the tools: read, write")
        except CommonplaceError as error:
            return f"Nothing was done: {unfenced(reason_of(error))}."

    def _append(self, given: dict[str, Any]) -> str:
        path, text = self._plan.path, given["content"].strip()
        named = given.get("path", path).strip().removeprefix("./")
        if named != path:
            raise CallerError(f"{named[:80]!r} cannot be written now", hint=f"write to {path}")
        if len(text) > LONGEST_NOTE:
            raise CallerError(f"{len(text)} characters are more than {LONGEST_NOTE}", hint="sum up")
        with self._lock:
            if self._closed:
                raise CallerError("this flush is over")
            try:
                word = self._notes.append(path, text)
            except UnavailableError as error:  # a refusal is the model's to answer
                self._failed[text] = reason_of(error)
                raise
            self._failed.pop(text, None)
            self.written.append(text)
        return unfenced(f"Appended to {path}. {word}")


class _Call(NamedTuple):
    """A tool call of a model: ``raw`` as it was, to be repeated to it."""

    id: str
    name: str
    arguments: object
    raw: Mapping[str, Any]


def run_flush(
    plan: FlushPlan, parts: Iterable[str], model: Model, tools: FlushTools
) -> FlushReport:
    """Ask ``model`` for notes on each part of the conversation.

    ``model`` takes messages and tools, and returns the message of the assistant, all in the form
    of OpenAI's chat completions. What it says is dropped: only what it writes counts. What it
    raises is a failure of the flush; what was written before stays.
    """
    for part in parts:
        messages = asked(plan, part)
        for _ in range(MOST_CALLS):
            tools.calls += 1
            try:
                reply = model(messages, tools.definitions)
                wanted = _calls_of(reply)
            except Exception as error:  # noqa: BLE001 - whatever a model's client raises
                return tools.report(f"{type(error).__name__}: {error}")
            if not wanted:
                break
            content, raw = reply.get("content"), [call.raw for call in wanted]
            messages.append({"role": "assistant", "content": content, "tool_calls": raw})
            messages += [
                {
                    "role": "tool",
                    "tool_call_id": call.id,
                    "content": tools.call(call.name, call.arguments),
                }
                for call in wanted
            ]
        else:
            return tools.report(f"the model did not end within {MOST_CALLS} calls")
    return tools.report(tools.failure)


def _calls_of(reply: Mapping[str, Any]) -> Sequence[_Call]:
    """The tool calls of a reply; raises where it is no message of an assistant."""
    found = []
    for number, raw in enumerate(reply.get("tool_calls") or ()):
        function = raw["function"]
        arguments = function.get("arguments") or "{}"
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError):
                arguments = None  # the tool answers that it is no JSON object
        id_ = str(raw.get("id") or f"call-{number}")
        found.append(_Call(id_, str(function["name"]), arguments, {**raw, "id": id_}))
    return found
