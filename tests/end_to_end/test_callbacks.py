"""What a progress callback raises reaches its own caller, and no one and nothing else."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import AsyncMemory, Memory, MemoryTools, PluginHost, UnavailableError
from commonplace.copying import copy_index
from commonplace.plugin import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from commonplace import SearchResult, SyncReport
    from commonplace.plugin import Progress

PATIENCE = 60.0
NOTES = 25
"""More than a search indexes without a word to its callback."""
CHAIN = {"memory": {"backend": ["inmemory", "builtin"]}}


class OwnError(Exception):
    """An error of the caller's, of no class of ours."""


class OwnUnavailableError(UnavailableError):
    """An error of the caller's that looks like one of a backend."""


OWN = pytest.mark.parametrize("kind", [OwnError, OwnUnavailableError, StopIteration])


@pytest.fixture
def given(tmp_path: Path) -> dict[str, Any]:
    """What a memory of some notes is opened with."""
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    for number in range(NOTES):
        (tmp_path / "notes" / "memory" / f"{number}.md").write_text(f"Bee {number}.\n")
    return {"workspace": tmp_path / "notes", "env": {"HOME": str(tmp_path)}}


class Raising:
    """A callback that raises ``error`` at each call."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.calls = 0

    def __call__(self, _: Progress) -> None:
        self.calls += 1
        raise self.error


def until(holds: Callable[[], object]) -> None:
    give_up = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < give_up, "it never came to be"
        time.sleep(0.0005)


def check_healthy(memory: Memory) -> None:
    """No backend failed, and the index holds all notes."""
    status = memory._backends().status()
    assert {state.state for state in status.states} <= {"serving", "standby"}
    assert not status.sync_failures
    assert memory.search("bee").hits
    assert memory.sync().unchanged == NOTES


@OWN
@pytest.mark.parametrize("config", [{}, CHAIN], ids=["one backend", "a chain"])
def test_a_sync_ends_and_then_raises_what_its_callback_raised(
    given: dict[str, Any], kind: type[Exception], config: dict[str, Any]
) -> None:
    progress = Raising(kind("stop"))
    with Memory.open(config=config, **given) as memory:
        with pytest.raises(kind) as caught:
            memory.sync(progress=progress)
        assert caught.value is progress.error
        assert progress.calls == 1, "it is not called again"
        check_healthy(memory)


@OWN
@pytest.mark.parametrize("config", [{}, CHAIN], ids=["one backend", "a chain"])
@pytest.mark.parametrize("wait", [False, True])
def test_so_does_a_search(
    given: dict[str, Any], kind: type[Exception], config: dict[str, Any], wait: bool
) -> None:
    progress = Raising(kind("stop"))
    with Memory.open(config=config, **given) as memory:
        with pytest.raises(kind) as caught:
            memory.search("bee", wait=wait, progress=progress)
        assert caught.value is progress.error
        check_healthy(memory)


def test_a_plugin_that_wraps_a_search_is_not_to_blame(given: dict[str, Any]) -> None:
    seen = []

    @hookimpl(wrapper=True)
    def commonplace_search(query: str) -> Generator[None, SearchResult, SearchResult]:
        result = yield
        seen.append(result)
        return result

    host = PluginHost(env=given["env"])
    host.register(SimpleNamespace(commonplace_search=commonplace_search), name="wrapper")
    with Memory.open(host=host, **given) as memory:
        with pytest.raises(OwnError):
            memory.search("bee", progress=Raising(OwnError()))
        assert [bool(result.hits) for result in seen] == [True]
        assert not host.failures.get("wrapper")
        assert memory.search("bee").notes == ()


def test_an_error_of_the_callback_is_raised_where_the_sync_failed_meanwhile(
    given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise UnavailableError("the disk is full")

    monkeypatch.setattr("commonplace.index.indexing.Indexer.apply", fails)
    with Memory.open(**given) as memory:
        with pytest.raises(OwnError) as caught:
            memory.sync(progress=Raising(OwnError()))
        assert "the disk is full" in str(caught.value.__context__)


def test_an_interrupt_ends_the_sync_at_once(given: dict[str, Any]) -> None:
    progress = Raising(KeyboardInterrupt())
    with Memory.open(**given) as memory:
        with suppress(KeyboardInterrupt, UnavailableError):
            memory.sync(progress=progress)
        assert memory.sync().added == NOTES


def shared(
    memory: Memory, progress: list[Callable[[Progress], None]]
) -> list[SyncReport | Exception]:
    """The outcomes of syncs of as many threads, which are one sync: they waited for another."""
    outcomes: list[Any] = [None] * len(progress)
    began, go_on = threading.Event(), threading.Event()

    def hold(_: Progress) -> None:
        began.set()
        assert go_on.wait(PATIENCE)

    def sync(number: int) -> None:
        try:
            outcomes[number] = memory.sync(force=True, progress=progress[number])
        except Exception as error:  # noqa: BLE001 - the outcome
            outcomes[number] = error

    first = threading.Thread(target=memory.sync, kwargs={"force": True, "progress": hold})
    first.start()
    assert began.wait(PATIENCE)
    queue = memory._service()._queue
    threads = [threading.Thread(target=sync, args=(number,)) for number in range(len(progress))]
    for number, thread in enumerate(threads):
        thread.start()
        until(lambda: len(queue._waiting) == number + 1)  # noqa: B023 - called before it changes
    go_on.set()
    for thread in (first, *threads):
        thread.join(PATIENCE)
    return outcomes


@OWN
@pytest.mark.parametrize("raising", [0, 1], ids=["the first", "a later one"])
def test_callers_that_share_its_sync_get_their_report(
    given: dict[str, Any], kind: type[Exception], raising: int
) -> None:
    ended: list[Any] = []
    steps: list[list[Progress]] = [[], [], []]
    callbacks: list[Any] = [known.append for known in steps]
    callbacks[raising] = Raising(kind("stop"))
    with Memory.open(on_sync=ended.append, **given) as memory:
        outcomes = shared(memory, callbacks)
        assert outcomes[raising] is callbacks[raising].error
        others: list[Any] = [each for number, each in enumerate(outcomes) if number != raising]
        assert [report.added for report in others] == [NOTES, NOTES]
        heard = [known for number, known in enumerate(steps) if number != raising]
        assert heard[0] == heard[1]
        assert heard[0][-1].completed == NOTES, "they hear of it to its end"
        assert [event.error for event in ended] == [None, None], "two syncs, which went well"
        check_healthy(memory)


def test_tasks_that_share_its_sync_get_their_report(given: dict[str, Any]) -> None:
    began, go_on = threading.Event(), threading.Event()

    def hold(_: Progress) -> None:
        began.set()
        assert go_on.wait(PATIENCE)

    async def run() -> list[Any]:
        async with AsyncMemory.open(**given) as memory:
            first = asyncio.ensure_future(memory.sync(force=True, progress=hold))
            assert await asyncio.to_thread(began.wait, PATIENCE)
            queue = memory.memory._service()._queue
            tasks = [
                asyncio.ensure_future(memory.sync(force=True, progress=callback))
                for callback in (Raising(OwnError()), None, Raising(StopIteration()))
            ]
            await asyncio.to_thread(until, lambda: len(queue._waiting) == 3)
            go_on.set()
            return await asyncio.gather(first, *tasks, return_exceptions=True)

    first, raised, report, stopped = asyncio.run(asyncio.wait_for(run(), PATIENCE))
    assert (first.added, report.added) == (NOTES, NOTES)
    assert isinstance(raised, OwnError)
    # A coroutine cannot raise StopIteration: Python itself makes this of one.
    assert isinstance(stopped, RuntimeError)
    assert isinstance(stopped.__cause__, StopIteration)


def test_a_tool_raises_what_its_callback_raised(given: dict[str, Any]) -> None:
    with Memory.open(**given) as memory:
        tools = MemoryTools(memory)
        with pytest.raises(OwnError):
            tools.call("memory_search", {"query": "bee"}, progress=Raising(OwnError()))
        assert "Bee" in tools.call("memory_search", {"query": "bee"}).text


def test_a_copy_ends_and_then_raises_what_its_callback_raised(given: dict[str, Any]) -> None:
    class Plugin:
        @hookimpl
        def commonplace_register_backends(self, register: Any) -> None:
            from commonplace_sqlite.store import SqliteStore

            make = lambda context: SqliteStore(f"{context.path}.other")  # noqa: E731
            register.store("other", make, summary="another file")

    host = PluginHost(env=given["env"])
    host.register(Plugin(), name="plugin")
    with Memory.open(host=host, **given) as memory:
        memory.sync()
        with pytest.raises(OwnError):
            copy_index(host, memory.settings, "other", progress=Raising(OwnError()))
        assert copy_index(host, memory.settings, "other").report.unchanged == NOTES
