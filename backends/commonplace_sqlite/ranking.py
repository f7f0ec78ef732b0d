"""The best rows of the keyword index for one FTS5 expression, in a fixed order."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.encoding import ids_in, text_out
from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

__all__ = ["Clause", "Ranked", "all_scores", "any_of", "best", "best_scores", "in_order", "phrase"]

Clause = tuple[str, tuple[Any, ...]]
"""SQL that goes on with ``AND`` about the row ``hit``, and its values."""

Ranked = list[tuple[int, float]]

# The text is no part of the rows that are sorted: that made sorting four times as dear. FTS5's own
# `ORDER BY rank` sorts every match; this form lets SQLite keep the best and forget the rest, which
# takes 0.6 times as long.
_BEST = """
SELECT rowid, bm25(fts_<n>, 1.0, 1.0, 0.4) AS score FROM fts_<n> AS hit
WHERE fts_<n> MATCH ? <clauses> ORDER BY score LIMIT ?
"""
_NOT_WORSE = """
SELECT rowid, score FROM (
    SELECT rowid, bm25(fts_<n>, 1.0, 1.0, 0.4) AS score FROM fts_<n> AS hit
    WHERE fts_<n> MATCH ? <clauses>
) WHERE score <= ?
"""
_MORE = 16
"""Rows to ask for beyond the limit: they cost nothing, and show where a run of equals ends."""

_PLACES = """
SELECT c.id, d.source, d.path, c.ordinal
FROM chunk_<n> AS c JOIN document_<n> AS d ON d.id = c.document
WHERE c.id IN (SELECT value FROM json_each(?))
"""


def phrase(tokens: Sequence[str]) -> str:
    """``tokens`` side by side, as an FTS5 expression in which nothing of them is syntax."""
    return '"' + " ".join(tokens).replace('"', '""') + '"'


def any_of(tokens: Sequence[str]) -> str:
    """At least one of ``tokens``; FTS5 counts one that stands twice twice."""
    return " OR ".join(phrase((token,)) for token in tokens)


def best(
    connection: apsw.Connection, build: int, expression: str, clauses: Sequence[Clause], limit: int
) -> Ranked:
    """The best ``limit`` rows and their scores (above 0), equal ones in the order of their places.

    To score is to weigh each phrase of ``expression`` by BM25, those after NOT left aside.
    """
    rows = _rows(connection, build, _BEST, expression, clauses, limit + _MORE)
    if len(rows) == limit + _MORE and rows[-1][1] == rows[limit - 1][1]:
        # Which of the equal ones come in is for their places to say, so all of them are needed.
        rows = _rows(connection, build, _NOT_WORSE, expression, clauses, rows[-1][1])
    return in_order(connection, build, [(id_, -score) for id_, score in rows], limit)


def best_scores(
    connection: apsw.Connection, build: int, expression: str, clauses: Sequence[Clause], limit: int
) -> list[float]:
    """The scores of the best ``limit`` rows, best first."""
    return [-score for _, score in _rows(connection, build, _BEST, expression, clauses, limit)]


def all_scores(
    connection: apsw.Connection, build: int, expression: str, clauses: Sequence[Clause]
) -> dict[int, float]:
    """The score of every row that matches."""
    rows = _rows(connection, build, _NOT_WORSE, expression, clauses, 0.0)
    return {id_: -score for id_, score in rows}


def in_order(connection: apsw.Connection, build: int, ranked: Ranked, limit: int) -> Ranked:
    """The first ``limit`` by score, equal ones by source, path and place in the document."""
    ranked.sort(key=lambda row: -row[1])
    # Only those that can still come in: the rest would have to be looked up for nothing.
    while len(ranked) > limit and ranked[-1][1] < ranked[limit - 1][1]:
        ranked.pop()
    tied = {one for (_, one), (_, next_one) in pairwise(ranked) if one == next_one}
    if not tied:
        return ranked
    ids = ids_in(id_ for id_, score in ranked if score in tied)
    rows: Any = connection.execute(of_build(_PLACES, build), (ids,))
    places = {id_: (text_out(source), text_out(path), at) for id_, source, path, at in rows}
    nowhere = ("", "", 0)
    ranked.sort(key=lambda row: (-row[1], places.get(row[0], nowhere)))
    return ranked[:limit]


def _rows(
    connection: apsw.Connection,
    build: int,
    sql: str,
    expression: str,
    clauses: Sequence[Clause],
    last: float,
) -> Any:
    conditions = "".join(clause for clause, _ in clauses)
    values = [value for _, some in clauses for value in some]
    text = of_build(sql, build).replace("<clauses>", of_build(conditions, build))
    return connection.execute(text, (expression, *values, last)).fetchall()
