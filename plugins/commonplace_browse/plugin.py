"""Offers the command ``browse``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import Command, CommandRegistrar


@hookimpl
def commonplace_register_commands(register: CommandRegistrar) -> None:
    """Add ``commonplace browse``."""
    register.command("browse", _command, summary="Browse memory in a web browser, on this machine")


def _command() -> Command:
    from commonplace_browse.command import BrowseCommand

    return BrowseCommand()
