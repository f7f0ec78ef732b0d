"""Agents of real SDKs call the memory tools; the model is scripted, and sees the fenced passage."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace import MemoryTools

pytestmark = [pytest.mark.slow, pytest.mark.sdk, pytest.mark.filterwarnings("ignore")]

QUESTION = "Which port for staging?"
DONE = "That is all."


def names(request: Any) -> list[str]:
    """The names of the tools that a request offers."""
    return [(tool.get("function") or tool)["name"] for tool in request["tools"]]


def test_openai_agents(
    sdk: Callable[[str], Any], tools: MemoryTools, model: Any, shown: Callable[[], str]
) -> None:
    agents = sdk("agents")
    from commonplace_adapters.openai_agents import memory_tools

    agents.set_tracing_disabled(True)
    agent = agents.Agent(
        name="assistant",
        model="scripted",
        instructions=tools.instructions,
        tools=memory_tools(tools),
    )
    result = asyncio.run(agents.Runner.run(agent, QUESTION))
    assert result.final_output == DONE
    assert "## Memory Recall" in shown()
    assert names(model.requests[0][1]) == ["memory_search", "memory_get"]


def test_anthropic(
    sdk: Callable[[str], Any], tools: MemoryTools, model: Any, shown: Callable[[], str]
) -> None:
    anthropic = sdk("anthropic")
    from commonplace_adapters.anthropic_tools import async_memory_tools, memory_tools

    given: dict[str, Any] = {
        "model": "scripted",
        "max_tokens": 1000,
        "messages": [{"role": "user", "content": QUESTION}],
    }
    with anthropic.Anthropic() as client:
        runner = client.beta.messages.tool_runner(**given, tools=memory_tools(tools))
        assert runner.until_done().content[0].text == DONE
    shown()
    assert names(model.requests[0][1]) == ["memory_search", "memory_get"]
    model.requests.clear()

    async def ask() -> Any:
        async with anthropic.AsyncAnthropic() as client:
            given_tools = async_memory_tools(tools)
            runner = client.beta.messages.tool_runner(**given, tools=given_tools)
            return await runner.until_done()

    assert asyncio.run(ask()).content[0].text == DONE
    shown()


def test_claude_agent(
    sdk: Callable[[str], Any],
    tools: MemoryTools,
    model: Any,
    shown: Callable[[], str],
    tmp_path: Any,
) -> None:
    claude = sdk("claude_agent_sdk")
    from commonplace_adapters.claude_agent import allowed_tools, memory_server

    folder = os.environ.get("COMMONPLACE_HARNESSES", "")
    program = shutil.which("claude", path=folder) if folder else None
    if not program and not os.environ.get("COMMONPLACE_REQUIRE_HARNESSES"):
        pytest.skip("set COMMONPLACE_HARNESSES to what .ci/harnesses prints")
    assert program
    options = claude.ClaudeAgentOptions(
        cli_path=program,
        cwd=tmp_path,
        setting_sources=[],
        mcp_servers={"memory": memory_server(tools)},
        allowed_tools=allowed_tools(tools),
        env={
            "HOME": str(tmp_path),
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    )

    async def ask() -> list[Any]:
        return [message async for message in claude.query(prompt=QUESTION, options=options)]

    assert asyncio.run(ask())[-1].result == DONE
    turns = [body for _, body in model.requests if "mcp__memory__memory_search" in str(body)]
    assert "mcp__memory__memory_get" in names(turns[0]), "the tools are hidden"
    assert "tool_result" in str(model.requests[-1][1])
    shown()


def test_langchain(
    sdk: Callable[[str], Any], tools: MemoryTools, model: Any, shown: Callable[[], str]
) -> None:
    openai = sdk("langchain_openai")
    from commonplace_adapters.langchain import memory_tools

    agent = sdk("langgraph.prebuilt").create_react_agent(
        openai.ChatOpenAI(model="scripted"), memory_tools(tools), prompt=tools.instructions
    )
    *_, called, said = agent.invoke({"messages": [("user", QUESTION)]})["messages"]
    assert said.content == DONE
    assert called.artifact["results"][0]["citation"] == "MEMORY.md#L29-L33"
    shown()
    assert names(model.requests[0][1]) == ["memory_search", "memory_get"]


def test_pydantic_ai(
    sdk: Callable[[str], Any], tools: MemoryTools, model: Any, shown: Callable[[], str]
) -> None:
    pydantic_ai = sdk("pydantic_ai")
    from commonplace_adapters.pydantic_ai import memory_toolset

    agent = pydantic_ai.Agent("openai-chat:scripted", toolsets=[memory_toolset(tools)])
    assert agent.run_sync(QUESTION).output == DONE
    assert "## Memory Recall" in shown()
    assert names(model.requests[0][1]) == ["memory_search", "memory_get"]


DEEP = "[" * 900 + "]" * 900
WRONG = {
    "an unknown name": '{"query": "x", "maxresults": 1}',
    "a name of the framework": '{"query": "x", "config": 1, "run_manager": 2, "self": 3}',
    "another type": '{"query": 7}',
    "a deep value": '{"query": ' + DEEP + "}",
    "nothing": "{}",
}


@pytest.mark.parametrize("arguments", WRONG.values(), ids=list(WRONG))
class TestWrongArguments:
    """They are answers that say why and what to do; no run ends by them."""

    @pytest.fixture(params=["json", "no json", "deep"])
    def text(self, arguments: str, request: pytest.FixtureRequest) -> str:
        return {"json": arguments, "no json": "not json", "deep": "[" * 100_000}[request.param]

    def test_openai_agents(self, sdk: Callable[[str], Any], tools: MemoryTools, text: str) -> None:
        sdk("agents")
        from commonplace_adapters.openai_agents import memory_tools

        called = memory_tools(tools)[0].on_invoke_tool(None, text)
        assert "What to do" in asyncio.run(called)

    def test_anthropic(self, sdk: Callable[[str], Any], tools: MemoryTools, arguments: str) -> None:
        lib = sdk("anthropic.lib.tools")
        from commonplace_adapters.anthropic_tools import async_memory_tools, memory_tools

        wrong: list[Any] = [json.loads(arguments), [], None]
        for given in wrong:
            with pytest.raises(lib.ToolError, match="What to do"):
                memory_tools(tools)[0].call(given)
            with pytest.raises(lib.ToolError, match="What to do"):
                asyncio.run(async_memory_tools(tools)[0].call(given))

    def test_langchain(self, sdk: Callable[[str], Any], tools: MemoryTools, arguments: str) -> None:
        nodes = sdk("langgraph.prebuilt")
        messages = sdk("langchain_core.messages")
        from commonplace_adapters.langchain import memory_tools

        call = {"name": "memory_search", "args": json.loads(arguments), "id": "1"}
        asked = messages.AIMessage("", tool_calls=[call])
        builder = sdk("langgraph.graph").StateGraph(sdk("langgraph.graph").MessagesState)
        builder.add_node("tools", nodes.ToolNode(memory_tools(tools)))
        builder.set_entry_point("tools")
        answer = builder.compile().invoke({"messages": [asked]})["messages"][-1]
        assert "What to do" in answer.content

    def test_pydantic_ai(
        self, sdk: Callable[[str], Any], tools: MemoryTools, arguments: str
    ) -> None:
        pydantic_ai = sdk("pydantic_ai")
        models, parts = sdk("pydantic_ai.models.function"), sdk("pydantic_ai.messages")
        from commonplace_adapters.pydantic_ai import memory_toolset

        seen: list[str] = []

        def script(messages: Any, _: object) -> Any:
            last = messages[-1].parts[-1]
            if not isinstance(last, parts.ToolReturnPart):
                part = parts.ToolCallPart("memory_search", arguments)
                return parts.ModelResponse(parts=[part])
            seen.append(last.content)
            return parts.ModelResponse(parts=[parts.TextPart(DONE)])

        agent = pydantic_ai.Agent(models.FunctionModel(script), toolsets=[memory_toolset(tools)])
        assert agent.run_sync(QUESTION).output == DONE
        # Pydantic AI refuses by itself what is too deep to be read.
        assert "What to do" in seen[0] or "recursion limit exceeded" in str(seen[0])
