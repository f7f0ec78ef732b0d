"""The tools that change notes: each change has a receipt, by which a person can undo it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from commonplace.errors import CallerError, PathNotAllowedError, WriteRefusedError
from commonplace.graphemes import floor_boundary
from commonplace.model.prompt import DATA_NOTICE, fenced, unfenced
from commonplace.model.search import cited
from commonplace.model.tools import ToolAnswer, ToolDefinition
from commonplace.tools.answers import sentence
from commonplace.tools.definitions import json_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.errors import CommonplaceError
    from commonplace.model.receipts import Origin, Receipt
    from commonplace.model.reports import NoteText
    from commonplace.writing.writer import Writer

    Run = Callable[..., ToolAnswer]

LONGEST_TEXT = 100_000
"""Characters of a text to remember, or to put in the place of another."""

LONGEST_DELETED = 1_000
"""Characters of what a change deleted that its answer shows."""

CHANGING = frozenset({"memory_write", "memory_correct", "memory_forget"})
"""The names of the tools that change notes."""


_CITATION: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "description": "Citation of the lines (path#L3 or path#L3-L9), as memory_search or memory_get "
    "gave it.",
}
_WAS: dict[str, Any] = {
    "type": "string",
    "description": "These lines as you read them: if they have moved since, they are found by it.",
}


def memory_write_tool() -> ToolDefinition:
    """The tool that adds to the notes."""
    properties: dict[str, Any] = {
        "text": {
            "type": "string",
            "minLength": 1,
            "maxLength": LONGEST_TEXT,
            "description": "What to remember, in full sentences that stand for themselves: names "
            "and dates instead of 'he' or 'tomorrow'.",
        },
        "kind": {
            "type": "string",
            "enum": ["log", "entry"],
            "description": "log: what happened, in today's log (default). entry: what stays true, "
            "in the curated memory.",
        },
        "heading": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "Section of the note to add it to.",
        },
        "importance": {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "How much it matters.",
        },
        "source": {
            "type": "string",
            "minLength": 1,
            "description": "Citation (path#L3-L9) of what in memory it was taken from.",
        },
    }
    return ToolDefinition(
        name="memory_write",
        title="Remember",
        description="Add one fact, decision, preference or event to your long-term memory, where "
        "memory_search finds it from then on. Search first: what is there already is refused; "
        "correct it instead. Write facts, not instructions, and no secrets.",
        parameters=json_object(properties, ["text"]),
        effect="adds",
    )


def memory_correct_tool() -> ToolDefinition:
    """The tool that replaces lines of a note."""
    properties: dict[str, Any] = {
        "citation": _CITATION,
        "new": {
            "type": "string",
            "minLength": 1,
            "maxLength": LONGEST_TEXT,
            "description": "The text that takes the place of these lines.",
        },
        "was": _WAS,
        "keepOld": {
            "type": "boolean",
            "description": "Keep the old lines, marked as superseded today: for what was true "
            "until now. Without it they are replaced: for what was never true.",
        },
    }
    return ToolDefinition(
        name="memory_correct",
        title="Correct memory",
        description="Replace lines of a note of your long-term memory that are wrong or no longer "
        "true. The user can undo it.",
        parameters=json_object(properties, ["citation", "new"]),
        effect="deletes",
    )


def memory_forget_tool() -> ToolDefinition:
    """The tool that deletes lines of a note."""
    return ToolDefinition(
        name="memory_forget",
        title="Forget",
        description="Delete lines of a note of your long-term memory, if the user wants them gone. "
        "For what has changed use memory_correct. The user can undo it.",
        parameters=json_object({"citation": _CITATION, "was": _WAS}, ["citation"]),
        effect="deletes",
    )


class WriterOf(Protocol):
    """How a memory gives a writer: see :meth:`commonplace.Memory.writer`."""

    def __call__(self, *, origin: Origin, who: str) -> Writer:
        """A writer on the word of ``origin``."""
        ...


class ChangingTools:
    """The tools that change notes, for one chat.

    ``read`` gives the lines that a path or citation names, or raises what it may not see. A chat
    that is not ``direct`` can neither read nor change the curated memory, and what it adds counts
    as a conversation's word, not the agent's own.
    """

    def __init__(
        self, writer: WriterOf, read: Callable[[str], NoteText], *, direct: bool, who: str
    ) -> None:
        self._writer_of = writer
        self._who = who
        self._read = read
        self._direct = direct

    def tools(self) -> tuple[tuple[ToolDefinition, Run], ...]:
        """Each tool's definition, and what runs it."""
        return (
            (memory_write_tool(), self._write),
            (memory_correct_tool(), self._correct),
            (memory_forget_tool(), self._forget),
        )

    def _writer(self) -> Writer:
        origin: Literal["agent", "session"] = "agent" if self._direct else "session"
        return self._writer_of(origin=origin, who=self._who)

    def _write(self, arguments: dict[str, Any], *_: object) -> ToolAnswer:
        kind = arguments.get("kind", "log")
        if kind == "entry" and not self._direct:
            raise WriteRefusedError(
                "the curated memory is for direct chats",
                kind="disabled",
                hint="write it to the log: kind log",
            )
        if "source" in arguments:
            self._read(arguments["source"])
        receipt = self._writer().remember(
            arguments["text"],
            kind=kind,
            heading=arguments.get("heading"),
            importance=arguments.get("importance"),
            source=arguments.get("source"),
        )
        return _changed(receipt, f"Remembered in {receipt.citation}.")

    def _correct(self, arguments: dict[str, Any], *_: object) -> ToolAnswer:
        trust = self._read(arguments["citation"]).trust
        writer, keep = self._writer(), bool(arguments.get("keepOld"))
        change = writer.supersede if keep else writer.correct
        receipt = change(arguments["citation"], arguments["new"], was=arguments.get("was"))
        words = f"Corrected: see {receipt.citation}."
        return _changed(receipt, words, deleted_from="" if keep else trust)

    def _forget(self, arguments: dict[str, Any], *_: object) -> ToolAnswer:
        trust = self._read(arguments["citation"]).trust
        receipt = self._writer().forget(arguments["citation"], was=arguments.get("was"))
        gone = receipt.before  # where these lines had moved, others than were cited
        words = f"Forgotten: {cited(receipt.path, gone.start, gone.end)}."
        return _changed(receipt, words, deleted_from=trust)


