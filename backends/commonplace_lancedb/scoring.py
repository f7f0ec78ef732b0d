"""How often a row holds a token, and what that scores: BM25 over the columns of terms."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, NamedTuple

from commonplace_lancedb.head import last_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_EXTRA = 0.4
"""What one occurrence counts in the column extra; in body and head it counts 1."""

_K1 = 1.2
_B = 0.75

Padded = tuple[str, str]
"""All columns of a row, and the column extra alone, each token with two spaces of its own."""


class Candidate(NamedTuple):
    """A row that matches: where it stands, and its terms."""

    id: int
    source: str
    path: str
    position: int
    day: str | None
    columns: Padded
    length: int


def padded(terms: str) -> Padded:
    """The columns so that tokens and phrases are found by plain text search.

    Two tokens that stand side by side have two spaces between them: both are found.
    """
    return f"  {terms.replace(' ', '  ')} ", f"  {last_column(terms).replace(' ', '  ')} "


def counts_of(columns: Padded, token: str) -> float:
    """How often ``token`` stands in a row, each occurrence with its column's weight."""
    every, extra = columns
    if " " in token:
        found, less = _count_phrase(every, token), _count_phrase(extra, token)
        return found - less + _EXTRA * less
    needle = f" {token} "
    found = every.count(needle)
    if not found:
        return 0.0
    less = extra.count(needle)
    return found - less + _EXTRA * less


def _count_phrase(columns: str, phrase: str) -> int:
    """How often ``phrase`` stands there, also where it overlaps itself."""
    needle = f" {phrase.replace(' ', '  ')} "
    count = at = 0
    while (at := columns.find(needle, at) + 1) > 0:
        count += 1
    return count


def has(columns: Padded, phrase: Sequence[str]) -> bool:
    """Whether the tokens of ``phrase`` stand side by side in one of the columns."""
    return f" {'  '.join(phrase)} " in columns[0]


def weight(rows: int, hits: float) -> float:
    """The weight of a token that ``hits`` of ``rows`` chunks hold; never below 1e-6.

    Without the bound a token that stands in more than half of all chunks would count against them.
    """
    return max(log((rows - hits + 0.5) / (hits + 0.5)), 1e-6) if hits < rows + 0.5 else 1e-6


def score(
    columns: Padded,
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
