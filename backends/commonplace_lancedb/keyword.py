"""Keyword queries: Lance's index names candidates, which are scored here.

Lance weighs a token by all that share the table, and by other numbers where rows are not indexed
yet; so its scores are only used to choose who is scored. Here a token weighs what it weighs in
the build that is searched, whatever else is in the table.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace.plugin import TermCounts, hit_order
from commonplace_lancedb.head import ID_BITS, last_column, text_in, text_out
from commonplace_lancedb.reading import condition_of, is_open, passing

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from commonplace.plugin import Deadline, KeywordQuery, Phrase, Where
    from commonplace_lancedb.database import Snapshot
    from commonplace_lancedb.head import BuildState, Counts


_CANDIDATES = 1_000
"""Rows that are scored at least, of those that match; all, where there are no more."""

_PER_HIT = 5
_GROWTH = 4

_COUNTED = 4_000
"""A token that more chunks hold is counted among a sample of the build."""

_SAMPLE = 20_000

_MANY = 32
"""So many tokens are counted together."""

_CHECK_EVERY = 256
_COLUMNS = ("id", "source", "path", "position", "day", "terms", "tokens")


class Candidate(NamedTuple):
    """A row that matches: where it stands, and its terms."""

    id: int
    source: str
    path: str
    position: int
    day: str | None
    columns: Padded
    length: int


def keyword(
    snapshot: Snapshot,
    build: BuildState,
    query: KeywordQuery,
    where: Where,
    limit: int,
    deadline: Deadline,
) -> list[tuple[Candidate, float]]:
    """The best ``limit`` matches and their scores, best first."""
    deadline.check("the keyword search")
    asked = query._replace(
        should=_tokens(query.terms),
        must=_phrases(query.must),
        must_not=_phrases(query.must_not),
    )
    total = build.total
    if not asked.should or limit < 1 or not total.chunks:
        return []
    scope = snapshot.scope(build, "chunk")
    narrowed = bool(asked.must) or not is_open(where)
    first: list[Candidate] = []
    # Tags are looked up by Lance: to read those of every candidate would cost more.
    if not (where.tags or where.not_tags) and (total.chunks <= _CANDIDATES or not narrowed):
        first = _fetched(snapshot, _any_of(asked.should), scope, _CANDIDATES, deadline)
        if len(first) < _CANDIDATES or total.chunks == _CANDIDATES:
            # All that match: what a token weighs, and the filters, are seen from the rows.
            seen = _count_among(first, asked.should)
            snapshot.counted.update({(build.id, token): seen[token] for token in seen})
            passes = passing(where)
            kept = [one for one in first if passes(one.source, one.path, one.day)]
            return _ranked(kept, asked, seen, total, deadline)[:limit]
    hits = {token: _held_by(snapshot, build, token, deadline) for token in asked.should}
    condition = condition_of(snapshot, build, where)
    if condition is None:
        return []
    if condition:
        scope = f"{scope} AND {condition}"
    return _best(snapshot, asked, scope, limit, hits, total, deadline, first=first)


def _best(
    snapshot: Snapshot,
    asked: KeywordQuery,
    scope: str,
    limit: int,
    hits: dict[str, float],
    total: Counts,
    deadline: Deadline,
    *,
    first: list[Candidate],
) -> list[tuple[Candidate, float]]:
    """The best of ever more candidates, until it is clear that more would change nothing.

    That is where there are enough, and the last one wanted scores above the least of them.
    ``first`` are the candidates that are known already, if any.
    """
    query = _query(asked)
    every = total.chunks + 1
    wanted = min(every, max(_CANDIDATES, _PER_HIT * limit))
    while True:
        known = first if len(first) >= wanted else None
        found = known or _fetched(snapshot, query, scope, wanted, deadline)
        ranked = _ranked(found, asked, hits, total, deadline)
        if len(found) < wanted:
            return ranked[:limit]
        if len(ranked) > limit and ranked[limit - 1][1] > ranked[-1][1]:
            return ranked[:limit]
        wanted = min(every, wanted * _GROWTH)


def _fetched(
    snapshot: Snapshot, query: Any, condition: str, limit: int, deadline: Deadline
) -> list[Candidate]:
    rows = snapshot.matching(query, condition, _COLUMNS, limit, deadline)
    values = [rows[name].to_pylist() for name in _COLUMNS]
    return [
        Candidate(id_, source, path, position, day, padded(terms), length)
        for id_, source, path, position, day, terms, length in zip(*values, strict=True)
    ]


def _ranked(
    candidates: Sequence[Candidate],
    asked: KeywordQuery,
    hits: dict[str, float],
    total: Counts,
    deadline: Deadline,
) -> list[tuple[Candidate, float]]:
    """Those that hold what must be held, best first."""
    weights = {token: weight(total.chunks, count) for token, count in hits.items()}
    average = total.tokens / total.chunks or 1.0
    scored = []
    for number, one in enumerate(candidates):
        if number % _CHECK_EVERY == 0:
            deadline.check("the keyword search")
        if not _holds(one.columns, asked):
            continue
        value = score(one.columns, one.length, average, asked.should, weights)
        if value > 0:
            place = text_out(one.source), text_out(one.path), one.position
            scored.append((hit_order(value, one.day, *place), one.id, one))
    return [(one, -order[0]) for order, _, one in sorted(scored)]


def term_counts(candidate: Candidate, tokens: Sequence[str]) -> TermCounts:
    """How often ``candidate`` has each of ``tokens``, and its length in tokens."""
    counts = {token: counts_of(candidate.columns, text_in(token)) for token in tokens}
    held = {token: count for token, count in counts.items() if count}
    return TermCounts(held, candidate.length)


def _holds(columns: Padded, asked: KeywordQuery) -> bool:
    return all(has(columns, phrase) for phrase in asked.must) and not any(
        has(columns, phrase) for phrase in asked.must_not
    )


def holders_of(
    snapshot: Snapshot, build: BuildState, tokens: Collection[str], deadline: Deadline
) -> dict[str, int]:
    """How many chunks of the build hold each of ``tokens``; see :func:`_held_by`.

    Of many tokens that are not counted yet some 1,000 rows are looked at, for a query of each would
    take seconds.
    """
    stored = {token: text_in(token) for token in tokens if token}
    known = snapshot.counted
    left = tuple(token for token in stored.values() if (build.id, token) not in known)
    if len(left) > _MANY and build.total.chunks:
        scope = snapshot.scope(build, "chunk")
        rows = _fetched(snapshot, _any_of(left), scope, _CANDIDATES, deadline)
        seen: Mapping[str, float] = _count_among(rows, left)
        return {
            token: int(known.get((build.id, one), seen.get(one, 0)))
            for token, one in stored.items()
        }
    return {token: int(_held_by(snapshot, build, one, deadline)) for token, one in stored.items()}


def _count_among(rows: Sequence[Candidate], tokens: Sequence[str]) -> dict[str, float]:
    return {token: sum(counts_of(one.columns, token) > 0 for one in rows) for token in tokens}


def _held_by(snapshot: Snapshot, build: BuildState, token: str, deadline: Deadline) -> float:
    """How many chunks of the build hold ``token``; for frequent ones an estimate.

    Ids are drawn at random: those below a bound are as good a sample as any.
    """
    key = build.id, token
    if key not in snapshot.counted:
        snapshot.counted[key] = _count(snapshot, build, token, deadline)
    return snapshot.counted[key]


def _count(snapshot: Snapshot, build: BuildState, token: str, deadline: Deadline) -> float:
    scope = snapshot.scope(build, "chunk")
    chunks = build.total.chunks
    most = chunks if chunks <= _SAMPLE else _COUNTED
    query = _phrase(token.split(" "))
    number: int = snapshot.matching(query, scope, ("id",), most, deadline).num_rows
    if number < most or most == chunks:
        return number
    share = _SAMPLE / chunks
    condition = f"{scope} AND id < {int(share * 2**ID_BITS)}"
    sampled = snapshot.matching(query, condition, ("id",), _SAMPLE, deadline)
    estimate: float = sampled.num_rows / share
    return max(number, estimate)


def _query(asked: KeywordQuery) -> Any:
    """Lance's form of the query; unwanted phrases are looked for in what it gives."""
    from lancedb.query import BooleanQuery, Occur

    if not asked.must:
        return _any_of(asked.should)
    parts: list[Any] = [(Occur.SHOULD, _any_of(asked.should))]
    parts += ((Occur.MUST, _phrase(phrase)) for phrase in asked.must)
    return BooleanQuery(parts)


