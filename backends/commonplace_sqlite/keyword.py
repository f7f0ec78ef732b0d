"""Keyword queries of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import DeclinedError
from commonplace_sqlite.encoding import indexable
from commonplace_sqlite.ranking import any_of, best, phrase

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from commonplace.plugin import KeywordQuery, Phrase, Where
    from commonplace_sqlite.ranking import Clause
    from commonplace_sqlite.schema import LiveBuild

__all__ = ["keyword"]

# In queries of their own: as parts of the one that is ranked they would be scored with it. The plus
# keeps FTS5 from being asked row by row.
_AMONG = " AND +rowid IN (SELECT rowid FROM fts_<n> WHERE fts_<n> MATCH ?)"
_NOT_AMONG = " AND +rowid NOT IN (SELECT rowid FROM fts_<n> WHERE fts_<n> MATCH ?)"


def keyword(
    connection: apsw.Connection, live: LiveBuild, query: KeywordQuery, where: Where, limit: int
) -> list[tuple[int, float]]:
    """The best ``limit`` matches and their scores, best first.

    Raises :class:`~commonplace.errors.DeclinedError` for what the build's tokenizer cannot see.
    """
    should = _cleaned(query.should)
    must = [tokens for one in query.must if (tokens := _cleaned(one))]
    must_not = [tokens for one in query.must_not if (tokens := _cleaned(one))]
    if not should or limit < 1:
        return []
    restriction = _restriction(connection, live.id, where)
    if live.tokenizer == "trigram":
        from commonplace_sqlite.substrings import by_substrings

        return by_substrings(connection, live.id, should, must, must_not, restriction, limit)
    if live.tokenizer is not None:
        _decline_invisible(must)
    clauses = [restriction]
    if must:
        clauses.append((_AMONG, (" AND ".join(map(phrase, must)),)))
    if must_not:
        clauses.append((_NOT_AMONG, (" OR ".join(map(phrase, must_not)),)))
    if live.surveyed and live.tokenizer is None and not must:
        from commonplace_sqlite.pruning import essential_tokens

        essential = essential_tokens(connection, live, should, clauses, limit)
        if essential:
            clauses.append((_AMONG, (any_of(essential),)))
    return best(connection, live.id, any_of(should), clauses, limit)


def _restriction(connection: apsw.Connection, build: int, where: Where) -> Clause:
    if where.sources is None and not (where.paths or where.after or where.before):
        return "", ()
    from commonplace_sqlite.filters import clause_of

    return clause_of(connection, build, where)


def _cleaned(tokens: Phrase) -> list[str]:
    return [indexable(token) for token in tokens if token]


def _decline_invisible(phrases: Sequence[Sequence[str]]) -> None:
    """Nothing but letters and digits is in an index made by ``unicode61``."""
    for tokens in phrases:
        if not any(character.isalnum() for token in tokens for character in token):
            raise DeclinedError(
                f"the index has no words made of signs alone: {' '.join(tokens)!r}",
                hint="search without it",
            )
