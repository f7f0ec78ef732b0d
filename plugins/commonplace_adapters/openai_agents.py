"""The memory tools for agents of the OpenAI Agents SDK."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Any

from commonplace_adapters.extras import extra

with extra("openai-agents"):
    from agents import FunctionTool

if TYPE_CHECKING:
    from commonplace import MemoryTools


def memory_tools(tools: MemoryTools) -> list[FunctionTool]:
    """The tools of ``tools`` for ``Agent(tools=...)``; they answer, and never end a run.

    Their schemas are not strict: in strict mode a model has to fill in every argument.
    """
    return [
        FunctionTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=tool.parameters,
            on_invoke_tool=partial(_call, tools, tool.name),
            strict_json_schema=False,
        )
        for tool in tools.definitions
    ]


async def _call(tools: MemoryTools, name: str, _: object, arguments: str) -> str:
    try:
        given: Any = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        given = arguments  # is no JSON object, as the answer says
    return (await asyncio.to_thread(tools.call, name, given)).text
