"""The same memory for asyncio: each call runs in a thread."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from commonplace.memory import Memory

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Generator, Mapping, Sequence
    from types import TracebackType

    from commonplace.host.host import PluginHost
    from commonplace.model.reports import (
        NoteText,
        ProgressCallback,
        Status,
        SyncListener,
        SyncReport,
        SyncState,
    )
    from commonplace.model.search import SearchResult


class AsyncMemory:
    """A :class:`~commonplace.Memory` whose methods are coroutines: same parameters, same errors.

    Each call runs in a thread of its own. ``progress`` and ``on_sync`` callbacks run on the thread
    of the sync.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @classmethod
    def open(
        cls,
        *,
        workspace: str | os.PathLike[str] | None = None,
        agent: str | None = None,
        config: str | os.PathLike[str] | Mapping[str, object] | None = None,
        env: Mapping[str, str] | None = None,
        host: PluginHost | None = None,
        watch: bool = False,
        one_shot: bool = False,
        on_sync: SyncListener | None = None,
    ) -> _Opening:
        """Open a memory; see :meth:`Memory.open <commonplace.memory.Memory.open>`.

        For ``async with AsyncMemory.open(...) as memory``, which closes it at the end, and for
        ``memory = await AsyncMemory.open(...)``.
        """
        return _Opening(
            partial(
                Memory.open,
                workspace=workspace,
                agent=agent,
                config=config,
                env=env,
                host=host,
                watch=watch,
                one_shot=one_shot,
                on_sync=on_sync,
            )
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def sync(
        self, *, force: bool = False, progress: ProgressCallback | None = None
    ) -> SyncReport:
        """Update the index."""
        return await asyncio.to_thread(self.memory.sync, force=force, progress=progress)

    async def watch(self, *, poll: bool = False) -> None:
        """Update the index in the background whenever files change, until closed."""
        await asyncio.to_thread(self.memory.watch, poll=poll)

    async def session_started(self, session_key: str) -> None:
        """Update the index in the background, once for each session."""
        await asyncio.to_thread(self.memory.session_started, session_key)

    async def compacted(self, session_file: str | None = None) -> SyncReport | None:
        """A session was compacted: update the index with its transcript, and all else."""
        return await asyncio.to_thread(self.memory.compacted, session_file)

    async def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        sources: Sequence[str] | None = None,
        session_key: str = "",
        progress: ProgressCallback | None = None,
    ) -> SearchResult:
        """The best pieces of memory for ``query``."""
        return await asyncio.to_thread(
            self.memory.search,
            query,
            max_results=max_results,
            min_score=min_score,
            sources=sources,
            session_key=session_key,
            progress=progress,
        )

    async def get(
        self, path: str, *, start: int | None = None, lines: int | None = None
    ) -> NoteText:
        """Lines of a note."""
        return await asyncio.to_thread(self.memory.get, path, start=start, lines=lines)

    @property
    def sync_state(self) -> SyncState | None:
        """What keeps the index up to date, if this process has done so at all."""
        return self.memory.sync_state

    async def status(self, *, deep: bool = False) -> Status:
        """The condition of this memory."""
        return await asyncio.to_thread(self.memory.status, deep=deep)

    async def close(self) -> None:
        """Close the memory; closing twice is fine."""
        await asyncio.to_thread(self.memory.close)


class _Opening:
    """A memory about to be opened, by ``await`` or by ``async with``."""

    def __init__(self, opening: Callable[[], Memory]) -> None:
        self._opening = opening
        self._opened: AsyncMemory | None = None

    def __await__(self) -> Generator[Any, None, AsyncMemory]:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncMemory:
        return await self

    async def __aexit__(self, *_: object) -> None:
        if self._opened is not None:
            await self._opened.close()

    async def _open(self) -> AsyncMemory:
        self._opened = AsyncMemory(await asyncio.to_thread(self._opening))
        return self._opened
