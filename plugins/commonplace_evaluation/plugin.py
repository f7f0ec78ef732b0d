"""Offers the command ``eval``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import Command, CommandRegistrar


@hookimpl
def commonplace_register_commands(register: CommandRegistrar) -> None:
    """Add ``commonplace eval``."""
    register.command(
        "eval",
        _command,
        summary="Measure retrieval on queries with known answers: recall, MRR, nDCG",
    )


def _command() -> Command:
    from commonplace_evaluation.command import EvalCommand

    return EvalCommand()
