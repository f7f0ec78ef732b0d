"""Offers the command ``mcp``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import Command, CommandRegistrar


@hookimpl
def commonplace_register_commands(register: CommandRegistrar) -> None:
    """Add ``commonplace mcp``."""
    register.command("mcp", _command, summary="Serve memory to an agent over MCP")


def _command() -> Command:
    from commonplace_mcp.command import McpCommand

    return McpCommand()
