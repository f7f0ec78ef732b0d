"""A command: which tags the notes have, and how many notes have each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from commonplace.plugin import decode, find_roots, note_facts, positive_int, scan

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.plugin import Context


class TagCount:
    """``commonplace tagcount``."""

    name = "tagcount"
    summary = "Count the tags of the notes"
    examples = ("commonplace tagcount", "commonplace tagcount --top 5 --json")

    def configure(self, parser: ArgumentParser) -> None:
        """Add the option of its own."""
        parser.add_argument("--top", type=positive_int, metavar="N", help="the N most frequent")

    def run(self, args: Namespace, context: Context) -> int:
        """Count; 1 where no note has a tag."""
        with context.open_memory() as memory:
            roots = find_roots(memory.settings.workspace)
        counts: Counter[str] = Counter()
        for ref in scan(roots).documents:
            try:
                with open(ref.location, "rb") as file:
                    counts.update(note_facts(decode(file.read())).tags)
            except OSError as error:
                context.note(f"{ref.path}: {error.strerror or error}")
        best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[: args.top]
        if context.json:
            context.emit({"tags": [{"tag": tag, "notes": number} for tag, number in best]})
        else:
            for tag, number in best:
                context.line(f"{number:6}  {tag}")
        if not best:
            context.note("no note has a tag")
        return 0 if best else 1
