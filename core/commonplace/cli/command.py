"""What a command of the command line is, whether it comes with commonplace or with a plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.cli.context import Context

__all__ = ["Command"]


class Command(Protocol):
    """One verb of the command line.

    A plugin offers one under the entry point ``command.<name>``; the factory it registers is
    called without arguments and returns the command.
    """

    @property
    def name(self) -> str:
        """The verb as it is typed."""
        ...

    @property
    def summary(self) -> str:
        """What it does, as a sentence without a full stop."""
        ...

    @property
    def examples(self) -> tuple[str, ...]:
        """Whole command lines to try, the most useful first; at least one."""
        ...

    def configure(self, parser: ArgumentParser) -> None:
        """Add the command's own arguments.

        ``--workspace``, ``--config``, ``--agent`` and ``--json`` are there already.
        """
        ...

    def run(self, args: Namespace, context: Context) -> int:
        """Do it and return the exit code: 0 done, 1 failed.

        Results go to ``context.line`` or ``context.emit``, everything else to ``context.note``.
        Errors are raised as :class:`~commonplace.errors.CommonplaceError` and reported by the
        caller, who also turns :class:`~commonplace.cli.parser.UsageError` into exit code 2.
        """
        ...
