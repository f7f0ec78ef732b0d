"""Keyword queries of a build: the FTS5 expression, its filters, and the best rows by BM25."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from commonplace.plugin import NamedTuple, TermCounts, has_unspaced, newest_first
from commonplace_sqlite.pruning import best_by_rarer
from commonplace_sqlite.rows import common_terms, ids_in, indexable, phrase, text_in, text_out
from commonplace_sqlite.schema import of_build

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import apsw

    from commonplace.plugin import KeywordQuery, Where
    from commonplace_sqlite.rows import Known
    from commonplace_sqlite.schema import LiveBuild


# In queries of their own: as parts of the one that is ranked they would be scored with it. The plus
# keeps SQLite from querying FTS5 row by row.
_AMONG = " AND +hit.rowid IN (SELECT rowid FROM fts_<n> WHERE fts_<n> MATCH ?)"
_NOT_AMONG = " AND +hit.rowid NOT IN (SELECT rowid FROM fts_<n> WHERE fts_<n> MATCH ?)"


def keyword(
    connection: apsw.Connection,
    live: LiveBuild,
    query: KeywordQuery,
    where: Where,
    limit: int,
    counts: QueryCounts | None = None,
    known: Known | None = None,
) -> Ranked:
    """The best ``limit`` matches with scores above 0, best first; ``counts`` then has each of them.

    A store that counts finds candidates by the tokens that tell most, where they find enough. A
    token that no chunk holds, as ``known``, costs as much as another, and finds nothing.
    """

    def held(tokens: Iterable[str]) -> list[str]:
        found = cleaned(tokens)
        return found if known is None else [one for one in found if known.holders.get(one, 1)]

    should = held(query.terms)
    must = [tokens for phrase_ in query.must if (tokens := cleaned(phrase_))]
    must_not = [tokens for phrase_ in query.must_not if (tokens := cleaned(phrase_))]
    if not should or limit < 1:
        return []
    clauses = [restriction_of(connection, live.id, where)]
    if must:
        clauses.append((_AMONG, (" AND ".join(map(phrase, must)),)))
    if must_not:
        clauses.append((_NOT_AMONG, (" OR ".join(map(phrase, must_not)),)))
    common = common_terms(connection, live, should, known) if live.counted else {}
    ranking = _Ranking(connection, live, common, clauses, limit, counts)
    if counts is not None:
        # These choose who is counted, and so who gets a second score.
        telling = held(() if query.weighed else query.selective) or should
        telling = [
            token for token in telling if common.get(token, 0) <= _most_holders(token, live.chunks)
        ]
        if telling and len(telling) < len(should):
            ranked = ranking.best_by(telling)
            if len(ranked) == limit:
                return ranked
    return ranking.best_by(should)


def _most_holders(token: str, chunks: int) -> float:
    """Up to how many of the ``chunks`` may hold a token that chooses candidates.

    What more than half of them hold weighs next to nothing in FTS5's BM25, and finds most of them.
    A text without spaces has several times as many tokens, of which the rarer half chooses as well
    as all do: with 0.3 nDCG@10 of the documentation in three such languages moved by at most .001.
    Of many chunks the tokens of fewer choose as well: with all sets of a language in one index
    (``benchmarks/retrieval.py --together 80``) nDCG@10 moved by .0012 at the most, in Chinese.
    """
    most, many, share = (0.3, 1_000, 0.1) if has_unspaced(token) else (0.5, 3_000, 0.2)
    return min(most * chunks, max(many, share * chunks))


def cleaned(tokens: Iterable[str]) -> list[str]:
    """The tokens that FTS5 can index, without empty ones."""
    return [indexable(token) for token in tokens if token]


Clause = tuple[str, tuple[Any, ...]]
"""SQL that begins with ``AND`` and restricts the row ``hit``, or its ``document``; its values."""

Ranked = list[tuple[int, float]]

# The text is no part of the rows that are sorted: that quadrupled the cost of sorting. FTS5's own
# `ORDER BY rank` sorts every match; this form lets SQLite keep the best and forget the rest, which
# takes 0.6 times as long.
_BEST = """
SELECT hit.rowid, bm25(fts_<n>, 1.0, 1.0, 0.4) AS score <counts> FROM fts_<n> AS hit <documents>
WHERE fts_<n> MATCH ? <clauses> ORDER BY score LIMIT ?
"""
# Of each match, if there are filters. To list the chunks that pass beforehand is cheaper where most
# of a large index matches, but then to score the matches costs more than either; and for the rare
# words that are asked for most it costs ten times the search. `EXISTS` takes up to half as long
# again. `CROSS` keeps SQLite from beginning with the documents.
_DOCUMENT = """
CROSS JOIN chunk_<n> AS chunk ON chunk.id = hit.rowid
CROSS JOIN document_<n> AS document ON document.id = chunk.document
"""
_COUNTED = """
SELECT rowid, term_counts(fts_<n>) FROM fts_<n>
WHERE fts_<n> MATCH ? AND +rowid IN (SELECT value FROM json_each(?))
"""
_NOT_WORSE = """
SELECT id, score FROM (
    SELECT hit.rowid AS id, bm25(fts_<n>, 1.0, 1.0, 0.4) AS score FROM fts_<n> AS hit <documents>
    WHERE fts_<n> MATCH ? <clauses>
) WHERE score <= ?
"""
_COUNTED_APART = 200
"""Up to so many matches for each row that is wanted, it takes longer to count in rows that turn out
not to be among the best than to find the best ones once more."""

_DECIMALS, _DECIMALS_BELOW_1 = 9, 12
"""Of a score: what differs less was added up in another order."""

_MORE = 16
"""Rows to ask for beyond the limit: they cost nothing, and show where a run of equals ends."""

_POSITIONS = """
SELECT c.id, d.day, d.source, d.path, c.ordinal
FROM chunk_<n> AS c JOIN document_<n> AS d ON d.id = c.document
WHERE c.id IN (SELECT value FROM json_each(?))
"""


def any_of(tokens: Sequence[str], others: Sequence[str] = ()) -> str:
    """At least one of ``tokens``, and of ``others`` if any; FTS5 counts a repeated token twice."""
    expression = " OR ".join(phrase((token,)) for token in tokens)
    return f"({expression}) AND ({any_of(others)})" if others else expression


class _Ranking(NamedTuple):
    """What the statements of one keyword query share. ``common`` is as in :func:`common_terms`."""

    connection: apsw.Connection
    live: LiveBuild
    common: Mapping[str, int]
    clauses: Sequence[Clause]
    limit: int
    counts: QueryCounts | None

    def best_by(self, tokens: Sequence[str]) -> Ranked:
        """The best ``limit`` rows by ``tokens``; ties as in :func:`in_order`."""
        counts = self.counts
        known = {token: self.common[token] for token in tokens if token in self.common}
        chunks, limit = self.live.chunks, self.limit
        pruned = best_by_rarer(tokens, chunks, known, limit, self.rows_with) if known else None
        if pruned is not None:
            rows, in_each = pruned
        else:
            # SQLite calls ``term_counts`` for each row that is among the best when it is met: of
            # many matches these are few.
            many = counts is not None and counts.matches > limit * _COUNTED_APART
            at_once = counts if counts is not None and many and counts.all_in(tokens) else None
            rows, in_each = self.rows_with(tokens, (), at_once), [*tokens]
        ranked = in_order(self.connection, self.live.id, rows, limit)
        if counts is not None:
            counts.count_rest(self.live.id, [id_ for id_, _ in ranked], in_each)
        return ranked

    def rows_with(
        self, tokens: Sequence[str], others: Sequence[str], counts: QueryCounts | None = None
    ) -> Ranked:
        """The best rows with one of ``tokens`` and of ``others``, if any; all equals of the last.

        ``counts`` counts them, where it is given.
        """
        build, limit = self.live.id, self.limit
        conditions = "".join(clause for clause, _ in self.clauses)
        documents = _DOCUMENT if self.clauses[0][0] else ""
        values = any_of(tokens, others), *(value for _, some in self.clauses for value in some)
        sql = _BEST.replace("<counts>", ", term_counts(fts_<n>)" if counts is not None else "")
        sql = sql.replace("<documents>", documents).replace("<clauses>", conditions)
        sql = of_build(sql, build)
        if counts is not None:
            counts.begin_statement(tokens)
        rows: Any = self.connection.execute(sql, (*values, limit + _MORE)).fetchall()
        if len(rows) == limit + _MORE and rows[-1][1] == rows[limit - 1][1]:
            # Day, source, path and position decide between ties, so all of them are needed.
            sql = _NOT_WORSE.replace("<documents>", documents).replace("<clauses>", conditions)
            sql = of_build(sql, build)
            rows = self.connection.execute(sql, (*values, rows[-1][1])).fetchall()
        # In whatever order FTS5 adds up what terms weigh, equals are equals.
        return [
            (row[0], round(-row[1], _DECIMALS if row[1] < -1 else _DECIMALS_BELOW_1))
            for row in rows
        ]


class QueryCounts:
    """How often rows have the tokens of one query, of which those in ``wanted`` are to be counted.

    The FTS5 function ``term_counts`` fills ``rows``, by chunk, with the tokens of the ``statement``
    that calls it; those in ``extra`` count 0.4. ``average`` is the mean length of all chunks, and
    ``matches`` how many rows hold any of the tokens, at the most.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        tokens: Collection[str],
        wanted: Iterable[str],
        matches: int,
    ) -> None:
        self.rows: dict[int, TermCounts] = {}
        self.average = 0.0
        self.matches = matches
        self.statement: list[str] = []
        self._connection = connection
        self._names = {indexable(token): token for token in tokens}
        self._wanted = [*dict.fromkeys(map(indexable, filter(None, wanted)))]

    def all_in(self, tokens: Sequence[str]) -> bool:
        """Whether a statement of ``tokens`` counts all that is wanted."""
        return frozenset(tokens).issuperset(self._wanted)

    def begin_statement(self, tokens: Sequence[str]) -> None:
        """Take the phrases of the statement that is run next to be ``tokens``."""
        self.statement = [self._names[token] for token in tokens]

    def count_rest(self, build: int, ids: Sequence[int], in_each: Sequence[str]) -> None:
        """Count in those of the rows ``ids`` that are not yet; each has one of ``in_each``."""
        rarer = [*dict.fromkeys(in_each)]
        others = [token for token in self._wanted if token not in rarer]
        # First what has others, too: so no row is looked at that has none of the rarer ones.
        for beside in (others, []) if others else ([],):
            if left := [id_ for id_ in ids if id_ not in self.rows]:
                self.begin_statement((*rarer, *beside))
                values = any_of(rarer, beside), ids_in(left)
                self._connection.execute(of_build(_COUNTED, build), values).fetchall()


