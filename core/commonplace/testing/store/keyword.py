"""Laws about keyword queries: which chunks are found, their scores and their order."""

from __future__ import annotations

from functools import wraps
from math import isfinite
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve
from hypothesis import strategies as st

from commonplace.errors import DeclinedError
from commonplace.model.search import KeywordQuery, Where, newest_first
from commonplace.resilience.deadline import NEVER
from commonplace.testing.base import (
    EVERYWHERE,
    filtered_puts,
    filters_together,
    found_at,
    make_chunk,
    make_put,
    places,
    publish,
    scored,
    search,
    words,
)
from commonplace.testing.laws import law
from commonplace.testing.store.lifetime import StoreLaws
from commonplace.testing.strategies import (
    HOSTILE_PATHS,
    HOSTILE_TOKENS,
    LOOSE_GLOBS,
    PATHS,
    TAGS,
    TESTED_SOURCES,
    WORDS,
    corpora,
    dated_order,
    dated_puts,
    expected_at,
    holds,
    puts,
    queries,
    vocabularies,
    wheres,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

    from commonplace.model.chunks import AnalysedChunk, PutDocument
    from commonplace.model.search import ChunkId
    from commonplace.protocols.parts import CountingStore, Store
    from commonplace.testing.base import Corpus


def _questions(longest_phrase: int) -> SearchStrategy[list[tuple[KeywordQuery, Where]]]:
    """Several for one store: opening one is dear, asking it is not."""
    question = st.tuples(queries(longest_phrase=longest_phrase), wheres())
    return st.lists(question, min_size=1, max_size=8)


_WHERES = st.lists(wheres(), min_size=1, max_size=6)


class MatchLaws(StoreLaws):
    """The set of chunks that ``keyword`` answers with."""

    @law("keyword", corpus=corpora(), questions=_questions(longest_phrase=1))
    def test_a_search_finds_all_that_match_and_nothing_else(
        self, store: Store, corpus: Corpus, questions: list[tuple[KeywordQuery, Where]]
    ) -> None:
        """Found once: any of ``should``, all of ``must``, none of ``must_not``, and the filters."""
        publish(store, *corpus)
        for query, where in questions:
            assert found_at(store, query, where) == expected_at(corpus, query, where)

    @law("keyword", "phrases", corpus=corpora(), questions=_questions(longest_phrase=3))
    def test_phrases_match_side_by_side_in_one_column(
        self, store: Store, corpus: Corpus, questions: list[tuple[KeywordQuery, Where]]
    ) -> None:
        """As above; the tokens of a phrase stand side by side, in order, in one column."""
        publish(store, *corpus)
        for query, where in questions:
            assert found_at(store, query, where) == expected_at(corpus, query, where)

    @law("keyword", "phrases")
    def test_a_phrase_does_not_reach_from_one_column_into_the_next(self, store: Store) -> None:
        """``ant bee`` is not where ``ant`` ends the body and ``bee`` begins another column."""
        apart = make_chunk("ant", head="bee", extra="bee", line=1)
        together = make_chunk("cat", extra="ant bee", line=2)
        publish(store, make_put("a.md", apart, together))
        query = KeywordQuery(should=("ant", "bee"), must=(("ant", "bee"),))
        assert found_at(store, query) == [("memory", "a.md", 2)]
        query = KeywordQuery(should=("ant", "bee"), must_not=(("ant", "bee"),))
        assert found_at(store, query) == [("memory", "a.md", 1)]

    @law("keyword")
    def test_undeclared_phrases_are_declined(self, store: Store) -> None:
        """A store without ``phrases`` raises ``DeclinedError`` for several tokens in a row.

        Wanted or unwanted: it does not answer as if they had not been asked for. A phrase of one
        token needs no such capability.
        """
        if "phrases" in store.capabilities:
            pytest.skip("the store declares phrases")
        publish(store, make_put("a.md", "ant bee"))
        for refused in (
            KeywordQuery(should=("ant",), must=(("ant", "bee"),)),
            KeywordQuery(should=("ant",), must_not=(("bee", "ant"),)),
        ):
            with pytest.raises(DeclinedError):
                search(store, refused)

    @law("keyword", corpus=corpora(), unwanted=st.booleans())
    def test_nothing_asked_is_nothing_found(
        self,
        store: Store,
        corpus: Corpus,
        unwanted: bool,  # noqa: FBT001
    ) -> None:
        """With ``should`` empty nothing matches, whatever else the query says."""
        publish(store, *corpus)
        other = (("ant",),)
        query = KeywordQuery(must_not=other) if unwanted else KeywordQuery(must=other)
        assert search(store, query) == []

    @law("keyword", data=st.data(), vocabulary=vocabularies())
    def test_tokens_are_never_syntax(
        self, store: Store, data: st.DataObject, vocabulary: list[str]
    ) -> None:
        """Quotes, operators, wildcards, control characters, any script: matched as they are."""
        corpus = data.draw(corpora(vocabulary), label="corpus")
        asked = st.lists(queries(vocabulary, longest_phrase=1), min_size=1, max_size=6)
        publish(store, *corpus)
        for query in data.draw(asked, label="queries"):
            assert found_at(store, query) == expected_at(corpus, query)

    @law("keyword")
    def test_each_hostile_token_finds_itself_alone(self, store: Store) -> None:
        """A document for each of the hostile tokens: each finds its own."""
        publish(
            store,
            *(
                make_put(f"{number:03}.md", make_chunk("text", body=token))
                for number, token in enumerate(HOSTILE_TOKENS)
            ),
        )
        for number, token in enumerate(HOSTILE_TOKENS):
            assert found_at(store, words(token)) == [("memory", f"{number:03}.md", 1)], repr(token)

    @law("keyword")
    def test_a_long_query_is_answered(self, store: Store) -> None:
        """Hundreds of tokens are a query like any other."""
        many = tuple(f"ant{number}" for number in range(500))
        publish(store, make_put("a.md", " ".join(many)), make_put("b.md", "ant499"))
        assert len(search(store, words(*many))) == 2
        query = KeywordQuery(should=many, must=tuple((token,) for token in many))
        assert found_at(store, query) == [("memory", "a.md", 1)]
        query = KeywordQuery(should=many, must_not=tuple((token,) for token in many[:-1]))
        assert found_at(store, query) == [("memory", "b.md", 1)]

    @law("keyword", corpus=corpora(min_size=3, max_size=12), wheres=_WHERES)
    def test_filters_come_before_ranking(
        self, store: Store, corpus: Corpus, wheres: list[Where]
    ) -> None:
        """``limit`` matches come back if so many pass: the best of these."""
        publish(store, *corpus)
        for where in wheres:
            every = search(store, words("ant", "bee"), where)
            for limit in (1, 2, 5):
                assert search(store, words("ant", "bee"), where, limit) == every[:limit]

    @law("keyword")
    def test_a_filter_looks_past_better_matches(self, store: Store) -> None:
        """One dated note is found behind hundreds that match better and do not pass."""
        crowd = [make_put(f"crowd/{n}.md", "ant ant ant", tags=("crowd",)) for n in range(300)]
        lone = make_put("lone/note.md", "ant bee cat dog", source="sessions", day="2026-01-31")
        publish(store, *crowd, evolve(lone, tags=("zoo",)))
        for where in (
            Where(sources=frozenset({"sessions"})),
            Where(paths=("lone",)),
            Where(paths=("*/note.md",)),
            *(Where(after="2026-01-31"), Where(before="2026-01-31"), Where(tags=("zoo",))),
            Where(not_sources=frozenset({"memory"})),
            *(Where(not_paths=("crowd",)), Where(not_tags=("crowd",))),
            Where(paths=("*/*.md",), not_paths=("crowd/*.md", "nowhere")),
        ):
            assert found_at(store, words("ant"), where, 1) == [("sessions", "lone/note.md", 1)]

    @law("keyword")
    def test_filters_that_are_set_together_must_all_be_passed(self, store: Store) -> None:
        """Any two, any but one, or all: none is ignored or checked after ``limit`` for another."""
        corpus = filtered_puts()
        publish(store, *corpus)
        for where in filters_together(self.scale()):
            expected = expected_at(corpus, words("ant"), where)
            assert found_at(store, words("ant"), where, len(expected)) == expected, where

    @law("keyword", corpus=corpora(max_size=4))
    def test_a_filter_that_nothing_passes_finds_nothing(self, store: Store, corpus: Corpus) -> None:
        """An empty set of sources is a filter too; only ``None`` is none."""
        publish(store, *corpus, make_put("a.md", "ant", day="2026-01-31"))
        for where in (
            Where(sources=frozenset()),
            Where(sources=frozenset({"nowhere"})),
            *(Where(paths=("nowhere",)), Where(after="2026-02-01", before="2026-01-31")),
            Where(not_paths=("**",)),
            Where(sources=frozenset({"memory"}), not_sources=frozenset({"memory"})),
            Where(tags=("nowhere",)),
        ):
            assert search(store, words("ant"), where) == []

    @law("keyword", put=puts())
    def test_dates_are_inclusive_and_only_for_the_dated(
        self, store: Store, put: PutDocument
    ) -> None:
        """A document of the very day passes; one without a day passes no date."""
        dated = make_put("dated.md", "ant", day="2026-01-31")
        publish(store, evolve(put, day=None), dated)
        query = words("ant", "bee", "cat", "dog")
        day = "2026-01-31"
        for where in (Where(after=day), Where(before=day), Where(after=day, before=day)):
            assert found_at(store, query, where) == [("memory", "dated.md", 1)]
        for where in (Where(after="2026-02-01"), Where(before="2026-01-30")):
            assert search(store, query, where) == []

    @law("keyword")
    def test_tags_are_compared_whole_and_must_all_be_there(self, store: Store) -> None:
        """No part of a tag is one, nothing in it is syntax, and a document may have many."""
        corpus = [make_put(f"{n}.md", "ant", tags=(tag, "all")) for n, tag in enumerate(TAGS)]
        corpus.append(make_put("none.md", "ant"))
        publish(store, *corpus)
        asked = words("ant")
        for tag in (*TAGS, "zo", "oo", "a", "no-tag", "%", "_"):
            for tags in ((tag,), (tag, "all"), (tag, "no-tag")):
                for where in (Where(tags=tags), Where(not_tags=tags)):
                    assert found_at(store, asked, where) == expected_at(corpus, asked, where)

    @law("keyword")
    def test_hostile_paths_can_be_asked_for(self, store: Store) -> None:
        """A filter by a path finds what that glob matches; nothing else in it is syntax."""
        corpus = [make_put(path, "ant") for path in (*HOSTILE_PATHS, *PATHS)]
        publish(store, *corpus)
        for glob in (*HOSTILE_PATHS, *LOOSE_GLOBS):
            for where in (Where(paths=(glob,)), Where(not_paths=(glob,))):
                found = found_at(store, words("ant"), where)
                assert found == expected_at(corpus, words("ant"), where), where


_CROWDED = corpora(("ant", "bee"), min_size=3, max_size=12)
"""So alike that scores are often equal."""

_QUERIES = st.lists(queries(("ant", "bee", "cat"), longest_phrase=1), min_size=1, max_size=6)

_TOKENS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)


