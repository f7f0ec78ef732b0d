"""A plugin that fails is kept for the report and hurts only those who ask for it."""

from __future__ import annotations

import importlib
import signal
import threading
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.errors import (
    PluginConflictError,
    PluginUnavailableError,
    UnavailableError,
    how_to_install,
)
from commonplace.host.discovery import KINDS, Catalogue, EntryPoint
from commonplace.host.failures import Failure
from commonplace.host.host import PluginHost
from commonplace.host.registry import Registry, RegistryEntry
from commonplace.host.reports import PluginInfo, describe, with_readiness
from commonplace.model.plugins import Probe, hookimpl
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.host.discovery import Kind


def _stop(number: int, frame: object) -> None:
    """As programs handle the signal that have to tidy up."""
    raise KeyboardInterrupt


HEAD = """
from commonplace.plugin import hookimpl

PARTS = {"summary": "the part", "capabilities": frozenset({"c"})}

"""

FAULTS = {
    "import": ("import no_such_library_here", "ModuleNotFoundError"),
    "syntax": ("def broken(:", "SyntaxError"),
    "exit": ("raise SystemExit(3)", "SystemExit: 3"),
    "hook": (
        HEAD + "@hookimpl\ndef commonplace_register_rankers(register):\n    raise KeyError('x')",
        "KeyError: 'x'",
    ),
    "unknown hook": (
        HEAD + "@hookimpl\ndef commonplace_register_rankerz(register): pass",
        "commonplace_register_rankerz",
    ),
    "unknown argument": (
        HEAD + "@hookimpl\ndef commonplace_register_rankers(register, more): pass",
        "for hook 'commonplace_register_rankers': Argument(s) {'more'} are declared",
    ),
    "wrapper": (
        HEAD + "@hookimpl(wrapper=True)\ndef commonplace_register_rankers(register): pass",
        "but function is not a generator function",
    ),
    "no hook": ("x = 1", "registered no ranker 'bad' (registered: nothing)"),
    "not marked": (
        HEAD + "def commonplace_register_rankers(register): register.ranker('bad', dict, **PARTS)",
        "registered no ranker 'bad' (registered: nothing)",
    ),
    "another id": (
        HEAD
        + "@hookimpl\ndef commonplace_register_rankers(register):\n"
        + "    register.ranker('bat', dict, **PARTS)",
        "registered no ranker 'bad' (registered: bat)",
    ),
    "no factory": (
        HEAD + "@hookimpl\ndef commonplace_register_rankers(register): register.ranker('bad')",
        "missing 1 required positional argument",
    ),
}

GOOD = (
    HEAD
    + """
@hookimpl
def commonplace_register_rankers(register):
    "Not the module's words."
    register.ranker("good", dict, **PARTS)
"""
)


def entry(name: str, module: str, distribution: str = "dist-bad", **more: str) -> EntryPoint:
    return EntryPoint(name, module, distribution, "1.5", **more)


def info_of(host: PluginHost, name: str) -> PluginInfo:
    return next(info for info in host.plugins() if info.name == name)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_plugin_is_described_and_the_others_work(
    add_module: Callable[[str, str], None], fault: str
) -> None:
    source, words = FAULTS[fault]
    add_module("hf_bad", source)
    add_module("hf_good", GOOD)
    host = PluginHost([entry("ranker.bad", "hf_bad"), entry("ranker.good", "hf_good")], env={})
    for _ in range(2):
        with pytest.raises(PluginUnavailableError) as caught:
            host.ranker("bad")
        assert "ranker 'bad' of dist-bad 1.5 failed to load: " in str(caught.value)
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)
        assert caught.value.hint
    assert host.ranker("good").id == "good"
    bad = info_of(host, "ranker.bad")
    assert (bad.state, bad.distribution, bad.version) == ("failed", "dist-bad", "1.5")
    assert words in bad.error
    assert bad.hint == caught.value.hint
    assert bool(bad.traceback) is (caught.value.__cause__ is not None)
    assert bad.traceback or "traceback" not in bad.hint
    if caught.value.__cause__ is not None:
        assert type(caught.value.__cause__).__name__ in bad.traceback