class TermCounter:
    """The FTS5 function ``term_counts`` of one connection; registering it reads the file."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._counts = QueryCounts(connection, (), (), 0)
        connection.register_fts5_function("term_counts", self._count)

    def begin(self, tokens: Collection[str], wanted: Iterable[str], matches: int) -> QueryCounts:
        """The counts of a new query, which ``term_counts`` fills from now on."""
        self._counts = QueryCounts(self.connection, tokens, wanted, matches)
        return self._counts

    def _count(self, api: apsw.FTS5ExtensionApi, *_: object) -> None:
        # Called for several times as many rows as are kept, each of which has few of the phrases.
        query = self._counts
        if not query.rows:
            query.average = api.column_total_size() / api.row_count
        columns, locations, names = api.phrase_columns, api.phrase_locations, query.statement
        counts: dict[str, float] = {}
        for number in range(api.phrase_count):
            if columns(number):
                body, head, extra = locations(number)
                counts[names[number]] = len(body) + len(head) + 0.4 * len(extra)
        query.rows[api.rowid] = TermCounts(counts, api.column_size())


def in_order(connection: apsw.Connection, build: int, ranked: Ranked, limit: int) -> Ranked:
    """The first ``limit`` by score; ties by day, newest first, then source, path and position."""
    ranked.sort(key=lambda row: -row[1])
    # Only rows that can still be among them: looking up the rest would be wasted.
    while len(ranked) > limit and ranked[-1][1] < ranked[limit - 1][1]:
        ranked.pop()
    tied = {score for (_, score), (_, following) in pairwise(ranked) if score == following}
    if not tied:
        return ranked
    ids = ids_in(id_ for id_, score in ranked if score in tied)
    rows: Any = connection.execute(of_build(_POSITIONS, build), (ids,))
    positions = {
        id_: (newest_first(day), text_out(source), text_out(path), at)
        for id_, day, source, path, at in rows
    }
    nowhere = (0, "", "", 0)
    ranked.sort(key=lambda row: (-row[1], positions.get(row[0], nowhere)))
    return ranked[:limit]


_PASSING = "SELECT id FROM document_<n> AS document WHERE <condition>"
_PATHS = "SELECT id, path FROM document_<n> AS document WHERE <condition>"


def restriction_of(connection: apsw.Connection, build: int, where: Where) -> Clause:
    """The condition that ``document`` passes ``where``; of no words if there are no filters."""
    condition, values = _condition(where)
    if where.paths or where.not_paths:
        ids = _matching(connection, build, where, (condition, values))
        condition, values = "document.id IN (SELECT value FROM json_each(?))", (ids_in(ids),)
    return (f" AND {condition}", values) if condition else ("", ())


def documents_passing(connection: apsw.Connection, build: int, where: Where) -> list[int] | None:
    """The ids of the documents that pass ``where``; ``None`` if there are no filters."""
    condition, values = _condition(where)
    if where.paths or where.not_paths:
        return _matching(connection, build, where, (condition, values))
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
    if where.not_sources:
        conditions.append(f"source NOT IN ({','.join('?' * len(where.not_sources))})")
        values += [text_in(source) for source in sorted(where.not_sources)]
    if where.after is not None:
        conditions.append("day >= ?")
        values.append(where.after)
    if where.before is not None:
        conditions.append("day <= ?")
        values.append(where.before)
    for tags, needed in ((where.tags, ">"), (where.not_tags, "=")):
        for tag in tags:
            conditions.append(f"instr(CAST(tags AS BLOB), CAST(? AS BLOB)) {needed} 0")
            values.append(text_in(f"\n{tag}\n"))
    return " AND ".join(conditions), tuple(values)


def _matching(connection: apsw.Connection, build: int, where: Where, others: Clause) -> list[int]:
    """The documents that pass the filters of paths, and the others.

    Matched in Python, so that a glob means here what it means to every other store; SQLite only
    leaves out the paths that do not begin as a pattern does. Paths that are no valid text are
    stored as bytes, and always matched.
    """
    import re

    from commonplace.plugin import glob_regex  # few searches name a path

    patterns = where.paths
    matches = re.compile("|".join(map(glob_regex, patterns)) or ".*", re.DOTALL).fullmatch
    unwanted = re.compile("|".join(map(glob_regex, where.not_paths)) or "(?!)").fullmatch
    condition, values = others
    conditions = [condition] if condition else []
    beginnings = [_beginning(pattern) for pattern in patterns]
    if beginnings and all(beginnings):
        begin_so = " OR ".join("substr(path, 1, ?) = ?" for _ in beginnings)
        conditions.append(f"({begin_so} OR typeof(path) = 'blob')")
        values += tuple(value for text in beginnings for value in (len(text), text))
    sql = _filled(_PATHS, build, " AND ".join(conditions) or "TRUE")
    rows: Any = connection.execute(sql, values)
    paths = [(id_, text_out(path)) for id_, path in rows]
    return [id_ for id_, path in paths if matches(path) and not unwanted(path)]


def _beginning(pattern: str) -> str:
    """The text that every path matching ``pattern`` begins with; ``""`` if none is known."""
    beginning = pattern.partition("*")[0].partition("?")[0].rstrip("/")
    return beginning if beginning == text_in(beginning) else ""


def _filled(sql: str, build: int, condition: str) -> str:
    return of_build(sql, build).replace("<condition>", condition)
