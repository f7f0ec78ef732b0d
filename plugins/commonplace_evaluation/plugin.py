"""Offers the command ``eval``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Registration, hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import Command, Registry


@hookimpl
def commonplace_register_commands(registry: Registry) -> None:
    """Add ``commonplace eval``."""
    registry.add(
        Registration(
            id="eval",
            summary="Measure retrieval on queries with known answers: recall, MRR, nDCG",
            factory=_command,
        )
    )


def _command() -> Command:
    from commonplace_evaluation.command import EvalCommand

    return EvalCommand()
