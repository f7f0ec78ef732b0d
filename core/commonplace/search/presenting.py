"""How an answer is shown: snippets around what matches.

Each snippet is valid Markdown by itself.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from commonplace.graphemes import is_boundary
from commonplace.model.search import Hit, KeywordQuery, QueryNote, cited

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from commonplace.index.syncing import Freshness
    from commonplace.model.search import Arm, Candidate, UnknownWord
    from commonplace.text.analyse import Analyser


_FENCE = r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})[ \t]*([^\n]*)"
_DELIMITERS = r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?::?-+:?[ \t]*)?"

_REACH = 80
"""Characters within which a good place to begin or to end is looked for."""
_WEAK = 0.4  # a share of the best score


def hits_of(
    ranked: Sequence[Candidate], query: KeywordQuery, analyser: Analyser, *, limit: int
) -> tuple[Hit, ...]:
    """The first ``limit`` candidates as hits, each with the snippet around its match."""
    every, selective = frozenset(query.terms), frozenset(query.selective)
    best = max((candidate.score for candidate in ranked[:limit]), default=0.0)
    hits = []
    for candidate in ranked[:limit]:
        chunk, best_piece = candidate.chunk, _best_piece(candidate)
        shown = partial(markdown_snippet, chunk.text, analyser=analyser, best=best_piece)
        snippet, highlights = shown(selective or every)
        if selective and not highlights:
            snippet, highlights = shown(every)
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
                day=chunk.day,
                similar=tuple([cited(c.path, c.start_line, c.end_line) for c in candidate.similar]),
                earlier=candidate.earlier,
                weak=candidate.score < _WEAK * best,
            )
        )
    return tuple(hits)


LIMIT = 700
"""The most characters a snippet may have."""


def make_snippet(
    text: str, terms: Collection[str], analyser: Analyser, *, limit: int = LIMIT
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A contiguous piece of ``text`` of at most ``limit`` characters, and where it matches.

    How it is chosen: :func:`window`. The second value are (start, end)
    offsets into the piece.
    """
    matches = analyser.matches(text, frozenset(terms))
    start, end = _piece(text, matches, limit)
    return text[start:end], _marks(matches, start, end)


