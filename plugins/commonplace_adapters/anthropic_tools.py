"""The memory tools for the tool runner of Anthropic's SDK."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from commonplace_adapters.extras import extra

with extra("anthropic"):
    from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool, BetaBuiltinFunctionTool, ToolError

if TYPE_CHECKING:
    from commonplace import MemoryTools, ToolAnswer, ToolDefinition


def memory_tools(tools: MemoryTools) -> list[BetaBuiltinFunctionTool]:
    """The tools of ``tools`` for ``client.beta.messages.tool_runner(tools=...)``.

    A call that fails is a result with ``is_error`` that says why and what to do.
    """
    return [_Tool(tools, tool) for tool in tools.definitions]


def async_memory_tools(tools: MemoryTools) -> list[BetaAsyncBuiltinFunctionTool]:
    """The same for ``AsyncAnthropic``; each call runs in a thread."""
    return [_AsyncTool(tools, tool) for tool in tools.definitions]


class _Tool(BetaBuiltinFunctionTool):
    def __init__(self, tools: MemoryTools, tool: ToolDefinition) -> None:
        self._tools = tools
        self._tool = tool

    def to_dict(self) -> Any:
        return self._tool.anthropic()

    def call(self, input: object) -> str:  # noqa: A002 - the SDK's name
        return _text(self._tools.call(self._tool.name, input))


class _AsyncTool(BetaAsyncBuiltinFunctionTool):
    def __init__(self, tools: MemoryTools, tool: ToolDefinition) -> None:
        self._tools = tools
        self._tool = tool

    def to_dict(self) -> Any:
        return self._tool.anthropic()

    async def call(self, input: object) -> str:  # noqa: A002 - the SDK's name
        return _text(await asyncio.to_thread(self._tools.call, self._tool.name, input))


def _text(answer: ToolAnswer) -> str:
    if answer.failed:
        raise ToolError(answer.text)
    return answer.text
