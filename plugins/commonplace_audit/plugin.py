"""Offers the command ``audit``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import Command, CommandRegistrar


@hookimpl
def commonplace_register_commands(register: CommandRegistrar) -> None:
    """Add ``commonplace audit``."""
    register.command(
        "audit", _command, summary="Find what is wrong in the notes, and propose changes as diffs"
    )


def _command() -> Command:
    from commonplace_audit.command import AuditCommand

    return AuditCommand()
