"""From QMD's rows to passages: the lines of each file that answer the query best.

They are found in the file itself, since QMD's own guess at the line only looks for the words as
they were typed, and is line 1 if it finds none.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from itertools import accumulate, zip_longest
from math import log
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import (
    PathNotAllowedError,
    StoredChunk,
    day_of,
    decode,
    is_storable,
    make_snippet,
    note_facts,
    prose_lines,
    read_bytes,
    where_filter,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from commonplace.plugin import Analyser, KeywordQuery, Phrase, Where
    from commonplace_qmd.collections import Collection
    from commonplace_qmd.engine.values import Row


_MAX_CHARACTERS = 200_000
"""Characters of a file that are searched; of a longer one, those around QMD's line."""
_TRIED = 40
_SNIPPET_CHARACTERS = 200
"""The least length at which a cut can respect word boundaries."""
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*\r?$")


class Passage(NamedTuple):
    """Lines of a file, 1-based and inclusive, with their text, or a part of a long line."""

    start_line: int
    end_line: int
    text: str
    heading: tuple[str, ...] = ()


def best_passage(
    text: str, query: KeywordQuery, analyser: Analyser, *, size: int, line: int | None = None
) -> Passage | None:
    """The run of lines of up to ``size`` characters that has most of the query's words.

    Words that are rare in the file weigh more. ``line`` is QMD's guess: it is used if the file has
    no word of the query, as with hits by meaning. ``None`` if no passage has all that the query
    requires and nothing that it excludes.
    """
    lines = text.split("\n")
    first, last = _searched_lines(lines, line)
    terms = frozenset(query.should)
    found = _terms_by_line(lines[first:last], first, terms, analyser)
    windows = _windows(lines, list(found), size)
    weights = _weights(found, last - first)
    ranked = sorted(windows, key=lambda window: (-_score(found, weights, window), window))
    if not ranked:
        at = min(max((line or 1) - 1, 0), len(lines) - 1)
        ranked = list(_windows(lines, [at], size))
    for window in ranked[:_TRIED]:
        passage = _passage(lines, window, terms, analyser, size)
        if _holds(passage.text, query, analyser):
            return passage
    return None


