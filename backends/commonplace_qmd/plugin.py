"""Offers the backend ``qmd`` and the command of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import hookimpl
from commonplace_qmd.settings import CAPABILITIES, QmdSettings, permits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.plugin import (
        BackendRegistrar,
        Command,
        CommandRegistrar,
        ManagerContext,
        MemoryManager,
        Mount,
    )


@hookimpl
def commonplace_register_backends(register: BackendRegistrar) -> None:
    """Offer the engine.

    It has no probe: where its program is, only the configuration knows. The factory looks for it.
    """
    register.manager(
        "qmd",
        _make,
        summary="QMD (npm @tobilu/qmd), an engine with an index of its own",
        config=QmdSettings,
        capabilities=CAPABILITIES,
        permits=permits,
        mounts=_mounts,
    )


@hookimpl
def commonplace_register_commands(register: CommandRegistrar) -> None:
    """Offer ``commonplace qmd``."""
    register.command(
        "qmd", _command, summary="Show how to run QMD by hand on what an agent searches"
    )


def _make(context: ManagerContext) -> MemoryManager:
    from commonplace_qmd.manager import make_manager

    return make_manager(context)


def _mounts(context: ManagerContext) -> Sequence[Mount]:
    from commonplace_qmd.manager import mounts_of

    return mounts_of(context)


def _command() -> Command:
    from commonplace_qmd.command import QmdCommand

    return QmdCommand()
