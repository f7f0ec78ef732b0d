"""The public face: one agent's memory, opened, synced, searched and read."""

from __future__ import annotations

import os
import time
from _thread import RLock  # threading takes a millisecond to import
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Self

from commonplace.assembly import Assembly
from commonplace.errors import MemoryClosedError
from commonplace.index.planning import documents_of
from commonplace.resilience import begin_in_children
from commonplace.resilience.deadline import NEVER, CallerProgress, Deadline
from commonplace.search.choosing import seen_by
from commonplace.search.search import SEARCH_SECONDS
from commonplace.text.query import check_numbers, check_search, check_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date

    from commonplace.assembly import Backends
    from commonplace.config.settings import Settings
    from commonplace.embedding.choice import EmbeddingChooser
    from commonplace.host.host import PluginHost
    from commonplace.model.documents import DocumentRef
    from commonplace.model.receipts import Origin
    from commonplace.model.reports import (
        NoteText,
        ProgressCallback,
        Status,
        SyncListener,
        SyncReport,
        SyncState,
        UploadListener,
    )
    from commonplace.model.search import Query, SearchResult
    from commonplace.search.search import Answer, Searcher
    from commonplace.search.shared import Searched
    from commonplace.sync.service import SyncService
    from commonplace.tools.plugins import PluginTools
    from commonplace.tools.prompt_block import Recall
    from commonplace.writing.writer import Writer