def _searched_lines(lines: Sequence[str], line: int | None) -> tuple[int, int]:
    """The range of lines to search: first, and one past the last."""
    ends = list(accumulate(len(text) + 1 for text in lines))
    if ends[-1] <= _MAX_CHARACTERS:
        return 0, len(lines)
    at = ends[min(max((line or 1) - 1, 0), len(lines) - 1)]
    start = max(0, min(at - _MAX_CHARACTERS // 2, ends[-1] - _MAX_CHARACTERS))
    first = bisect_right(ends, start)
    return first, max(first + 1, bisect_right(ends, start + _MAX_CHARACTERS))


_Terms = dict[int, list[frozenset[str]]]
"""The query's terms that stand in each line that contains some."""


def _terms_by_line(
    lines: Sequence[str], first: int, terms: frozenset[str], analyser: Analyser
) -> _Terms:
    ends = list(accumulate(len(line) + 1 for line in lines))
    found: _Terms = {}
    for start, _, forms in analyser.spans("\n".join(lines)):
        if common := terms.intersection(forms):
            found.setdefault(first + bisect_right(ends, start), []).append(common)
    return found


def _weights(found: _Terms, count: int) -> dict[str, float]:
    lines_with = Counter(term for each in found.values() for term in frozenset().union(*each))
    return {term: log(1 + (count + 0.5) / (lines + 0.5)) for term, lines in lines_with.items()}


def _score(found: _Terms, weights: dict[str, float], window: tuple[int, int]) -> float:
    of_window = [terms for at in range(*window) for terms in found.get(at, ())]
    different: frozenset[str] = frozenset().union(*of_window)
    return sum(weights[term] for term in different) + 0.01 * len(of_window)


def _windows(lines: Sequence[str], starts: Sequence[int], size: int) -> Iterator[tuple[int, int]]:
    """Each line of ``starts`` with as many after it as fit."""
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
    """The lines of ``window``, extended back to their heading as far as they fit."""
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
    """The part around the match of a line longer than ``size``."""
    if size >= _SNIPPET_CHARACTERS:
        return make_snippet(text, terms, analyser, limit=size)[0]
    spans = analyser.spans(text)
    at = next((start for start, _, forms in spans if not terms.isdisjoint(forms)), 0)
    return text[max(0, at - size // 4) :][:size]


def _headings(lines: Sequence[str]) -> tuple[str, ...]:
    """The path of headings of the last of ``lines``."""
    path: list[tuple[int, str]] = []
    for _, line in prose_lines("\n".join(lines)):
        if heading := _HEADING.match(line):
            depth = len(heading[1])
            path = [*(above for above in path if above[0] < depth), (depth, heading[2])]
    return tuple(title for _, title in path if title)


def _holds(text: str, query: KeywordQuery, analyser: Analyser) -> bool:
    """Whether ``text`` has every required phrase and no excluded one."""
    if not (query.must or query.must_not):
        return True
    body = f" {analyser.chunk(text).body} "

    def has(phrase: Phrase) -> bool:
        return f" {' '.join(phrase)} " in body

    return all(map(has, query.must)) and not any(map(has, query.must_not))


def passages_of(
    rows: Iterable[Row],
    collections: Sequence[Collection],
    *,
    query: KeywordQuery,
    analyser: Analyser,
    where: Where,
    size: int,
    limit: int,
) -> Iterator[StoredChunk]:
    """The best passage of each row's file, in the rows' order, each file once.

    At most ``limit`` passages of each source, of up to ``size`` characters. Dropped are rows of
    other collections, files that are missing, outside their folder or excluded by ``where``, and
    files without a passage that the query allows.
    """
    known = {collection.name: (collection, collection.wanted()) for collection in collections}
    passes = where_filter(where)
    outside = where_filter(where._replace(after=None, before=None, tags=(), not_tags=()))
    seen: set[str] = set()
    left = dict.fromkeys((collection.source for collection in collections), limit)
    for row in rows:
        collection, wanted = known.get(row.collection, (None, None))
        if collection is None or wanted is None or not left[collection.source]:
            continue
        path = collection.stored(row.path)
        named = day_of(path)
        iso = named.isoformat() if named else None
        if path in seen or not (is_path_below(row.path) and wanted(row.path)):
            continue
        seen.add(path)
        # What a file says of itself is looked at where its name does not decide already.
        if not outside(collection.source, path, iso, ()):
            continue
        text = _text(collection, row.path)
        facts = note_facts(text)
        iso = iso or (facts.day.isoformat() if facts.day else None)
        if not passes(collection.source, path, iso, facts.tags):
            continue
        passage = best_passage(text, query, analyser, size=size, line=row.line)
        if not text.strip() or passage is None:
            continue
        left[collection.source] -= 1
        yield StoredChunk(
            id=f"{collection.source}:{path}:{passage.start_line}",
            source=collection.source,
            path=path,
            start_line=passage.start_line,
            end_line=passage.end_line,
            text=passage.text,
            heading=passage.heading,
            day=iso,
            trust=collection.trust,
        )


def is_path_below(path: str) -> bool:
    """Whether ``path`` cannot leave the folder that it is relative to."""
    parts = path.split("/")
    plain = "\0" not in path and is_storable(path)
    return plain and not any(part in ("", ".", "..") for part in parts)


def by_turns(chunks: Sequence[StoredChunk]) -> list[StoredChunk]:
    """Interleave the sources, so that conversations do not crowd out notes."""
    lists: dict[str, list[StoredChunk]] = {}
    for chunk in chunks:
        lists.setdefault(chunk.source, []).append(chunk)
    return [chunk for turn in zip_longest(*lists.values()) for chunk in turn if chunk is not None]


def within(chunks: Iterable[StoredChunk], characters: int) -> list[StoredChunk]:
    """As many chunks as fit into ``characters``; the last one is cut."""
    kept = []
    for chunk in chunks:
        if characters <= 0:
            break
        kept.append(chunk._replace(text=chunk.text[:characters]))
        characters -= len(chunk.text)
    return kept


def _text(collection: Collection, path: str) -> str:
    """The file's text; empty if it is missing, no text, or behind a link."""
    try:
        return decode(read_bytes(collection.root, path)[0])
    except (OSError, PathNotAllowedError):
        return ""
