"""Memory as an MCP server within the process, for the Claude Agent SDK."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from commonplace_adapters.extras import extra

with extra("claude-agent"):
    import mcp_types as types
    from claude_agent_sdk import McpSdkServerConfig
    from mcp.server.lowlevel import Server

if TYPE_CHECKING:
    from commonplace import MemoryTools

NAME = "memory"


def memory_server(tools: MemoryTools) -> McpSdkServerConfig:
    """The server for ``ClaudeAgentOptions(mcp_servers={"memory": ...})``.

    It is built on ``mcp`` and not on the SDK's ``create_sdk_mcp_server``: only so can the tools
    ask Claude Code not to hide them behind its search for tools.
    """

    async def list_tools(_: object, __: object) -> Any:
        listed = [tool.mcp() for tool in tools.definitions]
        return types.ListToolsResult.model_validate({"tools": listed})

    async def call_tool(_: object, params: Any) -> Any:
        answer = await asyncio.to_thread(tools.call, params.name, params.arguments or {})
        content = [{"type": "text", "text": answer.text}]
        given = {"content": content, "isError": answer.failed}
        return types.CallToolResult.model_validate(given)

    server = Server(
        NAME, instructions=tools.instructions, on_list_tools=list_tools, on_call_tool=call_tool
    )
    return McpSdkServerConfig(type="sdk", name=NAME, instance=server)


def allowed_tools(tools: MemoryTools) -> list[str]:
    """The names of the tools for ``ClaudeAgentOptions(allowed_tools=...)``."""
    return [f"mcp__{NAME}__{tool.name}" for tool in tools.definitions]
