"""Offers the backend ``qmd`` and the command of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Registration, hookimpl
from commonplace_qmd.settings import QmdSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.plugin import Command, ManagerContext, MemoryManager, Mount, Query, Registry

__all__ = ["CAPABILITIES", "commonplace_register_commands", "commonplace_register_managers"]

CAPABILITIES = frozenset({"phrases", "exclusions", "paths", "dates", "lines", "cjk", "persistent"})
"""Not ``thai``: QMD does not know where its words begin, and such a query is declined."""


@hookimpl
def commonplace_register_managers(registry: Registry) -> None:
    """Offer the engine.

    It has no probe: where its program is, only the configuration knows. The factory looks for it.
    """
    registry.add(
        Registration(
            id="qmd",
            summary="QMD (npm @tobilu/qmd), an engine with an index of its own",
            factory=_make,
            config=QmdSettings,
            capabilities=CAPABILITIES,
            permits=_permits,
            mounts=_mounts,
        )
    )


@hookimpl
def commonplace_register_commands(registry: Registry) -> None:
    """Offer ``commonplace qmd``."""
    registry.add(
        Registration(
            id="qmd",
            summary="Show how to run QMD by hand on what an agent searches",
            factory=_command,
        )
    )


def _make(context: ManagerContext) -> MemoryManager:
    from commonplace_qmd.making import make_manager

    return make_manager(context)


def _permits(config: QmdSettings | None, query: Query) -> None:
    if query.session_key:
        from commonplace_qmd.scope import permits

        permits(config, query)


def _mounts(context: ManagerContext) -> Sequence[Mount]:
    from commonplace_qmd.making import mounts_of

    return mounts_of(context)


def _command() -> Command:
    from commonplace_qmd.command import QmdCommand

    return QmdCommand()
