"""Which terms of a query the best rows must have one of, so that others need not be scored.

To score a row is ten times as dear as to find it, and common terms find most of the rows. A row
that holds nothing but common terms can score no more than their weights allow. Where the rarer
terms give as many better rows as are wanted, only rows with a rarer term are scored: by all terms,
so that the scores are the same. FTS5 finds what has a rarer and a common term in no more steps than
there are rows with the rarer one.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Ranked = list[tuple[int, float]]


_MOST_PER_WEIGHT = 2.2
"""FTS5's BM25 of a term stays below k1 + 1 times its weight, however often a row contains it."""

_WORTH_IT, _LEAST_FOUND = 0.1, 6_000
"""Where common terms have fewer matches than this, in all, scoring them costs less than pruning: a
share of the chunks, and a number.
"""

_WORTH_TRYING = 3
"""How many times as many matches all common terms must have as the rarer ones among them."""


def best_by_rarer(
    tokens: Sequence[str],
    chunks: int,
    common: Mapping[str, int],
    limit: int,
    rows_with: Callable[[Sequence[str], Sequence[str]], Ranked],
) -> tuple[Ranked, list[str]] | None:
    """The best ``limit`` rows, and those of ``tokens`` of which each has one; ``None``: maybe all.

    ``common`` are those that many of the ``chunks`` hold, and at least how many. ``rows_with``
    finds the best rows that have one of some tokens, and one of others if there are others, by the
    scores of all of these: best first, with all that equal the last one wanted.
    """
    matches_of_common = sum(common.values())
    if matches_of_common < max(chunks * _WORTH_IT, _LEAST_FOUND):
        return None
    # From the rarest on; terms that are not common first.
    order = sorted(set(tokens), key=lambda token: common.get(token, 0))

    def most_added(begin: int, end: int | None = None) -> float:
        """The most that the terms of ``order`` from ``begin`` to ``end`` add to a score."""
        return sum(_most(chunks, common[term]) * tokens.count(term) for term in order[begin:end])

    def rows_in_range(begin: int, end: int, lowest: float = 0.0) -> Ranked:
        """The best rows with a term of ``order[begin:end]``, by these and those after them."""
        rarer, rest = frozenset(order[begin:end]), frozenset(order[end:])
        chosen = [token for token in tokens if token in rarer]
        alone = rows_with(chosen, ()) if not lowest or most_added(begin, end) > lowest else []
        # A row with one of the rest, too, that is not among the best of these scores less than they
        # do, and by the rarer ones alone yet less.
        with_rest = rows_with(chosen, [token for token in tokens if token in rest])
        return list({**dict(alone), **dict(with_rest)}.items())

    # The fewest of the rarest terms that find enough rows.
    first = max(len(order) - len(common), 1)
    step = 1
    rows: Ranked = []
    while len(rows) < limit:
        cost = sum(common.get(term, 0) for term in order[:first])
        if first == len(order) or cost * _WORTH_TRYING > matches_of_common:
            return None
        rows = rows_in_range(0, first)
        if len(rows) < limit:  # doubled: where filters let few rows pass, many terms are needed
            first, step = min(first + step, len(order)), step * 2
    # As many terms more as it takes for the rest to add no better row.
    lowest = sorted(score for _, score in rows)[-limit]
    end = first
    while most_added(end) > lowest:
        end += 1
        if end == len(order):
            return None
    if end > first:
        # What has one of the first, too, is known already, or not among the best.
        rows = list({**dict(rows_in_range(first, end, lowest)), **dict(rows)}.items())
    return rows, order[:end]


def _most(chunks: int, documents: int) -> float:
    """The most that a term in ``documents`` chunks, or more, adds to a score."""
    weight = log((chunks - documents + 0.5) / (documents + 0.5))
    return _MOST_PER_WEIGHT * (weight if weight > 0 else 1e-6)
