"""Which terms of a build are common: a rough, derived table, refreshed now and then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from commonplace_sqlite.builds import LiveBuild

__all__ = ["common_terms", "survey"]

_LEAST_CHUNKS = 2_000
"""In a smaller index there is nothing to be saved."""

_COMMON_SHARE = 0.05
_DRIFT = 0.1
_MOST_DRIFT = 0.5
_SECONDS_PER_CHUNK = 3e-6

_VOCABULARY = "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab ('main', 'fts_<n>', 'row')"
_FILL = "INSERT INTO common_<n> SELECT term, doc FROM temp.vocabulary WHERE doc > ?"
_LOOK_UP = "SELECT term, documents FROM common_<n> WHERE term IN (<tokens>)"


def survey(connection: apsw.Connection, live: LiveBuild, *, seconds: float) -> None:
    """Note the terms that stand in many chunks, if the build is much changed since the last time.

    Takes some 3 s for a million chunks, and comes once in 10 % of growth; later, and at the latest
    after 50 %, where it would take more than ``seconds``.
    """
    drift = max(abs(live.chunks - live.surveyed), live.removed)
    if live.chunks < _LEAST_CHUNKS or drift <= live.surveyed * _DRIFT:
        return
    if live.chunks * _SECONDS_PER_CHUNK > seconds and drift <= live.surveyed * _MOST_DRIFT:
        return
    connection.execute(of_build("DELETE FROM common_<n>", live.id))
    connection.execute(of_build(_VOCABULARY, live.id))
    connection.execute(of_build(_FILL, live.id), (live.chunks * _COMMON_SHARE,))
    connection.execute("DROP TABLE temp.vocabulary")
    sql = "UPDATE build SET surveyed = chunks, removed = 0 WHERE id = ?"
    connection.execute(sql, (live.id,))


def common_terms(
    connection: apsw.Connection, live: LiveBuild, tokens: Sequence[str]
) -> dict[str, int]:
    """Those of ``tokens`` that are common, each with the least number of chunks it can stand in."""
    distinct = sorted(set(tokens))
    sql = of_build(_LOOK_UP, live.id).replace("<tokens>", ",".join("?" * len(distinct)))
    rows: Any = connection.execute(sql, distinct)
    return {term: max(0, documents - live.removed) for term, documents in rows}
