"""Tools that plugins add: which are in use, and that none of them can end an agent's turn."""

from __future__ import annotations

import logging
import signal
import threading
from asyncio import CancelledError
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import Memory, MemoryTools, PluginHost, ToolAnswer, ToolDefinition
from commonplace.cli.checks import plugin_findings
from commonplace.errors import CallerError, PluginUnavailableError, UnavailableError
from commonplace.host.discovery import EntryPoint
from commonplace.plugin import Group, OwnProvider, hookimpl, setting
from commonplace.tools.definitions import checked, checked_definition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from commonplace.plugin import ToolContext, ToolRegistrar

TOOL = ToolDefinition(name="x", title="X", description="X", parameters={"type": "object"})
GROUP = "agent:main:telegram:group:42"

FAULTS = {
    "crash": ValueError("the real reason"),
    "exit": SystemExit("the real reason"),
    "break": KeyboardInterrupt(),
    "end": CancelledError("the real reason"),
}
"""What a tool set of a third party may raise."""


class Echo:
    """Says what it was given, and whose chat it was."""

    capabilities = frozenset({"recall", "turns"})

    def __init__(self, context: ToolContext, name: str = "echo") -> None:
        self.context = context
        self.closed = 0
        self.definitions: tuple[Any, ...] = (
            ToolDefinition(
                name=name,
                title="Echo",
                description="Says it again.",
                parameters={
                    "type": "object",
                    "properties": {"text": {"type": "string", "maxLength": 5, "description": "x"}},
                    "required": ["text"],
                    "additionalProperties": False,
                },
                effect="adds",
            ),
        )

    def call(self, name: str, arguments: Mapping[str, Any], *, session_key: str) -> Any:
        text = arguments["text"]
        if text == "none":
            return None
        if text == "C-c":
            signal.raise_signal(signal.SIGINT)
        if text in FAULTS:
            raise FAULTS[text]
        if text == "wrong":
            raise CallerError("not like that", hint="another way")
        return ToolAnswer(text=f"{text} {session_key}", data={"name": name})

    def recall(self, prompt: str, *, session_key: str, budget: int) -> str:
        if prompt == "C-c":
            signal.raise_signal(signal.SIGINT)
        if prompt in FAULTS:
            raise FAULTS[prompt]
        return f"{prompt} {session_key} {budget}"

    def turn_ended(self, messages: Sequence[Mapping[str, Any]], *, session_key: str) -> int:
        if messages[0]["content"] in FAULTS:
            raise FAULTS[messages[0]["content"]]
        return len(messages) if messages[0]["role"] == "user" else 1 // 0

    def close(self) -> None:
        self.closed += 1


class EchoSettings(Group):
    """The section of the echo."""

    loud: bool = setting("Whether.", default=False)


class Plugin:
    """Registers one tool set."""

    def __init__(
        self, id_: str, make: Callable[[ToolContext], Any] = Echo, *, slot: bool = False
    ) -> None:
        self.id, self.make, self.made = id_, make, list[Any]()
        self.capabilities = frozenset({"slot"}) if slot else frozenset()

    @hookimpl
    def commonplace_register_tools(self, register: ToolRegistrar) -> None:
        def make(context: ToolContext) -> Any:
            self.made.append(self.make(context))
            return self.made[-1]

        register.toolset(
            self.id, make, summary="echo", capabilities=self.capabilities, config=EchoSettings
        )


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Memory]:
    def open_memory(*plugins: Plugin, **config: Any) -> Memory:
        host = PluginHost([], env={})
        for plugin in plugins:
            host.register(plugin, name=plugin.id)
        env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
        return Memory.open(workspace=tmp_path, env=env, host=host, config=config)

    return open_memory


def names(memory: Memory) -> list[str]:
    return [tool.name for tool in MemoryTools(memory).definitions]


