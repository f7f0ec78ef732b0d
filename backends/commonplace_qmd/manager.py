"""QMD as a memory manager: one agent's engine, searched and updated; and how it is put together."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING

from commonplace.plugin import (
    NEVER,
    Arm,
    CommonplaceError,
    ManagerHealth,
    Mount,
    PluginUnavailableError,
    UnavailableError,
)
from commonplace_qmd.collections import PREFIX, collections_of, only_qmd_searches
from commonplace_qmd.engine.values import UnknownCollectionError
from commonplace_qmd.home import home_of
from commonplace_qmd.settings import CAPABILITIES, QmdSettings
from commonplace_qmd.update import BackgroundUpdates, Updater, embedding_is_due

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.plugin import (
        Deadline,
        ManagerContext,
        ProgressCallback,
        Query,
        Source,
        SyncReport,
        Where,
    )
    from commonplace_qmd.collections import Changes, Collection
    from commonplace_qmd.engine.client import Qmd
    from commonplace_qmd.export import Exporter
    from commonplace_qmd.home import Home
    from commonplace_qmd.search import Searcher


_NAME = "qmd"
_UNINDEXED = "QMD has not indexed anything yet: run `commonplace index`"
_CLOSED = "this memory is closed"
_WAIT_FOR_UPDATE = 0.5
"""Seconds that a search waits for an update under way, which may bring the answer."""
_WAIT_AT_END = 5.0
"""Seconds that closing waits for an update under way before it is ended."""


class QmdManager:
    """A :class:`~commonplace.plugin.MemoryManager`; threads may share it.

    ``notices`` are lines about the configuration, for :meth:`health`.
    """

    capabilities = CAPABILITIES

    def __init__(self, updater: Updater, notices: Sequence[str] = ()) -> None:
        self._updater = updater
        self._config = updater.config
        self._searcher: Searcher | None = None
        self._notices = tuple(notices)
        self._booted = False
        self._closed = False
        self._background = BackgroundUpdates(self._update_if_needed, self._config.update.interval)

    def search(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Arm, ...]:
        """One arm in QMD's order; the score of a hit is 1 / rank, as QMD's are not comparable.

        At most ``limits.maxResults`` hits of ``limits.maxSnippetChars`` characters each and
        ``limits.maxInjectedChars`` together, within ``limits.timeoutMs``.
        """
        self._check_open()
        deadline.check("a search by QMD")
        if self._updater.incomplete:  # its disk may be mounted again
            self._updater.refresh()
        wanted = [
            each
            for each in self._updater.collections
            if (where.sources is None or each.source in where.sources)
            and each.name not in self._updater.incomplete
        ]
        if not wanted:
            return (Arm(_NAME, "opaque", (), plan="no collection to search"),)
        if not os.path.exists(self._updater.home.qmd.index_path):
            # A host that maintains first never comes here; without notes there is no problem.
            note = _UNINDEXED if self._updater.changes().size else ""
            return (Arm(_NAME, "opaque", (), plan="no index", note=note),)
        self._background.settle(min(_WAIT_FOR_UPDATE, deadline.remaining()))
        limits = self._config.limits
        deadline = deadline.sooner(limits.timeout_ms / 1000)
        limit = min(limit, limits.max_results)
        return (self._answer(query, wanted, where, limit, deadline),)

    def maintain(
        self,
        *,
        force: bool = False,
        at_most: int | None = None,
        embed: bool = True,
        eager: bool = True,
        deadline: Deadline,
        progress: ProgressCallback | None = None,
        wait: float = 30.0,
    ) -> SyncReport:
        """Update, and embed if ``searchMode`` needs vectors.

        With ``at_most``, as before a search, QMD updates in the background, as that takes seconds:
        this waits for it until ``deadline``, and transcripts may be left to grow more. The section
        ``update`` decides whether an update is due.
        """
        self._check_open()
        if at_most is None:
            self._booted = True
            if not (embed or force):
                # One that began beside a search does the same.
                under_way = self._background.wait(deadline.remaining())
                if under_way is not None and not isinstance(under_way, CommonplaceError):
                    return under_way
            deadline.check("an update by QMD")
            return self._updater.run(
                vectors="now" if embed else "no",
                force=force,
                eager=eager,
                deadline=deadline,
                wait=wait,
                progress=progress,
            )
        changes = self._updater.refresh()
        boot, self._booted = not self._booted, True
        self._background.start(now=self._is_due(changes, at_most, boot=boot))
        update, seconds = self._config.update, deadline.remaining()
        if boot and update.wait_for_boot_sync:
            seconds = max(seconds, update.update_timeout_ms / 1000)
        # The outcome may also be that of an update that ended after the scan.
        outcome = self._background.wait(seconds)
        if isinstance(outcome, CommonplaceError):
            raise outcome
        return changes.report() if outcome is None else outcome.replace(known=changes.known)

    def pending(self) -> SyncReport:
        """Compare stamps with those of the last update; nothing is opened or written."""
        self._check_open()
        return self._updater.changes().report()

    def health(self, *, deep: bool = False) -> ManagerHealth:
        """The condition as far as it is known without QMD; ``deep`` runs ``qmd status``."""
        if self._closed:
            return ManagerHealth(available=False, reason=_CLOSED)
        from commonplace_qmd.command import health_of

        return health_of(self._updater, self._notices, deep=deep)

    def close(self) -> None:
        """End QMD and an update under way; closing twice is fine."""
        self._closed = True
        self._background.close(_WAIT_AT_END)
        self._updater.qmd.close()
        self._background.close(_WAIT_AT_END)

    def _answer(
        self,
        query: Query,
        wanted: Sequence[Collection],
        where: Where,
        limit: int,
        deadline: Deadline,
    ) -> Arm:
        """Search; if QMD does not know a collection, write them all and search again."""
        if self._searcher is None:
            from commonplace.plugin import make_analyser
            from commonplace_qmd.search import Searcher

            self._searcher = Searcher(self._updater.qmd, self._config, make_analyser())
        search = partial(
            self._searcher.search,
            query,
            wanted,
            where=where,
            narrowed=len(wanted) < len(self._updater.collections),
            limit=limit,
            deadline=deadline,
        )
        try:
            return search()
        except UnknownCollectionError:
            self._updater.write_collections()
        return search()

    def _check_open(self) -> None:
        if self._closed:
            raise UnavailableError(_CLOSED)

    def _is_due(self, changes: Changes, at_most: int, *, boot: bool) -> bool:
        update = self._config.update
        if not changes.size:
            return False
        if not changes.known:
            return changes.size <= at_most  # without an index there is no answer to wait for
        since = self._updater.clock() - self._updater.state().last_update
        if boot and update.on_boot:
            return True
        if not update.interval or since < update.debounce_ms / 1000:
            return False
        # Many changes wait for the interval, a few are indexed beside the next search.
        return changes.size <= at_most or since >= update.interval

    def _update_if_needed(self) -> SyncReport:
        changes, state = self._updater.changes(), self._updater.state()
        if not (changes.size or embedding_is_due(self._config, state, self._updater.clock())):
            return changes.report()
        return self._updater.run(vectors="due", eager=False, deadline=NEVER, wait=0.0)


def make_manager(
    context: ManagerContext,
    *,
    env: Mapping[str, str] = os.environ,
    qmd: Qmd | None = None,
    clock: Callable[[], float] = time.time,
) -> QmdManager:
    """The manager; tests replace the engine by ``qmd``. Nothing is created or run yet.

    Raises :class:`~commonplace.plugin.PluginUnavailableError` if QMD is not installed, or its Node
    is too old.
    """
    from commonplace_qmd.engine.client import Qmd as Engine

    config: QmdSettings = context.config or QmdSettings()
    home = _home(context)
    if qmd is None:
        qmd = Engine(config.command, home.qmd, env=env)
    probe = qmd.probe()
    if not probe.available:
        alone = "".join(f"; {line}" for line in only_qmd_searches(context, config))
        raise PluginUnavailableError(probe.reason, hint=f"{probe.hint}{alone}")
    notices: list[str] = []
    exporter: Exporter | None = None
    folder = _export_folder(config, home)
    if folder is not None:
        from commonplace_qmd.export import Exporter

        try:
            days = config.sessions.retention_days
            exporter = Exporter(_transcripts(context), folder, retention_days=days, clock=clock)
        except UnavailableError as error:
            notices.append(f"transcripts are not exported to QMD: {error}")
    collections = collections_of(context, config, folder)
    updater = Updater(
        qmd,
        home,
        collections,
        config,
        workspace=context.workspace,
        env=env,
        exporter=exporter,
        clock=clock,
    )
    return QmdManager(updater, notices)


def mounts_of(context: ManagerContext) -> list[Mount]:
    """Every collection by the name that QMD knows it by."""
    config: QmdSettings = context.config or QmdSettings()
    collections = collections_of(context, config, _export_folder(config, _home(context)))
    return [
        Mount(
            f"{PREFIX}/{each.name}",
            each.location,
            each.pattern,
            each.trust,
            None if each.root.stored.startswith(f"{PREFIX}/") else each.root.stored,
        )
        for each in collections
    ]


def _home(context: ManagerContext) -> Home:
    return home_of(context.state_dir, context.agent, context.workspace)


def _export_folder(config: QmdSettings, home: Home) -> str | None:
    """The folder of exported transcripts, if they are exported."""
    return (config.sessions.export_dir or home.exported) if config.sessions.enabled else None


def _transcripts(context: ManagerContext) -> Source:
    for source in context.sources:
        if source.id == "sessions":
            return source
    if context.make_source is None:
        raise PluginUnavailableError("no plugin reads transcripts")
    return context.make_source("sessions")
