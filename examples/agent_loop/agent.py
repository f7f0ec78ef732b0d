"""A small agent that answers questions from memory, by function tools or by MCP.

    python agent.py --model http://127.0.0.1:8080/v1 --workspace ~/notes "Which port is staging on?"

It talks to any server with OpenAI's chat completions API (``OPENAI_API_KEY`` is sent if it is
set). With ``--mcp`` the tools come from ``commonplace mcp`` as a child process, as a harness has
them; without, from ``MemoryTools`` in this process. The loop is the same: ask the model, run the
tools that it calls, ask again, until it answers.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx

from commonplace import Memory, MemoryTools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Json = dict[str, Any]
    Tools = tuple[list[Json], Callable[[str, Json], str]]

MOST_TURNS = 8
INSTRUCTIONS = "Answer from memory and cite your source. If memory holds nothing, say so."


def answer(question: str, tools: Tools, *, model: str, url: str) -> str:
    """What the model at ``url`` answers to ``question`` with these tools."""
    schemas, call = tools
    key = os.environ.get("OPENAI_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    messages: list[Json] = [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": question},
    ]
    for _ in range(MOST_TURNS):
        request = {"model": model, "messages": messages, "tools": schemas}
        reply = httpx.post(f"{url}/chat/completions", json=request, headers=headers, timeout=120)
        reply.raise_for_status()
        message = reply.json()["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            return str(message["content"])
        for wanted in message["tool_calls"]:
            function = wanted["function"]
            text = call(function["name"], json.loads(function["arguments"]))
            messages.append({"role": "tool", "tool_call_id": wanted["id"], "content": text})
    return "(no answer: the model went on calling tools)"


@contextmanager
def tools_in_process(workspace: str | None) -> Iterator[Tools]:
    """The tools of a memory in this process."""
    with Memory.open(workspace=workspace) as memory:
        tools = MemoryTools(memory)
        schemas = [tool.function() for tool in tools.definitions]
        yield schemas, lambda name, arguments: tools.call(name, arguments).text


@contextmanager
def tools_by_mcp(workspace: str | None) -> Iterator[Tools]:
    """The tools of ``commonplace mcp`` as a child process."""
    command = [sys.executable, "-m", "commonplace", "mcp"]
    if workspace is not None:
        command += ["--workspace", workspace]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as server:
        numbers = iter(range(1_000_000))

        def ask(method: str, **params: object) -> Json:
            assert server.stdin is not None
            assert server.stdout is not None
            request = {"jsonrpc": "2.0", "id": next(numbers), "method": method, "params": params}
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            result: Json = json.loads(server.stdout.readline())["result"]
            return result

        ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
        schemas = [
            {
                "type": "function",
                "function": {
                    "name": tool["name"],
                    "description": tool["description"],
                    "parameters": tool["inputSchema"],
                },
            }
            for tool in ask("tools/list")["tools"]
        ]

        def call(name: str, arguments: Json) -> str:
            text = ask("tools/call", name=name, arguments=arguments)["content"][0]["text"]
            return str(text)

        yield schemas, call


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("question")
    parser.add_argument("--model", default="http://127.0.0.1:8080/v1", help="base URL of the model")
    parser.add_argument("--name", default="any", help="the model's name")
    parser.add_argument("--workspace", help="folder of the notes (default: as configured)")
    parser.add_argument("--mcp", action="store_true", help="use the tools of commonplace mcp")
    args = parser.parse_args()
    opened = tools_by_mcp if args.mcp else tools_in_process
    with opened(args.workspace) as tools:
        print(answer(args.question, tools, model=args.name, url=args.model))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
