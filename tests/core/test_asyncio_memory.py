"""A memory for asyncio has threads of its own, and leaves nothing open when it is cancelled."""

from __future__ import annotations

import asyncio
import inspect
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import (
    AsyncMemory,
    CallerError,
    DeadlineExceededError,
    FlushSession,
    Memory,
    MemoryClosedError,
    MemoryFiles,
    MemoryTools,
    aio,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PATIENCE = 60.0
ASKED = ContextVar("asked", default="")


@pytest.fixture
def given(tmp_path: Path) -> dict[str, Any]:
    """What a memory of one note is opened with."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "MEMORY.md").write_text("An ant.\n")
    return {"workspace": tmp_path / "notes", "env": {"HOME": str(tmp_path)}}


async def wait_for(event: threading.Event) -> None:
    """Wait on a thread that no memory and no default executor has."""
    with ThreadPoolExecutor(1) as threads:
        assert await asyncio.get_running_loop().run_in_executor(threads, event.wait, PATIENCE)


async def entered(given: dict[str, Any]) -> None:
    async with AsyncMemory.open(watch=True, **given):
        pytest.fail("it was cancelled before")


async def awaited(given: dict[str, Any]) -> None:
    await AsyncMemory.open(watch=True, **given)
    pytest.fail("it was cancelled before")


@pytest.mark.parametrize("opened", [entered, awaited])
@pytest.mark.parametrize("late", [False, True], ids=["while it opens", "once it is open"])
def test_opening_that_is_cancelled_leaves_no_memory_open(
    given: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    opened: Callable[[dict[str, Any]], Any],
    late: bool,
) -> None:
    begun, go_on, is_open, closed = (threading.Event() for _ in range(4))
    watch, close = Memory.watch, Memory.close

    def watching(memory: Memory) -> None:
        begun.set()
        assert go_on.wait(PATIENCE)
        watch(memory)
        is_open.set()

    def closing(memory: Memory) -> None:
        close(memory)
        closed.set()

    monkeypatch.setattr(Memory, "watch", watching)
    monkeypatch.setattr(Memory, "close", closing)

    async def run() -> None:
        task = asyncio.ensure_future(opened(given))
        await wait_for(begun)
        if late:
            go_on.set()
            assert is_open.wait(PATIENCE)  # without the loop, which does not hear of it before
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()
        await wait_for(closed)

    asyncio.run(run())
    assert not [t for t in threading.enumerate() if t.name == "commonplace-watcher"]


def test_calls_hold_none_of_the_threads_of_the_loop(
    given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    together = threading.Barrier(20)
    monkeypatch.setattr(Memory, "notes", lambda _memory: together.wait(PATIENCE))
    monkeypatch.setattr(AsyncMemory, "notes", of_class("notes"))

    async def run() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        async with AsyncMemory.open(**given) as memory:
            calls = [asyncio.ensure_future(memory.notes()) for _ in range(19)]
            await asyncio.to_thread(together.wait, PATIENCE)
            assert len(await asyncio.gather(*calls)) == 19

    asyncio.run(run())


def of_class(name: str) -> Any:
    """The coroutine of the method that the class has now."""
    from commonplace.aio import _in_thread

    return _in_thread(getattr(Memory, name))


def test_a_call_runs_in_the_context_of_its_caller(
    given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Memory, "notes", lambda _memory: ASKED.get())
    monkeypatch.setattr(AsyncMemory, "notes", of_class("notes"))

    async def run() -> object:
        async with AsyncMemory.open(**given) as memory:
            ASKED.set("here")
            return await memory.notes()

    assert asyncio.run(run()) == "here"


def test_a_closed_memory_says_so_and_has_no_threads(given: dict[str, Any]) -> None:
    async def run() -> None:
        memory = await AsyncMemory.open(**given)
        await asyncio.gather(*(memory.get("MEMORY.md") for _ in range(3)))
        threads = [t for t in threading.enumerate() if t.name.startswith("commonplace-asyncio")]
        assert threads
        await memory.close()
        for thread in threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        await memory.close()
        with pytest.raises(MemoryClosedError):
            await memory.get("MEMORY.md")

    asyncio.run(run())


@pytest.mark.parametrize(
    "make",
    [MemoryTools, MemoryFiles, lambda memory: FlushSession(memory, NotImplemented, window=1)],
)
def test_what_takes_a_memory_that_blocks_refuses_an_asyncio_one(
    given: dict[str, Any], make: Callable[[Any], object]
) -> None:
    async def refused() -> str:
        async with AsyncMemory.open(**given) as memory:
            with pytest.raises(CallerError, match="must be a Memory, not AsyncMemory") as caught:
                make(memory)
            return caught.value.hint

    assert "pass its .memory" in asyncio.run(refused())


def test_tools_answer_in_a_thread(given: dict[str, Any]) -> None:
    async def answered() -> str:
        async with AsyncMemory.open(**given) as memory:
            call = MemoryTools(memory.memory).call
            return (await asyncio.to_thread(call, "memory_search", {"query": "ant"})).text

    assert "An ant." in asyncio.run(answered())


def test_the_timeout_of_a_search_counts_its_wait_for_a_thread(
    given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Semaphore(0), threading.Event()

    def searching(_: Memory, query: str, *, timeout: float | None = None) -> float | None:
        del query
        begun.release()
        assert go_on.wait(PATIENCE)
        return timeout

    monkeypatch.setattr(aio, "_AT_ONCE", 2)
    monkeypatch.setattr(AsyncMemory, "search", aio._in_time(searching))

    async def run() -> None:
        async with AsyncMemory.open(**given) as memory:
            first = [asyncio.ensure_future(memory.search("ant")) for _ in range(2)]
            await asyncio.sleep(0)  # they take both threads
            with pytest.raises(DeadlineExceededError, match=r"no thread was free within 0\.01 s"):
                await memory.search("ant", timeout=0.01)
            cancelled = asyncio.ensure_future(memory.search("ant", timeout=PATIENCE))
            await asyncio.sleep(0)
            cancelled.cancel()
            with pytest.raises(asyncio.CancelledError):
                await cancelled
            later = asyncio.ensure_future(memory.search("ant", timeout=PATIENCE))
            await asyncio.sleep(0)
            go_on.set()
            assert await asyncio.gather(*first) == [None, None]
            left: Any = await later
            assert 0 < left < PATIENCE
        assert [begun.acquire(blocking=False) for _ in range(4)] == [True, True, True, False]

    asyncio.run(run())


@pytest.mark.parametrize(
    "wrong", [0, -1, True, "1", float("nan"), pytest.param(10**400, id="huge")]
)
def test_a_timeout_that_is_none_is_named(given: dict[str, Any], wrong: Any) -> None:
    async def run() -> None:
        async with AsyncMemory.open(**given) as memory:
            with pytest.raises(CallerError, match="timeout"):
                await memory.search("ant", timeout=wrong)

    asyncio.run(run())


def test_a_memory_that_is_not_awaited_says_so(given: dict[str, Any]) -> None:
    opening: Any = AsyncMemory.open(**given)
    with pytest.raises(AttributeError, match=r"search: .* not open yet: use `async with .*await"):
        opening.search("ant")
    assert inspect.signature(AsyncMemory.open).return_annotation == "Awaitable[AsyncMemory]"
    assert "``await`` it" in str(AsyncMemory.open.__doc__)