class Memory:
    """The memory of one agent in one workspace. Threads may share it.

    Open it with :meth:`open`, which is cheap, and use it as a context manager or close it: what is
    asked after that raises :class:`~commonplace.errors.MemoryClosedError`.
    """

    def __init__(
        self,
        settings: Settings,
        host: PluginHost,
        *,
        env: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.time,
        one_shot: bool = False,
        on_sync: SyncListener | None = None,
        on_upload: UploadListener | None = None,
    ) -> None:
        self.settings, self.host, self.clock = settings, host, clock
        self.closed = False
        self._one_shot = one_shot
        self._background_limit = 0 if one_shot else settings.search.sync.embed_unasked
        self._assembly = Assembly(
            host, settings, env=env, clock=clock, on_sync=on_sync, on_upload=on_upload
        )
        self._own_host: PluginHost | None = None  # closed with it
        self.begin()
        begin_in_children(self)

    def begin(self) -> None:
        """Begin without parts, in a forked child too: threads, locks, files are its parent's."""
        self._opening = RLock()  # held while one of these parts is made: threads share it
        self._backend: Backends | None = None
        self._chooser: EmbeddingChooser | None = None
        self._searcher: Searcher | None = None
        self._sync_service: SyncService | None = None
        self._tools: PluginTools | None = None

    @property
    def plugin_tools(self) -> PluginTools:
        """The tools that plugins add for agents; a plugin is loaded when they are first listed."""
        with self._opening:
            self._check_open()
            self._tools = self._tools or self._assembly.plugin_tools(self._embedding)
            return self._tools

    @classmethod
    def open(  # noqa: PLR0913 - all by keyword
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
        on_upload: UploadListener | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Memory:
        """Open the memory of ``agent`` in ``workspace``, configured by a file or a mapping.

        What is not given comes from the environment, files and defaults: ``docs/configuration.md``.
        ``env`` replaces ``os.environ``; ``host`` the plugins: memories may share it, it stays open.

        With ``watch`` changed files are indexed in the background, see :meth:`watch`; with
        ``one_shot`` a search starts no work there, as the process ends with its answer. ``on_sync``
        is called after every sync, on its thread. ``on_upload`` is asked before texts first go to
        another machine's provider; without it they are sent, with a warning in log and report.
        ``clock`` gives now in epoch seconds: what "last week" and all other times count from.

        Raises :class:`~commonplace.errors.ConfigError` with all problems of a configuration,
        :class:`~commonplace.errors.WorkspaceError` if the workspace cannot be used, and
        :class:`~commonplace.errors.MemoryDisabledError` if memory is switched off.
        """
        from commonplace.config.load import configured

        env = os.environ if env is None else env
        settings, plugins = configured(
            host, workspace=workspace, agent=agent, config=config, env=env
        )
        memory = cls(
            settings,
            plugins,
            env=env,
            clock=clock,
            one_shot=one_shot,
            on_sync=on_sync,
            on_upload=on_upload,
        )
        memory._own_host = plugins if host is None else None
        if watch:
            try:
                memory.watch()
            except BaseException:
                memory.close()
                raise
        return memory

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def sync(self, *, force: bool = False, progress: ProgressCallback | None = None) -> SyncReport:
        """Update the index; ``force`` rebuilds it beside the previous one.

        Threads that call this while a sync runs share the next sync and its report. A ``progress``
        that raises is not called again; its error is raised here alone, once the sync has ended.
        Raises :class:`~commonplace.errors.UnavailableError` if the index cannot be written.
        """
        from commonplace.sync.queue import SyncRequest

        with CallerProgress(progress) as own:
            return self._service().sync(SyncRequest(("demand",), force, eager=True, progress=own))

    def watch(self, *, poll: bool = False) -> None:
        """Index changed files in the background until :meth:`close`.

        Files are indexed, and embedded, once they have not changed for ``sync.watchDebounceMs``;
        every ``sync.intervalMinutes`` all are compared, and with ``poll`` at short intervals, not
        by the system's notifications. ``sync.watch`` switches it off; :meth:`status` shows how.
        """
        self._assembly.watch(self._service(), poll=poll)

    def session_started(self, session_key: str) -> None:
        """Update the index in the background, once for each session, by ``sync.onSessionStart``."""
        self._service().session_started(session_key)

    def compacted(self, session_file: str | None = None) -> SyncReport | None:
        """Index a session's transcript, and all other changes, after its compaction.

        ``postIndexSync`` decides whether that is done, and whether this call waits for it and
        returns the report. ``session_file`` is the transcript's path, for event listeners.
        """
        return self._service().compacted(session_file, self.settings.flush.post_index_sync)

    def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        sources: Sequence[str] | None = None,
        session_key: str = "",
        timeout: float | None = None,
        wait: bool = False,
        progress: ProgressCallback | None = None,
    ) -> SearchResult:
        """Return the best passages for ``query``, best first.

        ``query`` is a question or words, in any language. A ``"quoted phrase"`` must be present, a
        ``-word`` must not; ``path:memory/projects``, ``-path:drafts``, ``after:2026-01-31``,
        ``after:last-week``, ``before:2026-Q3`` and ``source:memory`` restrict the search; the
        ``notes`` name what is not understood. ``max_results`` (1 to 1,000) and the least score
        ``min_score`` (0..1) default to ``query.maxResults`` and ``query.minScore``. An empty index
        is built first, with reports to ``progress`` as in :meth:`sync`; a few changed files are
        indexed, too, and ``stale`` counts the others. ``session_key`` names the chat: a group or
        channel sees neither ``MEMORY.md`` nor conversations; some backends do not serve all chats.

        The answer takes ``timeout`` seconds at most, plugins around it included; without it 30 (a
        first index and plugins have limits of their own). A query not embedded within 2 seconds is
        answered by keywords, with a note. With ``wait`` all changes are indexed and embedded first.

        Raises :class:`~commonplace.errors.UnavailableError` if no backend can answer or the notes
        are gone (an empty result is no failure), :class:`~commonplace.errors.DeclinedError` if none
        can answer this honestly, :class:`~commonplace.errors.ScopeDeniedError` if a chat may not.
        """
        check_search(max_results, min_score, sources, timeout, query=query, session_key=session_key)
        # This search is then called again, by plugins that wrap it or here: neither is true there.
        wraps = self.host.listened["search"] and self.host.wraps_search()
        if wraps or (progress is not None and not isinstance(progress, CallerProgress)):
            with CallerProgress(progress) as own:
                run = partial(self.search, query, session_key=session_key, wait=wait, progress=own)
                run = partial(run, max_results=max_results, min_score=min_score, sources=sources)
                return self.host.around_search(query, run, timeout)
        host, sync, steps = self.host, self.settings.search.sync, self._steps()
        end = None if timeout is None else Deadline.after(timeout)
        left = self._service().before_search(end, progress) if wait or sync.embed_on_search else ""
        until, notes = end or Deadline.after(SEARCH_SECONDS), [left] if left else []
        rewritten = host.rewrite_query(query, until, notes) if host.listened["query"] else query
        request = steps.request(rewritten, max_results, sources=sources, session_key=session_key)
        search = self._search_of(request.query, until, bounded=end is not None, progress=progress)
        search.update()
        answer = steps.ask(search, request)
        chosen = steps.choose(
            answer,
            request,
            search.freshness,
            min_score=min_score,
            now=self.clock(),
            deadline=end or NEVER,
        )
        result = steps.present(chosen, answer, request, search, until)
        result = result.replace(notes=(*result.notes, *notes)) if notes else result
        if host.listened["events"] and (events := host.events) is not None:
            events.searched(query, result)
        self._follow_up(session_key, answer, result)
        return result

    def _search_of(
        self, query: Query, until: Deadline, *, bounded: bool, progress: ProgressCallback | None
    ) -> Searched:
        """A search under way for ``query``, as its chat may see it; nothing is asked yet."""
        wordy = bool(query.keyword.should or query.keyword.listed)
        search = self._backends().search_of(
            query,
            until,
            update=self.settings.search.sync.on_search and wordy,
            bounded=bounded,
            later="" if self._one_shot else "they are being indexed",
            progress=progress,
            changed=self._sync_service.changed if self._sync_service else None,
        )
        return seen_by(query.session_key, search)

    def _follow_up(self, session_key: str, answer: Answer, result: SearchResult) -> None:
        """Start the work in the background that a search gives reason for."""
        with suppress(MemoryClosedError):  # closed meanwhile by another thread: the answer holds
            if not self._one_shot and (session_key or result.stale > 0):
                self._service().searched(session_key, result.stale)
            if 0 < max((arm.lacking for arm in answer.arms), default=0) <= self._background_limit:
                self._service().embed()

    def get(self, path: str, *, start: int | None = None, lines: int | None = None) -> NoteText:
        """Return ``lines`` lines of a note from line ``start`` (1-based), or all of it.

        ``path`` is what a search result shows: a path, with or without its ending, or a citation
        (``path#L3-L9``, ``path:3-9``). The file itself is read, so the text is never stale; lines
        of conversations are masked as in hits. A note that is not there raises
        :class:`~commonplace.errors.NoteNotFoundError`, a file that is not searched
        :class:`~commonplace.errors.PathNotAllowedError`; both name the nearest note.
        """
        from commonplace.search.citations import read_cited

        self._check_open()
        check_texts(path=path)
        check_numbers(1, start=start, lines=lines)
        return read_cited(self._assembly.readable(), path, start, lines)

    def recall(
        self, *, query: str | None = None, budget: int | None = None, session_key: str = ""
    ) -> Recall:
        """Return the block on memory for an agent's prompt, in at most ``budget`` characters.

        It has the section on how to recall, what plugins add, and for a direct chat the curated
        memory and the logs of today and yesterday (or the newest); or with ``query`` the passages
        for it instead of these notes, alone in a small budget. ``budget`` (500 or more) defaults to
        ``limits.maxInjectedChars``. Never raises for what memory cannot do: the text says it.
        """
        from commonplace.tools.prompt_block import recall
        from commonplace.tools.toolset import MemoryTools

        self._check_open()
        check_texts(query="" if query is None else query, session_key=session_key)
        check_numbers(500, budget=budget)
        tools = MemoryTools(self, session_key=session_key, seconds=None)
        sections = self.host.prompt_sections(self.settings.agent, session_key)
        return recall(tools, sections=sections, query=query, budget=budget, now=self.clock())

    def writer(self, *, origin: Origin = "owner", who: str, allowed: bool | None = None) -> Writer:
        """Return what changes the notes, on the word of ``origin``; ``who`` names what writes.

        Others than the owner need ``memory.write.enabled``, or ``allowed`` by their own setting.
        """
        from commonplace.writing.writer import Writer

        return Writer(self, origin=origin, who=who, allowed=allowed, clock=self.clock)

    @property
    def today(self) -> date:
        """The day of now, by ``clock`` and ``query.timeZone``."""
        from commonplace.text.dates import today_at

        return today_at(self.clock(), self.settings.search.query.time_zone or "")

    def notes(self) -> tuple[DocumentRef, ...]:
        """All notes and other documents, by path; folders that cannot be read are in the status.

        Raises :class:`~commonplace.errors.UnavailableError` if nothing but such folders is found.
        """
        self._check_open()
        return documents_of(self._assembly.sources)

    @property
    def sync_state(self) -> SyncState | None:
        """How this process syncs the index; ``None`` if it has not synced or watched yet."""
        return self._sync_service.state() if self._sync_service is not None else None

    def status(self, *, deep: bool = False) -> Status:
        """Return the condition of this memory; a failing part is described, never raised.

        With ``deep`` providers on the network are asked and the index is checked: it may take long.
        """
        from commonplace.health.status import status_of

        notices = (*self.host.notices(), *self.plugin_tools.left_out())
        return status_of(
            self.settings,
            self._backends,
            choice=lambda: self._embedding().choice(),
            notices=(*self.settings.warnings, *self._assembly.notices, *notices),
            plugins=self.host.plugins(),
            deep=deep,
            sync_state=self.sync_state,
            clock=self.clock,
        )

    def close(self) -> None:
        """Release all resources, after the batch of a running sync; closing twice is allowed."""
        with self._opening:
            self.closed, service = True, self._sync_service
            backends, self._backend = self._backend, None
        for part in (service, backends, self._tools, self._chooser, self._own_host):
            if part is not None:
                part.close()

    def _check_open(self) -> None:
        if self.closed:
            raise MemoryClosedError

    def _service(self) -> SyncService:
        with self._opening:
            self._check_open()
            self._sync_service = self._sync_service or self._assembly.sync_service(
                backends=self._backends, embedding=self._embedding().service
            )
            return self._sync_service

    def _backends(self) -> Backends:
        with self._opening:
            self._check_open()
            self._backend = self._backend or self._assembly.backends(
                embedding=lambda: self._embedding().service(),
                background_limit=self._background_limit,
            )
            return self._backend

    def _embedding(self) -> EmbeddingChooser:
        with self._opening:
            self._check_open()
            self._chooser = self._chooser or self._assembly.embedding()
            return self._chooser

    def _steps(self) -> Searcher:
        with self._opening:
            self._check_open()
            self._searcher = self._searcher or self._assembly.searcher()
            return self._searcher