def _phrase(tokens: Sequence[str]) -> Any:
    from lancedb.query import PhraseQuery

    return _any_of(tokens) if len(tokens) == 1 else PhraseQuery(" ".join(tokens), "terms")


def _any_of(tokens: Sequence[str]) -> Any:
    from lancedb.query import MatchQuery

    return MatchQuery(" ".join(dict.fromkeys(tokens)), "terms")


def _tokens(tokens: Sequence[str]) -> tuple[str, ...]:
    return tuple(text_in(token) for token in tokens if token)


def _phrases(phrases: Sequence[Phrase]) -> tuple[Phrase, ...]:
    return tuple(found for phrase in phrases if (found := _tokens(phrase)))


_EXTRA = 0.4
"""What one occurrence counts in the column extra; in body and head it counts 1."""

_K1 = 1.2
_B = 0.75

Padded = tuple[str, str]
"""All columns of a row, and the column extra alone, each token with two spaces of its own."""


def padded(terms: str) -> Padded:
    """The columns so that tokens and phrases are found by plain text search.

    Two tokens that stand side by side have two spaces between them: both are found.
    """
    return f"  {terms.replace(' ', '  ')} ", f"  {last_column(terms).replace(' ', '  ')} "


def counts_of(columns: Padded, token: str) -> float:
    """How often ``token`` stands in a row, each occurrence with its column's weight."""
    every, extra = columns
    if " " in token:
        found, less = _count_phrase(every, token), _count_phrase(extra, token)
        return found - less + _EXTRA * less
    needle = f" {token} "
    found = every.count(needle)
    if not found:
        return 0.0
    less = extra.count(needle)
    return found - less + _EXTRA * less


def _count_phrase(columns: str, phrase: str) -> int:
    """How often ``phrase`` stands there, also where it overlaps itself."""
    needle = f" {phrase.replace(' ', '  ')} "
    count = at = 0
    while (at := columns.find(needle, at) + 1) > 0:
        count += 1
    return count


def has(columns: Padded, phrase: Sequence[str]) -> bool:
    """Whether the tokens of ``phrase`` stand side by side in one of the columns."""
    return f" {'  '.join(phrase)} " in columns[0]


def weight(rows: int, hits: float) -> float:
    """The weight of a token that ``hits`` of ``rows`` chunks hold; never below 1e-6.

    Without the bound a token that stands in more than half of all chunks would count against them.
    """
    return max(log((rows - hits + 0.5) / (hits + 0.5)), 1e-6) if hits < rows + 0.5 else 1e-6


def score(
    columns: Padded,
    length: int,
    average: float,
    should: Sequence[str],
    weights: Mapping[str, float],
) -> float:
    """The sum over ``should``; a token that stands there twice counts twice."""
    norm = _K1 * (1 - _B + _B * length / average)
    total = 0.0
    for token in should:
        count = counts_of(columns, token)
        if count:
            total += weights[token] * count * (_K1 + 1) / (count + norm)
    return total
