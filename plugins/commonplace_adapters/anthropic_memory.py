"""Anthropic's memory tool on the notes, for the tool runner of Anthropic's SDK."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from commonplace_adapters.extras import extra

with extra("anthropic"):
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

if TYPE_CHECKING:
    from commonplace import MemoryFiles


def memory_tool(files: MemoryFiles) -> BetaAbstractMemoryTool:
    """The tool for ``client.beta.messages.tool_runner(tools=[...])``.

    A command that is refused is a result with ``is_error`` that says why.
    """
    return _Tool(files)


def async_memory_tool(files: MemoryFiles) -> BetaAsyncAbstractMemoryTool:
    """The same for ``AsyncAnthropic``; each command runs in a thread."""
    return _AsyncTool(files)


class _Tool(BetaAbstractMemoryTool):
    def __init__(self, files: MemoryFiles) -> None:
        super().__init__()
        self._files = files

    def call(self, input: object) -> str:  # noqa: A002 - the SDK's name
        return _run(self._files, input)

    def view(self, command: Any) -> str:
        return _run(self._files, dict(command))

    create = str_replace = insert = delete = rename = view


class _AsyncTool(BetaAsyncAbstractMemoryTool):
    def __init__(self, files: MemoryFiles) -> None:
        super().__init__()
        self._files = files

    async def call(self, input: object) -> str:  # noqa: A002 - the SDK's name
        return await asyncio.to_thread(_run, self._files, input)

    async def view(self, command: Any) -> str:
        return await asyncio.to_thread(_run, self._files, dict(command))

    create = str_replace = insert = delete = rename = view


def _run(files: MemoryFiles, command: object) -> str:
    answer = files.call(command)
    if answer.failed:
        raise ToolError(answer.text)
    return answer.text