def markdown_snippet(
    text: str,
    terms: Collection[str],
    analyser: Analyser,
    *,
    limit: int = LIMIT,
    best: tuple[int, int] | None = None,
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """As :func:`make_snippet`, and valid Markdown by itself.

    A fence that is cut is opened and closed, and rows of a table stand below its header. Of a
    longer text ``best``, two offsets into it, is shown whole, or as much of it as fits.
    """
    matches = analyser.matches(text, frozenset(terms))
    start, end = _piece(text, matches, limit, best)
    if "```" not in text and "~~~" not in text and not (start and "|" in text):
        return text[start:end], _marks(matches, start, end)
    before, start, end, after = fitted(text, lambda room: _piece(text, matches, room, best), limit)
    return f"{before}{text[start:end]}{after}", _marks(matches, start, end, len(before))


def _best_piece(candidate: Candidate) -> tuple[int, int] | None:
    """Where in the text of a joined passage the lines stand that have its score."""
    if candidate.best is None:
        return None
    first, last = (line - candidate.chunk.start_line for line in candidate.best)
    lines = candidate.chunk.text.split("\n")
    return sum(len(line) + 1 for line in lines[:first]), len("\n".join(lines[: last + 1]))


def _piece(
    text: str,
    matches: Sequence[tuple[int, int, frozenset[str]]],
    limit: int,
    best: tuple[int, int] | None = None,
) -> tuple[int, int]:
    """Where a piece of at most ``limit`` characters begins and ends, without white space around."""
    start, end = 0, len(text)
    if end > limit:
        start, end = _around(text, matches, limit, *best) if best else window(text, matches, limit)
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _marks(
    matches: Sequence[tuple[int, int, frozenset[str]]], start: int, end: int, shift: int = 0
) -> tuple[tuple[int, int], ...]:
    """Where the matches between ``start`` and ``end`` stand in a snippet that begins there."""
    shown = [(s, e) for s, e, _ in matches if s >= start and e <= end]
    if any(e - s > 1 for s, e in shown):
        # Single characters of scripts without spaces match everywhere: beside words they are noise.
        shown = [(s, e) for s, e in shown if e - s > 1]
    return tuple((s - start + shift, e - start + shift) for s, e in _merge(shown))


def _merge(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sorted spans with those that touch or overlap made one (neighbouring bigrams overlap)."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _around(
    text: str,
    matches: Sequence[tuple[int, int, frozenset[str]]],
    limit: int,
    first: int,
    last: int,
) -> tuple[int, int]:
    """The piece of a longer ``text``, of at most ``limit`` characters, that shows a part of it.

    It is what lies between ``first`` and ``last``; of what is too long itself, its :func:`window`.
    """
    spare = limit - (last - first)
    if spare < 0:
        inside = [
            (start - first, end - first, terms)
            for start, end, terms in matches
            if first <= start and end <= last
        ]
        start, end = window(text[first:last], inside, limit)
        return first + start, first + end
    # Half of the room before it, or more where less than half is needed behind.
    start = first - min(first, max(spare // 2, spare - (len(text) - last)))
    if 0 < start < first and text[start - 1] != "\n":  # ``first`` begins a line
        start = text.find("\n", start, first) + 1 or first
    end = min(len(text), start + limit)
    if end < len(text):
        end = _cut_before(text, end, max(last, end - _REACH))
    return start, end


def window(
    text: str, matches: Sequence[tuple[int, int, frozenset[str]]], limit: int
) -> tuple[int, int]:
    """The piece of a longer ``text``, of at most ``limit`` characters, that shows its ``matches``.

    Of all pieces the one with the most different query terms is taken (then the one with the most
    matches, then the first). It begins and ends at a line, sentence or word if one is near, at a
    grapheme border in any case.
    """
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
    best_worth: tuple[int, int] = (0, 0)
    best: tuple[int | None, int | None] = (None, None)
    counts: dict[str, int] = {}
    left = 0
    for right, (_, end, terms) in enumerate(matches):
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
        while left < right and end - matches[left][0] > width:
            for term in matches[left][2]:
                counts[term] -= 1
                if not counts[term]:
                    del counts[term]
            left += 1
        worth = (len(counts), right - left)
        if worth > best_worth:
            best_worth, best = worth, (matches[left][0], min(end, matches[left][0] + width))
    return best


def _cut_after(text: str, low: int, high: int) -> int:
    """The best place to begin in ``low..high``: after a line break, or the first word.

    Not after any full stop: that of a number would begin a snippet with a wrong value.
    """
    newline = text.find("\n", low, high)
    if newline >= 0:
        return newline + 1
    for match in re.compile(r"(?<=[。！？；])\s*|\s+").finditer(text, low, high):
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


def fitted(
    text: str, cut: Callable[[int], tuple[int, int]], limit: int
) -> tuple[str, int, int, str]:
    """What must stand before a piece of ``text``, its start and end, and what must stand after it.

    All is at most ``limit`` characters; ``cut`` takes the piece for as many as it is given. What is
    too long even beside a piece of half of them is left out.
    """
    room = limit
    while True:
        start, end = cut(room)
        start = row_start(text, start)
        before, after = completed(text, start, end)
        size = len(before) + end - start + len(after)
        if size <= limit:
            return before, start, end, after
        if room <= limit // 2:  # a header too wide to be repeated, or a row to be shown whole
            start, end = cut(limit)
            return "", start, end, ""
        room = max(limit // 2, room - (size - limit))


def completed(text: str, start: int, end: int) -> tuple[str, str]:
    """What must stand before and after ``text[start:end]`` for it to be valid Markdown."""
    fences = list(re.compile(_FENCE, re.MULTILINE).finditer(text))
    # The line that opened the fence we are in, and its mark.
    opened = mark = fences[0][1] if len(fences) % 2 and _ends_a_fence(text, fences[0]) else ""
    at_start = opened
    for fence in fences:
        if fence.start() >= end:
            break
        if not mark:
            opened, mark = fence[0].strip(), fence[1]
        elif fence[1].startswith(mark) and not fence[2]:
            opened = mark = ""
        if fence.end() <= start:
            at_start = opened
    before = f"{at_start}\n" if at_start else _header(text, start)
    return before, f"\n{mark}" if mark else ""


def _ends_a_fence(text: str, first: re.Match[str]) -> bool:
    """Whether the first mark of a text most likely ends what began before the text."""
    above = text[: first.start()].removesuffix("\n").rpartition("\n")[2].strip()
    below = text[first.end() :].removeprefix("\n").partition("\n")[0].strip()
    return bool(above) and not above.endswith(":") and not first[2] and not below


def _header(text: str, start: int) -> str:
    """The lines above ``start`` that make its line a row of a table; empty if there are none."""
    *lines, beginning = text[:start].split("\n")
    row = beginning + text[start:].partition("\n")[0]
    if beginning or "|" not in row:
        return ""
    rows = list(takewhile(lambda line: "|" in line, reversed(lines)))
    if rows and re.fullmatch(_DELIMITERS, row):
        return f"{rows[0]}\n"
    for below, header in pairwise(rows):
        if re.fullmatch(_DELIMITERS, below):
            return f"{header}\n{below}\n"
    return ""


def row_start(text: str, start: int) -> int:
    """The beginning of the line in which ``start`` is, if it is a row of a table."""
    line = text.rfind("\n", 0, start) + 1
    return line if text.startswith("|", line) else start


def none_of(freshness: Freshness, *, filtered: bool = False) -> str:
    """The subject of a line on what no note has, which claims no more than the index can tell."""
    indexed = "indexed " if freshness.stale or freshness.hidden else ""
    return f"no {indexed}note" + (" that passes the filters" if filtered else "")


_FRAME = """
    across against ago almost along already although always among another anything around aside away
    behind beneath beside besides beyond despite either else enough even ever everything except
    hardly however instead lately least less lot lots maybe meanwhile mostly nearly neither never
    nothing often others otherwise outside perhaps quite rarely rather recently seldom several since
    somehow something sometimes soon still though throughout thus till together toward towards
    unless unlike upon usually via whatever whenever whereas wherever whether within without yet
    happen happened happening happens kind matter seem seemed seems sort stuff thing things
"""
_FRAME_WORDS = frozenset(_FRAME.split())
"""English words beside the stop words that relate others: that no note has one says nothing."""


def unknown_notes(words: Iterable[UnknownWord], none: str) -> Iterator[QueryNote]:
    """Notes on words that no note has; a single one on those with no word in their place.

    ``none`` names the notes that do not have them.
    """
    without_other = []
    for unknown in words:
        word = repr(unknown.word[:60])
        if unknown.word.lower() in _FRAME_WORDS:
            continue
        if unknown.instead:
            instead = " and ".join(map(repr, unknown.instead))
            yield QueryNote(f"{none} has {word}: searched for {instead} instead")
        elif unknown.suggestion:
            yield QueryNote(f"{none} has {word}; did you mean {unknown.suggestion!r}?")
        else:
            without_other.append(word)
    if without_other:
        *others, last = without_other
        yield QueryNote(
            f"{none} has {', '.join(others)} or {last}" if others else f"{none} has {last}"
        )


def unknown_sources(
    arms: Sequence[Arm], requested: frozenset[str], known: Sequence[str]
) -> Iterator[str]:
    """A note on each source that is ``requested`` and unknown; a backend may have its own."""
    if not requested:
        return
    of_backend = {item.chunk.source for arm in arms for item in arm.found}
    for source in sorted(requested.difference(known, of_backend)):
        yield f"there is no source {source!r} here, only {', '.join(known) or 'none'}"
