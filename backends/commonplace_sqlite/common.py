"""Which terms of a build are common: a rough, derived table, refreshed now and then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

__all__ = ["common_terms", "survey"]

_LEAST_CHUNKS = 2_000
"""In a smaller index there is nothing to be saved."""

_COMMON_SHARE = 0.05
_DRIFT = 0.1

_SIZES = "SELECT chunks, surveyed, removed FROM build WHERE id = ?"
_VOCABULARY = "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab ('main', 'fts_<n>', 'row')"
_FILL = "INSERT INTO common_<n> SELECT term, doc FROM temp.vocabulary WHERE doc > ?"
_LOOK_UP = "SELECT term, documents FROM common_<n> WHERE term IN (<tokens>)"


def survey(connection: apsw.Connection, build: int) -> None:
    """Note the terms that stand in many chunks, if the build is much changed since the last time.

    Takes some 3 s for a million chunks, and comes once in 10 % of growth.
    """
    row: Any = connection.execute(_SIZES, (build,)).fetchone()
    chunks, surveyed, removed = row
    if chunks < _LEAST_CHUNKS or max(abs(chunks - surveyed), removed) <= surveyed * _DRIFT:
        return
    connection.execute(of_build("DELETE FROM common_<n>", build))
    connection.execute(of_build(_VOCABULARY, build))
    connection.execute(of_build(_FILL, build), (chunks * _COMMON_SHARE,))
    connection.execute("DROP TABLE temp.vocabulary")
    sql = "UPDATE build SET surveyed = chunks, removed = 0 WHERE id = ?"
    connection.execute(sql, (build,))


def common_terms(
    connection: apsw.Connection, build: int, tokens: Sequence[str], removed: int
) -> dict[str, int]:
    """Those of ``tokens`` that are common, each with the least number of chunks it can stand in.

    ``removed`` is how many chunks may have gone since the survey.
    """
    distinct = sorted(set(tokens))
    sql = of_build(_LOOK_UP, build).replace("<tokens>", ",".join("?" * len(distinct)))
    rows: Any = connection.execute(sql, distinct)
    return {term: max(0, documents - removed) for term, documents in rows}
