"""Offers the command ``dream``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import Command, CommandRegistrar


@hookimpl
def commonplace_register_commands(register: CommandRegistrar) -> None:
    """Add ``commonplace dream``."""
    register.command(
        "dream",
        _command,
        summary="Propose lines of daily logs to keep in MEMORY.md; written only if you say so",
    )


def _command() -> Command:
    from commonplace_dream.command import DreamCommand

    return DreamCommand()
