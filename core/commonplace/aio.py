"""The same memory for asyncio: each verb one hop to a thread away."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Self

from commonplace.memory import Memory

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from commonplace.model.reports import (
        NoteText,
        ProgressCallback,
        Status,
        SyncListener,
        SyncReport,
    )
    from commonplace.model.search import SearchResult

__all__ = ["AsyncMemory"]


class AsyncMemory:
    """See :class:`~commonplace.memory.Memory`, whose verbs and errors these are.

    ``progress`` and ``on_sync`` callbacks run on the thread that makes the sync.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @classmethod
    async def open(
        cls,
        *,
        workspace: str | os.PathLike[str] | None = None,
        agent: str | None = None,
        config: str | os.PathLike[str] | Mapping[str, object] | None = None,
        watch: bool = False,
        on_sync: SyncListener | None = None,
    ) -> AsyncMemory:
        """Open a memory; see :meth:`Memory.open <commonplace.memory.Memory.open>`."""
        opening = partial(
            Memory.open,
            workspace=workspace,
            agent=agent,
            config=config,
            watch=watch,
            on_sync=on_sync,
        )
        return cls(await asyncio.to_thread(opening))

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
        """Bring the index up to the files."""
        return await asyncio.to_thread(self.memory.sync, force=force, progress=progress)

    async def watch(self, *, poll: bool = False) -> None:
        """Keep the index up to the files from now on, in the background, until closed."""
        await asyncio.to_thread(self.memory.watch, poll=poll)

    async def session_started(self, session_key: str) -> None:
        """Bring the index up to the files in the background, once for each session."""
        await asyncio.to_thread(self.memory.session_started, session_key)

    async def compacted(self, session_file: str | None = None) -> SyncReport | None:
        """A session was compacted: bring its transcript, and all else, into the index."""
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

    async def status(self, *, deep: bool = False) -> Status:
        """The condition of this memory."""
        return await asyncio.to_thread(self.memory.status, deep=deep)

    async def close(self) -> None:
        """Let go of everything."""
        await asyncio.to_thread(self.memory.close)
