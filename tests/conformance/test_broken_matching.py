from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from tests.conformance.mutants import caught, complete
from tests.conformance.test_broken_filters import FiltersAfterTheLimit, IgnoresAFilterForAnother

from commonplace.errors import DeclinedError
from commonplace.files.globs import glob_regex
from commonplace.model.chunks import PutDocument, Terms
from commonplace.model.search import KeywordMatches, KeywordQuery, Where
from commonplace.testing.base import scored
from commonplace.testing.store.keyword import MatchLaws
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.model.chunks import Change
    from commonplace.model.documents import Build
    from commonplace.model.search import Phrase, StoredChunk
    from commonplace.resilience.deadline import Deadline


class Asking(InMemoryStore):
    """Makes another query or filter of the one it is asked."""

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        query, where = self.other(query), self.elsewhere(where)
        return super().keyword(query, where=where, limit=limit, deadline=deadline)

    def other(self, query: KeywordQuery) -> KeywordQuery:
        return query

    def elsewhere(self, where: Where) -> Where:
        return where


class Writing(InMemoryStore):
    """Makes other terms of the ones it is given."""

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        super().put_documents(build, [self._written(change) for change in changes])

    def _written(self, change: Change) -> Change:
        if not isinstance(change, PutDocument):
            return change
        chunks = (chunk._replace(terms=self.terms(chunk.terms)) for chunk in change.chunks)
        return evolve(change, chunks=tuple(chunks))

    def terms(self, terms: Terms) -> Terms:
        raise NotImplementedError


class IgnoresMust(Asking):
    def other(self, query: KeywordQuery) -> KeywordQuery:
        return query._replace(must=())


class IgnoresMustNot(Asking):
    def other(self, query: KeywordQuery) -> KeywordQuery:
        return query._replace(must_not=())


class FindsOncePerToken(InMemoryStore):
    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        found = super().keyword(query, where=where, limit=limit, deadline=deadline).found
        return KeywordMatches(tuple(hit for hit in found for _ in set(query.should))[:limit])


class TakesPhrasesApart(Asking):
    def other(self, query: KeywordQuery) -> KeywordQuery:
        return query._replace(must=_apart(query.must), must_not=_apart(query.must_not))


class AnswersWithoutPhrases(TakesPhrasesApart):
    capabilities = frozenset({"keyword"})


class DeclinesPhrases(InMemoryStore):
    """Not broken: it says what it cannot do."""

    capabilities = frozenset({"keyword"})

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        if any(len(phrase) > 1 for phrase in (*query.must, *query.must_not)):
            raise DeclinedError("this store does not know where in a chunk a token stands")
        return super().keyword(query, where=where, limit=limit, deadline=deadline)


class WritesOneColumn(Writing):
    def terms(self, terms: Terms) -> Terms:
        return Terms(f"{terms.body} {terms.head} {terms.extra}")


class SplitsAtPunctuation(Writing):
    def terms(self, terms: Terms) -> Terms:
        columns = (terms.body, terms.head, terms.extra)
        return Terms(*(" ".join(re.findall(r"\w+", column)) for column in columns))


class CutsLongTokens(Writing):
    def terms(self, terms: Terms) -> Terms:
        columns = (terms.body, terms.head, terms.extra)
        return Terms(*(" ".join(t[:64] for t in column.split(" ")) for column in columns))


class ReadsStarsAsPrefixes(Asking):
    def other(self, query: KeywordQuery) -> KeywordQuery:
        tokens = {token for row in self._live().rows() for token in row.counts}
        return query._replace(
            should=tuple(
                match
                for token in query.should
                for match in (tokens if token.endswith("*") else {token})
                if match.startswith(token.rstrip("*"))
            ),
        )


class FindsAllWhenAskedNothing(Asking):
    def other(self, query: KeywordQuery) -> KeywordQuery:
        wanted = tuple(token for phrase in query.must for token in phrase)
        return query._replace(should=query.should or wanted)


class DeclinesLongQueries(Asking):
    def other(self, query: KeywordQuery) -> KeywordQuery:
        if len(query.should) > 256:
            raise DeclinedError("too many tokens")
        return query


class FiltersAfterRanking(InMemoryStore):
    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        passing = super().keyword(query, where=where, limit=1_000_000, deadline=deadline)
        best = super().keyword(query, where=Where(), limit=8 * limit, deadline=deadline)
        return _common(best, passing, limit)


class FiltersTheBest(FiltersAfterRanking):
    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        # Without a filter all is well, and a filter makes `limit` count what does not pass.
        best = super().keyword(query, where=Where(), limit=limit, deadline=deadline)
        passing = InMemoryStore.keyword(
            self, query, where=where, limit=1_000_000, deadline=deadline
        )
        return _common(best, passing, limit)


class TakesNoSourcesForAll(Asking):
    def elsewhere(self, where: Where) -> Where:
        return where._replace(sources=where.sources or None)


class LetsTheUndatedPass(InMemoryStore):
    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        dated = (
            evolve(change, day=change.day or "2026-01-31")
            if isinstance(change, PutDocument)
            else change
            for change in changes
        )
        super().put_documents(build, list(dated))


class EndsADayTooEarly(Asking):
    def elsewhere(self, where: Where) -> Where:
        return where._replace(before=where.before and where.before[:-1])


class ReadsPathsAsPatterns(Asking):
    def elsewhere(self, where: Where) -> Where:
        return where._replace(paths=tuple(path.replace("_", "?") for path in where.paths))


