"""The host loads what is asked for, once, and tells backends apart."""

from __future__ import annotations

import sys
from threading import Barrier, Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from commonplace.errors import (
    CallerError,
    PluginConflictError,
    PluginUnavailableError,
)
from commonplace.host.discovery import EntryPoint
from commonplace.host.host import PluginHost
from commonplace.plugin import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from commonplace.plugin import Ranker, RankerRegistrar

HEAD = """
from commonplace.plugin import hookimpl

calls = []

class Part:
    "Enough of every kind."
    id = stage = needs = version = fingerprint = name = summary = examples = capabilities = ""
    model = limits = concurrency = search = maintain = pending = health = close = scan = ""
    read = chunk = ""
    embed = rank = configure = run = writer = builds = open_build = activate = drop = ""
    put_documents = documents = keyword = ""

def make(*context):
    return Part()
"""

BACKENDS = (
    HEAD
    + """
@hookimpl
def commonplace_register_backends(register):
    calls.append("backends")
    register.store("file", make, summary="the file", capabilities=frozenset({"keyword"}))
    register.manager("engine", make, summary="the engine")

@hookimpl
def commonplace_register_rankers(register):
    calls.append("rankers")
    register.ranker("mine", make, summary="mine")
"""
)

OTHERS = (
    HEAD
    + """
@hookimpl
def commonplace_register_sources(register):
    register.source("s", make, summary="the s")

@hookimpl
def commonplace_register_chunkers(register):
    register.chunker("c", make, summary="the c")

@hookimpl
def commonplace_register_providers(register):
    register.provider("p", make, summary="the p")

@hookimpl
def commonplace_register_commands(register):
    register.command("v", make, summary="the v")
"""
)


def host_of(*pairs: tuple[str, str], **env: str) -> PluginHost:
    return PluginHost([EntryPoint(name, module, "dist", "1.0") for name, module in pairs], env=env)


def calls_of(module: str) -> list[str]:
    calls: list[str] = sys.modules[module].calls
    return calls


@pytest.fixture
def backends(add_module: Callable[[str, str], None]) -> PluginHost:
    add_module("hl_backends", BACKENDS)
    return host_of(
        ("backend.file", "hl_backends"),
        ("backend.engine", "hl_backends"),
        ("ranker.mine", "hl_backends"),
        ("ranker.other", "hl_no_such_module"),
    )


def test_nothing_is_imported_before_it_is_asked_for(backends: PluginHost) -> None:
    assert backends.ids("backend") == ("engine", "file")
    assert backends.ids("ranker") == ("mine", "other")
    assert {info.state for info in backends.plugins()} == {"available"}
    assert "hl_backends" not in sys.modules


def test_stores_and_managers_are_distinguished(backends: PluginHost) -> None:
    file, engine = backends.backend("file"), backends.backend("engine")
    assert (file.role, file.registration.id) == ("store", "file")
    assert (engine.role, engine.registration.id) == ("manager", "engine")
    assert backends.store("file") is file.registration
    assert backends.manager("engine") is engine.registration
    assert backends.get("backend", "file") is file.registration
    with pytest.raises(PluginUnavailableError, match="'engine' is a manager, not a store"):
        backends.store("engine")
    with pytest.raises(PluginUnavailableError, match="'file' is a store, not a manager"):
        backends.manager("file")


def test_only_the_hooks_of_the_kind_are_called_and_once(backends: PluginHost) -> None:
    backends.backend("file")
    backends.backend("engine")
    backends.backend("file")
    assert calls_of("hl_backends") == ["backends"]
    backends.ranker("mine")
    assert calls_of("hl_backends") == ["backends", "rankers"]


def test_each_kind_has_its_door(add_module: Callable[[str, str], None]) -> None:
    add_module("hl_others", OTHERS)
    host = host_of(*((f"{kind}.{kind[0]}", "hl_others") for kind in ("source", "chunker")))
    assert host.source("s").id == "s"
    assert host.chunker("c").id == "c"
    host = host_of(("provider.p", "hl_others"), ("command.v", "hl_others"))
    assert host.provider("p").id == "p"
    assert host.command("v").id == "v"


MADE = {
    "backend": ("store", "manager"),
    "source": ("source",),
    "chunker": ("chunker",),
    "provider": ("provider",),
    "ranker": ("ranker",),
    "command": ("command",),
}


@pytest.mark.parametrize("made", ["42", "None", "object()", "'sk-secret'"])
@pytest.mark.parametrize(
    ("kind", "role"), [(k, role) for k, roles in MADE.items() for role in roles]
)
def test_a_factory_that_makes_something_else_is_reported_with_its_plugin(
    add_module: Callable[[str, str], None], kind: Any, role: str, made: str
) -> None:
    add_module(
        "hl_wrong",
        HEAD
        + f"""
@hookimpl
def commonplace_register_{kind}s(register):
    register.{role}("bad", lambda *context: {made}, summary="the bad")
    register.{role}("good", make, summary="the good")
""",
    )
    host = host_of((f"{kind}.bad", "hl_wrong"), (f"{kind}.good", "hl_wrong"))
    context = () if kind == "command" else (None,)
    assert type(host.get(kind, "good").factory(*context)).__name__ == "Part"
    with pytest.raises(PluginUnavailableError) as caught:
        host.get(kind, "bad").factory(*context)
    words = str(caught.value)
    assert words.startswith(f"{role} 'bad' of hl_wrong (dist 1.0) is invalid: its factory returned")
    shown = {"object()": "type object", "'sk-secret'": "type str"}
    assert f"{shown.get(made, made)}, which has no " in words
    assert "sk-secret" not in words
    assert "hl_wrong (dist 1.0)" in caught.value.hint


