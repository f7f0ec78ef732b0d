"""Offers the command ``why``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import Command, CommandRegistrar


@hookimpl
def commonplace_register_commands(register: CommandRegistrar) -> None:
    """Add ``commonplace why``."""
    register.command(
        "why", _command, summary="Show when agents recalled a passage, or why a question finds what"
    )


def _command() -> Command:
    from commonplace_why.command import WhyCommand

    return WhyCommand()
