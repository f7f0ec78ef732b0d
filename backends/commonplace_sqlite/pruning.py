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
"""Common terms in fewer of the chunks than this, in all, cost less than finding out: a share, and
a number.
"""

_WORTH_TRYING = 3
"""How much more frequent the others have to be than the rarest term, where all are common."""


def best_by_rarer(
    tokens: Sequence[str],
    chunks: int,
    common: Mapping[str, int],
    limit: int,
    best_of: Callable[[Sequence[str], Sequence[str]], Ranked],
) -> tuple[Ranked, list[str]] | None:
    """The best ``limit`` rows, and those of ``tokens`` of which each has one; ``None``: maybe all.

    ``common`` are those that many of the ``chunks`` hold, and at least how many. ``best_of`` gives
    the best rows, best first and with all that equal the last one wanted, that have one of some
    tokens, and one of others if there are others: by the scores of all of these.
    """
    every = sum(common.values())
    if every < max(chunks * _WORTH_IT, _LEAST_FOUND):
        return None
    # From the rarest on; terms that are not common first.
    order = sorted(set(tokens), key=lambda token: common.get(token, 0))
    first = max(len(order) - len(common), 1)

    def most_of(some: Sequence[str]) -> float:
        return sum(_most(chunks, common[token]) * tokens.count(token) for token in some)

    def best_within(begin: int, end: int, lowest: float = 0.0) -> Ranked:
        rarer, others = frozenset(order[begin:end]), frozenset(order[end:])
        some = [token for token in tokens if token in rarer]
        alone = best_of(some, ()) if not lowest or most_of(order[begin:end]) > lowest else []
        # What has one of the others, too, and is not among the best of these, scores less than they
        # do, and by the rarer ones alone yet less.
        beside = best_of(some, [token for token in tokens if token in others])
        return list({**dict(alone), **dict(beside)}.items())

    rows: Ranked = []
    more = 1
    while len(rows) < limit:
        cost = sum(common.get(token, 0) for token in order[:first])
        if first == len(order) or cost * _WORTH_TRYING > every:
            return None
        rows = best_within(0, first)
        if len(rows) < limit:  # doubled: where filters let few rows pass, many terms are needed
            first, more = min(first + more, len(order)), more * 2
    lowest = sorted(score for _, score in rows)[-limit]
    end = first
    while most_of(order[end:]) > lowest:
        end += 1
        if end == len(order):
            return None
    if end > first:
        # What has one of the first, too, is known already, or not among the best.
        rows = list({**dict(best_within(first, end, lowest)), **dict(rows)}.items())
    return rows, order[:end]


def _most(chunks: int, documents: int) -> float:
    """The most that a term in ``documents`` chunks, or more, adds to a score."""
    weight = log((chunks - documents + 0.5) / (documents + 0.5))
    return _MOST_PER_WEIGHT * (weight if weight > 0 else 1e-6)
