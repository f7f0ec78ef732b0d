"""What a plugin may register, and the errors for everything else."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pluggy
import pytest

from commonplace.errors import PluginConflictError, PluginUnavailableError
from commonplace.hookspecs import MEMBERS, ProviderRegistrar
from commonplace.host.discovery import EntryPoint
from commonplace.host.host import PluginHost
from commonplace.model.plugins import (
    Credentials,
    Group,
    Probe,
    Registration,
    hookimpl,
    hookspec,
    setting,
)
from commonplace.plugin import (
    Chunker,
    Command,
    EmbeddingProvider,
    MemoryManager,
    Ranker,
    Source,
    Store,
    ToolSet,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class Config(Group):
    size: int = setting("Size.", default=1)


GOOD: dict[str, Any] = {
    "summary": "does something",
    "config": Config,
    "priority": 3,
    "capabilities": frozenset({"keyword"}),
    "credentials": Credentials(env=("KEY",)),
    "ready": lambda _context: Probe(available=True),
}


def make(_context: object) -> Any:
    return None


def registrar(**claims: str) -> ProviderRegistrar:
    return ProviderRegistrar("provider", "mine (d 1.0)", lambda id_: claims.get(id_, ""))


def test_registrations_are_kept_by_id_in_their_order() -> None:
    mine = registrar()
    mine.provider("good", make, **GOOD)
    mine.provider("also-good", make, summary="does more")
    good, also = mine.registered.values()
    assert list(mine.registered) == ["good", "also-good"]
    assert good[0] == also[0] == "provider"
    assert good[1]._replace(factory=make) == Registration("good", factory=make, **GOOD)
    assert (also[1].summary, also[1].config, also[1].priority) == ("does more", None, None)


def test_every_role_is_held_to_the_members_of_its_protocol() -> None:
    protocols = {
        "store": Store,
        "manager": MemoryManager,
        "source": Source,
        "chunker": Chunker,
        "provider": EmbeddingProvider,
        "ranker": Ranker,
        "command": Command,
        "toolset": ToolSet,
    }
    assert protocols.keys() == MEMBERS.keys()
    for role, protocol in protocols.items():
        members = {name for name in vars(protocol) if not name.startswith("_")}
        assert set(MEMBERS[role]) == members, role


def test_an_id_registered_twice_names_the_plugin() -> None:
    mine = registrar()
    mine.provider("good", make, **GOOD)
    with pytest.raises(PluginConflictError, match=r"^provider 'good' is registered twice by mine"):
        mine.provider("good", make, **GOOD)


def test_an_id_that_another_plugin_has_names_both() -> None:
    mine = registrar(good="theirs (e 2.0)")
    with pytest.raises(PluginConflictError) as caught:
        mine.provider("good", make, **GOOD)
    assert "theirs (e 2.0)" in str(caught.value)
    assert "mine (d 1.0)" in str(caught.value)
    assert caught.value.hint
    assert not mine.registered


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"id_": 7}, TypeError, "strings"),
        ({"id_": "Good"}, ValueError, "an id is"),
        ({"id_": ""}, ValueError, "an id is"),
        ({"id_": "a.b"}, ValueError, "an id is"),
        ({"summary": None}, TypeError, "strings"),
        ({"summary": " "}, ValueError, "one line"),
        ({"summary": "two\nlines"}, ValueError, "one line"),
        ({"factory": "dict"}, TypeError, "factory of 'good'"),
        ({"probe": True}, TypeError, "probe of 'good'"),
        ({"ready": True}, TypeError, "ready of 'good'"),
        ({"credentials": "KEY"}, TypeError, "must be Credentials"),
        ({"config": Config()}, TypeError, "subclass of Group"),
        ({"config": dict}, TypeError, "subclass of Group"),
        ({"priority": True}, TypeError, "whole number"),
        ({"priority": 1.5}, TypeError, "whole number"),
        ({"capabilities": {"keyword"}}, TypeError, "frozenset"),
        ({"capabilities": frozenset({1})}, TypeError, "frozenset"),
        ({"extra": "vectors"}, TypeError, "extra"),
    ],
)
def test_a_malformed_registration_is_refused(
    changes: dict[str, Any], error: type[Exception], words: str
) -> None:
    mine = registrar()
    good: dict[str, Any] = {"id_": "good", "factory": make, **GOOD}
    with pytest.raises(error, match=words):
        mine.provider(**(good | changes))
    assert not mine.registered


OWN = """
from commonplace.plugin import hookimpl