@pytest.mark.parametrize(
    ("name", "fault", "hint"),
    [
        ("ranker.bad", "no hook", "mark what implements commonplace_register_rankers with "),
        ("ranker.bad", "not marked", "mark what implements commonplace_register_rankers with "),
        ("ranker.bad", "another id", "register it as 'bad', as the entry point names it"),
        ("query.bad", "no hook", "mark what implements commonplace_rewrite_query with "),
    ],
)
def test_what_is_not_registered_says_how_to_register_it(
    add_module: Callable[[str, str], None], name: str, fault: str, hint: str
) -> None:
    add_module("hf_bad", FAULTS[fault][0])
    (info,) = PluginHost([entry(name, "hf_bad")], env={}).plugins(load=True)
    assert info.state == "failed"
    assert info.hint.startswith(hint)


def test_one_that_is_not_installed_tells_what_to_install(
    add_module: Callable[[str, str], None],
    site: Path,
    add_distribution: Callable[..., Path],
) -> None:
    add_module("hf_import", "import no_such_library.part")
    info = add_distribution("dist-bad", {})
    assert site in info.parents

    def hint(**more: str) -> str:
        host = PluginHost([entry("ranker.bad", "hf_import", **more)], env={})
        with pytest.raises(PluginUnavailableError) as caught:
            host.ranker("bad")
        return caught.value.hint

    assert hint(extras="fast") == how_to_install("dist-bad[fast]")
    assert hint() == "install no_such_library, which dist-bad needs"
    assert hint(distribution="never-heard-of") == (
        "install no_such_library, which never-heard-of needs"
    )
    with (info / "METADATA").open("w") as metadata:
        metadata.write(
            "Metadata-Version: 2.4\nName: dist-bad\nVersion: 1.5\n"
            "Requires-Dist: attrs>=1\n"
            "Requires-Dist: No.Such_Library[more]>=2; extra == 'speed'\n\n"
        )
    assert hint() == how_to_install("dist-bad[speed]")


def test_a_wrong_module_name_is_not_taken_for_a_missing_library() -> None:
    host = PluginHost([entry("ranker.bad", "hf_absent.plugin")], env={})
    with pytest.raises(PluginUnavailableError, match="hf_absent") as caught:
        host.ranker("bad")
    assert "install" not in caught.value.hint


@pytest.mark.parametrize("distribution", ["dist-bad", "commonplace"])
def test_an_interrupt_that_a_plugin_raises_is_its_failure(
    add_module: Callable[[str, str], None], distribution: str
) -> None:
    add_module("hf_interrupt", "raise KeyboardInterrupt")
    host = PluginHost([entry("ranker.bad", "hf_interrupt", distribution)], env={})
    with pytest.raises(PluginUnavailableError, match="KeyboardInterrupt"):
        host.ranker("bad")


