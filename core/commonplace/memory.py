"""The public face: one agent's memory, opened, kept up to its files, searched, read."""

from __future__ import annotations

import os
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Self

from commonplace.assembly import (
    analyser_of,
    make_chain,
    make_sources,
    mounts_of,
    section_class,
)
from commonplace.deadline import NEVER
from commonplace.embedding.chooser import EmbeddingChooser
from commonplace.errors import (
    CallerError,
    CommonplaceError,
    MemoryDisabledError,
    PathNotAllowedError,
    WorkspaceError,
)
from commonplace.index.freshness import freshen
from commonplace.model.search import ArmFacts, SearchResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from commonplace.config import Settings
    from commonplace.fallback.manager import FallbackMemoryManager
    from commonplace.host.host import PluginHost
    from commonplace.model.reports import NoteText, ProgressCallback, Status, SyncReport
    from commonplace.searching import Searcher

__all__ = ["Memory"]


class Memory:
    """The memory of one agent in one workspace.

    Open it with :meth:`open`, use it as a context manager or close it. Threads may share it.
    Opening is cheap: the index is opened by the first call that needs it.
    """

    def __init__(
        self,
        settings: Settings,
        host: PluginHost,
        *,
        env: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings
        self.host = host
        self._clock = clock
        self._analyser = analyser_of(settings)
        self._sources, self._source_notices = make_sources(host, settings)
        self._embedding = EmbeddingChooser(host, settings, env, clock=clock)
        self._opening = threading.Lock()
        self._serving: FallbackMemoryManager | None = None
        self._closed = False
        self._searcher: Searcher | None = None

    @classmethod
    def open(
        cls,
        *,
        workspace: str | os.PathLike[str] | None = None,
        agent: str | None = None,
        config: str | os.PathLike[str] | Mapping[str, object] | None = None,
        env: Mapping[str, str] | None = None,
        host: PluginHost | None = None,
    ) -> Memory:
        """The memory of ``agent`` in ``workspace``, as ``config`` (a file or a mapping) says.

        What is not given comes from the environment, configuration files and defaults; see
        ``docs/configuration.md``. ``env`` replaces ``os.environ``; ``host`` replaces the
        installed plugins.

        Raises :class:`~commonplace.errors.ConfigError` with all faults of a configuration,
        :class:`~commonplace.errors.WorkspaceError`, and
        :class:`~commonplace.errors.MemoryDisabledError` where memory is switched off.
        """
        from commonplace.config import cache_dir, load_settings
        from commonplace.host.host import PluginHost

        env = os.environ if env is None else env
        host = host or PluginHost(cache_dir=cache_dir(env), env=env)
        settings = load_settings(
            workspace=os.fspath(workspace) if workspace is not None else None,
            agent=agent,
            config=config,
            env=env,
            sections=partial(section_class, host),
        )
        if not settings.search.enabled or settings.slot == "none":
            raise MemoryDisabledError(
                "memory search is switched off by the configuration",
                mend="set memorySearch.enabled to true and plugins.slots.memory to memory-core",
            )
        _check_workspace(settings.workspace)
        return cls(settings, host, env=env)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def sync(self, *, force: bool = False, progress: ProgressCallback | None = None) -> SyncReport:
        """Bring the index up to the files; ``force`` makes it anew beside the old one.

        Raises :class:`~commonplace.errors.UnavailableError` where the index cannot be written.
        """
        report = self._chain().maintain(force=force, deadline=NEVER, progress=progress)
        if (events := self.host.events) is not None:
            events.synced(report)
        return report

    def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        sources: Sequence[str] | None = None,
        session_key: str = "",
        progress: ProgressCallback | None = None,
    ) -> SearchResult:
        """The best pieces of memory for ``query``, best first.

        ``query`` is a question or words, in any language. ``"quoted phrases"`` must be there,
        ``-word`` must not; ``path:memory/projects``, ``after:2026-01-31``, ``before:2026-02`` and
        ``source:memory`` restrict. ``max_results`` and ``min_score`` default to the keys
        ``query.maxResults`` and ``query.minScore``. An empty index is built first, telling
        ``progress``; a few changed files are indexed on the way, more are counted in ``stale``.
        ``session_key`` names the chat that asks, where a backend is restricted to some of them.

        Raises :class:`~commonplace.errors.UnavailableError` if no part can answer: no hits always
        means that nothing was found. Raises :class:`~commonplace.errors.ScopeDeniedError` where
        that chat may not search.
        """
        limit = self.settings.search.query.max_results if max_results is None else max_results
        if limit < 1:
            raise ValueError("max_results must be at least 1")
        fresh = freshen if self.settings.search.sync.on_search else None
        turn = self._chain().turn(fresh, progress)
        found = self._searching().search(
            turn,
            query,
            limit=limit,
            min_score=min_score,
            sources=sources,
            session_key=session_key,
            now=self._clock(),
        )
        arm = found.vector_arm()
        result = SearchResult(
            hits=found.hits,
            backend=turn.backend,
            provider=arm.provider if arm else None,
            model=arm.model if arm else None,
            fallback=turn.fallback or (arm.fallback if arm else None),
            stale=turn.freshness.stale,
            notes=(*found.notes, *turn.freshness.notes),
            arms=tuple(
                ArmFacts(arm.name, len(arm.found), arm.exact, arm.plan, arm.note)
                for arm in found.arms
            ),
        )
        if (events := self.host.events) is not None:
            events.searched(query, result)
        return result

    def get(self, path: str, *, start: int | None = None, lines: int | None = None) -> NoteText:
        """``lines`` lines of a note from line ``start`` (1-based); all of it by default.

        Read from the file itself, so never stale. Raises
        :class:`~commonplace.errors.PathNotAllowedError` for anything but ``MEMORY.md``,
        ``memory.md``, ``memory/**/*.md``, Markdown of configured extra paths and what a backend
        names otherwise, and
        :class:`~commonplace.errors.NoteNotFoundError` where no such note exists.
        """
        from commonplace.files.lines import read_lines, read_mounted
        from commonplace.files.roots import Roots

        roots = Roots(self.settings.workspace, self.settings.search.extra_paths)
        try:
            return read_lines(roots, path, start=start, lines=lines)
        except PathNotAllowedError:
            mounts = mounts_of(self.host, self.settings, self._sources)
            if (note := read_mounted(mounts, path, start=start, lines=lines)) is None:
                raise
            return note

    def status(self, *, deep: bool = False) -> Status:
        """The condition of this memory; a part that is unwell is described, never raised.

        ``deep`` also checks the index against itself, which may take long.
        """
        from commonplace.status import status_of

        chain: FallbackMemoryManager | CommonplaceError
        try:
            chain = self._chain()
        except CommonplaceError as error:
            chain = error
        return status_of(
            self.settings,
            chain,
            choice=self._embedding.choice,
            notices=(*self.settings.warnings, *self._source_notices),
            plugins=self.host.plugins(),
            deep=deep,
        )

    def close(self) -> None:
        """Let go of everything; closing twice is fine."""
        with self._opening:
            self._closed = True
            chain, self._serving = self._serving, None
        if chain is not None:
            chain.close()
        self._embedding.close()
        self.host.close()

    def _chain(self) -> FallbackMemoryManager:
        with self._opening:
            if self._closed:
                raise CallerError("this memory is closed", mend="open another one")
            if self._serving is None:
                self._serving = make_chain(
                    self.host,
                    self.settings,
                    self._sources,
                    self._analyser,
                    self._embedding.service,
                    clock=self._clock,
                )
            return self._serving

    def _searching(self) -> Searcher:
        with self._opening:
            if self._searcher is None:
                from commonplace.ranking.chain import make_chain as make_rankers
                from commonplace.searching import Searcher

                search = self.settings.search
                rankers = make_rankers(self.host, self.settings)
                sources = [source.id for source in self._sources]
                self._searcher = Searcher(search, self._analyser, rankers, sources)
            return self._searcher


def _check_workspace(workspace: str) -> None:
    try:
        os.scandir(workspace).close()
    except NotADirectoryError as error:
        raise WorkspaceError(
            f"the workspace {workspace} is not a folder",
            mend="pass the folder that holds MEMORY.md and memory/ with --workspace",
        ) from error
    except FileNotFoundError as error:
        raise WorkspaceError(
            f"the workspace {workspace} does not exist",
            mend=f"create it (mkdir -p {workspace}/memory) or pass another one with --workspace",
        ) from error
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise WorkspaceError(
            f"the workspace {workspace} cannot be read: {reason}",
            mend="see that this user may read it, or pass another one with --workspace",
        ) from error