@hookimpl
def commonplace_register_commands(register):
    register.command("own", object, summary="our own")
"""
WRONG = {
    "commonplace_register_nothing(register)": "unknown hook",
    "commonplace_register_rankers(register, more)": "Plugin 'hr_wrong' for hook",
}


def own_host(*modules: str) -> PluginHost:
    entries = [EntryPoint("command.own", module, "commonplace", "1.0") for module in modules]
    return PluginHost(entries, env={})


@pytest.mark.parametrize("options", [{}, {"trylast": True}, {"specname": "commonplace_synced"}])
def test_our_markers_set_what_those_of_pluggy_set(options: dict[str, Any]) -> None:
    marked = hookimpl(**options)(lambda: None) if options else hookimpl(lambda: None)
    theirs = pluggy.HookimplMarker("commonplace")(**options)(lambda: None)
    assert vars(marked) == vars(theirs)


@pytest.mark.parametrize("first", [False, True])
def test_our_specifications_say_what_those_of_pluggy_say(*, first: bool) -> None:
    theirs = pluggy.HookspecMarker("commonplace")(firstresult=first)(lambda: None)
    assert vars(hookspec(firstresult=first)(lambda: None)) == vars(theirs)
    assert first or vars(hookspec(lambda: None)) == vars(theirs)


def test_a_plugin_of_our_own_is_listed_with_its_hooks_beside_one_added_later(
    add_module: Callable[[str, str], None],
) -> None:
    add_module("hr_own", OWN)
    host = own_host("hr_own")
    assert host.command("own").summary == "our own"
    (info,) = host.plugins()
    assert (info.state, info.hooks) == ("loaded", ("commonplace_register_commands",))
    host.register(SimpleNamespace(commonplace_prompt_section=section), name="later")
    assert host.prompt_sections("main", "") == ["said"]
    with pytest.raises(PluginConflictError, match="registered as 'hr_own' already"):
        host.register(SimpleNamespace(commonplace_prompt_section=section), name="hr_own")


def test_sections_of_prompts_are_in_order_whenever_their_plugins_were_added(
    add_module: Callable[[str, str], None],
) -> None:
    entries = []
    for name in ("hr_y", "hr_x"):
        add_module(name, SECTION.format(text=name))
        entries.append(EntryPoint(f"prompt.{name}", name, "third-party", "1.0"))
    host = PluginHost(entries, env={})

    def add(name: str, **options: Any) -> None:
        def answer() -> str:
            return name

        marked = hookimpl(**options)(answer)
        host.register(SimpleNamespace(commonplace_prompt_section=marked), name=name)

    add("c")
    add("g", tryfirst=True)
    assert host.prompt_sections("main", "") == ["g", "hr_x", "hr_y", "c"]
    add("a", trylast=True)
    add("b")
    add("e", tryfirst=True)
    assert host.prompt_sections("main", "") == ["e", "g", "hr_x", "hr_y", "b", "c", "a"]
    assert host.failures == {}

    @hookimpl(wrapper=True)
    def around() -> Any:
        sections = yield
        return [*sections, "last"]

    host.register(SimpleNamespace(commonplace_prompt_section=around), name="f")
    assert host.prompt_sections("main", "")[0] == "e"
    assert host.prompt_sections("main", "")[-1] == "last"


def test_a_plugin_may_be_added_by_the_name_of_an_installed_one(
    add_module: Callable[[str, str], None],
) -> None:
    add_module("hr_z", SECTION.format(text="installed"))
    host = PluginHost([EntryPoint("prompt.z", "hr_z", "third-party", "1.0")], env={})
    added = SimpleNamespace(commonplace_prompt_section=hookimpl(lambda: "added"))
    host.register(added, name="prompt.z")
    assert set(host.prompt_sections("main", "")) <= {"installed", "added"}
    assert host.failures == {}


SECTION = """
from commonplace.plugin import hookimpl

@hookimpl
def commonplace_prompt_section(agent, session_key):
    return "{text}"
"""


@hookimpl
def section(agent: str) -> str:
    del agent
    return "said"


@pytest.mark.parametrize("signature", WRONG, ids=("hook", "argument"))
def test_pluggy_checks_what_is_more_than_registrations(
    add_module: Callable[[str, str], None], signature: str
) -> None:
    add_module("hr_wrong", f"{OWN}\n@hookimpl\ndef {signature}: ...\n")
    with pytest.raises(PluginUnavailableError, match=re.escape(WRONG[signature])):
        own_host("hr_wrong").command("own")
