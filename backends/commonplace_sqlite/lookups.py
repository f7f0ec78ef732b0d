"""What few queries look up beside their words: the chunks of some days, tokens by how they begin.

Imported for a question that is about a time and little else, and for a word that no note has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.plugin import is_yearly
from commonplace_sqlite.keyword import cleaned, in_order, restriction_of
from commonplace_sqlite.rows import indexable, phrase
from commonplace_sqlite.schema import VOCABULARY, of_build

if TYPE_CHECKING:
    import apsw

    from commonplace.plugin import KeywordQuery, Where
    from commonplace_sqlite.keyword import Ranked
    from commonplace_sqlite.schema import LiveBuild


_OF_DAYS = """
SELECT hit.id, document.day FROM chunk_<n> AS hit
JOIN document_<n> AS document ON document.id = hit.document
WHERE (<days>) <clauses> ORDER BY document.day DESC
"""
_WITH_YEAR = "document.day BETWEEN ? AND ?"
_WITHOUT_YEAR = "substr(document.day, 5) BETWEEN ? AND ?"
_NOT_AMONG = " AND hit.id NOT IN (SELECT rowid FROM fts_<n> WHERE fts_<n> MATCH ?)"


def of_days(
    connection: apsw.Connection, live: LiveBuild, query: KeywordQuery, where: Where, limit: int
) -> Ranked:
    """The first ``limit`` chunks of the query's days, each with a score of 1."""
    if not query.days or limit < 1:
        return []
    named = [_WITHOUT_YEAR if is_yearly(first) else _WITH_YEAR for first, _ in query.days]
    clause, values = restriction_of(connection, live.id, where)
    unwanted = [tokens for one in query.must_not if (tokens := cleaned(one))]
    if unwanted:
        clause += _NOT_AMONG
        values += (" OR ".join(map(phrase, unwanted)),)
    sql = _OF_DAYS.replace("<days>", " OR ".join(named))
    sql = of_build(sql.replace("<clauses>", clause), live.id)
    values = *(day for days in query.days for day in days), *values
    rows: Any = connection.execute(sql, values)
    found: list[tuple[int, float]] = []
    last = None
    for id_, day in rows:
        if len(found) >= limit and day != last:
            break  # source, path and position decide within a day, so all of it is needed
        found.append((id_, 1.0))
        last = day
    return in_order(connection, live.id, found, limit)


_BEGINNING = """
SELECT term, doc FROM temp.vocabulary_<n> WHERE term >= ? AND term < ?
ORDER BY doc DESC, term LIMIT ?
"""


def tokens_beginning(
    connection: apsw.Connection, live: LiveBuild, text: str, limit: int
) -> dict[str, int]:
    """The ``limit`` tokens that begin with ``text`` and that most chunks hold, and how many do."""
    if not text or limit < 1:
        return {}
    # Made once: a change of what is in temp has SQLite compile all statements again.
    connection.execute(of_build(VOCABULARY, live.id))
    first = indexable(text)
    rows: Any = connection.execute(
        of_build(_BEGINNING, live.id), (first, f"{first}\U0010ffff", limit)
    )
    return dict(rows)
