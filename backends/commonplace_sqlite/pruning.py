"""Leaving aside rows that cannot be among the best, before they are scored.

To score a row is ten times as dear as to find it, and common terms find most of the rows. A row
that holds nothing but common terms can score no more than these terms' weights allow. Where the
rarer terms alone give as many better rows as are wanted, no such row is among the
best, and only rows with a rarer term are scored: by all terms, so that the scores are the same.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.keyword import any_of, best_scores
from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from commonplace_sqlite.keyword import Clause
    from commonplace_sqlite.schema import LiveBuild

__all__ = ["common_terms", "essential_tokens"]

_MOST_PER_WEIGHT = 2.2
"""FTS5's BM25 of a term stays below k1 + 1 times its weight, however often a row contains it."""

_WORTH_IT = 0.1
"""Common terms in fewer of the chunks than this, in all, cost less than finding out."""

_WORTH_TRYING = 3
"""How much more frequent the others have to be than the rarest term, where all are common."""


def essential_tokens(
    connection: apsw.Connection,
    live: LiveBuild,
    tokens: Sequence[str],
    clauses: Sequence[Clause],
    limit: int,
) -> list[str] | None:
    """Those of ``tokens`` of which each of the best ``limit`` rows has one; ``None``: maybe all."""
    common = common_terms(connection, live, tokens)
    if sum(common.values()) < live.chunks * _WORTH_IT:
        return None
    # From the rarest on; terms that are not common first.
    order = sorted(set(tokens), key=lambda token: common.get(token, 0))
    first = max(len(order) - len(common), 1)
    cost = sum(common.get(token, 0) for token in order[:first])
    if cost * _WORTH_TRYING > sum(common.values()):
        return None
    lowest = _lowest_of_best(connection, live.id, tokens, order[:first], clauses, limit)
    left = sum(_most(live.chunks, common[token]) * tokens.count(token) for token in order[first:])
    for end in range(first, len(order)):
        if left <= lowest:
            return order[:end]
        left -= _most(live.chunks, common[order[end]]) * tokens.count(order[end])
    return None


def _lowest_of_best(
    connection: apsw.Connection,
    build: int,
    tokens: Sequence[str],
    chosen: Sequence[str],
    clauses: Sequence[Clause],
    limit: int,
) -> float:
    """What the best ``limit`` rows score at the least, by the chosen tokens alone."""
    expression = any_of([token for token in tokens if token in chosen])
    scores = best_scores(connection, build, expression, clauses, limit)
    return scores[-1] if len(scores) == limit else 0.0


def _most(chunks: int, documents: int) -> float:
    """The most that a term in ``documents`` chunks, or more, adds to a score."""
    weight = log((chunks - documents + 0.5) / (documents + 0.5))
    return _MOST_PER_WEIGHT * (weight if weight > 0 else 1e-6)


_LOOK_UP = "SELECT term, documents FROM common_<n> WHERE term IN (<tokens>)"


def common_terms(
    connection: apsw.Connection, live: LiveBuild, tokens: Sequence[str]
) -> dict[str, int]:
    """Those of ``tokens`` that are common, each with the least number of chunks that contain it."""
    distinct = sorted(set(tokens))
    sql = of_build(_LOOK_UP, live.id).replace("<tokens>", ",".join("?" * len(distinct)))
    rows: Any = connection.execute(sql, distinct)
    return {term: max(0, documents - live.removed) for term, documents in rows}
