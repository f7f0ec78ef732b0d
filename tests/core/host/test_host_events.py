"""Events are told after the answer, in order, and what listeners do is never felt."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.hookspecs import hookimpl
from commonplace.host.entrypoints import EntryPoint
from commonplace.host.events import EventBus
from commonplace.host.host import PluginHost
from commonplace.model.reports import SyncReport
from commonplace.model.search import SearchResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PATIENCE = 60.0
"""Seconds after which a test that hangs is given up."""

REPORT = SyncReport(added=1)
RESULT = SearchResult(hits=(), backend="builtin")


class Listener:
    """Remembers all it hears, and on which thread."""

    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []
        self.threads: set[threading.Thread] = set()

    def _hear(self, *words: object) -> None:
        self.heard.append(words)
        self.threads.add(threading.current_thread())

    @hookimpl
    def commonplace_synced(self, report: SyncReport) -> None:
        self._hear("synced", report)

    @hookimpl
    def commonplace_searched(self, query: str, result: SearchResult) -> None:
        self._hear("searched", query, result)

    @hookimpl
    def commonplace_degraded(self, part: str, reason: str) -> None:
        self._hear("degraded", part, reason)

    @hookimpl
    def commonplace_recovered(self, part: str) -> None:
        self._hear("recovered", part)


def bus_of(host: PluginHost) -> EventBus:
    bus = host.events
    assert bus is not None
    return bus


def test_there_is_no_bus_while_nobody_listens() -> None:
    off = {"COMMONPLACE_DISABLE_PLUGINS": "events.x"}
    assert PluginHost([], env={}).events is None
    assert PluginHost([EntryPoint("events.x", "m", "d")], env=off).events is None
    assert PluginHost([], env={}).close()


def test_every_event_is_heard_in_order_on_another_thread() -> None:
    host = PluginHost([], env={})
    listener = Listener()
    host.register(listener, name="ears")
    bus = bus_of(host)
    assert host.events is bus
    bus.synced(REPORT)
    bus.searched("port?", RESULT)
    bus.degraded("openai", "401")
    bus.recovered("openai")
    assert host.close(PATIENCE)
    assert listener.heard == [
        ("synced", REPORT),
        ("searched", "port?", RESULT),
        ("degraded", "openai", "401"),
        ("recovered", "openai"),
    ]
    (thread,) = listener.threads
    assert thread is not threading.current_thread()
    assert thread.daemon
    assert not thread.is_alive()
    assert (bus.dropped, bus.failures) == (0, {})


def test_a_module_behind_an_entry_point_is_loaded_by_the_first_event(
    add_module: Callable[[str, str], None],
) -> None:
    import sys

    add_module(
        "he_listener",
        """
        from commonplace.hookspecs import hookimpl

        heard = []

        @hookimpl
        def commonplace_searched(query):
            heard.append(query)
        """,
    )
    host = PluginHost([EntryPoint("events.x", "he_listener", "d")], env={})
    bus = bus_of(host)
    assert "he_listener" not in sys.modules
    bus.synced(REPORT)
    bus.searched("a", RESULT)
    assert host.close(PATIENCE)
    assert sys.modules["he_listener"].heard == ["a"]


def test_failures_are_counted_for_each_plugin_and_hurt_no_other(
    add_module: Callable[[str, str], None],
) -> None:
    add_module(
        "he_faulty",
        """
        import sys
        from commonplace.hookspecs import hookimpl

        @hookimpl
        def commonplace_searched(query):
            sys.exit(3) if query == "exit" else 1 / 0
        """,
    )
    add_module("he_broken", "1 / 0")
    listener = Listener()
    host = PluginHost(
        [
            EntryPoint("events.faulty", "he_faulty", "d"),
            EntryPoint("events.gone", "he_broken", "d"),
        ],
        env={},
    )
    host.register(listener, name="ears")
    bus = bus_of(host)
    bus.searched("a", RESULT)
    bus.searched("exit", RESULT)
    bus.recovered("x")
    assert host.close(PATIENCE)
    assert [words[0] for words in listener.heard] == ["searched", "searched", "recovered"]
    assert bus.failures == {"events.faulty": 2}
    states = {info.name: info.state for info in host.plugins()}
    assert states == {"events.ears": "loaded", "events.faulty": "loaded", "events.gone": "failed"}


# --- the bus alone ------------------------------------------------------------------------------


class Gate:
    """A ``deliver`` that waits until it is let through."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()
        self.delivered: list[str] = []

    def __call__(self, hook: str, arguments: Mapping[str, object]) -> list[str]:
        self.entered.set()
        assert self.open.wait(PATIENCE)
        self.delivered.append(str(arguments.get("part")))
        return []


@pytest.fixture
def gate() -> Gate:
    return Gate()


def event_threads() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == "commonplace-events"]


def test_no_thread_before_the_first_event(gate: Gate) -> None:
    bus = EventBus(gate)
    assert event_threads() == []
    assert bus.close(PATIENCE)
    assert event_threads() == []


def test_a_full_queue_drops_and_counts_and_keeps_nobody_waiting(gate: Gate) -> None:
    bus = EventBus(gate, capacity=2)
    bus.recovered("taken")
    assert gate.entered.wait(PATIENCE)
    for part in ("first", "second", "third", "fourth"):
        bus.recovered(part)
    assert bus.dropped == 2
    gate.open.set()
    assert bus.close(PATIENCE)
    assert gate.delivered == ["taken", "first", "second"]


def test_closing_gives_up_in_time_and_drops_what_waits(gate: Gate) -> None:
    bus = EventBus(gate)
    bus.recovered("stuck")
    assert gate.entered.wait(PATIENCE)
    bus.recovered("waiting")
    assert not bus.close(0)
    assert bus.dropped == 1
    gate.open.set()
    assert bus.close(PATIENCE)
    assert gate.delivered == ["stuck"]


def test_after_closing_events_are_dropped(gate: Gate) -> None:
    bus = EventBus(gate)
    gate.open.set()
    bus.recovered("told")
    assert bus.close(PATIENCE)
    bus.recovered("too late")
    assert bus.close(PATIENCE)
    assert (gate.delivered, bus.dropped) == (["told"], 1)


def test_a_listener_does_not_hear_its_own_echo_and_may_close() -> None:
    told: list[str] = []
    closed: list[bool] = []

    def deliver(hook: str, arguments: Mapping[str, object]) -> list[str]:
        told.append(hook)
        bus.searched("echo", RESULT)
        closed.append(bus.close(PATIENCE))
        return []

    bus = EventBus(deliver)
    bus.recovered("x")
    assert bus.close(PATIENCE)
    assert told == ["commonplace_recovered"]
    assert closed == [False]


def test_where_no_thread_can_be_started_events_are_dropped(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    bus = EventBus(gate)
    with monkeypatch.context() as patch:
        patch.setattr("threading.Thread.start", refuse)
        bus.recovered("x")
    assert bus.dropped == 1
    gate.open.set()
    bus.recovered("y")
    assert bus.close(PATIENCE)
    assert gate.delivered == ["y"]
