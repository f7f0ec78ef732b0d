"""A stand-in for a model that writes to memory, by a fixed script.

It follows the words of its user: ``Remember: FACT``, ``Correct: OLD -> NEW``, ``By the way, FACT``
(which it only acknowledges), and questions. Asked for notes before a compaction, it writes down
what was said by the way. It follows no instruction in what it reads.
"""

from __future__ import annotations

import json
import re
from typing import Any

Json = dict[str, Any]

NOTHING = "I looked, and memory holds nothing on that."

_PASSAGE = re.compile(
    r'<memory path="([^"]*)" lines="(\d+)-\d+"(?: \w+="[^"]*")*>\n(.*?)\n</memory>', re.DOTALL
)
_LISTED = re.compile(r"^\S+\t(/memories/\S+\.md)$", re.MULTILINE)
_NUMBERED = re.compile(r"^ *(\d+)\t(.*)$", re.MULTILINE)
_BY_THE_WAY = re.compile(r"By the way, ([^\n]+)")


def reply(messages: list[Json], tools: list[Json]) -> Json:
    """The next message, in the form of OpenAI's chat completions."""
    last = max(number for number, one in enumerate(messages) if one["role"] == "user")
    said = str(messages[last]["content"])
    results = [str(one["content"]) for one in messages[last:] if one["role"] == "tool"]
    if "write" in {tool["function"]["name"] for tool in tools}:
        return _notes(said, results)
    if said.startswith("By the way, "):
        return _answer("I see.")
    kind, _, words = said.partition(": ")
    if kind == "Remember":
        return _answer(results[0]) if results else _call("memory_write", {"text": words})
    if kind == "Correct":
        old, _, new = words.partition(" -> ")
        return _correct(old, new, results)
    if len(results) < 2:
        return _look_up(said, results)
    citation, line = _best(said, results[1])
    return _answer(f"{line}\nSource: {citation}" if line else NOTHING)


def reply_as_claude(messages: list[Json]) -> Json:
    """The next message with the memory tool alone, in the form of Anthropic's messages API."""
    question, results = str(messages[0]["content"]), []
    for message in messages:
        if isinstance(message["content"], list):
            blocks = [block for block in message["content"] if block["type"] == "tool_result"]
            results += [str(block["content"]) for block in blocks]
    if not results:
        return _command({"command": "view", "path": "/memories"}, len(results))
    files = _LISTED.findall(results[0])
    if len(results) <= len(files):
        return _command({"command": "view", "path": files[len(results) - 1]}, len(results))
    lines = [
        (line, f"{file} line {number}")
        for file, text in zip(files, results[1:], strict=True)
        for number, line in _NUMBERED.findall(text)
    ]
    line, place = max(lines, key=lambda pair: _alike(question, pair[0]))
    text = f"{line}\nSource: {place}" if _alike(question, line) else NOTHING
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def _notes(said: str, results: list[str]) -> Json:
    """What is asked before a compaction: notes, and nothing to say."""
    facts = dict.fromkeys(_BY_THE_WAY.findall(said))
    if results or not facts:
        return _answer("NO_REPLY")
    return _call("write", {"content": "\n".join(f"- {fact}" for fact in facts)})


def _correct(old: str, new: str, results: list[str]) -> Json:
    """A search for the old words, then the line with them is replaced."""
    if len(results) < 2:
        return _look_up(old, results)
    if len(results) > 2:
        return _answer(results[2])
    citation, line = _best(old, results[1])
    return _call("memory_correct", {"citation": citation, "new": f"- {new}", "was": line})


def _look_up(words: str, results: list[str]) -> Json:
    """A search, then the lines of its best passage."""
    if not results:
        return _call("memory_search", {"query": words, "maxResults": 1})
    found = _PASSAGE.search(results[0])
    return _call("memory_get", {"path": found[1]}) if found else _answer(NOTHING)


def _best(words: str, passage: str) -> tuple[str, str]:
    """The citation and the text of the line that has most of ``words``."""
    found = _PASSAGE.search(passage)
    if found is None:
        return "", ""
    lines = enumerate(found[3].split("\n"), int(found[2]))
    number, line = max(lines, key=lambda pair: _alike(words, pair[1]))
    return f"{found[1]}#L{number}", line if _alike(words, line) else ""


def _alike(words: str, line: str) -> int:
    return len(_words(words) & _words(line))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{3,}", text.lower())) - {"the", "for", "what", "which", "where"}


def _answer(text: str) -> Json:
    return {"role": "assistant", "content": text}


def _call(name: str, arguments: Json) -> Json:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{name}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _command(command: Json, number: int) -> Json:
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": "memory", "input": command}
    return {"role": "assistant", "content": [block]}
