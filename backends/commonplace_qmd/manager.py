"""QMD as a memory manager: searched, and kept up to the files."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from commonplace.plugin import (
    Arm,
    CommonplaceError,
    Found,
    ManagerHealth,
    Mount,
    PluginUnavailableError,
    UnavailableError,
)
from commonplace_qmd.collections import PREFIX, collections_of
from commonplace_qmd.engine import UnknownCollectionError
from commonplace_qmd.home import home_of
from commonplace_qmd.passages import within
from commonplace_qmd.rounds import Rounds
from commonplace_qmd.settings import QmdSettings

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
    from commonplace_qmd.changes import Look
    from commonplace_qmd.collections import Collection
    from commonplace_qmd.engine import Qmd
    from commonplace_qmd.export import Exporter
    from commonplace_qmd.home import Home
    from commonplace_qmd.search import Answer, Asking
    from commonplace_qmd.update import Upkeep

__all__ = [
    "QmdManager",
    "make_manager",
    "mounts_of",
]


_NAME = "qmd"
_UNINDEXED = "QMD has not indexed anything yet: run `commonplace index`"
_CLOSED = "this memory is closed"
_WAIT_FOR_UPDATE = 0.5
"""Seconds that a search waits for an update under way: what it brings may be the answer."""
_WAIT_AT_END = 5.0
"""Seconds that an update under way is given to end when we are closed; then it is ended."""


class QmdManager:
    """A :class:`~commonplace.plugin.MemoryManager`; threads may share it.

    ``notices`` are lines about the configuration, for :meth:`health`.
    """

    capabilities = frozenset({"eager"})

    def __init__(
        self,
        qmd: Qmd,
        collections: Sequence[Collection],
        config: QmdSettings,
        *,
        upkeep: Upkeep,
        asking: Callable[[], Asking],
        location: str,
        notices: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._qmd = qmd
        self._collections = tuple(collections)
        self._config = config
        self._upkeep = upkeep
        self._make_asking = asking
        self._asking: Asking | None = None
        self._location = location
        self._notices = tuple(notices)
        self._clock = clock
        self._booted = False
        self._closed = False
        self._rounds = Rounds(self._round, config.update.interval)

    def search(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Arm, ...]:
        """One arm in QMD's order; the score of a hit is 1 / rank, as QMD's compare with nothing.

        At most ``limits.maxResults`` hits of ``limits.maxSnippetChars`` characters each and
        ``limits.maxInjectedChars`` together, within ``limits.timeoutMs``.
        """
        self._check_open()
        deadline.check("a search by QMD")
        sources = where.sources
        if self._upkeep.kept_out():  # it may be back
            self._look()
        kept_out = self._upkeep.kept_out()
        wanted = [
            each
            for each in self._collections
            if (sources is None or each.source in sources) and each.name not in kept_out
        ]
        if not wanted:
            return (Arm(_NAME, "opaque", (), plan="no collection may answer"),)
        if not os.path.exists(self._location):
            # Whoever maintains it first never comes here; where there are no notes all is well.
            note = _UNINDEXED if self._upkeep.look().size else ""
            return (Arm(_NAME, "opaque", (), plan="no index", note=note),)
        self._rounds.settle(min(_WAIT_FOR_UPDATE, deadline.remaining()))
        limits = self._config.limits
        deadline = deadline.sooner(limits.timeout_ms / 1000)
        limit = min(limit, limits.max_results)
        answer = self._answer(query, wanted, where, limit, deadline)
        chunks = within(answer.chunks[:limit], limits.max_injected_chars)
        found = tuple(Found(chunk, 1 / rank) for rank, chunk in enumerate(chunks, 1))
        return (Arm(_NAME, "opaque", found, exact=answer.whole, plan=answer.plan),)

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
        """Update, and embed if the way to search needs vectors.

        With ``at_most``, as before a search, QMD updates beside it: an update takes seconds, and
        is waited for until ``deadline`` only, and transcripts may be left to grow more. Whether
        one is due, the section ``update`` says.
        """
        self._check_open()
        if at_most is None:
            self._booted = True
            if not (embed or force):
                # One that was begun beside a search is as good.
                under_way = self._rounds.wait(deadline.remaining())
                if under_way is not None and not isinstance(under_way, CommonplaceError):
                    return under_way
            return self._upkeep.run(
                vectors="asked" if embed else "no",
                force=force,
                eager=eager,
                deadline=deadline,
                wait=wait,
                progress=progress,
            )
        found = self._look()
        boot, self._booted = not self._booted, True
        due = self._is_due(found, at_most, boot=boot)
        self._rounds.start(now=due)
        update = self._config.update
        patience = deadline.remaining()
        if boot and update.wait_for_boot_sync:
            patience = max(patience, update.update_timeout_ms / 1000)
        # One begun before may have ended since that look: then it is not due, and is told of.
        outcome = self._rounds.wait(patience)
        if isinstance(outcome, CommonplaceError):
            raise outcome
        return found.report() if outcome is None else outcome._replace(known=found.known)

    def pending(self) -> SyncReport:
        """Compare stamps with those of the last update; nothing is opened or written."""
        self._check_open()
        return self._upkeep.look().report()

    def health(self, *, deep: bool = False) -> ManagerHealth:
        """What is known without asking QMD; ``deep`` runs ``qmd status``."""
        if self._closed:
            return ManagerHealth(available=False, reason=_CLOSED)
        from commonplace_qmd.health import health_of

        return health_of(
            self._qmd,
            self._upkeep,
            self._collections,
            self._config,
            location=self._location,
            notices=self._notices,
            deep=deep,
        )

    def close(self) -> None:
        """End QMD and what it does; closing twice is fine."""
        self._closed = True
        self._rounds.close(_WAIT_AT_END)
        self._qmd.close()
        self._rounds.close(_WAIT_AT_END)

    def _answer(
        self,
        query: Query,
        wanted: Sequence[Collection],
        where: Where,
        limit: int,
        deadline: Deadline,
    ) -> Answer:
        """Ask; where QMD does not know a collection, tell it of them all and ask again."""
        if self._asking is None:
            self._asking = self._make_asking()
        ask = partial(
            self._asking.ask,
            query,
            wanted,
            where=where,
            narrowed=len(wanted) < len(self._collections),
            limit=limit,
            deadline=deadline,
        )
        try:
            return ask()
        except UnknownCollectionError:
            try:
                self._upkeep.ensure_collections()
            except OSError as error:
                raise UnavailableError(
                    f"QMD's list of collections cannot be written: {error.strerror or error}"
                ) from error
        return ask()

    def _look(self) -> Look:
        """Look at all files, and let QMD know which folders can be seen."""
        found = self._upkeep.look()
        with suppress(OSError):  # whoever searches need not be able to write
            self._upkeep.tell_of(found)
        return found

    def _check_open(self) -> None:
        if self._closed:
            raise UnavailableError(_CLOSED)

    def _is_due(self, found: Look, at_most: int, *, boot: bool) -> bool:
        update = self._config.update
        if not found.size:
            return False
        if not found.known:
            return found.size <= at_most  # with nothing to answer by, there is nothing to wait for
        since = self._clock() - self._upkeep.state().last_update
        if boot and update.on_boot:
            return True
        if not update.interval or since < update.debounce_ms / 1000:
            return False
        # Many changes wait for their turn, a few are brought in as soon as somebody asks.
        return found.size <= at_most or since >= update.interval

    def _round(self) -> SyncReport:
        from commonplace.plugin import NEVER
        from commonplace_qmd.update import is_due

        found = self._upkeep.look()
        if not (found.size or is_due(self._config, self._upkeep.state(), self._clock())):
            return found.report()
        return self._upkeep.run(vectors="due", eager=False, deadline=NEVER, wait=0.0)


def make_manager(
    context: ManagerContext,
    *,
    env: Mapping[str, str] = os.environ,
    qmd: Qmd | None = None,
    clock: Callable[[], float] = time.time,
) -> QmdManager:
    """The manager; ``qmd`` stands in for the engine in tests. Nothing is made or run yet.

    Raises :class:`~commonplace.errors.PluginUnavailableError` where QMD is not installed, or its
    Node is too old for it.
    """
    from commonplace_qmd.engine import Qmd as Engine
    from commonplace_qmd.update import Upkeep

    config = _config(context)
    home = home_of(context.state_dir, context.agent, context.workspace)
    if qmd is None:
        qmd = Engine(config.command, home.qmd, env=env)
    probe = qmd.probe()
    if not probe.available:
        raise PluginUnavailableError(probe.reason, hint=probe.hint)
    notices = []
    if config.mcporter.enabled or config.search_tool:
        notices.append(
            "memory.qmd.mcporter and searchTool have no effect: QMD's own server is kept running, "
            "which is what mcporter was for"
        )
    exporter: Exporter | None = None
    folder = _exported(config, home)
    if folder is not None:
        try:
            exporter = _exporter(context, config, folder, clock)
        except UnavailableError as error:
            notices.append(f"transcripts are not exported to QMD: {error}")
    collections = collections_of(context, config, folder)
    upkeep = Upkeep(
        qmd,
        home,
        collections,
        config,
        workspace=context.workspace,
        env=env,
        exporter=exporter,
        clock=clock,
    )

    def asking() -> Asking:
        from commonplace.plugin import make_analyser
        from commonplace_qmd.search import Asking

        return Asking(qmd, config, make_analyser())

    return QmdManager(
        qmd,
        collections,
        config,
        upkeep=upkeep,
        asking=asking,
        location=home.qmd.index_path,
        notices=notices,
        clock=clock,
    )


def mounts_of(context: ManagerContext) -> list[Mount]:
    """The collections outside the workspace, by the names that hits give to their files."""
    config = _config(context)
    home = home_of(context.state_dir, context.agent, context.workspace)
    collections = collections_of(context, config, _exported(config, home))
    return [_mount(each) for each in collections if each.prefix.startswith(f"{PREFIX}/")]


def _mount(collection: Collection) -> Mount:
    return Mount(collection.prefix.rstrip("/"), collection.location, collection.pattern)


def _config(context: ManagerContext) -> QmdSettings:
    return context.config if isinstance(context.config, QmdSettings) else QmdSettings()


def _exported(config: QmdSettings, home: Home) -> str | None:
    """The folder of exported transcripts, if they are wanted."""
    if not config.sessions.enabled:
        return None
    return config.sessions.export_dir or home.exported


def _exporter(
    context: ManagerContext, config: QmdSettings, folder: str, clock: Callable[[], float]
) -> Exporter:
    from commonplace_qmd.export import Exporter

    days = config.sessions.retention_days
    return Exporter(_sessions(context), folder, retention_days=days, clock=clock)


def _sessions(context: ManagerContext) -> Source:
    for source in context.sources:
        if source.id == "sessions":
            return source
    if context.make_source is None:
        raise PluginUnavailableError("nobody here can read transcripts")
    return context.make_source("sessions")
