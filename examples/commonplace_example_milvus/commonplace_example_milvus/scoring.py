"""Which chunks match a keyword query, and their BM25 scores."""

from __future__ import annotations

from collections import Counter
from math import log
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.plugin import KeywordQuery, Phrase

__all__ = ["Columns", "length_of", "matches", "scores"]

_K1 = 1.2
_B = 0.75

_WEIGHTS = (1.0, 1.0, 0.4)
"""What one occurrence counts in body, head and extra."""


class Columns(NamedTuple):
    """A chunk's terms: tokens joined by single spaces."""

    body: str
    head: str
    extra: str


def length_of(columns: Columns) -> int:
    """How many tokens there are in all columns."""
    return sum(len(column.split(" ")) for column in columns if column)


def matches(columns: Columns, query: KeywordQuery) -> bool:
    """Whether a chunk is what ``query`` asks for."""
    return (
        any(_has(columns, (token,)) for token in query.should)
        and all(_has(columns, phrase) for phrase in query.must)
        and not any(_has(columns, phrase) for phrase in query.must_not)
    )


def _has(columns: Columns, phrase: Phrase) -> bool:
    # A token holds no white space, so that what stands between spaces is a token.
    needle = f" {' '.join(phrase)} "
    return any(needle in f" {column} " for column in columns)


def scores(
    tokens: Iterable[str], chunks: dict[int, Columns], *, total: int, average: float
) -> dict[int, float]:
    """The BM25 score of each of ``chunks`` by id; 0 for one that has none of ``tokens``.

    ``chunks`` must be all of the build that hold any of the tokens, for what a token weighs
    depends on how many have it. ``total`` counts the build's chunks, ``average`` is their length.
    """
    asked = Counter(tokens)
    counted = {id_: _counts(columns, asked) for id_, columns in chunks.items()}
    holders = Counter(token for counts in counted.values() for token in counts)
    weights = {token: times * _idf(total, holders[token]) for token, times in asked.items()}
    return {
        id_: _score(counts, weights, length_of(chunks[id_]) / average)
        for id_, counts in counted.items()
    }


def _counts(columns: Columns, asked: Counter[str]) -> dict[str, float]:
    counts: dict[str, float] = {}
    for column, weight in zip(columns, _WEIGHTS, strict=True):
        for token in column.split(" "):
            if token in asked:
                counts[token] = counts.get(token, 0.0) + weight
    return counts


def _idf(total: int, holders: int) -> float:
    # Without the bound a token that most chunks have would count against them.
    return max(log((total - holders + 0.5) / (holders + 0.5)), 1e-6)


def _score(counts: dict[str, float], weights: dict[str, float], length: float) -> float:
    # In the order of the query, so that chunks with equal counts have equal sums.
    return sum(
        weight * counts[token] * (_K1 + 1) / (counts[token] + _K1 * (1 - _B + _B * length))
        for token, weight in weights.items()
        if token in counts
    )
