"""The steps of a search, each by itself."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from commonplace.config.search import SearchSettings
from commonplace.errors import CommonplaceError, DeclinedError, UnavailableError
from commonplace.fallback.manager import ChainSearch
from commonplace.index.syncing import Freshness
from commonplace.model.documents import RootFailure
from commonplace.model.search import Arm, ArmFacts, Fallback, Found, Query, StoredChunk, Where
from commonplace.resilience.deadline import NEVER
from commonplace.search.search import Searcher
from commonplace.text.analyse import make_analyser

if TYPE_CHECKING:
    from commonplace.search.ranking import Ranked


class Asked(ChainSearch):
    """A search whose backend answers as given, in turn; it notes the queries."""

    def __init__(self, *answers: tuple[Arm, ...] | CommonplaceError) -> None:
        self.backend = "here"
        self.fallback = None
        self.freshness = Freshness()
        self.queries: list[Query] = []
        self.where: list[Where] = []
        self.answers = list(answers)

    def update(self) -> None: ...

    def ask(self, query: Query, *, where: Where, limit: int) -> tuple[Arm, ...]:
        self.queries.append(query)
        answer = self.answers.pop(0)
        if isinstance(answer, CommonplaceError):
            raise answer
        return answer

    def ask_again(self, query: Query, *, where: Where, limit: int) -> tuple[Arm, ...]:
        self.where.append(where)
        return self.ask(query, where=where, limit=limit)


def chunk(path: str, day: str | None = None) -> StoredChunk:
    return StoredChunk(path, "memory", path, 1, 1, "tea and walrus", day=day)


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


def test_vectors_alone_that_have_the_quoted_words_are_an_answer(searcher: Searcher) -> None:
    vectors = arm("memory/a.md")._replace(name="vector", kind="cosine")
    asked = Asked((vectors,), (arm("memory/b.md"),))
    answer = searcher.ask(asked, searcher.request('"walrus tea"', limit=5))
    assert (answer.arms, answer.notes, len(asked.queries)) == ((vectors,), (), 1)


@pytest.mark.parametrize(
    ("words", "freshness", "subject"),
    [
        ("", Freshness(stale=3), "no indexed note"),
        ("", Freshness(hidden=(RootFailure("memory", "not for you"),)), "no indexed note"),
        (" -herring", Freshness(), "no note that passes the filters"),
        (" path:memory/a.md", Freshness(), "no note that passes the filters"),
        (" tag:x", Freshness(stale=-1), "no indexed note that passes the filters"),
    ],
)
def test_what_no_note_is_said_to_have_is_what_was_looked_through(
    searcher: Searcher, words: str, freshness: Freshness, subject: str
) -> None:
    asked = Asked((arm(),), (arm("memory/a.md", unknown=frozenset({"tea"})),))
    asked.freshness = freshness
    answer = searcher.ask(asked, searcher.request(f'"walrus tea"{words}', limit=5))
    everywhere = subject.removesuffix(" that passes the filters")
    assert answer.notes == (
        f"{subject} has the quoted words side by side; shown is what comes near",
        f"{everywhere} has 'tea'",
    )


@pytest.mark.parametrize(
    ("query", "notes"),
    [
        ("tea 1430 euros zebra", ("no note has 'zebra'",)),
        ("tea zebra currently", ("no note has 'zebra'",)),
        ("tea for euros zebra", ("no note has 'euros' or 'zebra'",)),
    ],
)
def test_units_beside_amounts_and_words_for_now_are_not_missed(
    searcher: Searcher, query: str, notes: tuple[str, ...]
) -> None:
    asked = Asked((arm("memory/a.md", unknown=frozenset({"euro", "zebra", "current"})),))
    assert searcher.ask(asked, searcher.request(query, limit=5)).notes == notes


@pytest.mark.parametrize("failure", [DeclinedError("no such query"), UnavailableError("no reply")])
def test_an_answer_without_the_quotes_that_cannot_be_had_leaves_the_first(
    searcher: Searcher, failure: CommonplaceError
) -> None:
    answer = searcher.ask(Asked((arm(),), failure), searcher.request('"walrus tea"', limit=5))
    assert answer.query.keyword.must
    assert answer.notes == (f"no note has all of this; what comes near is missing: {failure}",)


def logs(*days: int) -> tuple[Arm, ...]:
    """A list of daily logs that say the same."""
    dates = [f"2026-10-{day:02}" for day in days]
    found = tuple(Found(chunk(f"memory/{date}.md", date), 1.0) for date in dates)
    return (Arm("keyword", "bm25", found),)


def chosen_of(searcher: Searcher, asked: Asked) -> Ranked:
    request = searcher.request("tea", limit=1)._replace(wide=2)  # so that lists of two are cut off
    answer = searcher.ask(asked, request)
    return searcher.choose(answer, request, asked.freshness, min_score=None, now=0.0)


def test_where_hits_of_a_list_that_was_cut_off_fold_newer_ones_are_asked_for(
    searcher: Searcher,
) -> None:
    asked = Asked(logs(1, 2), logs(*[day % 20 + 1 for day in range(200)]), logs(20, 21))
    chosen = chosen_of(searcher, asked)
    assert [one.chunk.day for one in chosen.candidates] == ["2026-10-21"]
    assert [where.after for where in asked.where] == [None, "2026-10-20"]
    assert chosen.notes == ()


@pytest.mark.parametrize("failure", [DeclinedError("no such query"), UnavailableError("no reply")])
@pytest.mark.parametrize("more", [(), (logs(*[3] * 200),)], ids=["at once", "later"])
def test_newer_hits_that_cannot_be_asked_for_leave_the_answer_with_a_note(
    searcher: Searcher, failure: CommonplaceError, more: tuple[tuple[Arm, ...], ...]
) -> None:
    chosen = chosen_of(searcher, Asked(logs(1, 2), *more, failure))
    assert [one.chunk.day for one in chosen.candidates] == [f"2026-10-0{3 if more else 2}"]
    assert chosen.notes == (f"newer notes that say the same may be missing: {failure}",)


def test_where_folding_leaves_places_empty_more_hits_are_asked_for(searcher: Searcher) -> None:
    others = tuple(Found(chunk(f"memory/tea-{n}.md"), 0.5) for n in range(3))
    twice = (Arm("keyword", "bm25", (*logs(1, 2)[0].found, *others)),)
    asked = Asked(logs(1, 2), logs(1, 2), twice)
    request = searcher.request("tea", limit=2)._replace(wide=2)
    answer = searcher.ask(asked, request)
    chosen = searcher.choose(answer, request, asked.freshness, min_score=None, now=0.0)
    days = [one.chunk.day for one in chosen.candidates]
    assert days == ["2026-10-02", None]
    failing = Asked(logs(1, 2), logs(1, 2), UnavailableError("no reply"))
    answer = searcher.ask(failing, request)
    chosen = searcher.choose(answer, request, failing.freshness, min_score=None, now=0.0)
    assert chosen.notes == ("further notes may be missing: no reply",)


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
    chosen = searcher.choose(answer, request, asked.freshness, min_score=None, now=0.0)
    result = searcher.present(chosen, answer, request, asked, NEVER)
    assert [hit.path for hit in result.hits] == ["memory/a.md"]
    assert (result.backend, result.fallback, result.stale) == ("here", instead, 2)
    assert result.notes == ("a note",)
    assert result.arms == (ArmFacts(name="keyword", found=2, plan="scan"),)


@pytest.mark.parametrize("away", ["", "memory"], ids=["all sources", "this source"])
def test_where_all_that_is_found_is_of_a_source_that_is_away_the_search_fails(
    searcher: Searcher, away: str
) -> None:
    def choose(*paths: str, root: str = "") -> Ranked:
        asked, request = Asked((arm(*paths),)), searcher.request("tea", limit=5)
        asked.freshness = Freshness(hidden=(RootFailure(root, "the disk is away", away),))
        answer = searcher.ask(asked, request)
        return searcher.choose(answer, request, asked.freshness, min_score=None, now=0.0)

    with pytest.raises(UnavailableError, match="the disk is away") as raised:
        choose("memory/a.md")
    assert raised.value.hint
    assert choose("memory/a.md", root="memory").candidates == [], "a folder that notes name"


@pytest.mark.parametrize(
    ("query", "away", "fails"),
    [
        ("tea", "mails", False),
        ("tea", "memory", False),
        ("tea", "", True),
        ("tea source:memory", "memory", True),
        ("tea -source:mails", "memory", True),
        ("tea source:mails", "memory", False),
        ("tea source:no", "memory", False),
    ],
)
def test_a_search_that_finds_nothing_fails_where_all_that_is_asked_for_is_away(
    query: str, away: str, fails: bool
) -> None:
    searcher = Searcher(SearchSettings(), make_analyser(), [], ["memory", "mails"])
    asked, request = Asked((arm(),)), searcher.request(query, limit=5)
    asked.freshness = Freshness(hidden=(RootFailure("", "the disk is away", away),))
    answer = searcher.ask(asked, request)
    with pytest.raises(UnavailableError) if fails else nullcontext():
        searcher.choose(answer, request, asked.freshness, min_score=None, now=0.0)