def _each_answer(check: Callable[[Any, Store, KeywordQuery], None]) -> Callable[[Any], None]:
    """Make a law of what ``check`` asks of several queries, where scores are often equal."""

    def test(self: StoreLaws, store: Store, corpus: Corpus, asked: list[KeywordQuery]) -> None:
        __tracebackhide__ = True
        publish(store, *corpus)
        for query in asked:
            check(self, store, query)

    return law("keyword", corpus=_CROWDED, asked=_QUERIES)(wraps(check)(test))


class ScoreLaws(StoreLaws):
    """What ``keyword`` says of each match, and the order it puts them in."""

    @_each_answer
    def test_scores_are_above_0_and_best_first(self, store: Store, query: KeywordQuery) -> None:
        """Finite, above 0 also for a token of all chunks, and never rising; no chunk twice."""
        found = search(store, query)
        scores = [hit.score for hit in found]
        assert all(score > 0 and isfinite(score) for score in scores)
        assert scores == sorted(scores, reverse=True)
        assert len(scored(found)) == len(found)

    @law("keyword", keys=st.permutations([(s, p) for s in TESTED_SOURCES for p in PATHS]))
    def test_equal_scores_are_ordered_by_day_source_path_and_place(
        self, store: Store, keys: list[tuple[str, str]]
    ) -> None:
        """The newest day first, undated chunks last; then by source, path and place.

        Paths by code points; chunks of the same words score the same in any order.
        """
        publish(store, *dated_puts(keys))
        found = search(store, words("ant"))
        assert len({hit.score for hit in found}) == 1
        order = [(source, path, line) for source, path in dated_order(keys) for line in (1, 3)]
        assert places(found) == order
        assert search(store, words("ant"), limit=5) == found[:5]

    @_each_answer
    def test_ties_are_in_order(self, store: Store, query: KeywordQuery) -> None:
        """As above for whatever scores happen to be equal."""
        found = search(store, query)
        stand = places(found)
        keys = [
            (-hit.score, newest_first(hit.chunk.day), *place)
            for hit, place in zip(found, stand, strict=True)
        ]
        assert keys == sorted(keys)

    @_each_answer
    def test_the_same_question_gets_the_same_answer(
        self, store: Store, query: KeywordQuery
    ) -> None:
        """Ids, scores and order are the same every time."""
        first = search(store, query)
        assert [search(store, query) for _ in range(3)] == [first] * 3

    @_each_answer
    def test_a_limit_only_cuts_off(self, store: Store, query: KeywordQuery) -> None:
        """A smaller limit gives the beginning of what a larger one gives."""
        every = search(store, query)
        for limit in (0, 1, 2, len(every) // 2, len(every), len(every) + 1):
            assert search(store, query, EVERYWHERE, limit) == every[:limit]

    @law("keyword", fewer=st.integers(1, 4), more=st.integers(1, 4))
    def test_more_occurrences_score_higher(self, store: Store, fewer: int, more: int) -> None:
        """Of two chunks of one length the one that has a rare token more often scores higher."""
        one, other = (make_chunk(_text("ant", times, 9)) for times in (fewer, fewer + more))
        scores = _scores(store, {"fewer.md": one, "more.md": other}, "ant")
        assert scores["more.md"] > scores["fewer.md"]

    @law("keyword", longer=st.integers(1, 20))
    def test_a_longer_chunk_never_scores_higher(self, store: Store, longer: int) -> None:
        """The same token counts no more among more other words."""
        short, long = (make_chunk(_text("ant", 1, length)) for length in (4, 4 + longer))
        scores = _scores(store, {"short.md": short, "long.md": long}, "ant")
        assert scores["short.md"] >= scores["long.md"]

    @law("keyword")
    def test_a_rarer_token_counts_more(self, store: Store) -> None:
        """A chunk with a token that few have scores above one with a token that many have."""
        common = {f"{number}.md": make_chunk("bee x") for number in range(5)}
        scores = _scores(store, {"rare.md": make_chunk("ant x"), **common}, "ant", "bee")
        assert all(scores["rare.md"] > scores[path] for path in common)

    @law("keyword")
    def test_a_token_counts_at_least_as_much_in_the_text_as_in_its_parts(
        self, store: Store
    ) -> None:
        """Body and head weigh no less than ``extra``."""
        scores = _scores(
            store,
            {
                "body.md": make_chunk("text", body="ant x y", head="x", extra="y"),
                "head.md": make_chunk("text", body="x y x", head="ant", extra="y"),
                "extra.md": make_chunk("text", body="x y x", head="y", extra="ant"),
            },
            "ant",
        )
        assert min(scores["body.md"], scores["head.md"]) >= scores["extra.md"]

    @law("keyword", corpus=corpora(), some=_TOKENS, others=_TOKENS)
    def test_a_score_is_the_sum_over_the_tokens(
        self, store: Store, corpus: Corpus, some: list[str], others: list[str]
    ) -> None:
        """Up to rounding: a token that stands twice counts twice, none counts against a chunk."""
        publish(store, *corpus)
        sums: dict[ChunkId, float] = {}
        for part in (some, others):
            for id_, score in scored(search(store, words(*part))).items():
                sums[id_] = sums.get(id_, 0.0) + score
        assert scored(search(store, words(*some, *others))) == pytest.approx(sums, 1e-6, 1e-11)

    @law("keyword", "counts", corpus=corpora(), where=wheres())
    def test_the_chunks_that_hold_a_token_are_counted(
        self, store: CountingStore, corpus: Corpus, where: Where
    ) -> None:
        """All of the live build in any column, whatever the filters; 0 for what none holds."""
        publish(store, *corpus)
        asked = (*WORDS, "nowhere")
        every = {(put.source, put.path): put.chunks for put in corpus}
        terms = [chunk.terms for chunks in every.values() for chunk in chunks]
        expected = {token: sum(holds(one, (token,)) for one in terms) for token in asked}
        matches = store.keyword(words(*asked), where=where, limit=1, deadline=NEVER)
        assert (matches.chunks, dict(matches.holders or {})) == (len(terms), expected)
        assert dict(store.holders(asked)) == expected


def _scores(store: Store, chunks: dict[str, AnalysedChunk], *should: str) -> dict[str, float]:
    """The scores by path, among enough other chunks that the tokens are rare."""
    others = (make_put(f"other/{number}.md", "x y z") for number in range(20))
    publish(store, *(make_put(path, chunk) for path, chunk in chunks.items()), *others)
    return {hit.chunk.path: hit.score for hit in search(store, words(*should))}


def _text(token: str, times: int, length: int) -> str:
    return " ".join([token] * times + ["x"] * (length - times))
