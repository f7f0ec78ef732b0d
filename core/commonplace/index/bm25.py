"""Keyword search over chunks in memory: BM25, phrases, the filters and the order of a search."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

from commonplace.files.globs import glob_regex
from commonplace.index.rescoring import K1, B, idf
from commonplace.model.search import TermCounts, newest_first

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from commonplace.model.chunks import Terms
    from commonplace.model.search import KeywordQuery, Phrase, Where


K = TypeVar("K")

_WEIGHTS = (1.0, 1.0, 0.4)
"""What one occurrence counts in the columns body, head and extra."""

_YEAR_DIGITS = 4


def term_counts(terms: Terms) -> TermCounts:
    """The weighted counts and the length of analysed terms."""
    counts: dict[str, float] = {}
    length = 0
    for column, weight in zip(terms, _WEIGHTS, strict=True):
        for token in column.split(" "):
            if token:
                counts[token] = counts.get(token, 0.0) + weight
                length += 1
    return TermCounts(counts, length)


def with_phrases(item: TermCounts, terms: Terms, tokens: Iterable[str]) -> TermCounts:
    """``item`` with the weighted counts of those of ``tokens`` that are phrases, in ``terms``."""
    phrases = {token for token in tokens if " " in token}
    if not phrases:
        return item
    counts = dict(item.counts)
    for column, weight in zip(terms, _WEIGHTS, strict=True):
        padded = f" {column} "
        for phrase in phrases:
            if found := len(re.findall(rf"(?= {re.escape(phrase)} )", padded)):
                counts[phrase] = counts.get(phrase, 0.0) + weight * found
    return item._replace(counts=counts)


def counts_of(rows: Iterable[Any], tokens: Collection[str]) -> list[TermCounts]:
    """The counts of each stored row, with those of ``tokens`` that are phrases."""
    return [
        with_phrases(TermCounts(row.counts, row.length), row.analysed.terms, tokens) for row in rows
    ]


def words_of(tokens: Iterable[str]) -> set[str]:
    """The words of ``tokens``, of which some are phrases."""
    return {word for token in tokens for word in token.split(" ")}


def holders_of(tokens: AbstractSet[str], chunks: Iterable[TermCounts]) -> Counter[str]:
    """How many of ``chunks`` have each of ``tokens``; 0 for what none has."""
    return Counter(token for item in chunks for token in tokens & item.counts.keys())


def bm25(
    tokens: Sequence[str], chunks: Mapping[K, TermCounts], *, total: int, average: float
) -> dict[K, float]:
    """The BM25 score of each of ``chunks`` that has one of ``tokens``, as SQLite's FTS5 counts it.

    ``chunks`` must include all chunks of the build that have any of the tokens: a token's weight
    depends on how many there are. ``total`` is the number of the build's chunks, ``average`` their
    mean length in tokens. A token that stands twice in ``tokens`` counts twice.
    """
    unique = set(tokens)
    holders = holders_of(unique, chunks.values())
    weights = {token: idf(total, holders[token]) for token in unique}

    def score(counts: Mapping[str, float], length: float) -> float:
        return sum(
            weights[token] * counts[token] * (K1 + 1) / (counts[token] + K1 * (1 - B + B * length))
            for token in tokens
            if token in counts
        )

    return {
        key: score(item.counts, item.length / average)
        for key, item in chunks.items()
        if any(token in item.counts for token in tokens)
    }


def matches_terms(terms: Terms, query: KeywordQuery) -> bool:
    """Whether a chunk of these terms matches ``query``, phrases included."""
    columns = _padded(terms)

    def has(phrase: Phrase) -> bool:
        return _has(columns, phrase)

    return (
        any(has((token,)) for token in query.should)
        and all(map(has, query.must))
        and not any(map(has, query.must_not))
    )


def has_phrase(terms: Terms, phrases: Iterable[Phrase]) -> bool:
    """Whether a chunk of these terms has one of ``phrases``."""
    columns = _padded(terms)
    return any(_has(columns, phrase) for phrase in phrases)


def _padded(terms: Terms) -> list[str]:
    return [f" {column} " for column in terms]


def _has(columns: Iterable[str], phrase: Phrase) -> bool:
    # Tokens contain no spaces: what stands between two of them is a token.
    wanted = f" {' '.join(phrase)} "
    return any(wanted in column for column in columns)


def matches_days(days: Sequence[tuple[str, str]]) -> Callable[[str | None], bool]:
    """Whether a document of this day is of one of ``days``, as a query names them."""
    from commonplace.text.day_spans import is_yearly  # few queries name days

    # Of a day of every year, "-05-07", the year of the document is not compared.
    spans = [(_YEAR_DIGITS if is_yearly(first) else 0, first, last) for first, last in days]

    def matches(day: str | None) -> bool:
        return day is not None and any(first <= day[at:] <= last for at, first, last in spans)

    return matches


def where_filter(where: Where) -> Callable[[str, str, str | None, Collection[str]], bool]:
    """Whether a document of this source, path, day and tags passes ``where``."""
    globs = [re.compile(glob_regex(pattern)).fullmatch for pattern in where.paths]
    unwanted = [re.compile(glob_regex(pattern)).fullmatch for pattern in where.not_paths]

    def passes(source: str, path: str, day: str | None, tags: Collection[str]) -> bool:
        return (
            (where.sources is None or source in where.sources)
            and (not globs or any(glob(path) for glob in globs))
            and source not in where.not_sources
            and not any(glob(path) for glob in unwanted)
            and (where.after is None or (day is not None and day >= where.after))
            and (where.before is None or (day is not None and day <= where.before))
            and all(tag in tags for tag in where.tags)
            and not any(tag in tags for tag in where.not_tags)
        )

    return passes


def hit_order(
    score: float, day: str | None, source: str, path: str, place: int
) -> tuple[float, int, str, str, int]:
    """A sort key of hits: best first; of equal scores the newest day, then source, path, position.

    ``place`` is the position of the chunk in its document.
    """
    return -score, newest_first(day), source, path, place
