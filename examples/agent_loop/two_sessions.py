"""Two sessions of an agent that remembers, and its owner, who undoes one change in between.

    python two_sessions.py --workspace /tmp/notes

In the first session the agent is given facts, corrects one, writes notes before its context is
compacted, and is archived at its end. In the second, another process as it were, it is asked what
it knows: by the tools, over MCP, and by Anthropic's memory tool. The model is scripted, so that no
key is needed; :class:`Session` works with any callable that answers as a chat completions API does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from agent import MOST_TURNS, tools_by_mcp
from scripted_memory import reply, reply_as_claude

from commonplace import FlushSession, Memory, MemoryFiles, MemoryTools, archive_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Json = dict[str, Any]
    Model = Callable[[list[Json], list[Json]], Json]

WINDOW = 32_000
CONFIG: Json = {"memory": {"write": {"enabled": True}}}
"""Agents may write only where their owner allows it."""

FACTS = (
    "Remember: Staging runs on port 8471.",
    "Remember: The spare key of the workshop is at the bakery.",
    "Remember: The deploy day is Friday.",
    "By the way, Ines reads the tide gauge.",
    "Correct: Staging runs on port 8471 -> Staging runs on port 9000.",
)
LAST = "By the way, the bike of Ann has the colour green."
UNDONE = "The deploy day is Friday."
QUESTIONS = (
    "Which port does staging run on?",
    "Where is the spare key of the workshop?",
    "Who reads the tide gauge?",
    "What colour is the bike of Ann?",
    "When is the deploy day?",
)


class Session:
    """One session of an agent: a conversation with ``model``, whose notes are in ``memory``."""

    def __init__(self, memory: Memory, model: Model, name: str) -> None:
        self._memory = memory
        self._model = model
        self._name = name
        self._tools = MemoryTools(memory)
        self._flush = FlushSession(memory, model, window=WINDOW, session_key=name)
        self._start = {"role": "system", "content": memory.recall().text}
        self.messages: list[Json] = [self._start]

    def say(self, text: str) -> str:
        """What the agent answers."""
        self._flush.turn_starting(self.messages)
        self.messages.append({"role": "user", "content": text})
        schemas = [tool.function() for tool in self._tools.definitions]
        return converse(self._model, self.messages, schemas, self._call)

    def compact(self) -> str:
        """Put a summary in the place of the conversation, once its notes are written."""
        answer = self._flush.compacting(self.messages)
        if answer.compact:
            summary = {"role": "user", "content": "(What was said before is summed up here.)"}
            self.messages = [self._start, summary]
            self._flush.compacted()
        return answer.reason

    def end(self) -> str:
        """Archive the conversation; the path of the note."""
        done = archive_session(self._memory, self.messages, session_id=self._name)
        return done.path or done.reason

    def _call(self, name: str, given: Json) -> str:
        return self._tools.call(name, given).text


def converse(
    model: Model, messages: list[Json], schemas: list[Json], call: Callable[[str, Json], str]
) -> str:
    """Ask ``model`` until it answers, and run the tools that it calls."""
    for _ in range(MOST_TURNS):
        message = model(messages, schemas)
        messages.append(message)
        if not message.get("tool_calls"):
            return str(message["content"])
        for wanted in message["tool_calls"]:
            function = wanted["function"]
            text = call(function["name"], json.loads(function["arguments"]))
            messages.append({"role": "tool", "tool_call_id": wanted["id"], "content": text})
    return "(no answer: the model went on calling tools)"


def ask_by_mcp(workspace: str, question: str) -> str:
    """The answer of an agent whose tools are those of ``commonplace mcp``."""
    with tools_by_mcp(workspace) as (schemas, call):
        return converse(reply, [{"role": "user", "content": question}], schemas, call)


def ask_claude(files: MemoryFiles, question: str) -> str:
    """The answer of an agent that has Anthropic's memory tool alone."""
    messages: list[Json] = [{"role": "user", "content": question}]
    while True:
        message = reply_as_claude(messages)
        (block,) = message["content"]
        if block["type"] == "text":
            return str(block["text"])
        answer = files.call(block["input"])
        result = {"type": "tool_result", "tool_use_id": block["id"], "content": answer.text}
        messages += [message, {"role": "user", "content": [{**result, "is_error": answer.failed}]}]


def first_session(workspace: str) -> Iterator[str]:
    """The agent is given facts, corrects one, flushes, compacts, and ends."""
    with Memory.open(workspace=workspace, config=CONFIG) as memory:
        session = Session(memory, reply, "first")
        for fact in FACTS:
            yield f"> {fact}\n{session.say(fact)}\n"
        yield f"compaction: {session.compact()}\n"
        yield f"> {LAST}\n{session.say(LAST)}\n"
        yield f"archive: {session.end()}\n"


def undo(workspace: str, text: str) -> str:
    """The owner undoes the change that wrote ``text``, by the command line."""
    with Memory.open(workspace=workspace) as memory:
        receipts = memory.writer(who="the owner").journal()
    receipt = next(one for one in receipts if text in one.after.text)
    command = [sys.executable, "-m", "commonplace", "undo", receipt.id, "--workspace", workspace]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return f"the owner: commonplace undo {receipt.id}\n{ran.stdout}"


def second_session(workspace: str) -> Iterator[tuple[str, str, str]]:
    """What the agent is asked, by which way it looks, and what it answers."""
    with Memory.open(workspace=workspace, config=CONFIG) as memory:
        session = Session(memory, reply, "second")
        files = MemoryFiles(memory)
        for question in QUESTIONS:
            yield question, "tools", session.say(question)
            yield question, "mcp", ask_by_mcp(workspace, question)
            yield question, "memory tool", ask_claude(files, question)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workspace", help="folder of the notes (default: a new one)")
    workspace = parser.parse_args().workspace or tempfile.mkdtemp(prefix="notes-")
    os.makedirs(workspace, exist_ok=True)
    for line in first_session(workspace):
        print(line)
    print(undo(workspace, UNDONE))
    for question, way, answer in second_session(workspace):
        print(f"> {question} [{way}]\n{answer}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
