"""Search results as JSON for scripts, or as plain text for pipes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commonplace.model.search import Explanation, Hit, SearchResult

__all__ = ["arms_of", "explained", "notes_on", "plain_hits", "result_json"]


def result_json(result: SearchResult, *, explain: bool) -> dict[str, Any]:
    """The whole answer; ``results`` holds the hits under the names of the original."""
    return {
        "results": [_hit_json(hit, explain=explain) for hit in result.hits],
        "backend": result.backend,
        "provider": result.provider,
        "model": result.model,
        "fallback": result.fallback,
        "stale": result.stale,
        "notes": result.notes,
    } | ({"arms": result.arms} if explain else {})


def _hit_json(hit: Hit, *, explain: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "path": hit.path,
        "startLine": hit.start_line,
        "endLine": hit.end_line,
        "score": hit.score,
        "snippet": hit.snippet,
        "source": hit.source,
        "citation": hit.citation,
        "heading": hit.heading,
        "trust": hit.trust,
    }
    return facts | {"explain": hit.explain} if explain else facts


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
    """Lines on how a score came about: what each arm said, then what each ranker made of it."""
    for arm in explanation.arms:
        yield f"{arm.arm}: {arm.kind} {arm.raw:.4g}, rank {arm.rank}"
    for step in explanation.steps:
        change = f"{step.before:.4f} -> {step.after:.4f}"
        yield f"{step.ranker}: {change}" + (f" ({step.note})" if step.note else "")


def notes_on(result: SearchResult) -> Iterator[str]:
    """What a person should know about this answer besides the hits."""
    if not result.hits:
        yield "no matches"
    if result.fallback is not None and not _is_told(result):
        fallback = result.fallback
        by = fallback.by or result.backend
        yield f"{by} answered in place of {fallback.part}: {fallback.reason}"
    yield from result.notes


def _is_told(result: SearchResult) -> bool:
    """Whether an arm that is empty says what the fallback says."""
    return any(result.fallback and result.fallback.reason in arm.note for arm in result.arms)


def arms_of(result: SearchResult) -> Iterator[str]:
    """A line on each ranked list that the answer was made of."""
    for arm in result.arms:
        plan = f" by {arm.plan}" if arm.plan else ""
        exact = "" if arm.exact else ", approximate"
        made = ""
        if arm.name == "vector" and result.provider:
            made = f", query embedded by {result.provider} ({result.model})"
        told = f", {arm.note}" if arm.note else ""
        yield f"{arm.name}: {arm.found} ranked{plan}{exact}{made}{told}"
