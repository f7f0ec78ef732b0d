"""``commonplace search``: ask the notes a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.parser import UsageError, positive_int, unit_interval

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.cli.context import Context


class SearchCommand:
    """Prints the best passages, each with its path and lines."""

    name = "search"
    summary = "Search the notes with a question or words, in any language"
    examples = (
        'commonplace search "why did we move to the small server?"',
        "commonplace search '\"connection refused\" after:2026-10-01 -staging' --max-results 3",
        "commonplace search ERR_TIMEOUT path:memory/projects --json",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "words",
            metavar="QUERY",
            nargs="*",
            help='words to search for; narrow with "a phrase", -word, path:, after:, before: ...',
        )
        parser.add_argument(
            "--query", metavar="QUERY", help="the query as an option; wins over the words"
        )
        parser.add_argument(
            "-n",
            "--max-results",
            metavar="N",
            type=positive_int,
            help="maximum number of results (default: query.maxResults, 6)",
        )
        parser.add_argument(
            "--min-score",
            metavar="X",
            type=unit_interval,
            help="leave out results that score less, 0 to 1 (default: query.minScore)",
        )
        parser.add_argument(
            "--session-key",
            metavar="KEY",
            default="",
            help="key of the chat that searches, for a backend restricted to some chats",
        )
        parser.add_argument(
            "--explain", action="store_true", help="show how each score was computed"
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Search, and print the results."""
        query: str = args.query if args.query is not None else " ".join(args.words)
        if not query.strip():
            raise UsageError("the query is empty", hint=self.examples[0])
        with context.open_memory() as memory:
            with context.progress() as progress:
                result = memory.search(
                    query,
                    max_results=args.max_results,
                    min_score=args.min_score,
                    session_key=args.session_key,
                    progress=progress,
                )
            if context.json:
                from commonplace.cli.jsonify import result_json

                settings = memory.settings
                context.emit(
                    {
                        "agent": settings.agent,
                        "workspace": settings.workspace,
                        **result_json(result, explain=args.explain),
                    }
                )
            elif context.pretty:
                from commonplace.cli.hits import pretty_hits

                context.out.write(pretty_hits(result, context.style, explain=args.explain))
            else:
                from commonplace.cli.hits import plain_hits

                context.out.write(plain_hits(result, explain=args.explain))
            if not context.json:
                from commonplace.cli.hits import arms_of, notes_on

                for note in notes_on(result):
                    context.note(note)
                for line in arms_of(result) if args.explain else ():
                    context.note(line)
        return 0


create = SearchCommand