class TakesTagsByTheirBeginning(InMemoryStore):
    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        tagged = (
            evolve(
                change,
                tags=tuple(tag[:end] for tag in change.tags for end in range(1, len(tag) + 1)),
            )
            if isinstance(change, PutDocument)
            else change
            for change in changes
        )
        super().put_documents(build, list(tagged))


class Sifting(InMemoryStore):
    """Sifts by a filter of its own what all others let pass."""

    sifted = "paths"

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        others = where._replace(**{self.sifted: getattr(Where(), self.sifted)})
        every = super().keyword(query, where=others, limit=1_000_000, deadline=deadline).found
        return KeywordMatches(tuple(hit for hit in every if self.lets(hit.chunk, where))[:limit])

    def lets(self, chunk: StoredChunk, where: Where) -> bool:
        raise NotImplementedError


class FoldsUnwantedPaths(Sifting):
    sifted = "not_paths"

    def lets(self, chunk: StoredChunk, where: Where) -> bool:
        path = chunk.path.casefold()
        globs = (glob_regex(glob.casefold()) for glob in where.not_paths)
        return not any(re.fullmatch(glob, path) for glob in globs)


class TakesFoldersByTheirBeginning(Sifting):
    def lets(self, chunk: StoredChunk, where: Where) -> bool:
        return not where.paths or any(
            re.fullmatch(glob_regex(path), chunk.path)
            or ("*" not in path and chunk.path.startswith(path))
            for path in where.paths
        )


class TakesSourcesByTheirBeginning(Sifting):
    sifted = "sources"

    def lets(self, chunk: StoredChunk, where: Where) -> bool:
        return where.sources is None or chunk.source.startswith(tuple(where.sources))


class ReadsMonthsAlone(Sifting):
    sifted = "before"

    def lets(self, chunk: StoredChunk, where: Where) -> bool:
        return where.before is None or (chunk.day or "9999-12")[:7] <= where.before[:7]


def _common(best: KeywordMatches, passing: KeywordMatches, limit: int) -> KeywordMatches:
    known = scored(passing.found)
    return KeywordMatches(tuple(hit for hit in best.found if hit.chunk.id in known)[:limit])


def _apart(phrases: tuple[Phrase, ...]) -> tuple[Phrase, ...]:
    return tuple((token,) for phrase in phrases for token in phrase)


BROKEN: list[tuple[type[InMemoryStore], str]] = [
    (IgnoresMust, "test_a_search_finds_all_that_match_and_nothing_else"),
    (IgnoresMustNot, "test_a_search_finds_all_that_match_and_nothing_else"),
    (FindsOncePerToken, "test_a_search_finds_all_that_match_and_nothing_else"),
    (TakesPhrasesApart, "test_phrases_match_side_by_side_in_one_column"),
    (WritesOneColumn, "test_a_phrase_does_not_reach_from_one_column_into_the_next"),
    (AnswersWithoutPhrases, "test_undeclared_phrases_are_declined"),
    (FindsAllWhenAskedNothing, "test_nothing_asked_is_nothing_found"),
    (SplitsAtPunctuation, "test_tokens_are_never_syntax"),
    (SplitsAtPunctuation, "test_each_hostile_token_finds_itself_alone"),
    (CutsLongTokens, "test_each_hostile_token_finds_itself_alone"),
    (ReadsStarsAsPrefixes, "test_each_hostile_token_finds_itself_alone"),
    (DeclinesLongQueries, "test_a_long_query_is_answered"),
    (FiltersTheBest, "test_filters_come_before_ranking"),
    (FiltersAfterRanking, "test_a_filter_looks_past_better_matches"),
    (IgnoresAFilterForAnother, "test_filters_that_are_set_together_must_all_be_passed"),
    (FiltersAfterTheLimit, "test_filters_that_are_set_together_must_all_be_passed"),
    (TakesNoSourcesForAll, "test_a_filter_that_nothing_passes_finds_nothing"),
    (LetsTheUndatedPass, "test_dates_are_inclusive_and_only_for_the_dated"),
    (EndsADayTooEarly, "test_dates_are_inclusive_and_only_for_the_dated"),
    (TakesTagsByTheirBeginning, "test_tags_are_compared_whole_and_must_all_be_there"),
    (TakesSourcesByTheirBeginning, "test_filters_that_are_set_together_must_all_be_passed"),
    (ReadsMonthsAlone, "test_filters_that_are_set_together_must_all_be_passed"),
    (FoldsUnwantedPaths, "test_hostile_paths_can_be_asked_for"),
    (TakesFoldersByTheirBeginning, "test_hostile_paths_can_be_asked_for"),
    (ReadsPathsAsPatterns, "test_hostile_paths_can_be_asked_for"),
]


test_the_law_catches = caught(BROKEN)
test_every_law_can_fail = complete(BROKEN, MatchLaws)


@pytest.mark.parametrize(
    ("law", "outcome"),
    [
        ("test_undeclared_phrases_are_declined", "kept"),
        ("test_any_history_leaves_what_a_naive_model_leaves", "kept"),
        ("test_a_search_finds_all_that_match_and_nothing_else", "kept"),
        ("test_phrases_match_side_by_side_in_one_column", "skipped"),
        ("test_a_phrase_does_not_reach_from_one_column_into_the_next", "skipped"),
    ],
)
def test_who_declares_no_phrases_need_not_have_them(
    law: str, outcome: str, verdict: Callable[..., str]
) -> None:
    assert verdict(lambda _: DeclinesPhrases(), law, 40) == outcome
