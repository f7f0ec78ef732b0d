"""``commonplace recall``: the block on memory that an agent is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.context import UsageError
from commonplace.cli.parser import argument, positive_int
from commonplace.cli.streams import typed

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.cli.context import Context


_LEAST_BUDGET = 500  # as Memory.recall has it


class RecallCommand:
    """Prints what an agent is shown at a session's start, or for a question."""

    name = "recall"
    formats = ("prompt", "plain", "json")
    summary = "Print the block on memory for an agent's prompt"
    examples = (
        "commonplace recall",
        'commonplace recall --query "which port does staging use?" --budget 4000',
        "commonplace recall --format json",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        about = "passages for a question, instead of the curated memory and the latest logs"
        argument(parser, "--query", "Q", about)
        about = f"most characters, at least {_LEAST_BUDGET} (default: limits.maxInjectedChars)"
        argument(parser, "--budget", "N", about, type=positive_int)
        about = "the chat that is shown it; a group or channel sees no curated memory"
        argument(parser, "--session-key", "KEY", about, default="")

    def run(self, args: Namespace, context: Context) -> int:
        """Print the block."""
        query = typed(args.query) if args.query is not None else None
        if query is not None and not query.strip():
            raise UsageError("the query is empty", hint=self.examples[1])
        if args.budget is not None and args.budget < _LEAST_BUDGET:
            raise UsageError(
                f"--budget {args.budget} is too small: it must be at least {_LEAST_BUDGET}",
                hint=f"commonplace recall --budget {_LEAST_BUDGET}",
            )
        with context.open_memory() as memory:
            shown = memory.recall(query=query, budget=args.budget, session_key=args.session_key)
            context.notes(memory.host.hook_failures)
        if context.json:
            context.emit({"text": shown.text, "paths": shown.paths, "cut": shown.cut})
        else:
            context.line(shown.text.rstrip("\n"))
        return 0
