"""``commonplace get`` and ``recall``: what is read without a search of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.context import UsageError
from commonplace.cli.parser import argument, positive_int
from commonplace.cli.streams import typed

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.cli.context import Context


class GetCommand:
    """Prints a note from its file."""

    name = "get"
    formats = ("plain", "json", "md")
    summary = "Print a note, or some lines of it"
    examples = (
        "commonplace get MEMORY.md",
        "commonplace get memory/2026-10-07.md --from 5 --lines 20",
        "commonplace get memory/2026-10-07.md#L5-L24",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "path",
            metavar="PATH",
            help="path of a note, with or without .md, or a citation as search results have it: "
            "path#L3, path#L3-L9 (or path:3-9) give those lines",
        )
        about = "first line to print, counted from 1"
        argument(parser, "--from", "N", about, dest="start", type=positive_int)
        argument(parser, "--lines", "N", "how many lines (default: all)", type=positive_int)

    def run(self, args: Namespace, context: Context) -> int:
        """Read the note from its file, never from the index."""
        with context.open_memory() as memory:
            note = memory.get(args.path, start=args.start, lines=args.lines)
        if context.json:
            from commonplace.cli.jsonify import plain

            context.emit({**context.whose, **plain(note)})
            return 0
        text = note.text
        if context.format == "md":
            from commonplace.cli.forms import cited_text

            text = cited_text(note.path, note.start_line, note.end_line, text)
        elif context.pretty:
            from commonplace.cli.streams import printable

            text = printable(text)
        if note.end_line >= note.start_line:
            context.line(text)
        if note.start_line > note.total_lines:
            from commonplace.errors import counted

            context.note(f"{note.path} has {counted(note.total_lines, 'line')}")
        elif note.end_line < note.total_lines:
            context.note(
                f"{note.path}: lines {note.start_line} to {note.end_line} of {note.total_lines}"
            )
        return 0


_LEAST_BUDGET = 500  # as Memory.recall has it


class RecallCommand:
    """Prints what an agent is shown at a session's start, or for a question."""

    name = "recall"
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
