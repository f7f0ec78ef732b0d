from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve
from tests.conformance.mutants import caught, complete

from commonplace.model.chunks import PutDocument, Terms
from commonplace.model.search import Found, KeywordMatches
from commonplace.testing.store.keyword import ScoreLaws
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.index.simple_store import StoredRow
    from commonplace.model.chunks import Change
    from commonplace.model.documents import Build
    from commonplace.model.search import KeywordQuery, Where
    from commonplace.resilience.deadline import Deadline

Hits = list[Found]


class Ranking(InMemoryStore):
    """Makes another list of what it has found."""

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        found = super().keyword(query, where=where, limit=1_000_000, deadline=deadline).found
        return KeywordMatches(tuple(self.ranked(list(found), query)[:limit]))

    def ranked(self, found: Hits, query: KeywordQuery) -> Hits:
        rows = {row.id: row for row in self._live().rows()}
        scored = [
            hit._replace(score=self.score(hit.score, rows[int(hit.chunk.id)], query))
            for hit in found
        ]
        return sorted(scored, key=lambda hit: -hit.score)

    def score(self, score: float, row: StoredRow, query: KeywordQuery) -> float:
        return score


class KeepsTheSignOfSqlite(Ranking):
    def ranked(self, found: Hits, query: KeywordQuery) -> Hits:
        return [hit._replace(score=-hit.score) for hit in found]


class ForgetsToSort(Ranking):
    def ranked(self, found: Hits, query: KeywordQuery) -> Hits:
        return sorted(found, key=lambda hit: hit.chunk.id)


class CutsAtZero(Ranking):
    def score(self, score: float, row: StoredRow, query: KeywordQuery) -> float:
        return score if score > 1e-3 else 0.0


class SortsTiesById(Ranking):
    def ranked(self, found: Hits, query: KeywordQuery) -> Hits:
        return sorted(found, key=lambda hit: (-hit.score, hit.chunk.id))


class SortsTiesByPath(Ranking):
    def ranked(self, found: Hits, query: KeywordQuery) -> Hits:
        return sorted(
            found,
            key=lambda hit: (-hit.score, hit.chunk.source, hit.chunk.path, hit.chunk.start_line),
        )


class TurnsTiesRound(Ranking):
    turned = False

    def ranked(self, found: Hits, query: KeywordQuery) -> Hits:
        self.turned = not self.turned
        return sorted(found[::-1] if self.turned else found, key=lambda hit: -hit.score)


class CutsBeforeSorting(InMemoryStore):
    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        found = super().keyword(query, where=where, limit=1_000_000, deadline=deadline).found
        first = sorted(int(hit.chunk.id) for hit in found)[:limit]
        return KeywordMatches(tuple(hit for hit in found if hit.chunk.id in first))


class ScoresAlike(Ranking):
    def score(self, score: float, row: StoredRow, query: KeywordQuery) -> float:
        return 1.0


class PrefersTheLong(Ranking):
    def score(self, score: float, row: StoredRow, query: KeywordQuery) -> float:
        return score * row.length


class CountsOccurrences(Ranking):
    def score(self, score: float, row: StoredRow, query: KeywordQuery) -> float:
        return sum(row.counts.get(token, 0.0) for token in query.should)


class CountsEachTokenOnce(Ranking):
    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        query = query._replace(should=tuple(dict.fromkeys(query.should)))
        return super().keyword(query, where=where, limit=limit, deadline=deadline)


class CountsWhatPasses(InMemoryStore):
    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        matches = super().keyword(query, where=where, limit=1_000_000, deadline=deadline)
        found = [hit.chunk.body.split() for hit in matches.found]
        holders = {token: sum(token in body for body in found) for token in query.should}
        return matches._replace(found=matches.found[:limit], holders=holders)


class PrefersTheParts(InMemoryStore):
    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        super().put_documents(build, [_swapped(change) for change in changes])


def _swapped(change: Change) -> Change:
    if not isinstance(change, PutDocument):
        return change
    chunks = (
        chunk._replace(terms=Terms(chunk.terms.extra, chunk.terms.head, chunk.terms.body))
        for chunk in change.chunks
    )
    return evolve(change, chunks=tuple(chunks))


BROKEN: list[tuple[type[InMemoryStore], str]] = [
    (KeepsTheSignOfSqlite, "test_scores_are_above_0_and_best_first"),
    (ForgetsToSort, "test_scores_are_above_0_and_best_first"),
    (CutsAtZero, "test_scores_are_above_0_and_best_first"),
    (SortsTiesById, "test_equal_scores_are_ordered_by_day_source_path_and_place"),
    (SortsTiesByPath, "test_equal_scores_are_ordered_by_day_source_path_and_place"),
    (SortsTiesById, "test_ties_are_in_order"),
    (TurnsTiesRound, "test_the_same_question_gets_the_same_answer"),
    (CutsBeforeSorting, "test_a_limit_only_cuts_off"),
    (ScoresAlike, "test_more_occurrences_score_higher"),
    (PrefersTheLong, "test_a_longer_chunk_never_scores_higher"),
    (CountsOccurrences, "test_a_rarer_token_counts_more"),
    (PrefersTheParts, "test_a_token_counts_at_least_as_much_in_the_text_as_in_its_parts"),
    (CountsWhatPasses, "test_the_chunks_that_hold_a_token_are_counted"),
    (CountsEachTokenOnce, "test_a_score_is_the_sum_over_the_tokens"),
]


test_the_law_catches = caught(BROKEN)
test_every_law_can_fail = complete(BROKEN, ScoreLaws)
