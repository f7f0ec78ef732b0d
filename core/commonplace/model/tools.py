"""A tool for an agent: how it is defined for each kind of caller, and what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.model.documents import CURATED, CURATED_IN_PLAIN
from commonplace.model.tuples import Record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal


class ToolDefinition(Record):
    """A tool: its name, what it is for in words for a model, and the JSON schema of its arguments.

    ``parameters`` is an object of strings, booleans, whole numbers and numbers; a number has a
    ``minimum``.
    ``effect`` is what a call does at most: it reads, adds something, or deletes something.
    """

    name: str
    title: str
    description: str
    parameters: dict[str, Any]
    effect: Literal["reads", "adds", "deletes"] = "reads"

    def function(self, *, nested: bool = True) -> dict[str, Any]:
        """The tool for function calling, as in OpenAI's chat completions API.

        Without ``nested`` it is as in OpenAI's responses API.
        """
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        if nested:
            return {"type": "function", "function": function}
        return {"type": "function", **function}

    def anthropic(self) -> dict[str, Any]:
        """The tool for Anthropic's messages API."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.parameters,
        }

    def mcp(self) -> dict[str, Any]:
        """The tool for an MCP server's ``tools/list``.

        It has no ``outputSchema``: clients that are given structured content show the model that
        and drop the text, which carries the fences and citations. ``anthropic/alwaysLoad`` keeps
        Claude Code from hiding the tool behind a search for tools.
        """
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.parameters,
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.effect == "reads",
                "destructiveHint": self.effect == "deletes",
                "idempotentHint": self.effect != "adds",
                "openWorldHint": False,
            },
            "_meta": {"anthropic/alwaysLoad": True},
        }

    def for_agents(self, agents: Sequence[str]) -> ToolDefinition:
        """The same tool where a call names one of ``agents``; with one agent the tool itself."""
        if len(agents) < 2:
            return self
        agent = {
            "type": "string",
            "enum": list(agents),
            "description": f"Whose memory (default: {agents[0]}).",
        }
        properties = {**self.parameters["properties"], "agent": agent}
        same: ToolDefinition = self.replace(
            parameters={**self.parameters, "properties": properties}
        )
        return same


class ToolAnswer(Record):
    """What a tool answers.

    ``text`` is for the model. ``data`` is the same for programs, ready for JSON, under the names of
    the original. ``failed`` says that the call did not do what was asked, and ``text`` says why and
    what to do.
    """

    text: str
    data: dict[str, Any]
    failed: bool = False


_SHARED = frozenset({"group", "channel"})


def is_direct(session_key: str) -> bool:
    """Whether a chat is between the agent and one person.

    Keys have the form ``agent:main:telegram:group:42``; ``""`` is the user of this program. A chat
    with ``group`` or ``channel`` anywhere in its key is not direct.
    """
    parts = session_key.lower().split(":")
    if parts[0] == "agent":
        parts = parts[2:]
    return not _SHARED.intersection(parts)


PRIVATE_PATHS = frozenset((*CURATED, *CURATED_IN_PLAIN))
"""The notes that direct chats alone may see."""


def is_private(path: str, trust: str = "memory") -> bool:
    """Whether direct chats alone may see a document: the curated memory, and conversations."""
    return path in PRIVATE_PATHS or trust == "session"
