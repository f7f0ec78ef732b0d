"""Search results as text: plain for pipes, laid out for a person at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.cli.terminal import Style
    from commonplace.model.search import Explanation, Hit, SearchResult


def plain_hits(result: SearchResult, *, explain: bool) -> str:
    """For each hit a line ``score path:start-end``, its snippet, and an empty line."""
    parts = []
    for hit in result.hits:
        parts.append(f"{hit.score:.3f} {hit.path}:{hit.start_line}-{hit.end_line}\n")
        if explain:
            parts += [f"  {line}\n" for line in explained(hit.explain)]
        parts.append(hit.snippet.strip("\n") + "\n\n")
    return "".join(parts)


def explained(explanation: Explanation) -> Iterator[str]:
    """How a score came about: the score of each arm, then the change by each ranker."""
    for arm in explanation.arms:
        yield f"{arm.arm}: {arm.kind} {arm.raw:.4g}, rank {arm.rank}"
    for step in explanation.steps:
        change = f"{step.before:.4f} -> {step.after:.4f}"
        yield f"{step.ranker}: {change}" + (f" ({step.note})" if step.note else "")


def notes_on(result: SearchResult) -> Iterator[str]:
    """What a person should know about these results besides the hits."""
    if not result.hits:
        yield "no matches"
    if result.fallback is not None and not _is_noted(result):
        fallback = result.fallback
        by = fallback.by or result.backend
        yield f"results come from {by}, not from {fallback.part}: {fallback.reason}"
    yield from result.notes


def _is_noted(result: SearchResult) -> bool:
    """Whether an arm's note repeats the reason of the fallback."""
    return any(result.fallback and result.fallback.reason in arm.note for arm in result.arms)


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


def pretty_hits(result: SearchResult, style: Style, *, explain: bool = False) -> str:
    """Each hit: its path, lines and score, its headings, and the snippet with its matches."""
    lines: list[str] = []
    for number, hit in enumerate(result.hits, 1):
        lines += [*_pretty_hit(number, hit, style, explain=explain), ""]
    return "".join(line + "\n" for line in lines)


def _pretty_hit(number: int, hit: Hit, style: Style, *, explain: bool) -> Iterator[str]:
    from commonplace.cli.terminal import fit, highlighted, printable, wrap

    position = style.path(printable(hit.path)) + f":{hit.start_line}-{hit.end_line}"
    trust = "" if hit.trust == "memory" else f"  [{hit.trust}]"
    yield style.strong(f"{number}.") + f" {position}  {style.faint(f'{hit.score:.2f}')}{trust}"
    width = style.width - len(_INDENT)
    if hit.heading:
        yield _INDENT + style.faint(fit(printable(" › ".join(hit.heading)), width))
    if explain:
        for line in explained(hit.explain):
            yield _INDENT + style.faint(fit(line, width))
    text = printable(hit.snippet).rstrip()
    for start, end in wrap(text, width):
        yield (_INDENT + highlighted(text, start, end, hit.highlights, style)).rstrip()
