"""Offers the tools of the long-term store, under the id ``memory-lancedb``, and the command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import hookimpl
from commonplace_longterm.settings import ID, LongTermSettings, probe

if TYPE_CHECKING:
    from commonplace.plugin import (
        Command,
        CommandRegistrar,
        ToolContext,
        ToolRegistrar,
        ToolSet,
    )


@hookimpl
def commonplace_register_tools(register: ToolRegistrar) -> None:
    """Offer the tools, for agents whose slot ``plugins.slots.memory`` names them."""
    register.toolset(
        ID,
        _make_tools,
        summary="memories with importance and category in LanceDB: recall, store, forget",
        config=LongTermSettings,
        capabilities=frozenset({"slot", "recall", "turns"}),
        probe=probe,
    )


@hookimpl
def commonplace_register_commands(register: CommandRegistrar) -> None:
    """Add ``commonplace ltm``."""
    register.command("ltm", _make_command, summary="List, search, export and import memories")


def _make_tools(context: ToolContext) -> ToolSet:
    from commonplace_longterm.toolset import LongTermTools

    return LongTermTools(context)


def _make_command() -> Command:
    from commonplace_longterm.command import LtmCommand

    return LtmCommand()
