"""The piece of a file that answers a query best, found in the file itself.

The lines that QMD tells are of no use for this: it looks for the words as they were typed, and
names line 1 where it finds none of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from math import log
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import make_snippet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.plugin import Analyser, KeywordQuery, Phrase

__all__ = ["Passage", "best_passage"]

_MOST = 200_000
"""Characters of a file that are looked at; of a longer one, those around QMD's line."""
_TRIED = 40
_LEAST_FOR_BORDERS = 200
"""Characters from which on there is room to look for the borders of words."""
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*\r?$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class Passage(NamedTuple):
    """Lines of a file, 1-based and inclusive; ``text`` is of them, or a piece of a long one."""

    start_line: int
    end_line: int
    text: str
    heading: tuple[str, ...] = ()


def best_passage(
    text: str, query: KeywordQuery, analyser: Analyser, *, size: int, line: int | None = None
) -> Passage | None:
    """The run of lines of up to ``size`` characters that has most of the query's words.

    Words that few lines of the file have count more. ``line`` is where QMD believes the best one
    to be: it serves where no word of the query stands in the file, as with hits by meaning.
    ``None`` where no passage has all that the query requires and nothing that it excludes.
    """
    lines = text.split("\n")
    first, last = _looked_at(lines, line)
    terms = frozenset(query.should)
    found = _terms_by_line(lines[first:last], terms, analyser)
    windows = _windows(lines, [first + at for at in found], size)
    weights = _weights(list(found.values()), last - first)
    ranked = sorted(
        windows,
        key=lambda window: (-_worth(found, weights, window, first), window),
    )
    if not ranked:
        at = min(max((line or 1) - 1, 0), len(lines) - 1)
        ranked = list(_windows(lines, [at], size))
    for window in ranked[:_TRIED]:
        passage = _passage(lines, window, terms, analyser, size)
        if _holds(passage.text, query, analyser):
            return passage
    return None


def _looked_at(lines: Sequence[str], line: int | None) -> tuple[int, int]:
    """The lines to look at, from and up to."""
    ends = list(accumulate(len(text) + 1 for text in lines))
    if ends[-1] <= _MOST:
        return 0, len(lines)
    at = ends[min(max((line or 1) - 1, 0), len(lines) - 1)]
    start = max(0, min(at - _MOST // 2, ends[-1] - _MOST))
    first = bisect_right(ends, start)
    return first, max(first + 1, bisect_right(ends, start + _MOST))


def _terms_by_line(
    lines: Sequence[str], terms: frozenset[str], analyser: Analyser
) -> dict[int, list[frozenset[str]]]:
    """The query's terms in each line that has any."""
    ends = list(accumulate(len(line) + 1 for line in lines))
    found: dict[int, list[frozenset[str]]] = {}
    for start, _, forms in analyser.spans("\n".join(lines)):
        if not terms.isdisjoint(forms):
            found.setdefault(bisect_right(ends, start), []).append(terms.intersection(forms))
    return found


def _weights(found: Sequence[Sequence[frozenset[str]]], count: int) -> dict[str, float]:
    lines_with: dict[str, int] = {}
    for of_line in found:
        for term in frozenset().union(*of_line):
            lines_with[term] = lines_with.get(term, 0) + 1
    return {term: log(1 + (count + 0.5) / (lines + 0.5)) for term, lines in lines_with.items()}


def _worth(
    found: dict[int, list[frozenset[str]]],
    weights: dict[str, float],
    window: tuple[int, int],
    first: int,
) -> float:
    of_window = [terms for at in range(*window) for terms in found.get(at - first, ())]
    different: frozenset[str] = frozenset().union(*of_window)
    return sum(weights[term] for term in different) + 0.01 * len(of_window)


def _windows(lines: Sequence[str], starts: Sequence[int], size: int) -> Iterator[tuple[int, int]]:
    """For each line to start from, it and as many after it as fit."""
    for start in starts:
        end, room = start + 1, size - len(lines[start])
        while end < len(lines) and len(lines[end]) < room:
            room -= len(lines[end]) + 1
            end += 1
        yield start, end


def _passage(
    lines: Sequence[str],
    window: tuple[int, int],
    terms: frozenset[str],
    analyser: Analyser,
    size: int,
) -> Passage:
    """The lines of ``window``, with those before it that still fit, back to their heading."""
    start, end = window
    room = size - sum(len(line) + 1 for line in lines[start:end])
    while start and len(lines[start - 1]) < room and not _HEADING.match(lines[start]):
        start -= 1
        room -= len(lines[start]) + 1
    while start < end - 1 and not lines[start].strip():
        start += 1
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    text = "\n".join(lines[start:end]).removesuffix("\r")
    if len(text) > size:
        text = _cut(text, terms, analyser, size)
    return Passage(start + 1, end, text, _headings(lines[: start + 1]))


def _cut(text: str, terms: frozenset[str], analyser: Analyser, size: int) -> str:
    """A piece of a line that is longer than ``size``, around its match."""
    if size >= _LEAST_FOR_BORDERS:
        return make_snippet(text, terms, analyser, limit=size)[0]
    spans = analyser.spans(text)
    at = next((start for start, _, forms in spans if not terms.isdisjoint(forms)), 0)
    return text[max(0, at - size // 4) :][:size]


def _headings(lines: Sequence[str]) -> tuple[str, ...]:
    """The path of headings that the last of ``lines`` stands under, or is."""
    path: list[tuple[int, str]] = []
    fence = ""
    for line in lines:
        if fenced := _FENCE.match(line):
            mark = fenced[1]
            if not fence:
                fence = mark
            elif mark.startswith(fence):
                fence = ""
        elif not fence and (heading := _HEADING.match(line)):
            depth = len(heading[1])
            path = [*(above for above in path if above[0] < depth), (depth, heading[2])]
    return tuple(title for _, title in path if title)


def _holds(text: str, query: KeywordQuery, analyser: Analyser) -> bool:
    """Whether ``text`` has every required phrase and none that is excluded."""
    if not (query.must or query.must_not):
        return True
    body = f" {analyser.chunk(text).body} "

    def has(phrase: Phrase) -> bool:
        return f" {' '.join(phrase)} " in body

    return all(map(has, query.must)) and not any(map(has, query.must_not))