def test_a_plugins_tool_is_listed_checked_and_run(opened: Callable[..., Memory]) -> None:
    plugin = Plugin("echo")
    section = {"entries": {"echo": {"config": {"loud": True}}}}
    with opened(plugin, plugins=section) as memory:
        tools = MemoryTools(memory, session_key=GROUP)
        assert names(memory) == ["memory_search", "memory_get", "echo"]
        answer = tools.call("echo", {"text": "hello"})
        assert (answer.text, answer.data) == (f"hello {GROUP}", {"name": "echo"})
        long = tools.call("echo", {"text": "longer"})
        assert long.failed
        assert "more than 5" in long.text
        (made,) = plugin.made
        assert made.context.config.loud
        assert made.context.agent == "main"
    assert made.closed == 1


def test_what_goes_wrong_in_a_plugins_tool_is_an_answer(opened: Callable[..., Memory]) -> None:
    with opened(Plugin("echo")) as memory:
        tools = MemoryTools(memory)
        wrong = tools.call("echo", {"text": "wrong"})
        assert wrong.failed
        assert "not like that" in wrong.text
        assert "another way" in wrong.text
        faults = {
            "crash": "failed: ValueError: the real reason",
            "exit": "failed: SystemExit: the real reason",
            "break": "failed: RuntimeError: KeyboardInterrupt",
            "end": "failed: CancelledError: the real reason",
            "none": "answered with NoneType",
        }
        for text, words in faults.items():
            answer = tools.call("echo", {"text": text})
            assert answer.failed
            assert f"the tool 'echo' of echo {words}" in answer.text
            assert answer.data["unavailable"] is False


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"text": 4}, "int for its text"),
        ({"text": None}, "NoneType for its text"),
        ({"data": [1]}, "list for its data"),
        ({"failed": "no"}, "str for its failed"),
    ],
)
def test_an_answer_with_an_invalid_field_is_a_failure(
    opened: Callable[..., Memory], fields: dict[str, Any], words: str
) -> None:
    class Odd(Echo):
        def call(self, name: str, arguments: Mapping[str, Any], *, session_key: str) -> Any:
            return ToolAnswer(**{"text": "fine", "data": {}, **fields})

    with opened(Plugin("echo", Odd)) as memory:
        answer = MemoryTools(memory).call("echo", {"text": "hello"})
    assert answer.failed
    assert f"the tool 'echo' of echo answered with {words}" in answer.text


def test_ctrl_c_ends_a_call_of_a_plugins_tool(opened: Callable[..., Memory]) -> None:
    with opened(Plugin("echo")) as memory:
        tools = MemoryTools(memory)
        with pytest.raises(KeyboardInterrupt):
            tools.call("echo", {"text": "C-c"})
        with pytest.raises(KeyboardInterrupt):
            tools.recalled("C-c", budget=100)


def test_a_memory_of_its_own_serves_where_it_is_selected(opened: Callable[..., Memory]) -> None:
    plugin = Plugin("ark", slot=True)
    with opened(plugin) as memory:
        assert names(memory) == ["memory_search", "memory_get"]
        assert plugin.made == []
        assert memory.plugin_tools.get("ark") is plugin.made[0]
    with opened(Plugin("ark", slot=True), plugins={"slots": {"memory": "ark"}}) as memory:
        assert names(memory)[2:] == ["echo"]
        assert memory.settings.warnings == ()
    with opened(Plugin("ark", slot=True), plugins={"slots": {"memory": "arc"}}) as memory:
        assert "'arc' is not installed" in memory.settings.warnings[0]


def test_a_tool_set_that_cannot_be_made_is_left_out(
    opened: Callable[..., Memory], caplog: pytest.LogCaptureFixture
) -> None:
    def broken(context: ToolContext) -> Echo:
        raise PluginUnavailableError(f"no room in {context.agent}")

    with opened(Plugin("a", broken), Plugin("b", lambda _: 42), Plugin("c")) as memory:
        with caplog.at_level(logging.WARNING):
            assert names(memory) == ["memory_search", "memory_get", "echo"]
            assert names(memory) == ["memory_search", "memory_get", "echo"]
        said = [record.getMessage() for record in caplog.records]
        assert len(said) == 2, "said once"
        assert "no room in main" in said[0]
        assert "its factory returned 42" in said[1]
        with pytest.raises(PluginUnavailableError, match="no room"):
            memory.plugin_tools.get("a")


