"""A toolset for Pydantic AI: the memory tools, and how to recall with them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from commonplace_adapters.extras import extra

with extra("pydantic-ai"):
    from pydantic_ai import Tool
    from pydantic_ai.toolsets import FunctionToolset

if TYPE_CHECKING:
    from commonplace import MemoryTools


def memory_toolset(tools: MemoryTools) -> FunctionToolset[object]:
    """The tools of ``tools`` for ``Agent(toolsets=[...])``, with instructions.

    A call that fails is an answer that says why and what to do; no run ends by it.
    """
    made = [
        Tool.from_schema(
            partial(_call, tools, tool.name), tool.name, tool.description, tool.parameters
        )
        for tool in tools.definitions
    ]
    return FunctionToolset(made, id="memory", instructions=tools.instructions)


def _call(tools: MemoryTools, name: str, /, **arguments: object) -> str:
    return tools.call(name, arguments).text