def unchanged(error: CommonplaceError) -> ToolAnswer:
    """The answer where nothing was changed."""
    # An argument that is wrong, or a text that is refused, is for the model to put right.
    wrong = type(error) is CallerError or getattr(error, "kind", "") == "text"
    correct = "correct the arguments, and call again"
    action = error.hint or (correct if wrong else "go on without it, and say that it was not saved")
    if isinstance(error, PathNotAllowedError):
        action = "cite lines of a note of this memory, as memory_search gives them"
    data = {
        "receipt": None,
        "refused": error.kind if isinstance(error, WriteRefusedError) else "failed",
        "error": str(error),
        "action": action,
    }
    why = unfenced(str(error))
    text = f"Nothing was changed: {why}. What to do: {sentence(unfenced(action))}"
    return ToolAnswer(text=text, data=data, failed=True)


def _changed(receipt: Receipt, words: str, *, deleted_from: str = "") -> ToolAnswer:
    """The answer to a change; of lines that are gone ``deleted_from`` is the trust of their note.

    These are shown: an agent sees from them that others than it meant were deleted.
    """
    if not receipt.id:
        words = "Nothing had to be changed."
    deleted = receipt.before.text.rstrip("\r\n") if receipt.id and deleted_from else ""
    data = {
        "receipt": receipt.id,
        "action": receipt.action,
        "path": receipt.path,
        "citation": receipt.citation,
        "deleted": deleted,
        "notes": list(receipt.notes),
    }
    undo = f" To undo it: commonplace undo {receipt.id}" if receipt.id else ""
    notes = "".join(f"\n({unfenced(note)})" for note in receipt.notes)
    text = f"{unfenced(words)}{undo}{notes}"
    if deleted:
        shown = deleted
        if len(deleted) > LONGEST_DELETED:
            shown = deleted[: floor_boundary(deleted, LONGEST_DELETED - 1)] + "…"
        lines = f"{receipt.before.start}-{receipt.before.end}"
        fence = fenced(shown, path=receipt.path, lines=lines, trust=deleted_from)
        text += f"\n\nWhat was deleted. {DATA_NOTICE}\n\n{fence}"
    return ToolAnswer(text=text, data=data)
