"""The steps of a search, each by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace.config.search import SearchSettings
from commonplace.index.syncing import Freshness
from commonplace.model.documents import RootFailure
from commonplace.model.search import Arm, ArmFacts, Fallback, Found, Query, StoredChunk, Where
from commonplace.search.search import Searcher
from commonplace.text.analyse import make_analyser

if TYPE_CHECKING:
    from commonplace.model.search import Candidate


class Asked:
    """A search whose backend answers with the given lists, in turn; it notes the queries."""

    def __init__(self, *answers: tuple[Arm, ...]) -> None:
        self.backend = "here"
        self.fallback: Fallback | None = None
        self.freshness = Freshness()
        self.queries: list[Query] = []
        self.answers = list(answers)

    def update(self) -> None: ...

    def ask(self, query: Query, *, where: Where, limit: int) -> tuple[Arm, ...]:
        self.queries.append(query)
        return self.answers.pop(0)


def chunk(path: str) -> StoredChunk:
    return StoredChunk(path, "memory", path, 1, 1, "tea and walrus")


def arm(*paths: str, **more: object) -> Arm:
    found = tuple(Found(chunk(path), 1.0) for path in paths)
    return Arm("keyword", "bm25", found, **more)  # type: ignore[arg-type]  # the test's own


@pytest.fixture
def searcher() -> Searcher:
    return Searcher(SearchSettings(), make_analyser(), [], ["memory"])


def test_a_request_has_what_was_typed_and_what_was_asked_for(searcher: Searcher) -> None:
    request = searcher.request('"green tea" source:memory', limit=5, sources=["memory", "x"])
    assert request.phrases
    assert request.where.sources == frozenset({"memory"})
    assert request.sources == frozenset({"memory", "x"})
    assert request.wide > request.limit == 5


def test_a_query_without_words_is_not_asked(searcher: Searcher) -> None:
    asked = Asked()
    answer = searcher.ask(asked, searcher.request("  ?! ", limit=5))
    assert (answer.arms, asked.queries) == ((), [])
    assert answer.notes == ("the query has no words to search for",)


def test_quotes_that_no_note_holds_are_dropped_and_a_note_says_so(searcher: Searcher) -> None:
    asked = Asked((arm(),), (arm("memory/a.md"),))
    answer = searcher.ask(asked, searcher.request('"walrus tea"', limit=5))
    first, second = asked.queries
    assert first.keyword.must
    assert second.keyword.must == ()
    assert answer.query == second
    assert answer.notes == ("no note has the quoted words side by side; shown is what comes near",)


def test_sources_that_are_not_there_are_named(searcher: Searcher) -> None:
    answer = searcher.ask(
        Asked((arm("a"),)), searcher.request("tea", limit=5, sources=["mails", "memory"])
    )
    assert answer.notes == ("there is no source 'mails' here, only memory",)


def test_a_result_names_backend_arms_and_fallback_and_hides_what_cannot_be_read(
    searcher: Searcher,
) -> None:
    instead = Fallback(part="p", reason="down", since=1.0, by="keywords alone")
    asked = Asked((arm("memory/a.md", "gone/b.md", plan="scan", fallback=instead),))
    asked.freshness = Freshness(2, ("a note",), (RootFailure("gone", "not mounted"),))
    request = searcher.request("tea", limit=5)
    answer = searcher.ask(asked, request)
    ranked: list[Candidate] = searcher.rank(answer, request, now=0.0)
    result = searcher.present(ranked, answer, request, asked, min_score=None)
    assert [hit.path for hit in result.hits] == ["memory/a.md"]
    assert (result.backend, result.fallback, result.stale) == ("here", instead, 2)
    assert result.notes == ("a note",)
    assert result.arms == (ArmFacts(name="keyword", found=2, plan="scan"),)
