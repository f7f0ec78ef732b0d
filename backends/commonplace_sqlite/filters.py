"""Filters of a search: as conditions on the rows of the keyword index, or as lists of documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.encoding import ids_in, text_in, text_out
from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    import apsw

    from commonplace.plugin import Where
    from commonplace_sqlite.ranking import Clause

__all__ = ["clause_of", "documents_passing"]

# Looked up for each match. To list the chunks that pass beforehand is cheaper where most of a large
# index matches, but then to score the matches costs more than either; and for the rare words that
# are asked for most it costs ten times the search.
_PASSES = """
AND EXISTS (
    SELECT 1 FROM document_<n>
    WHERE id = (SELECT document FROM chunk_<n> WHERE id = hit.rowid) AND <condition>
)
"""
_PASSING = "SELECT id FROM document_<n> WHERE <condition>"
_PATHS = "SELECT id, path FROM document_<n> WHERE <condition>"
_BEGINNING = re.compile(r"[^*?]*")


def clause_of(connection: apsw.Connection, build: int, where: Where) -> Clause:
    """The condition that a row's document passes ``where``; of no words if there are no filters."""
    condition, values = _condition(where)
    if where.paths:
        ids = _matching(connection, build, where.paths, (condition, values))
        condition, values = "id IN (SELECT value FROM json_each(?))", (ids_in(ids),)
    return (_filled(_PASSES, build, condition), values) if condition else ("", ())


def documents_passing(connection: apsw.Connection, build: int, where: Where) -> list[int] | None:
    """The ids of the documents that pass ``where``; ``None`` if there are no filters."""
    condition, values = _condition(where)
    if where.paths:
        return _matching(connection, build, where.paths, (condition, values))
    if not condition:
        return None
    rows: Any = connection.execute(_filled(_PASSING, build, condition), values)
    return [id_ for (id_,) in rows]


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
) -> list[int]:
    """The documents whose paths match one of ``patterns``, and that pass the other filters.

    Matched in Python, so that a glob means here what it means to every other store; SQLite only
    leaves out the paths that do not begin as a pattern does. Paths that are no valid text are
    stored as bytes, and looked at in any case.
    """
    from commonplace.plugin import glob_regex  # few searches name a path

    matches = re.compile("|".join(map(glob_regex, patterns))).fullmatch
    condition, values = others
    conditions = [condition] if condition else []
    beginnings = [_beginning(pattern) for pattern in patterns]
    if all(beginnings):
        some = " OR ".join("substr(path, 1, ?) = ?" for _ in beginnings)
        conditions.append(f"({some} OR typeof(path) = 'blob')")
        values += tuple(value for text in beginnings for value in (len(text), text))
    sql = _filled(_PATHS, build, " AND ".join(conditions) or "TRUE")
    rows: Any = connection.execute(sql, values)
    return [id_ for id_, path in rows if matches(text_out(path))]


def _beginning(pattern: str) -> str:
    """The text that all paths begin with for which ``pattern`` stands; ``""``: none is known."""
    found = _BEGINNING.match(pattern)
    beginning = found.group().rstrip("/") if found else ""
    return beginning if beginning == text_in(beginning) else ""


def _filled(sql: str, build: int, condition: str) -> str:
    return of_build(sql, build).replace("<condition>", condition)
