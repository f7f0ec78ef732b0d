"""From ranked candidates to hits: thresholds, the cut, the snippet."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonplace.model.search import Hit
from commonplace.text.analyse import is_boundary

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from commonplace.model.search import Candidate, KeywordQuery
    from commonplace.text.analyse import Analyser


def above(
    ranked: Sequence[Candidate],
    *,
    configured: float,
    asked: float | None,
    compat: bool = False,
    text_weight: float = 0.3,
) -> list[Candidate]:
    """The candidates that pass the threshold.

    ``asked``, given with the call, holds for every hit. Otherwise ``configured`` (the key
    ``query.minScore``) is about what vectors found: a hit that keywords alone found passes, for
    no keyword score could ever promise what a cosine does. Under ``compat`` it holds for all, as
    in the original: where nothing passes, keyword hits need only ``text_weight``, the most that
    keywords alone can score, or nothing at all where no vectors were searched.
    """
    if asked is not None:
        return [hit for hit in ranked if hit.score >= asked]
    if compat:
        strict = [hit for hit in ranked if hit.score >= configured]
        if strict or not any(_by_vector(hit) for hit in ranked):
            return strict or list(ranked)
        relaxed = min(configured, text_weight)
        return [hit for hit in ranked if _by_keyword(hit) and hit.score >= relaxed]
    return [hit for hit in ranked if hit.score >= configured or _by_keyword(hit)]


def _by_vector(hit: Candidate) -> bool:
    return any(arm.kind == "cosine" for arm in hit.explain.arms)


def _by_keyword(hit: Candidate) -> bool:
    return any(arm.kind != "cosine" for arm in hit.explain.arms)


def hits_of(
    ranked: Sequence[Candidate], query: KeywordQuery, analyser: Analyser, *, limit: int
) -> tuple[Hit, ...]:
    """The first ``limit`` candidates as hits, each with the snippet around its match."""
    terms = frozenset(query.should)
    hits = []
    for candidate in ranked[:limit]:
        chunk = candidate.chunk
        snippet, highlights = make_snippet(chunk.text, terms, analyser)
        hits.append(
            Hit(
                path=chunk.path,
                start_line=chunk.start_line,
                end_line=chunk.end_line,
                score=candidate.score,
                snippet=snippet,
                source=chunk.source,
                heading=chunk.heading,
                trust=chunk.trust,
                highlights=highlights,
                explain=candidate.explain,
            )
        )
    return tuple(hits)


LIMIT = 700
"""The most characters a snippet may have."""

_BREAK = r"\n|(?<=[.!?:;。！？；])\s*|\s+"
_REACH = 80


def make_snippet(
    text: str, terms: Collection[str], analyser: Analyser, *, limit: int = LIMIT
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A contiguous piece of ``text`` of at most ``limit`` characters, and where it matches.

    Of all windows the one with the most different query terms is taken (then the one with the
    most matches, then the first). It begins and ends at a line, sentence or word if one is near,
    at a grapheme border in any case. The second value are (start, end) offsets into the piece.
    """
    wanted = frozenset(terms)
    matches = [
        (start, end, wanted.intersection(forms))
        for start, end, forms in analyser.spans(text)
        if not wanted.isdisjoint(forms)
    ]
    start, end = _window(text, matches, limit)
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    shown = [(s, e) for s, e, _ in matches if s >= start and e <= end]
    if any(e - s > 1 for s, e in shown):
        # Single characters of scripts without spaces match everywhere: beside words they are noise.
        shown = [(s, e) for s, e in shown if e - s > 1]
    marks = _merge(shown)
    return text[start:end], tuple((s - start, e - start) for s, e in marks)


def _window(
    text: str, matches: Sequence[tuple[int, int, frozenset[str]]], limit: int
) -> tuple[int, int]:
    if len(text) <= limit:
        return 0, len(text)
    first, last = _best_run(matches, limit - 2 * _REACH)
    if first is None or last is None:
        return 0, _cut_before(text, limit, limit - _REACH)
    # Room before the match lets its sentence be read; what is left goes behind it.
    spare = limit - (last - first)
    start = max(0, min(first - spare // 3, len(text) - limit))
    if start:
        start = _cut_after(text, start, min(first, start + _REACH))
    end = min(len(text), start + limit)
    if end < len(text):
        end = _cut_before(text, end, max(last, end - _REACH))
    return start, end


def _best_run(
    matches: Sequence[tuple[int, int, frozenset[str]]], width: int
) -> tuple[int | None, int | None]:
    """First and last offset of the run of matches within ``width`` with most different terms."""
    best: tuple[int, int] = (0, 0)
    place: tuple[int | None, int | None] = (None, None)
    held: dict[str, int] = {}
    left = 0
    for right, (_, end, found) in enumerate(matches):
        for term in found:
            held[term] = held.get(term, 0) + 1
        while left < right and end - matches[left][0] > width:
            for term in matches[left][2]:
                held[term] -= 1
                if not held[term]:
                    del held[term]
            left += 1
        worth = (len(held), right - left)
        if worth > best:
            best, place = worth, (matches[left][0], min(end, matches[left][0] + width))
    return place


def _cut_after(text: str, low: int, high: int) -> int:
    """The best place to begin in ``low..high``: after a line break, a sentence, a word."""
    newline = text.find("\n", low, high)
    if newline >= 0:
        return newline + 1
    # Compiled on first use: most snippets are whole chunks, and begin where those do.
    for match in re.compile(_BREAK).finditer(text, low, high):
        if match.end() <= high and is_boundary(text, match.end()):
            return match.end()
    return _boundary_at_or_before(text, low)


def _cut_before(text: str, high: int, low: int) -> int:
    """The best place to end in ``low..high``: before a line break, a space, a grapheme."""
    newline = text.rfind("\n", low, high)
    if newline >= 0:
        return newline
    for index in range(high, low, -1):
        if text[index].isspace() and is_boundary(text, index):
            return index
    return _boundary_at_or_before(text, high)


def _boundary_at_or_before(text: str, index: int) -> int:
    """The nearest grapheme border at or before ``index``; a monster grapheme is cut after all."""
    for candidate in range(index, max(index - 200, 0), -1):
        if is_boundary(text, candidate):
            return candidate
    return index


def _merge(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sorted spans with those that touch or overlap made one (neighbouring bigrams overlap)."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
