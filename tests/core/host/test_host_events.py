"""Events are delivered after the answer, in order; listeners cannot slow or break a search."""

from __future__ import annotations

import importlib
import re
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import CallerError, Memory
from commonplace.host.discovery import EntryPoint
from commonplace.host.events import EventBus
from commonplace.host.host import PluginHost
from commonplace.model.reports import SyncReport
from commonplace.model.search import SearchResult
from commonplace.plugin import hookimpl
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from pathlib import Path

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


def test_there_is_no_bus_without_a_listener() -> None:
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
    assert (bus.dropped, host.failures) == (0, {})


def test_a_module_behind_an_entry_point_is_loaded_by_the_first_event(
    add_module: Callable[[str, str], None],
) -> None:
    import sys

    add_module(
        "he_listener",
        """
        from commonplace.plugin import hookimpl

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
        from commonplace.plugin import hookimpl

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
    assert host.failures == {"events.faulty": 2}
    states = {info.name: info.state for info in host.plugins()}
    assert states == {"events.ears": "loaded", "events.faulty": "loaded", "events.gone": "failed"}


def test_failures_of_one_plugin_in_hooks_of_several_kinds_add_up() -> None:
    class Faulty:
        @hookimpl
        def commonplace_rewrite_query(self) -> str:
            raise ValueError

        @hookimpl
        def commonplace_prompt_section(self) -> str:
            raise ValueError

    host = PluginHost([], env={})
    host.register(Faulty(), name="faulty")
    assert host.rewrite_query("a") == "a"
    assert host.rewrite_query("b") == "b"
    assert host.prompt_sections("main", "") == []
    assert host.failures == {"faulty": 3}


def test_after_a_fork_another_thread_delivers_what_is_new() -> None:
    heard: list[str] = []
    bus = EventBus(lambda hook, _: heard.append(hook), capacity=1)
    bus._thread = threading.Thread()  # as the child sees that of its parent, which delivers
    bus._waiting.append(("commonplace_recovered", {"part": "x"}))  # as many as there may be
    bus.degraded("x", "it is gone")
    assert bus.close(PATIENCE)
    assert heard == ["commonplace_degraded"]


def test_events_are_called_in_pluggys_order_and_through_wrappers() -> None:
    heard: list[str] = []

    class Around:
        @hookimpl(wrapper=True)
        def commonplace_recovered(self, part: str) -> Generator[None, object, object]:
            heard.append(f"before {part}")
            result = yield
            heard.append("after")
            return result

    class OldAround:
        @hookimpl(hookwrapper=True)
        def commonplace_recovered(self) -> Generator[None, Any, None]:
            heard.append("outer")
            yield

    host = PluginHost([], env={})

    def listen(name: str, *, first: bool = False, last: bool = False) -> None:
        @hookimpl(tryfirst=first, trylast=last)
        def commonplace_recovered(part: str) -> None:
            heard.append(f"{name} {part}")

        host.register(SimpleNamespace(commonplace_recovered=commonplace_recovered), name=name)

    listen("last", last=True)
    listen("first", first=True)
    listen("one")
    listen("two")
    host.register(Around(), name="around")
    host.register(OldAround(), name="old")
    bus_of(host).recovered("x")
    assert host.close(PATIENCE)
    assert heard == ["outer", "before x", "first x", "two x", "one x", "last x", "after"]
    assert host.failures == {}


@pytest.mark.parametrize("when", ["before", "after", "twice", "never"])
def test_a_wrapper_that_fails_is_counted_and_leaves_the_others(when: str) -> None:
    class Faulty:
        @hookimpl(wrapper=True)
        def commonplace_recovered(self) -> Generator[None, object, object]:
            if when == "before":
                raise ValueError
            if when == "never":
                return None
            result = yield
            if when == "after":
                raise ValueError
            yield
            return result

    host = PluginHost([], env={})
    listener = Listener()
    host.register(listener, name="ears")
    host.register(Faulty(), name="faulty")
    bus_of(host).recovered("x")
    assert host.close(PATIENCE)
    assert listener.heard == [("recovered", "x")]
    assert host.failures == {"faulty": 1}


def test_a_plugin_that_is_registered_later_hears_what_follows() -> None:
    host = PluginHost([], env={})
    first, second = Listener(), Listener()
    host.register(first, name="first")
    bus_of(host).recovered("x")
    host.register(second, name="second")
    bus_of(host).recovered("y")
    assert host.close(PATIENCE)
    assert ("recovered", "y") in second.heard
    assert first.heard == [("recovered", "x"), ("recovered", "y")]


@pytest.mark.parametrize("other", [False, True], ids=["of its bus", "of another bus"])
def test_a_listener_of_an_installed_plugin_hears_nothing_that_it_causes(
    add_module: Callable[[str, str], None], *, other: bool
) -> None:
    add_module(
        "he_echo",
        """
        from commonplace.plugin import hookimpl

        heard, closed = [], []

        @hookimpl
        def commonplace_searched(query, result):
            heard.append(query)
            for bus in buses:
                bus.searched("echo", result)
                closed.append(bus.close(0.0))
        """,
    )
    entries = [EntryPoint("events.x", "he_echo", "d")]
    hosts = [PluginHost(entries, env={}) for _ in range(1 + other)]
    echo: Any = importlib.import_module("he_echo")
    echo.buses = [bus_of(host) for host in hosts]
    bus_of(hosts[0]).searched("ant", RESULT)
    closed = [host.close(PATIENCE) for host in hosts]  # one after the other
    assert all(closed)
    assert echo.heard == ["ant"]
    assert echo.closed == [False, True][: 1 + other]
    assert hosts[0].failures == {}


# --- rewriting queries --------------------------------------------------------------------------


def rewriter(answer: Callable[[str], Any], *, last: bool = False) -> SimpleNamespace:
    @hookimpl(trylast=last)
    def commonplace_rewrite_query(query: str) -> Any:
        return answer(query)

    return SimpleNamespace(commonplace_rewrite_query=commonplace_rewrite_query)


def test_without_a_plugin_a_query_stays_and_nothing_is_loaded() -> None:
    off = {"COMMONPLACE_DISABLE_PLUGINS": "query.x"}
    host = PluginHost([EntryPoint("query.x", "he_no_such_module", "d")], env=off)
    assert host.rewrite_query("a") == "a"
    assert host.plugins()[0].state == "disabled"


def test_the_first_answer_counts() -> None:
    host = PluginHost([], env={})
    host.register(rewriter(str.upper, last=True), name="last")
    host.register(rewriter(lambda query: f"{query}!"), name="shout")
    host.register(rewriter(lambda _query: None), name="silent")
    assert host.rewrite_query("a") == "a!"
    assert host.failures == {}


def test_what_rewrites_badly_is_counted_and_passed_over() -> None:
    host = PluginHost([], env={})
    host.register(rewriter(str.upper), name="good")
    host.register(rewriter(lambda _query: 42), name="odd")
    host.register(rewriter(lambda _query: 1 // 0), name="faulty")
    assert host.rewrite_query("a") == "A"
    assert host.failures == {"faulty": 1, "odd": 1}


@pytest.mark.parametrize("installed", [False, True])
def test_a_rewriter_that_hangs_leaves_most_of_the_time_to_the_search(
    add_module: Callable[[str, str], None], *, installed: bool
) -> None:
    come_back = threading.Event()
    if installed:
        source = """
        from commonplace.plugin import hookimpl
        from he_event import come_back

        @hookimpl
        def commonplace_rewrite_query(query):
            come_back.wait(60)
        """
        add_module("he_event", "import threading\ncome_back = threading.Event()")
        add_module("he_hanging", source)
        host = PluginHost([EntryPoint("query.x", "he_hanging", "d")], env={})
    else:
        host = PluginHost([], env={})
        host.register(rewriter(lambda _query: come_back.wait(60)), name="hanging")
    deadline, failed = Deadline.after(0.9), list[str]()
    assert host.rewrite_query("a", deadline, failed) == "a"
    assert deadline.remaining() > 0.3
    (line,) = failed
    assert re.search(
        r"the hook commonplace_rewrite_query of \w+.* did not answer within 0\.[23]\d* s", line
    )
    assert host.notices() == (line,)
    come_back.set()
    if installed:
        importlib.import_module("he_event").come_back.set()


@pytest.mark.parametrize("hook", ["query", "search"])
@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
def test_a_search_and_its_status_name_a_hook_that_fails(
    tmp_path: Path, hook: str, error: type[BaseException]
) -> None:
    def answer(_given: object) -> Any:
        raise error("broken")

    (tmp_path / "MEMORY.md").write_text("An ant.\n")
    host = PluginHost(env={})
    host.register(rewriter(answer) if hook == "query" else wrapper([], answer), name="faulty")
    with Memory.open(workspace=tmp_path, host=host, env={"HOME": str(tmp_path)}) as memory:
        result = memory.search("ant")
        (line,) = (note for note in result.notes if "faulty" in note)
        assert line.startswith("the hook commonplace_")
        assert error.__name__ in line
        assert len(result.hits) == 1
        assert line in memory.status().notices


def test_a_rewriter_behind_an_entry_point_is_loaded_by_the_first_query(
    add_module: Callable[[str, str], None],
) -> None:
    add_module(
        "he_rewriter",
        """
        from commonplace.plugin import hookimpl

        @hookimpl
        def commonplace_rewrite_query(query):
            return query.replace("k8s", "kubernetes")
        """,
    )
    add_module("he_silent", "x = 1")
    entries = [EntryPoint("query.x", "he_rewriter", "d"), EntryPoint("query.y", "he_silent", "d")]
    host = PluginHost(entries, env={})
    assert host.events is None
    assert {info.state for info in host.plugins()} == {"available"}
    assert host.rewrite_query("k8s port") == "kubernetes port"
    assert [info.state for info in host.plugins()] == ["loaded", "failed"]
    assert "implements none of commonplace_rewrite_query" in host.plugins()[1].error


# --- around searches ----------------------------------------------------------------------------

ANSWER = SearchResult(hits=(), backend="b")


def wrapper(before: list[str], answer: Callable[[SearchResult], Any]) -> SimpleNamespace:
    @hookimpl(wrapper=True)
    def commonplace_search(query: str) -> Generator[None, SearchResult, Any]:
        before.append(query)
        try:
            return answer((yield))
        finally:
            before.append("end")

    return SimpleNamespace(commonplace_search=commonplace_search)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"hits": None}, "hits are not a tuple of Hit"),
        ({"hits": ("a",)}, "hits are not a tuple of Hit"),
        ({"notes": "hey"}, "notes are not a tuple of str"),
        ({"unknown": (1,)}, "unknown are not a tuple of UnknownWord"),
    ],
)
def test_a_wrapper_that_breaks_a_result_loses_none(
    tmp_path: Path, wrong: dict[str, Any], words: str
) -> None:
    (tmp_path / "MEMORY.md").write_text("An ant.\n")
    host = PluginHost(env={})
    host.register(wrapper([], lambda result: result.replace(**wrong)), name="faulty")
    with Memory.open(workspace=tmp_path, host=host, env={"HOME": str(tmp_path)}) as memory:
        result = memory.search("ant")
    assert len(result.hits) == 1
    assert any(f"it returned a result whose {words}" in note for note in result.notes)


def test_without_a_plugin_no_search_is_wrapped() -> None:
    assert not PluginHost([], env={}).wraps_search()


def test_a_search_is_wrapped_once_and_not_inside() -> None:
    host, heard = PluginHost([], env={}), list[str]()
    host.register(wrapper(heard, lambda result: result.replace(stale=3)), name="changes")
    host.register(wrapper(heard, lambda _result: None), name="listens")
    inside: list[bool] = []

    def search(timeout: float | None) -> SearchResult:
        inside.append(host.wraps_search() or timeout is not None)
        return ANSWER

    assert host.wraps_search()
    assert host.around_search("ant", search) == ANSWER.replace(stale=3)
    assert (heard, inside) == (["ant", "ant", "end", "end"], [False])
    assert host.wraps_search()
    assert host.failures == {}


@pytest.mark.parametrize("answer", [lambda _: 42, lambda _: 1 // 0], ids=["odd", "raises"])
def test_a_wrapper_that_fails_leaves_the_result(answer: Callable[[SearchResult], Any]) -> None:
    host = PluginHost([], env={})
    host.register(wrapper([], answer), name="faulty")
    result = host.around_search("ant", lambda **_: ANSWER)
    assert result.replace(notes=()) == ANSWER
    assert result.notes == host.notices()
    assert result.notes[0].startswith("the hook commonplace_search of faulty failed: ")
    assert host.failures == {"faulty": 1}


def test_an_error_of_the_search_passes_through_its_wrappers() -> None:
    host, heard = PluginHost([], env={}), list[str]()
    host.register(wrapper(heard, lambda result: result), name="around")

    def search(**_: object) -> SearchResult:
        raise LookupError("no backend")

    with pytest.raises(LookupError, match="no backend"):
        host.around_search("ant", search)
    assert heard == ["ant", "end"]
    assert host.wraps_search()
    assert host.failures == {}


def test_a_function_may_take_the_place_of_the_search() -> None:
    host = PluginHost([], env={})

    class Cache:
        @hookimpl
        def commonplace_search(self, query: str) -> SearchResult | None:
            return ANSWER if query == "known" else None

    host.register(Cache(), name="cache")
    other = ANSWER.replace(stale=1)
    assert host.around_search("known", lambda **_: other) is ANSWER
    assert host.around_search("unknown", lambda **_: other) is other


@pytest.mark.slow
@pytest.mark.parametrize("installed", [False, True])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_wrapper_that_hangs_leaves_the_search_its_time(
    add_module: Callable[[str, str], None], when: str, *, installed: bool
) -> None:
    add_module(
        "he_slow",
        """
        import threading
        from commonplace.plugin import hookimpl

        come_back = threading.Event()

        @hookimpl(wrapper=True)
        def commonplace_search(query):
            if query == "before":
                come_back.wait(60)
            result = yield
            if query == "after":
                come_back.wait(60)
            return result
        """,
    )
    slow: Any = importlib.import_module("he_slow")
    host = PluginHost([EntryPoint("search.x", "he_slow", "d")] if installed else [], env={})
    if not installed:
        host.register(slow, name="slow")
    given: list[float] = []

    def search(timeout: float) -> SearchResult:
        given.append(timeout)
        return ANSWER

    deadline = Deadline.after(1.2)
    result = host.around_search(when, search, 1.2)
    assert deadline.remaining() > 0
    assert 0.4 < given[0] <= 0.9  # three quarters of what the wrapper has left
    (line,) = result.notes
    assert re.search(r"the hook commonplace_search of .* did not answer within 0\.[34]\d* s", line)
    slow.come_back.set()


@pytest.mark.slow
def test_wrappers_that_hang_each_take_a_share_of_what_is_left() -> None:
    host, come_back, given = PluginHost([], env={}), threading.Event(), list[float]()

    class Slow:
        @hookimpl(wrapper=True)
        def commonplace_search(self) -> Generator[None, SearchResult, SearchResult]:
            come_back.wait(PATIENCE)
            return (yield)

    for number in range(6):
        host.register(Slow(), name=f"slow-{number}")

    def search(timeout: float) -> SearchResult:
        given.append(timeout)
        return ANSWER

    deadline = Deadline.after(2.0)
    assert len(host.around_search("ant", search, 2.0).notes) == 6
    assert deadline.remaining() > 0
    assert given[0] > 0
    come_back.set()


@pytest.mark.slow
def test_the_time_of_a_search_holds_for_its_wrappers_too(tmp_path: Path) -> None:
    come_back = threading.Event()
    (tmp_path / "MEMORY.md").write_text("An ant.\n")
    host = PluginHost(env={})
    host.register(wrapper([], lambda _result: come_back.wait(PATIENCE)), name="slow")
    with Memory.open(workspace=tmp_path, host=host, env={"HOME": str(tmp_path)}) as memory:
        memory.sync()
        deadline = Deadline.after(2.0)
        result = memory.search("ant", timeout=2.0)
        assert deadline.remaining() > 0
        come_back.set()
    assert len(result.hits) == 1
    assert any("of slow failed" in note for note in result.notes)


def test_wrappers_are_not_called_for_arguments_that_are_wrong(tmp_path: Path) -> None:
    host, heard = PluginHost(env={}), list[str]()
    host.register(wrapper(heard, lambda result: result), name="around")
    memory = Memory.open(workspace=tmp_path, host=host, env={"HOME": str(tmp_path)})
    with memory, pytest.raises(CallerError, match="timeout must be"):
        memory.search("ant", timeout=0)
    assert heard == []


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


def test_a_full_queue_drops_and_counts_and_keeps_no_caller_waiting(gate: Gate) -> None:
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
    bus.recovered("in time")
    assert bus.close(PATIENCE)
    bus.recovered("too late")
    assert bus.close(PATIENCE)
    assert (gate.delivered, bus.dropped) == (["in time"], 1)


def test_a_listener_does_not_hear_its_own_echo_and_may_close() -> None:
    delivered: list[str] = []
    closed: list[bool] = []

    def deliver(hook: str, arguments: Mapping[str, object]) -> list[str]:
        delivered.append(hook)
        bus.searched("echo", RESULT)
        closed.append(bus.close(PATIENCE))
        return []

    bus = EventBus(deliver)
    bus.recovered("x")
    assert bus.close(PATIENCE)
    assert delivered == ["commonplace_recovered"]
    assert closed == [False]


@pytest.mark.parametrize("defect", [ZeroDivisionError(), SystemExit(3)])
def test_an_event_that_cannot_be_delivered_is_logged_and_ends_no_thread(
    defect: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    delivered: list[object] = []

    def deliver(hook: str, arguments: Mapping[str, object]) -> None:
        delivered.append(arguments["part"])
        if len(delivered) == 1:
            raise defect

    bus = EventBus(deliver)
    bus.recovered("first")
    bus.recovered("second")
    assert bus.close(PATIENCE)
    assert (delivered, bus.dropped) == (["first", "second"], 0)
    assert "the event commonplace_recovered could not be delivered" in caplog.text


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
