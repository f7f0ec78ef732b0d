"""Keyword queries: Lance's index names candidates, which are scored here.

Lance weighs a token by all that share the table, and by other numbers where rows are not indexed
yet; so its scores are only used to choose who is scored. Here a token weighs what it weighs in
the build that is searched, whatever else is in the table.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from commonplace.plugin import TermCounts, hit_order, matches_days
from commonplace_lancedb.conditions import Dated
from commonplace_lancedb.head import ID_BITS, text_in, text_out
from commonplace_lancedb.matching import Wanted, counted, fetched, holds_all, holds_any
from commonplace_lancedb.reading import condition_of, is_open, passing
from commonplace_lancedb.scoring import counts_of, has, padded, score, weight

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from commonplace.plugin import Deadline, KeywordQuery, Phrase, Where
    from commonplace_lancedb.head import BuildState, Counts
    from commonplace_lancedb.matching import Fetched
    from commonplace_lancedb.scoring import Candidate, Padded
    from commonplace_lancedb.snapshot import Snapshot


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
    first: Fetched | None = None
    # Tags are looked up by Lance: to read those of every candidate would cost more.
    if not (where.tags or where.not_tags) and (total.chunks <= _CANDIDATES or not narrowed):
        first = fetched(snapshot, build, _any(asked.should, scope), _CANDIDATES, deadline)
        if first.complete or total.chunks == _CANDIDATES:
            # All that match: what a token weighs, and the filters, are seen from the rows.
            every = [*first.best, *first.loose]
            seen = _count_among(every, asked.should)
            snapshot.counted.update({(build.id, token): seen[token] for token in seen})
            passes = passing(where)
            kept = [one for one in every if passes(one.source, one.path, one.day)]
            return _ranked(kept, asked, seen, total, deadline)[:limit]
    hits = {token: _held_by(snapshot, build, token, deadline) for token in asked.should}
    condition = condition_of(snapshot, build, where)
    if condition is None:
        return []
    if condition:
        scope = f"{scope} AND {condition}"
    wanted = _wanted(asked, scope, where)
    return _best(snapshot, build, asked, wanted, limit, hits, deadline, first=first)


def of_days(
    snapshot: Snapshot, build: BuildState, query: KeywordQuery, where: Where, limit: int
) -> list[int]:
    """The first ``limit`` chunks of the query's days, in the order of equal scores."""
    if not query.days or limit < 1:
        return []
    of_one, passes, unwanted = matches_days(query.days), passing(where), _phrases(query.must_not)
    names = ["id", "source", "path", "position", "day"]
    names += ["tags"] if "tags" in snapshot.columns else []
    names += ["terms"] if unwanted else []
    rows = snapshot.rows(build, "chunk", names, Dated(query.days))
    found = []
    for row in rows.to_pylist():
        if not of_one(row["day"]) or not passes(
            row["source"], row["path"], row["day"], row.get("tags")
        ):
            continue
        columns = padded(row["terms"]) if unwanted else ("", "")
        if not any(has(columns, phrase) for phrase in unwanted):
            place = text_out(row["source"]), text_out(row["path"]), row["position"]
            found.append((hit_order(1.0, row["day"], *place), row["id"]))
    return [id_ for _, id_ in sorted(found)[:limit]]


def _best(
    snapshot: Snapshot,
    build: BuildState,
    asked: KeywordQuery,
    wanted: Wanted,
    limit: int,
    hits: dict[str, float],
    deadline: Deadline,
    *,
    first: Fetched | None,
) -> list[tuple[Candidate, float]]:
    """The best of ever more candidates, until it is clear that more would change nothing.

    That is where there are enough, and the last one wanted scores above the least that the index
    named. ``first`` are the candidates that are known already, if any.
    """
    every = build.total.chunks + 1
    number = min(every, max(_CANDIDATES, _PER_HIT * limit))
    while True:
        if first is None or first.limit < number:
            first = fetched(snapshot, build, wanted, number, deadline)
        best = _ranked(first.best, asked, hits, build.total, deadline)
        ranked = best
        if first.loose:
            ranked = _ranked([*first.best, *first.loose], asked, hits, build.total, deadline)
        if first.complete or (len(ranked) > limit and best and ranked[limit - 1][1] > best[-1][1]):
            return ranked[:limit]
        number = min(every, number * _GROWTH)


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
    present = {token: count for token, count in counts.items() if count}
    return TermCounts(present, candidate.length)


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
        wanted = _any(left, snapshot.scope(build, "chunk"))
        rows = fetched(snapshot, build, wanted, _CANDIDATES, deadline)
        seen: Mapping[str, float] = _count_among([*rows.best, *rows.loose], left)
        return {
            token: int(known.get((build.id, one), seen.get(one, 0)))
            for token, one in stored.items()
        }
    return {token: int(_held_by(snapshot, build, one, deadline)) for token, one in stored.items()}


def _count_among(rows: Sequence[Candidate], tokens: Sequence[str]) -> dict[str, float]:
    words = {token for token in tokens if " " not in token}
    phrases = [token for token in tokens if " " in token]
    seen: Counter[str] = Counter()
    for one in rows:
        seen.update(words.intersection(one.columns[0].split(" ")))
        seen.update(phrase for phrase in phrases if has(one.columns, phrase.split(" ")))
    return {token: seen[token] for token in tokens}


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
    phrase = token.split(" ")
    wanted = Wanted(_phrase(phrase), holds_all([phrase]), scope, lambda *_: True)
    number = counted(snapshot, build, wanted, most, deadline)
    if number < most or most == chunks:
        return number
    share = _SAMPLE / chunks
    bound = int(share * 2**ID_BITS)
    sample = wanted._replace(
        condition=f"{scope} AND id < {bound}", passes=lambda id_, *_: id_ < bound
    )
    return max(number, counted(snapshot, build, sample, _SAMPLE, deadline) / share)


def _wanted(asked: KeywordQuery, condition: str, where: Where) -> Wanted:
    """All of the query but for unwanted phrases, which are looked for in what matches."""
    from lancedb.query import BooleanQuery, Occur

    of_document = passing(where)
    wanted = _any(asked.should, condition)._replace(passes=lambda _, *place: of_document(*place))
    if not asked.must:
        return wanted
    parts: list[Any] = [(Occur.SHOULD, wanted.query)]
    parts += ((Occur.MUST, _phrase(phrase)) for phrase in asked.must)
    return wanted._replace(query=BooleanQuery(parts), holds=holds_all(asked.must))


def _any(tokens: Sequence[str], condition: str) -> Wanted:
    return Wanted(_any_of(tokens), holds_any(tokens), condition, lambda *_: True)


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
