"""The same memory for asyncio: each call runs in a thread."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial, wraps
from inspect import signature
from threading import TIMEOUT_MAX
from time import monotonic
from typing import TYPE_CHECKING, Any, Concatenate, NoReturn, ParamSpec, Self, TypeVar

from commonplace.errors import DeadlineExceededError
from commonplace.memory import Memory
from commonplace.resilience import begin_in_children

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator
    from concurrent.futures import Future
    from datetime import date

    from commonplace.model.reports import SyncState
    from commonplace.tools.plugins import PluginTools

P = ParamSpec("P")
R = TypeVar("R")

_AT_ONCE = 32
"""Calls of one memory that run at the same time; further ones wait for one of them to end."""


def _threads() -> ThreadPoolExecutor:
    """Threads for one memory's calls, which begin as they are needed.

    Not those of the loop: there are few, and the program's own calls and look-ups need them.
    """
    return ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="commonplace-asyncio")


def _submitted(threads: ThreadPoolExecutor, work: Callable[[], R]) -> Future[R]:
    """``work`` on one of ``threads``, in a copy of the caller's context."""

    def run() -> R:
        try:
            return work()
        except StopIteration as error:  # of a callback: no coroutine could raise it
            raise RuntimeError("a callback raised StopIteration") from error

    return threads.submit(copy_context().run, run)


def _in_thread(
    method: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, R]]:
    """``method`` of the memory as a coroutine, with its parameters and docstring."""

    @wraps(method)
    async def call(self: AsyncMemory, /, *args: P.args, **named: P.kwargs) -> R:
        work = partial(method, self.memory, *args, **named)
        return await asyncio.wrap_future(_submitted(self._threads, work))

    return call


def _in_time(
    method: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, R]]:
    """As :func:`_in_thread` for a ``method`` whose ``timeout`` counts the wait for a thread."""
    without_limit = _in_thread(method)

    @wraps(method)
    async def call(self: AsyncMemory, /, *args: P.args, **named: P.kwargs) -> R:
        timeout = named.get("timeout")
        if not isinstance(timeout, int | float) or isinstance(timeout, bool):
            return await without_limit(self, *args, **named)  # which names a wrong one
        if not 0 < timeout <= TIMEOUT_MAX:  # more than a clock can count to is no limit
            return await without_limit(self, *args, **named)
        end = monotonic() + timeout

        def work() -> R:
            left = end - monotonic()
            if left <= 0:
                raise _no_thread(timeout)
            named["timeout"] = left
            return method(self.memory, *args, **named)

        running = _submitted(self._threads, work)
        waiting = asyncio.wrap_future(running)
        try:
            done, _ = await asyncio.wait([waiting], timeout=timeout)
        except asyncio.CancelledError:
            waiting.cancel()
            raise
        if not done and running.cancel():  # one that has a thread ends by its own limit
            raise _no_thread(timeout)
        return await waiting

    return call


def _no_thread(timeout: float) -> DeadlineExceededError:
    return DeadlineExceededError(
        f"no thread was free within {timeout:g} s: {_AT_ONCE} calls of this memory were running",
        hint="ask less at once, or allow more time",
    )


def _opening(method: Callable[P, Memory]) -> Callable[P, _Opening]:
    @wraps(method)
    def call(*args: P.args, **named: P.kwargs) -> _Opening:
        return _Opening(partial(method, *args, **named))

    call.__doc__ = f"{method.__doc__}\n        Use it by ``async with``, or ``await`` it.\n        "
    asynchronous = signature(method).replace(return_annotation="Awaitable[AsyncMemory]")
    vars(call)["__signature__"] = asynchronous
    return call


class AsyncMemory:
    """A :class:`~commonplace.Memory` whose methods are coroutines: same parameters, same errors.

    Open it by ``async with AsyncMemory.open(...) as memory``, which closes it at the end, or by
    ``memory = await AsyncMemory.open(...)``; opening that is cancelled leaves no memory open. Up to
    32 calls run at once, in threads of this memory, never in those of the loop; the ``timeout`` of
    a search counts its wait for one. A call that is cancelled is not waited for, and may go on.
    ``progress`` and ``on_sync`` callbacks run on the thread of the sync, perhaps for several
    callers; what a ``progress`` raises is raised where it was given. The methods of a
    :class:`~commonplace.Writer` and of ``plugin_tools`` wait for the disk and for plugins: call
    them by ``asyncio.to_thread``.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.begin()
        begin_in_children(self)

    def begin(self) -> None:
        """Begin without threads, in a forked child too, where those of its parent do not run."""
        self._threads = _threads()

    open = staticmethod(_opening(Memory.open))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    sync = _in_thread(Memory.sync)
    watch = _in_thread(Memory.watch)
    session_started = _in_thread(Memory.session_started)
    compacted = _in_thread(Memory.compacted)
    search = _in_time(Memory.search)
    get = _in_thread(Memory.get)
    recall = _in_thread(Memory.recall)
    writer = _in_thread(Memory.writer)
    notes = _in_thread(Memory.notes)
    status = _in_thread(Memory.status)

    async def close(self) -> None:
        """Release all resources, after the batch of a running sync; closing twice is allowed."""
        threads, self._threads = self._threads, _threads()  # later calls say that it is closed
        try:
            await asyncio.wrap_future(_submitted(threads, self.memory.close))
        finally:
            threads.shutdown(wait=False)

    @property
    def today(self) -> date:
        """The day of now, by the memory's ``clock`` and ``query.timeZone``."""
        return self.memory.today

    @property
    def sync_state(self) -> SyncState | None:
        """How this process syncs the index; ``None`` if it has not synced or watched yet."""
        return self.memory.sync_state

    @property
    def plugin_tools(self) -> PluginTools:
        """The tools that plugins add for agents; a plugin is loaded when they are first listed."""
        return self.memory.plugin_tools


class _Opening:
    """A memory about to be opened, by ``await`` or by ``async with``."""

    def __init__(self, opening: Callable[[], Memory]) -> None:
        self._opening = opening
        self._opened: AsyncMemory | None = None

    def __await__(self) -> Generator[Any, None, AsyncMemory]:
        return self._open().__await__()

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{name}: this memory is not open yet: use `async with AsyncMemory.open(...) as "
            "memory`, or `memory = await AsyncMemory.open(...)`"
        )

    async def __aenter__(self) -> AsyncMemory:
        return await self

    async def __aexit__(self, *_: object) -> None:
        if self._opened is not None:
            await self._opened.close()

    async def _open(self) -> AsyncMemory:
        threads = _threads()
        opening = _submitted(threads, self._opening)
        try:
            self._opened = AsyncMemory(await asyncio.wrap_future(opening))
        except asyncio.CancelledError:
            threads.submit(_close_opened, opening)
            raise
        finally:
            threads.shutdown(wait=False)
        return self._opened


def _close_opened(opening: Future[Memory]) -> None:
    """Close the memory of a caller that was cancelled, once it is open."""
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()
