"""BM25 by the formula of SQLite's FTS5, over the token columns of the rows that Lance found."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from commonplace_lancedb.encoding import terms_out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["counts_of", "has", "padded", "score", "weight"]

_WEIGHTS = (1.0, 1.0, 0.4)
"""What one occurrence counts in the columns body, head and extra."""

_K1 = 1.2
_B = 0.75

Columns = tuple[str, ...]


def padded(terms: str) -> Columns:
    """The columns of a row, each token with two spaces around it that are its own.

    So tokens and phrases are found by plain text search, and two that stand side by side are two.
    """
    return tuple(f"  {column.replace(' ', '  ')}  " for column in terms_out(terms))


def counts_of(columns: Columns, token: str) -> float:
    """How often ``token`` stands in a row, each occurrence with its column's weight."""
    needle = f" {token} "
    return sum(
        weight * column.count(needle) for column, weight in zip(columns, _WEIGHTS, strict=True)
    )


def has(columns: Columns, phrase: Sequence[str]) -> bool:
    """Whether the tokens of ``phrase`` stand side by side in one of the columns."""
    needle = f" {'  '.join(phrase)} "
    return any(needle in column for column in columns)


def weight(rows: int, hits: float) -> float:
    """The weight of a token that ``hits`` of ``rows`` chunks hold; never below 1e-6.

    Without the bound a token that stands in more than half of all chunks would count against them.
    """
    return max(log((rows - hits + 0.5) / (hits + 0.5)), 1e-6) if hits < rows + 0.5 else 1e-6


def score(
    columns: Columns,
    length: int,
    average: float,
    should: Sequence[str],
    weights: Mapping[str, float],
) -> float:
    """The sum over ``should``; a token that stands there twice counts twice."""
    norm = _K1 * (1 - _B + _B * length / average)
    total = 0.0
    for token in should:
        count = counts_of(columns, token)
        if count:
            total += weights[token] * count * (_K1 + 1) / (count + norm)
    return total