def test_a_status_names_a_tool_set_that_cannot_be_made(opened: Callable[..., Memory]) -> None:
    def broken(context: ToolContext) -> Echo:
        raise ValueError(f"no room in {context.agent}")

    with opened(Plugin("ark", broken)) as memory:
        problem = "the tools of ark are not available: ark failed: ValueError: no room in main"
        assert problem in memory.status().notices
        assert problem in [finding.text for finding in plugin_findings(memory)]


def test_a_status_names_a_tool_set_that_cannot_be_imported(tmp_path: Path) -> None:
    entry = EntryPoint("tool.gone", "a_module_that_is_not_there", "gone-parts", "1.0")
    env = {"HOME": str(tmp_path), "COMMONPLACE_STATE_DIR": str(tmp_path / "state")}
    host = PluginHost([entry], env={})
    with Memory.open(workspace=tmp_path, env=env, host=host) as memory:
        (notice,) = [one for one in memory.status().notices if "gone-parts" in one]
        assert notice.startswith("plugin tool.gone of gone-parts 1.0 failed: ModuleNotFoundError")


def test_a_name_that_is_taken_stays_with_its_owner(opened: Callable[..., Memory]) -> None:
    with opened(Plugin("mine", lambda context: Echo(context, "memory_get"))) as memory:
        assert names(memory) == ["memory_search", "memory_get"]
        assert "effect" not in MemoryTools(memory).definitions[1].parameters
        assert MemoryTools(memory).definitions[1].effect == "reads"


def test_plugins_recall_within_a_budget_and_listen(
    opened: Callable[..., Memory], caplog: pytest.LogCaptureFixture
) -> None:
    with opened(Plugin("one"), Plugin("two", lambda c: Echo(c, "other"))) as memory:
        tools = MemoryTools(memory)
        assert tools.recalled("hi", budget=100) == "hi  100\nhi  92"
        assert tools.recalled("hi", budget=5) == "hi  5"
        assert tools.turn_ended([{"role": "user", "content": "hi"}]) == 2
        assert "hi" in memory.recall(query="hi", budget=2000).text
        with caplog.at_level(logging.WARNING):
            for fault in FAULTS:
                assert tools.recalled(fault, budget=100) == ""
            assert tools.turn_ended([{"role": "assistant", "content": "hi"}]) == 0
            assert tools.turn_ended([{"role": "assistant", "content": "break"}]) == 0
        assert "nothing is recalled by one: ValueError" in caplog.text
        assert "a turn is not captured by two: RuntimeError" in caplog.text
        assert "real reason" not in caplog.text


def test_a_tool_says_to_mcp_what_it_does_and_whose_it_is() -> None:
    (tool,) = Echo(None).definitions  # type: ignore[arg-type]
    hints = {
        effect: tool.replace(effect=effect).mcp()["annotations"]
        for effect in ("reads", "adds", "deletes")
    }
    said = {
        effect: tuple(hint[f"{name}Hint"] for name in ("readOnly", "destructive", "idempotent"))
        for effect, hint in hints.items()
    }
    assert said == {
        "reads": (True, False, True),
        "adds": (False, False, False),
        "deletes": (False, True, True),
    }
    assert tool.for_agents(["main"]) is tool
    agents = tool.for_agents(["main", "work"]).parameters["properties"]["agent"]
    assert agents["enum"] == ["main", "work"]
    assert "agent" not in tool.parameters["properties"]


def test_a_plugin_embeds_with_the_settings_for_notes_or_its_own(
    opened: Callable[..., Memory],
) -> None:
    plugin = Plugin("echo")
    with opened(plugin) as memory:
        memory.plugin_tools.get("echo")
        assert plugin.made[0].context.embedder(None) is None
        with pytest.raises(UnavailableError, match="no provider 'nowhere'"):
            _ = plugin.made[0].context.embedder(OwnProvider("nowhere"))


def number(**limits: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"n": {"type": "integer", **limits}}}