def test_one_missing_method_is_named(add_module: Callable[[str, str], None]) -> None:
    add_module(
        "hl_half",
        HEAD
        + """
class Half:
    id, stage, needs = "half", "adjust", frozenset()

@hookimpl
def commonplace_register_rankers(register):
    register.ranker("half", lambda context: Half(), summary="half")
""",
    )
    with pytest.raises(PluginUnavailableError, match=r"of type Half, which has no rank$"):
        host_of(("ranker.half", "hl_half")).ranker("half").factory(None)


def test_two_hosts_know_nothing_of_each_other(backends: PluginHost) -> None:
    backends.ranker("mine")
    fresh = host_of(("ranker.mine", "hl_backends"))
    assert fresh.plugins()[0].state == "available"
    assert fresh.ranker("mine").id == "mine"


def test_a_kind_that_there_is_not_is_the_callers_fault(backends: PluginHost) -> None:
    kind: Any
    for kind in ("events", "bakend"):
        with pytest.raises(CallerError, match="no kind of plugin"):
            backends.get(kind, "x")
        with pytest.raises(CallerError, match="no kind of plugin"):
            backends.ids(kind)


def test_installed_plugins_are_found_and_loaded(
    tmp_path: Path,
    site: Path,
    add_module: Callable[[str, str], None],
    add_distribution: Callable[..., Path],
) -> None:
    add_module("hl_installed", BACKENDS)
    add_distribution("hl-dist", {"backend.file": "hl_installed"})
    assert site.exists()
    host = PluginHost(cache_dir=str(tmp_path / "cache"), env={"COMMONPLACE_PLUGINS": "hl-dist"})
    assert host.ids("backend") == ("file",)
    assert host.store("file").capabilities == {"keyword"}


def test_an_id_that_no_plugin_declared_cannot_be_asked_for_whatever_the_order(
    add_module: Callable[[str, str], None],
) -> None:
    add_module("hl_two", BACKENDS)
    host = host_of(("backend.file", "hl_two"))
    host.backend("file")
    with pytest.raises(PluginUnavailableError, match="there is no backend 'engine'"):
        host.backend("engine")
    (notice,) = host.plugins()[0].notices
    assert "backend.engine" in notice


def test_what_is_off_stays_off_although_its_module_is_loaded(
    add_module: Callable[[str, str], None],
) -> None:
    add_module("hl_off", BACKENDS)
    host = host_of(
        ("backend.file", "hl_off"),
        ("backend.engine", "hl_off"),
        COMMONPLACE_DISABLE_PLUGINS="backend.engine",
    )
    host.backend("file")
    with pytest.raises(PluginUnavailableError, match="switched off"):
        host.backend("engine")
    assert host.ids("backend") == ("file",)


def test_threads_that_ask_at_once_load_once(add_module: Callable[[str, str], None]) -> None:
    add_module("hl_threads", BACKENDS)
    host = host_of(("backend.file", "hl_threads"))
    barrier = Barrier(8)
    found: list[object] = []

    def ask() -> None:
        barrier.wait()
        found.append(host.store("file"))

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1
    assert calls_of("hl_threads") == ["backends"]


