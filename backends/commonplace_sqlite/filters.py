"""Filters of a search, as conditions of SQL on the rows of the keyword index."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from commonplace.model.globs import glob_regex
from commonplace_sqlite.encoding import text_in, text_out
from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    import apsw

    from commonplace.model.search import Where

__all__ = ["Clause", "clause_of"]

Clause = tuple[str, tuple[Any, ...]]
"""SQL that goes on with ``AND``, and its values; the plus keeps FTS5 from looking up row by row."""

_INSIDE = """
AND +rowid IN (SELECT id FROM chunk_<n> WHERE document IN
    (SELECT id FROM document_<n> WHERE <condition>))
"""
_OUTSIDE = """
AND +rowid NOT IN (SELECT id FROM chunk_<n> WHERE document IN
    (SELECT id FROM document_<n> WHERE (<condition>) IS NOT TRUE))
"""
_COUNT = "SELECT count(*), count(*) FILTER (WHERE <condition>) FROM document_<n>"
_PATHS = "SELECT id, path FROM document_<n> WHERE <condition>"


def clause_of(connection: apsw.Connection, build: int, where: Where) -> Clause | None:
    """The condition that a row's document passes ``where``; ``None`` if no document does."""
    condition, values = _condition(where)
    if where.paths:
        condition = _matching(connection, build, where.paths, (condition, values))
        values = ()
    if not condition:
        return "", ()
    count: Any = connection.execute(_filled(_COUNT, build, condition), values)
    (total, passing) = count.fetchone()
    if passing in {0, total}:
        return ("", ()) if passing else None
    # Whichever side is smaller makes the shorter list to look into for each match.
    sql = _INSIDE if passing * 2 <= total else _OUTSIDE
    return _filled(sql, build, condition), values


def _condition(where: Where) -> Clause:
    conditions: list[str] = []
    values: list[Any] = []
    if where.sources is not None:
        conditions.append(f"source IN ({','.join('?' * len(where.sources))})")
        values += [text_in(source) for source in sorted(where.sources)]
    if where.after is not None:
        conditions.append("day >= ?")
        values.append(where.after)
    if where.before is not None:
        conditions.append("day <= ?")
        values.append(where.before)
    return " AND ".join(conditions), tuple(values)


def _matching(
    connection: apsw.Connection, build: int, patterns: tuple[str, ...], others: Clause
) -> str:
    """The condition that a document's path matches one of ``patterns``, and the others hold.

    Matched in Python, so that a glob means here what it means to every other store.
    """
    matches = re.compile("|".join(map(glob_regex, patterns))).fullmatch
    condition, values = others
    rows: Any = connection.execute(_filled(_PATHS, build, condition or "TRUE"), values)
    return f"id IN ({','.join(str(id_) for id_, path in rows if matches(text_out(path)))})"


def _filled(sql: str, build: int, condition: str) -> str:
    return of_build(sql, build).replace("<condition>", condition)
