"""Which terms of a query the best rows must have one of, so that others need not be scored.

To score a row is ten times as dear as to find it, and common terms find most of the rows. A row
that holds nothing but common terms can score no more than their weights allow. Where the rarer
terms alone give as many better rows as are wanted, only rows with a rarer term are scored: by all
terms, so that the scores are the same.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


_MOST_PER_WEIGHT = 2.2
"""FTS5's BM25 of a term stays below k1 + 1 times its weight, however often a row contains it."""

_WORTH_IT = 0.1
"""Common terms in fewer of the chunks than this, in all, cost less than finding out."""

_WORTH_TRYING = 3
"""How much more frequent the others have to be than the rarest term, where all are common."""


def essential_tokens(
    tokens: Sequence[str],
    chunks: int,
    common: Mapping[str, int],
    lowest_of: Callable[[Sequence[str]], float],
) -> list[str] | None:
    """Those of ``tokens`` of which each of the best rows has one; ``None``: maybe all.

    ``common`` are those that many of the ``chunks`` hold, and at least how many; ``lowest_of``
    gives what the best rows, as many as are wanted, score at the least by some of the tokens.
    """
    if sum(common.values()) < chunks * _WORTH_IT:
        return None
    # From the rarest on; terms that are not common first.
    order = sorted(set(tokens), key=lambda token: common.get(token, 0))
    first = max(len(order) - len(common), 1)
    lowest = 0.0
    while not lowest and first < len(order):
        cost = sum(common.get(token, 0) for token in order[:first])
        if cost * _WORTH_TRYING > sum(common.values()):
            return None
        lowest = lowest_of([token for token in tokens if token in order[:first]])
        first += not lowest  # fewer rows than are wanted have one of these
    left = sum(_most(chunks, common[token]) * tokens.count(token) for token in order[first:])
    for end in range(first, len(order)):
        if left <= lowest:
            return order[:end]
        left -= _most(chunks, common[order[end]]) * tokens.count(order[end])
    return None


def _most(chunks: int, documents: int) -> float:
    """The most that a term in ``documents`` chunks, or more, adds to a score."""
    weight = log((chunks - documents + 0.5) / (documents + 0.5))
    return _MOST_PER_WEIGHT * (weight if weight > 0 else 1e-6)
