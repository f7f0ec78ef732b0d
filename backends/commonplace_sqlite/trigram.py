"""Keyword queries of a build of FTS5's trigram tokenizer, which sees no less than 3 characters.

Shorter tokens are searched in the chunks' texts, by LIKE. So that their matches can be ranked
with the others, they are scored by the same formula, with characters in place of tokens.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

from commonplace_sqlite.keyword import (
    all_scores,
    any_of,
    best,
    cleaned,
    in_order,
    phrase,
    restriction_of,
)
from commonplace_sqlite.rows import text_out
from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from commonplace.plugin import KeywordQuery, Where
    from commonplace_sqlite.keyword import Clause
    from commonplace_sqlite.schema import LiveBuild


_LEAST = 3
_K1 = 1.2
_B = 0.75

# As text, since LIKE matches no bytes, which is what a text with lone surrogates is stored as.
_LIKE = "CAST(text AS TEXT) LIKE ? ESCAPE '\\'"
_MATCH = "rowid IN (SELECT rowid FROM fts_<n> WHERE fts_<n> MATCH ?)"
_CHUNKS = (
    "(SELECT c.id AS rowid, t.text FROM chunk_<n> AS c JOIN text_<n> AS t ON t.id = <text_id>)"
)
_HOLDING = "rowid IN (SELECT rowid FROM <chunks> WHERE <like>)"
_TEXTS = "SELECT rowid, text FROM <chunks> AS hit WHERE <like> <clauses>"
_COUNT = "SELECT count(*) FROM text_<n> WHERE <like>"
_SIZE = "SELECT count(*), avg(length(text)) FROM text_<n>"


def keyword(
    connection: apsw.Connection, live: LiveBuild, query: KeywordQuery, where: Where, limit: int
) -> list[tuple[int, float]]:
    """The best ``limit`` chunks that hold the tokens of a query as pieces of text."""
    build, should = live.id, cleaned(query.should)
    if not should or limit < 1:
        return []
    must = [tokens for one in query.must if (tokens := cleaned(one))]
    must_not = [tokens for one in query.must_not if (tokens := cleaned(one))]
    clauses = [
        restriction_of(connection, build, where),
        *(_clause(tokens, " AND +") for tokens in must),
        *(_clause(tokens, " AND NOT +") for tokens in must_not),
    ]
    long = [token for token in should if len(token) >= _LEAST]
    short = [token for token in should if len(token) < _LEAST]
    if not short:
        return best(connection, build, any_of(long), clauses, limit)
    scores = all_scores(connection, build, any_of(long), clauses) if long else {}
    for token in short:
        for id_, score in _short_scores(connection, build, token, clauses):
            scores[id_] = scores.get(id_, 0.0) + score
    return in_order(connection, build, list(scores.items()), limit)


def _clause(tokens: Sequence[str], before: str) -> Clause:
    piece = " ".join(tokens)
    if len(piece) < _LEAST:
        return before + _filled(_HOLDING), (_like(piece),)
    return f"{before}{_MATCH}", (phrase(tokens),)


def _like(piece: str) -> str:
    escaped = piece.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _filled(sql: str) -> str:
    return sql.replace("<chunks>", _CHUNKS).replace("<like>", _LIKE)


def _short_scores(
    connection: apsw.Connection, build: int, token: str, clauses: Sequence[Clause]
) -> list[tuple[int, float]]:
    size: Any = connection.execute(of_build(_SIZE, build)).fetchone()
    chunks, average = size
    held: int = connection.execute(of_build(_filled(_COUNT), build), (_like(token),)).get
    idf = max(log((chunks - held + 0.5) / (held + 0.5)), 1e-6)
    sql = _filled(_TEXTS).replace("<clauses>", "".join(clause for clause, _ in clauses))
    values = [value for _, some in clauses for value in some]
    rows: Any = connection.execute(of_build(sql, build), (_like(token), *values))
    found = []
    for id_, stored in rows:
        text = text_out(stored)
        # LIKE goes by ASCII letters of either case; there is at least one occurrence.
        count = max(1, text.lower().count(token.lower()))
        length = 1 - _B + _B * len(text) / average
        found.append((id_, idf * count * (_K1 + 1) / (count + _K1 * length)))
    return found