DEFINITIONS: dict[str, Any] = {
    "none at all": None,
    "a dictionary": ({"name": "x"},),
    "no text for a name": (TOOL.replace(name=5),),
    "a name with a space": (TOOL.replace(name="bad name!"),),
    "no description": (TOOL.replace(description=None),),
    "another effect": (TOOL.replace(effect=["reads"]),),
    "no schema": (TOOL.replace(parameters=None),),
    "a list of properties": (TOOL.replace(parameters={"type": "object", "properties": ["n"]}),),
    "a limit that is no number": (TOOL.replace(parameters=number(minimum="1")),),
    "an unknown required one": (TOOL.replace(parameters={"type": "object", "required": ["n"]}),),
    "an object in its schema": (TOOL.replace(parameters={"type": "object", "x": object()}),),
    "no number": (TOOL.replace(parameters={"type": "object", "x": float("nan")}),),
}


@pytest.mark.parametrize("kind", DEFINITIONS)
def test_a_tool_with_an_invalid_definition_is_left_out_and_named(
    opened: Callable[..., Memory], kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    def make(context: ToolContext) -> Echo:
        made = Echo(context)
        made.definitions = DEFINITIONS[kind]
        return made

    with opened(Plugin("bad", make), Plugin("echo")) as memory, caplog.at_level(logging.WARNING):
        assert names(memory) == ["memory_search", "memory_get", "echo"]
        (problem,) = memory.plugin_tools.left_out()
        assert problem in memory.status().notices
        assert problem in caplog.text
        assert problem in [finding.text for finding in plugin_findings(memory)]


def test_one_invalid_tool_leaves_the_others_of_its_set(opened: Callable[..., Memory]) -> None:
    def make(context: ToolContext) -> Echo:
        made = Echo(context)
        made.definitions = (TOOL.replace(name=""), *made.definitions)
        return made

    with opened(Plugin("echo", make)) as memory:
        assert names(memory) == ["memory_search", "memory_get", "echo"]
        assert len(memory.plugin_tools.left_out()) == 1


@pytest.mark.parametrize(
    ("limits", "good", "bad", "hint"),
    [
        ({}, [-5, 10**9], ["1"], ""),
        ({"minimum": 1}, [1, 9], [0], "at least 1"),
        ({"maximum": 3}, [-9, 3], [4], "at most 3"),
        ({"minimum": 1, "maximum": 3}, [1, 3], [0, 4], "from 1 to 3"),
    ],
)
def test_the_limits_of_a_number_may_be_left_out(
    limits: dict[str, int], good: list[Any], bad: list[Any], hint: str
) -> None:
    tool = checked_definition(TOOL.replace(parameters=number(**limits)))
    for value in good:
        assert checked(tool, {"n": value}) == {"n": value}
    for value in bad:
        with pytest.raises(CallerError) as caught:
            checked(tool, {"n": value})
        assert hint in str(caught.value.hint)


def test_a_tool_without_arguments_needs_no_properties(opened: Callable[..., Memory]) -> None:
    class Bare(Echo):
        def call(self, name: str, arguments: Mapping[str, Any], *, session_key: str) -> Any:
            return ToolAnswer(text=f"{name} {dict(arguments)}", data={})

    def make(context: ToolContext) -> Bare:
        made = Bare(context)
        made.definitions = (TOOL.replace(parameters={"type": "object"}),)
        return made

    with opened(Plugin("bare", make)) as memory:
        tools = MemoryTools(memory)
        assert tools.call("x", {}).text == "x {}"
        assert "has no argument" in tools.call("x", {"more": 1}).text


def test_capabilities_that_are_none_cost_the_set_alone(opened: Callable[..., Memory]) -> None:
    def make(context: ToolContext) -> Echo:
        made = Echo(context, "bad")
        made.capabilities = None  # type: ignore[assignment]
        return made

    with opened(Plugin("bad", make), Plugin("echo")) as memory:
        tools = MemoryTools(memory)
        assert tools.recalled("hello", budget=100).startswith("hello")
        assert tools.turn_ended([{"role": "user", "content": "hello"}]) == 1
        assert "'NoneType'" in memory.plugin_tools.left_out()[0]


def test_what_hangs_is_given_up(
    opened: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.host.failures.FACTORY_SECONDS", 0.05)
    monkeypatch.setattr("commonplace.tools.plugins.OFFER_SECONDS", 0.05)
    come_back = threading.Event()

    def hanging(context: ToolContext) -> Echo:
        come_back.wait(60)
        return Echo(context)

    class Property(Echo):
        def __getattribute__(self, name: str) -> Any:
            if name == "definitions":
                come_back.wait(60)
            return super().__getattribute__(name)

    class Endless(Echo):
        def __init__(self, context: ToolContext) -> None:
            super().__init__(context, "endless")

        def close(self) -> None:
            come_back.wait(60)

    plugins = [Plugin("factory", hanging), Plugin("property", Property), Plugin("close", Endless)]
    with opened(*plugins, Plugin("zecho")) as memory:
        assert names(memory) == ["memory_search", "memory_get", "endless", "echo"]
        assert [one.split(":")[0] for one in memory.plugin_tools.left_out()] == [
            "the tools of factory are not available",
            "the tools of property are not available",
        ]
    assert not come_back.is_set(), "the memory was closed meanwhile"
    come_back.set()


def test_a_call_that_hangs_is_answered(
    opened: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.tools.plugins.TOOL_SECONDS", 0.05)
    come_back = threading.Event()

    class Hanging(Echo):
        def call(self, name: str, arguments: Mapping[str, Any], *, session_key: str) -> Any:
            if arguments["text"] == "hang":
                come_back.wait(60)
            return super().call(name, arguments, session_key=session_key)

    with opened(Plugin("slow", Hanging)) as memory:
        tools = MemoryTools(memory)
        answer = tools.call("echo", {"text": "hang"})
        assert answer.failed
        assert "the tool set 'slow' of slow did not answer within 0.05 s" in answer.text
        monkeypatch.setattr("commonplace.tools.plugins.TOOL_SECONDS", 60.0)
        assert tools.call("echo", {"text": "hello"}).text.startswith("hello")
        come_back.set()


def test_a_hanging_recall_and_a_hanging_turn_are_given_up(
    opened: Callable[..., Memory],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("commonplace.tools.plugins.RECALL_SECONDS", 0.05)
    monkeypatch.setattr("commonplace.tools.plugins.TOOL_SECONDS", 0.05)
    come_back = threading.Event()

    class Hanging(Echo):
        def recall(self, prompt: str, *, session_key: str, budget: int) -> str:
            come_back.wait(60)
            return super().recall(prompt, session_key=session_key, budget=budget)

        def turn_ended(self, messages: Sequence[Mapping[str, Any]], *, session_key: str) -> int:
            come_back.wait(60)
            return super().turn_ended(messages, session_key=session_key)

    with opened(Plugin("slow", Hanging), Plugin("zecho")) as memory:
        tools = MemoryTools(memory)
        with caplog.at_level(logging.WARNING):
            assert tools.recalled("hi", budget=100) == "hi  100"
            assert tools.turn_ended([{"role": "user", "content": "hi"}]) == 1
        assert not come_back.is_set(), "another one answered meanwhile"
        come_back.set()
    late = "the tool set 'slow' of slow did not answer within 0.05 s"
    assert f"nothing is recalled by slow: {late}" in caplog.text
    assert f"a turn is not captured by slow: {late}" in caplog.text


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
def test_a_set_that_cannot_be_closed_leaves_the_others_closed(
    opened: Callable[..., Memory], error: type[BaseException]
) -> None:
    class Bad(Echo):
        def close(self) -> None:
            raise error

    good = Plugin("echo")
    with opened(Plugin("bad", Bad), good) as memory:
        assert names(memory) == ["memory_search", "memory_get", "echo"]
    assert good.made[0].closed == 1


def test_a_factory_may_ask_for_the_embedder(opened: Callable[..., Memory]) -> None:
    def make(context: ToolContext) -> Echo:
        assert context.embedder(None) is None
        return Echo(context)

    with opened(Plugin("echo", make)) as memory:
        assert names(memory) == ["memory_search", "memory_get", "echo"]


@pytest.mark.parametrize("recalled", [42, "x" * 101])
def test_what_is_recalled_beyond_its_budget_is_left_out(
    opened: Callable[..., Memory], recalled: object
) -> None:
    class Long(Echo):
        def recall(self, prompt: str, *, session_key: str, budget: int) -> Any:
            return recalled

    with opened(Plugin("long", Long), Plugin("zecho")) as memory:
        assert MemoryTools(memory).recalled("hi", budget=100) == "hi  100"