@pytest.mark.parametrize("handler", [signal.default_int_handler, _stop])
def test_the_users_interrupt_passes(
    add_module: Callable[[str, str], None], handler: Callable[[int, Any], Any]
) -> None:
    add_module("hf_ours", "import signal; signal.raise_signal(signal.SIGINT)")
    host = PluginHost([entry("ranker.bad", "hf_ours", "commonplace")], env={})
    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            host.ranker("bad")
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["import", "hook"])
def test_a_plugin_that_hangs_is_given_up_and_the_others_work(
    add_module: Callable[[str, str], None], where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hangs = "import hf_bell; hf_bell.WAIT.wait(30)"
    add_module("hf_bell", "import threading; WAIT = threading.Event()")
    if where == "hook":
        hangs = HEAD + f"@hookimpl\ndef commonplace_register_rankers(register):\n    {hangs}"
    add_module("hf_hangs", hangs)
    add_module("hf_good", GOOD)
    catalogue = Catalogue([entry("ranker.bad", "hf_hangs"), entry("ranker.good", "hf_good")], {})
    lines: list[str] = []
    registry = Registry(catalogue, lines.append, seconds=1)  # the good one has no more, either
    bad, good = (registry.load(one) for one in catalogue.entries)
    importlib.import_module("hf_bell").WAIT.set()
    assert isinstance(bad, Failure)
    assert "timed out after 1 s" in bad.error
    assert isinstance(good, RegistryEntry)
    assert any(line.endswith("hf_hangs ...") for line in lines)
    (info, _) = describe(catalogue, registry)
    assert "plugins.entries.bad.enabled to false" in info.hint
    assert "--safe" in info.hint


REGISTER: dict[Kind, Callable[[Any, Callable[..., Any]], None]] = {
    "provider": lambda register, make: register.provider("slow", make, summary="slow"),
    "ranker": lambda register, make: register.ranker("slow", make, summary="slow"),
    "source": lambda register, make: register.source("slow", make, summary="slow"),
    "tool": lambda register, make: register.toolset("slow", make, summary="slow"),
}


@pytest.mark.parametrize("kind", REGISTER)
def test_a_factory_that_hangs_is_given_up(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    come_back = threading.Event()

    @hookimpl
    def hook(register: Any) -> None:
        REGISTER[kind](register, lambda *_: come_back.wait(60))

    monkeypatch.setattr("commonplace.host.failures.FACTORY_SECONDS", 0.01)
    host = PluginHost([], env={})
    plugin = ModuleType("sleepy")
    setattr(plugin, KINDS[kind], hook)
    host.register(plugin, name="sleepy")
    with pytest.raises(PluginUnavailableError, match=f"the factory of {kind} 'slow' of sleepy"):
        host.get(kind, "slow").factory(None)
    with pytest.raises(UnavailableError, match="has not come back"):
        host.get(kind, "slow").factory(None)
    come_back.set()


LACKING = """
from commonplace.plugin import hookimpl

def make(*_):
    import no_such_library

@hookimpl
def commonplace_register_backends(register): register.store("bad", make, summary="b")

@hookimpl
def commonplace_register_chunkers(register): register.chunker("bad", make, summary="b")

@hookimpl
def commonplace_register_commands(register): register.command("bad", make, summary="b")

@hookimpl
def commonplace_register_providers(register): register.provider("bad", make, summary="b")

@hookimpl
def commonplace_register_rankers(register): register.ranker("bad", make, summary="b")

@hookimpl
def commonplace_register_sources(register): register.source("bad", make, summary="b")

@hookimpl
def commonplace_register_tools(register): register.toolset("bad", make, summary="b")
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_factory_that_lacks_a_library_names_it_and_the_extra(
    kind: Kind, add_module: Callable[[str, str], None], add_distribution: Callable[..., Path]
) -> None:
    add_module("hf_lacking", LACKING)
    info = add_distribution("dist-bad", {})
    with (info / "METADATA").open("w") as metadata:
        metadata.write(
            "Metadata-Version: 2.4\nName: dist-bad\nVersion: 1.5\n"
            "Requires-Dist: no-such-library>=2; extra == 'speed'\n\n"
        )
    host = PluginHost([entry(f"{kind}.bad", "hf_lacking")], env={})
    make = host.get(kind, "bad").factory
    with pytest.raises(PluginUnavailableError) as caught:
        make(*() if kind == "command" else (None,))
    said = f"{kind} 'bad' of hf_lacking (dist-bad 1.5) failed: No module named 'no_such_library'"
    assert str(caught.value) == said
    assert caught.value.hint == how_to_install("dist-bad[speed]")


def test_a_factory_of_our_own_needs_no_thread() -> None:
    host = PluginHost(env={})
    made_on: list[threading.Thread] = []

    class Context:
        def __getattr__(self, name: str) -> Any:
            made_on.append(threading.current_thread())
            raise AttributeError(name)

    with pytest.raises(AttributeError):
        host.source("memory").factory(Context())
    assert made_on == [threading.current_thread()]


def test_a_failure_of_one_kind_leaves_the_other_kinds_of_its_module(
    add_module: Callable[[str, str], None],
) -> None:
    add_module(
        "hf_half",
        GOOD + "\n@hookimpl\ndef commonplace_register_sources(register): raise OSError('gone')\n",
    )
    host = PluginHost([entry("source.bad", "hf_half"), entry("ranker.good", "hf_half")], env={})
    with pytest.raises(PluginUnavailableError, match="OSError: gone"):
        host.source("bad")
    assert host.ranker("good").id == "good"


def test_an_id_that_another_module_declares_names_both(
    add_module: Callable[[str, str], None],
) -> None:
    add_module("hf_grabs", GOOD + "    register.ranker('theirs', dict, **PARTS)\n")
    add_module("hf_theirs", GOOD.replace('"good"', '"theirs"'))
    host = PluginHost(
        [entry("ranker.good", "hf_grabs", "greedy"), entry("ranker.theirs", "hf_theirs", "modest")],
        env={},
    )
    with pytest.raises(PluginConflictError) as caught:
        host.ranker("good")
    assert "hf_theirs (modest 1.5)" in str(caught.value)
    assert "hf_grabs (greedy 1.5)" in str(caught.value)
    assert caught.value.hint == info_of(host, "ranker.good").hint
    assert "COMMONPLACE_DISABLE_PLUGINS=ranker.theirs" in caught.value.hint
    assert host.ranker("theirs").id == "theirs"


def test_an_id_that_two_modules_declare_costs_neither_its_other_ids(
    add_module: Callable[[str, str], None],
) -> None:
    add_module("hf_one", GOOD + "    register.ranker('both', dict, **PARTS)\n")
    add_module("hf_two", GOOD.replace('"good"', '"both"'))
    entries = [
        entry("ranker.good", "hf_one", "one"),
        entry("ranker.both", "hf_one", "one"),
        entry("ranker.both", "hf_two", "two"),
    ]
    host = PluginHost(entries, env={})
    assert host.ranker("good").id == "good"
    with pytest.raises(PluginConflictError, match=r"ranker\.both is offered by one 1\.5 and two"):
        host.ranker("both")
    assert [(info.name, info.state, info.notices) for info in host.plugins(load=True)] == [
        ("ranker.both", "failed", ()),
        ("ranker.both", "failed", ()),
        ("ranker.good", "loaded", ()),
    ]
    assert PluginHost(entries, env={"COMMONPLACE_DISABLE_PLUGINS": "two"}).ranker("both").id


def test_an_id_that_is_off_may_be_registered_in_process(
    add_module: Callable[[str, str], None],
) -> None:
    add_module("hf_one", GOOD + "    register.ranker('off', dict, **PARTS)\n")
    entries = [entry("ranker.good", "hf_one"), entry("ranker.off", "hf_one")]
    host = PluginHost(entries, env={"COMMONPLACE_DISABLE_PLUGINS": "ranker.off"})

    @hookimpl
    def commonplace_register_rankers(register: Any) -> None:
        register.ranker("off", lambda _: None, summary="mine")

    plugin = ModuleType("mine")
    vars(plugin)["commonplace_register_rankers"] = commonplace_register_rankers
    host.register(plugin, name="mine")
    assert host.ranker("good").id == "good"
    assert host.ranker("off").summary == "mine"


def test_a_store_and_an_engine_of_one_id_are_a_conflict(
    add_module: Callable[[str, str], None],
) -> None:
    add_module(
        "hf_both",
        HEAD
        + "@hookimpl\ndef commonplace_register_backends(register):\n"
        + "    register.store('x', dict, summary='a store')\n"
        + "    register.manager('x', dict, **PARTS)\n",
    )
    host = PluginHost([entry("backend.x", "hf_both")], env={})
    with pytest.raises(PluginConflictError, match="registered twice by hf_both"):
        host.backend("x")


# --- the report ---------------------------------------------------------------------------------


def test_everything_is_reported_without_loading_and_with(
    add_module: Callable[[str, str], None],
) -> None:
    add_module("hf_bad", "import no_such_library_here")
    add_module("hf_good", '"""Words of the module."""\n' + GOOD)
    add_module(
        "hf_events",
        '"""Hears all.\n\nMore words."""\n'
        + HEAD
        + "@hookimpl\ndef commonplace_searched(query): pass",
    )
    add_module("hf_deaf", '"""Hears nothing."""')
    entries = [
        entry("ranker.good", "hf_good"),
        entry("ranker.bad", "hf_bad"),
        entry("ranker.off", "hf_good"),
        entry("malformed", "hf_good", problem="has no dot"),
        entry("ranker.twice", "hf_good", "dist-a"),
        entry("ranker.twice", "hf_good", "dist-b"),
        entry("events.ears", "hf_events"),
        entry("events.deaf", "hf_deaf"),
    ]
    host = PluginHost(entries, env={"COMMONPLACE_DISABLE_PLUGINS": "ranker.off"})
    assert [(info.name, info.distribution, info.state) for info in host.plugins()] == [
        ("events.deaf", "dist-bad", "available"),
        ("events.ears", "dist-bad", "available"),
        ("malformed", "dist-bad", "failed"),
        ("ranker.bad", "dist-bad", "available"),
        ("ranker.good", "dist-bad", "available"),
        ("ranker.off", "dist-bad", "disabled"),
        ("ranker.twice", "dist-a", "failed"),
        ("ranker.twice", "dist-b", "failed"),
    ]
    states = {info.name: info for info in host.plugins(load=True)}
    assert {name: info.state for name, info in states.items()} == {
        "events.deaf": "failed",
        "events.ears": "loaded",
        "malformed": "failed",
        "ranker.bad": "failed",
        "ranker.good": "loaded",
        "ranker.off": "disabled",
        "ranker.twice": "failed",
    }
    good, ears = states["ranker.good"], states["events.ears"]
    assert (good.summary, good.capabilities) == ("the part", frozenset({"c"}))
    assert good.hooks == ("commonplace_register_rankers",)
    assert (ears.summary, ears.hooks) == ("Hears all.", ("commonplace_searched",))
    assert "implements none of commonplace_synced" in states["events.deaf"].error
    assert states["malformed"].error == "has no dot"
    assert "dist-a 1.5 and dist-b 1.5" in states["ranker.twice"].error
    off = states["ranker.off"]
    assert (off.error, off.notices) == ("", ("switched off by COMMONPLACE_DISABLE_PLUGINS",))
    assert all(info.hint for info in states.values() if info.state == "disabled")


def test_what_is_loaded_says_what_it_lacks(add_module: Callable[[str, str], None]) -> None:
    for name, probe in (
        ("well", "Probe(available=True)"),
        ("poor", "Probe(available=False, reason='no library', hint='install it')"),
        ("rude", "1 / 0"),
        ("odd", "None"),
    ):
        add_module(
            f"hf_{name}",
            HEAD
            + "from commonplace.model.plugins import Probe\n"
            + "@hookimpl\ndef commonplace_register_rankers(register):\n"
            + f"    register.ranker({name!r}, dict, summary='x', probe=lambda: {probe})\n",
        )
    entries = [entry(f"ranker.{name}", f"hf_{name}") for name in ("well", "poor", "rude", "odd")]
    host = PluginHost(entries, env={})
    infos = {info.name.partition(".")[2]: info for info in host.plugins(load=True)}
    assert {info.state for info in infos.values()} == {"loaded"}
    assert {id_: info.ready for id_, info in infos.items()} == {
        "well": True,
        "poor": False,
        "rude": False,
        "odd": False,
    }
    assert infos["well"].notices == ()
    assert (infos["poor"].notices, infos["poor"].hint) == (
        ("cannot work here: no library",),
        "install it",
    )
    assert infos["rude"].notices == ("its probe failed: ZeroDivisionError: division by zero",)
    assert infos["odd"].notices[0].startswith("its probe failed: AttributeError")
    assert all(info.notices == () for info in host.plugins()), "no probe runs without load"


def test_a_probe_that_hangs_is_given_up() -> None:
    info = PluginInfo(
        name="ranker.slow", module="slow", distribution="", version="", state="loaded"
    )
    let_go = threading.Event()

    def probe() -> Probe:
        let_go.wait()
        return Probe(available=True)

    try:
        asked = with_readiness(info, probe, Deadline.after(0.01))
    finally:
        let_go.set()
    assert asked.ready is False
    assert asked.notices[0].startswith("its probe failed: DeadlineExceededError: the probe of")
    assert with_readiness(info, lambda: Probe(available=True), Deadline.after(60)).ready


def test_load_all_never_raises_for_a_plugin(add_module: Callable[[str, str], None]) -> None:
    for number, (source, _) in enumerate(FAULTS.values()):
        add_module(f"hf_all{number}", source)
    entries = [entry(f"ranker.bad{n}", f"hf_all{n}") for n in range(len(FAULTS))]
    host = PluginHost(entries, env={})
    host.load_all()
    assert {info.state for info in host.plugins()} == {"failed"}
