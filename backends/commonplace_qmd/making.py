"""Puts the manager of one agent together."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from commonplace.plugin import Mount, PluginUnavailableError, UnavailableError
from commonplace_qmd.collections import PREFIX, collections_of
from commonplace_qmd.home import home_of
from commonplace_qmd.settings import QmdSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.plugin import ManagerContext, Source
    from commonplace_qmd.asking import Asking
    from commonplace_qmd.collections import Collection
    from commonplace_qmd.engine import Qmd
    from commonplace_qmd.exporting import Exporter
    from commonplace_qmd.home import Home
    from commonplace_qmd.manager import QmdManager

__all__ = ["make_manager", "mounts_of"]


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
    from commonplace_qmd.manager import QmdManager
    from commonplace_qmd.upkeep import Upkeep

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
        from commonplace_qmd.asking import Asking

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
    from commonplace_qmd.exporting import Exporter

    days = config.sessions.retention_days
    return Exporter(_sessions(context), folder, retention_days=days, clock=clock)


def _sessions(context: ManagerContext) -> Source:
    for source in context.sources:
        if source.id == "sessions":
            return source
    if context.make_source is None:
        raise PluginUnavailableError("nobody here can read transcripts")
    return context.make_source("sessions")
