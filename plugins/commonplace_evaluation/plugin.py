"""Offers the commands ``eval`` and ``bench``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import Command, CommandRegistrar


@hookimpl
def commonplace_register_commands(register: CommandRegistrar) -> None:
    """Add ``commonplace eval`` and ``commonplace bench``."""
    summary = "Measure retrieval on queries with known answers: recall, MRR, nDCG"
    register.command("eval", _eval, summary=summary)
    summary = "Measure retrieval on public benchmarks of memory, beside FTS5 and grep"
    register.command("bench", _bench, summary=summary)


def _bench() -> Command:
    from commonplace_evaluation.bench import BenchCommand

    return BenchCommand()


def _eval() -> Command:
    from commonplace_evaluation.command import EvalCommand

    return EvalCommand()