def test_calls_are_traced_with_plugin_and_milliseconds(
    add_module: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    add_module("hl_trace", BACKENDS)
    host_of(("ranker.mine", "hl_trace"), COMMONPLACE_TRACE_PLUGINS="0").ranker("mine")
    assert capsys.readouterr() == ("", "")
    host_of(("ranker.mine", "hl_trace"), COMMONPLACE_TRACE_PLUGINS="1").ranker("mine")
    out, err = capsys.readouterr()
    assert out == ""
    importing, imported, calling, called = err.splitlines()
    # One that hangs has no other line.
    assert importing == "commonplace: import hl_trace ..."
    assert calling == "commonplace: commonplace_register_rankers hl_trace ..."
    assert imported.startswith("commonplace: import hl_trace ")
    assert called.startswith("commonplace: commonplace_register_rankers hl_trace ")
    assert float(called.split()[-2]) >= 0
    assert called.endswith(" ms")


def test_a_conflict_stays_one_although_a_module_is_loaded(
    add_module: Callable[[str, str], None],
) -> None:
    add_module("hl_rival", BACKENDS)
    entries = [
        EntryPoint("backend.file", "hl_rival", "one"),
        EntryPoint("backend.engine", "hl_rival", "one"),
        EntryPoint("backend.engine", "hl_rival", "two"),
    ]
    host = PluginHost(entries, env={})
    host.backend("file")
    with pytest.raises(PluginConflictError, match="one and two"):
        host.backend("engine")


# --- plugins without entry points ---------------------------------------------------------------


class InProcess:
    """A plugin made of an object."""

    def __init__(self, *ids: str) -> None:
        self.ids = ids

    @hookimpl
    def commonplace_register_rankers(self, register: RankerRegistrar) -> None:
        for id_ in self.ids:
            register.ranker(id_, lambda _context: cast("Ranker", None), summary="in process")


def test_an_object_is_a_plugin() -> None:
    host = PluginHost([], env={})
    host.register(InProcess("one", "two"), name="mine")
    assert host.ids("ranker") == ("one", "two")
    assert host.ranker("two").summary == "in process"
    assert [(i.name, i.module, i.state) for i in host.plugins()] == [
        ("ranker.one", "mine", "loaded"),
        ("ranker.two", "mine", "loaded"),
    ]
    with pytest.raises(PluginUnavailableError) as caught:
        host.ranker("three")
    assert "one, two" in caught.value.hint


def test_the_environment_does_not_switch_off_what_is_registered_by_hand() -> None:
    host = PluginHost([], env={"COMMONPLACE_PLUGINS": "nothing"})
    host.register(InProcess("one"), name="mine")
    assert host.ranker("one").id == "one"


def test_a_name_or_an_id_that_is_taken_is_a_conflict(backends: PluginHost) -> None:
    backends.register(InProcess("one"), name="first")
    with pytest.raises(PluginConflictError, match="'first' already"):
        backends.register(InProcess("two"), name="first")
    with pytest.raises(PluginConflictError, match=r"'one' is registered by first and by second"):
        backends.register(InProcess("two", "one"), name="second")
    with pytest.raises(
        PluginConflictError, match=r"'mine' is registered by hl_backends \(dist 1\.0\)"
    ):
        backends.register(InProcess("mine"), name="third")
    assert backends.ids("ranker") == ("mine", "one", "other")
    backends.register(InProcess("two"), name="second")
    assert backends.ranker("two").id == "two"


def test_a_faulty_object_is_refused_and_leaves_nothing_behind() -> None:
    host = PluginHost([], env={})
    with pytest.raises(PluginUnavailableError, match="implements no hook"):
        host.register(SimpleNamespace(), name="empty")
    with pytest.raises(PluginUnavailableError, match="an id is lower-case") as caught:
        host.register(InProcess("fine", "NOT FINE"), name="bad")
    assert isinstance(caught.value.__cause__, ValueError)
    assert host.ids("ranker") == ()
    assert host.plugins() == ()
    host.register(InProcess("fine"), name="bad")
    assert host.ids("ranker") == ("fine",)


@pytest.mark.parametrize(
    ("define", "body", "words"),
    [
        ("async def", "return query", "is async, and hooks are not awaited"),
        ("async def", "yield query", "is async, and hooks are not awaited"),
        ("def", "yield query", "yields, and is no wrapper: mark it"),
    ],
)
def test_a_function_that_a_call_only_begins_is_refused(
    define: str, body: str, words: str, add_module: Callable[[str, str], None]
) -> None:
    name = f"hl_begun_{define[0]}_{body[0]}"
    add_module(
        name,
        f"""
        from commonplace.plugin import hookimpl

        @hookimpl
        {define} commonplace_rewrite_query(query):
            {body}
        """,
    )
    host = host_of(("query.begun", name))
    assert host.rewrite_query("ants") == "ants"
    (info,) = host.plugins()
    assert info.state == "failed"
    assert info.error.startswith(f"TypeError: commonplace_rewrite_query {words}")
    by_hand = PluginHost([], env={})
    with pytest.raises(PluginUnavailableError, match=f"commonplace_rewrite_query {words}"):
        by_hand.register(sys.modules[name], name="begun")
    assert by_hand.rewrite_query("ants") == "ants"


def test_a_wrapper_of_the_old_kind_is_refused_where_results_count() -> None:
    class Old:
        @hookimpl(hookwrapper=True)
        def commonplace_rewrite_query(self) -> Generator[None, Any, None]:
            outcome = yield
            outcome.force_result(42)

    host = PluginHost([], env={})
    with pytest.raises(PluginUnavailableError, match="a hookwrapper, whose result is unchecked"):
        host.register(Old(), name="old")
    assert host.rewrite_query("ants") == "ants"


def test_a_module_of_the_name_of_a_plugin_at_hand_does_not_drive_it_out(
    add_module: Callable[[str, str], None],
) -> None:
    add_module("hl_name", BACKENDS)
    host = host_of(("backend.file", "hl_name"))
    listener = InProcess("one")
    host.register(listener, name="hl_name")
    with pytest.raises(PluginConflictError, match="'hl_name' already"):
        host.backend("file")
    assert host.ranker("one").id == "one"
    ranker_info = next(info for info in host.plugins() if info.name == "ranker.one")
    assert ranker_info.hooks == ("commonplace_register_rankers",)
