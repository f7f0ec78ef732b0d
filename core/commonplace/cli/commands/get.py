"""``commonplace get``: read a note, or some lines of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.parser import argument, positive_int

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
