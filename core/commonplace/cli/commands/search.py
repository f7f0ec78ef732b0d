"""``commonplace search``: ask the notes a question; and its hits as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.context import UsageError
from commonplace.cli.parser import (
    argument,
    flag,
    positive_int,
    positive_seconds,
    unit_interval,
)
from commonplace.cli.streams import one_line, printable, typed
from commonplace.model.search import MOST_RESULTS, messages_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterator

    from commonplace.cli.context import Context
    from commonplace.cli.terminal import Style
    from commonplace.model.search import Explanation, Hit, SearchResult


def result_count(text: str) -> int:
    """An argument that is a number of results; raises ``ValueError`` if no search gives so many."""
    number = positive_int(text)
    if number > MOST_RESULTS:
        raise ValueError
    return number


# argparse names the type in its message.
result_count.__name__ = f"whole number from 1 to {MOST_RESULTS:,}"


class SearchCommand:
    """Prints the best passages, each with its path and lines."""

    name = "search"
    formats = ("plain", "json", "md")
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
        argument(parser, "--query", "QUERY", "the query as an option; wins over the words")
        about = "maximum number of results, up to 1,000 (default: query.maxResults, 6)"
        argument(parser, "-n --max-results", "N", about, type=result_count)
        about = "leave out results that score less, 0 to 1 (default: query.minScore)"
        argument(parser, "--min-score", "X", about, type=unit_interval)
        about = "key of the chat that searches; a group or channel sees no private notes"
        argument(parser, "--session-key", "KEY", about, default="")
        about = "answer within so many seconds, a first index included (default: 30 apart from it)"
        argument(parser, "--timeout", "SECONDS", about, type=positive_seconds)
        flag(parser, "--wait", "first index and embed everything that changed")
        flag(parser, "--explain", "show how each score was computed")

    def run(self, args: Namespace, context: Context) -> int:
        """Search, and print the results."""
        query = typed(args.query if args.query is not None else " ".join(args.words))
        if not query.strip():
            raise UsageError("the query is empty", hint=self.examples[0])
        with context.open_memory() as memory:
            with context.progress() as progress:
                result = memory.search(
                    query,
                    max_results=args.max_results,
                    min_score=args.min_score,
                    session_key=args.session_key,
                    timeout=args.timeout,
                    wait=args.wait,
                    progress=progress,
                )
            if context.json:
                from commonplace.cli.jsonify import result_json

                context.emit(context.whose | result_json(result, explain=args.explain))
            else:
                show_hits(result, context, explain=args.explain)
                context.notes(notes_on(result))
                context.notes(arms_of(result) if args.explain else ())
        return 0


def show_hits(result: SearchResult, context: Context, *, explain: bool = False) -> None:
    """Write the hits to standard output: laid out at a terminal, plain elsewhere."""
    if context.pretty:
        shown = pretty_hits(result, context.style, explain=explain, link=context.link)
        context.out.write(shown)
    elif context.format == "md":
        from commonplace.cli.forms import hits_as_markdown

        context.out.write(hits_as_markdown(result))
    else:
        context.out.write(plain_hits(result, explain=explain))


def plain_hits(result: SearchResult, *, explain: bool) -> str:
    """For each hit a line ``score path#Lstart-Lend`` and remarks, its snippet, and an empty line.

    The snippet is indented: no line of a note, and no name, can pass for another hit.
    """
    parts = []
    for hit in result.hits:
        position = one_line(hit.citation)
        parts.append("  ".join([f"{hit.score:.3f} {position}", *remarks_on(hit)]) + "\n")
        if explain:
            parts += [f"  {line}\n" for line in explained(hit.explain)]
        snippet = printable(hit.snippet).strip("\n").split("\n")
        parts += [*(f"  {line}".rstrip() + "\n" for line in snippet), "\n"]
    return "".join(parts)


def remarks_on(hit: Hit) -> Iterator[str]:
    """What a hit stands for besides itself, and whether it is weak."""
    if hit.similar:
        before = f" (before: {printable(', '.join(hit.earlier[:2]))})" if hit.earlier else ""
        yield f"+{len(hit.similar)} more like this{before}"
    if hit.weak:
        yield "weak match"


def explained(explanation: Explanation) -> Iterator[str]:
    """How a score came about: each arm's, the change by each ranker, their sum, and the filters."""
    for arm in explanation.arms:
        note = f" ({arm.note})" if arm.note else ""
        evidence = f", evidence {arm.evidence:.3f}" if arm.evidence is not None else ""
        yield f"{arm.arm}: {arm.kind} {arm.raw:.4g}, rank {arm.rank}{evidence}{note}"
    for step in explanation.steps:
        change = f"{step.before:.4f} -> {step.after:.4f}"
        yield f"{step.ranker}: {change}" + (f" ({step.note})" if step.note else "")
    if len(explanation.parts) > 1:
        parts = " ".join(f"{amount:+.4f} {name}" for name, amount in explanation.parts)
        yield f"score: {explanation.steps[-1].after:.4f} = {parts.removeprefix('+')}"
    if explanation.filters:
        yield f"passed: {' '.join(explanation.filters)}"


def notes_on(result: SearchResult) -> Iterator[str]:
    """What a person should know about these results besides the hits."""
    if not result.hits:
        yield "no matches"
    yield from messages_of(result)


def arms_of(result: SearchResult) -> Iterator[str]:
    """One line for each ranked list that the results were fused from."""
    for arm in result.arms:
        plan = f" by {arm.plan}" if arm.plan else ""
        exact = "" if arm.exact else ", approximate"
        embedded = ""
        if arm.name == "vector" and result.provider:
            embedded = f", query embedded by {result.provider} ({result.model})"
        note = f", {arm.note}" if arm.note else ""
        yield f"{arm.name}: {arm.found} ranked{plan}{exact}{embedded}{note}"


_INDENT = "   "


def pretty_hits(
    result: SearchResult,
    style: Style,
    *,
    explain: bool = False,
    link: Callable[[str, int], str] = lambda *_: "",
) -> str:
    """Each hit: its path, lines and score, its headings, and the snippet with its matches.

    ``link`` gives the URL of a path and line.
    """
    lines: list[str] = []
    for number, hit in enumerate(result.hits, 1):
        lines += [*_pretty_hit(number, hit, style, explain=explain, link=link), ""]
    return "".join(line + "\n" for line in lines)


def _pretty_hit(
    number: int, hit: Hit, style: Style, *, explain: bool, link: Callable[[str, int], str]
) -> Iterator[str]:
    from commonplace.cli.terminal import fit, highlighted, wrap

    lines = hit.citation.removeprefix(hit.path)
    position = style.path(one_line(hit.path)) + lines
    position = style.link(position, link(hit.path, hit.start_line))
    trust = "" if hit.trust == "memory" else f"  [{hit.trust}]"
    remarks = "".join(f"  {style.faint(remark)}" for remark in remarks_on(hit))
    score = style.faint(f"{hit.score:.2f}")
    yield style.strong(f"{number}.") + f" {position}  {score}{trust}{remarks}"
    width = style.width - len(_INDENT)
    if hit.heading:
        yield _INDENT + style.faint(fit(one_line(" › ".join(hit.heading)), width))
    if explain:
        for line in explained(hit.explain):
            yield _INDENT + style.faint(fit(line, width))
    text = printable(hit.snippet).rstrip()
    for start, end in wrap(text, width):
        yield (_INDENT + highlighted(text, start, end, hit.highlights, style)).rstrip()
