"""The official SDK's client, in each of its eras, against our server as a process."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

pytest.importorskip("mcp", reason="the extra sdks is not installed")

# The SDK's own modules use what Python deprecates.
pytestmark = pytest.mark.filterwarnings("default")


OLDER = "2025-06-18"
NEGOTIATED = {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}


@pytest.fixture(params=["auto", "legacy", "2026-07-28", OLDER])
def client(
    request: pytest.FixtureRequest,
    command: Sequence[str],
    env: Mapping[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[Callable[[Any], Awaitable[None]]], None]:
    """Runs a coroutine function with a connected client."""
    from mcp import StdioServerParameters
    from mcp.client import Client
    from mcp.client.stdio import stdio_client

    mode = request.param
    if mode == OLDER:  # the handshake asks for the newest version that it knows
        monkeypatch.setattr("mcp.client.session.LATEST_HANDSHAKE_VERSION", OLDER)
        mode = "legacy"

    def run(use: Callable[[Any], Awaitable[None]]) -> None:
        async def main() -> None:
            program, *args = command
            parameters = StdioServerParameters(command=program, args=args, env=dict(env))
            async with Client(stdio_client(parameters), mode=mode) as client:
                assert client.protocol_version == NEGOTIATED.get(request.param, OLDER)
                await use(client)

        asyncio.run(main())

    return run


def test_tools_are_listed_and_called(client: Callable[[Any], None]) -> None:
    async def use(client: Any) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["memory_search", "memory_get"]
        assert all(tool.annotations.read_only_hint for tool in tools)
        found = await client.call_tool("memory_search", {"query": "which port is staging on"})
        assert found.is_error is False
        assert found.structured_content is None
        text = found.content[0].text
        assert "8471" in text
        assert "Source: MEMORY.md#L29-L33" in text
        read = await client.call_tool("memory_get", {"path": "MEMORY.md#L29-L33"})
        assert "puffin" in read.content[0].text

    client(use)


def test_a_wrong_call_is_an_error_result(client: Callable[[Any], None]) -> None:
    async def use(client: Any) -> None:
        wrong = await client.call_tool("memory_search", {"query": 7})
        assert wrong.is_error is True
        assert "query is not a text" in wrong.content[0].text

    client(use)


def test_resources_and_prompts(client: Callable[[Any], None]) -> None:
    async def use(client: Any) -> None:
        from mcp import MCPError

        resources = (await client.list_resources()).resources
        assert "memory://notes/MEMORY.md" in [str(resource.uri) for resource in resources]
        templates = (await client.list_resource_templates()).resource_templates
        assert templates[0].uri_template == "memory://notes/{+path}"
        read = await client.read_resource("memory://notes/MEMORY.md")
        assert "Skerry" in read.contents[0].text
        with pytest.raises(MCPError):
            await client.read_resource("memory://notes/../secret.md")
        prompts = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in prompts] == ["recall"]
        given = await client.get_prompt("recall", {"query": "spare key"})
        assert "Aud from the bakery" in given.messages[0].content.text

    client(use)


@pytest.mark.slow
def test_calls_at_once_get_their_own_answers(client: Callable[[Any], None]) -> None:
    async def use(client: Any) -> None:
        asked = ["staging port", "spare key", "almanac", "harbour signs"] * 5
        answers = await asyncio.gather(
            *(client.call_tool("memory_search", {"query": query}) for query in asked)
        )
        first: dict[str, str] = {}
        for query, answer in zip(asked, answers, strict=True):
            text = answer.content[0].text
            assert first.setdefault(query, text) == text
        assert len(set(first.values())) == 4

    client(use)
