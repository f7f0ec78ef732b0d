"""Laws about scores and the order of an answer."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st

from commonplace.testing.builders import make_chunk, make_put
from commonplace.testing.driving import EVERYWHERE, places, publish, scored, search, words
from commonplace.testing.store.law import StoreLaws, law
from commonplace.testing.strategies import PATHS, SOURCES, WORDS, corpora, queries

if TYPE_CHECKING:
    from commonplace.model.chunks import AnalysedChunk, PutDocument
    from commonplace.model.search import ChunkId, KeywordQuery
    from commonplace.protocols.stores import Store

__all__ = ["ScoreLaws"]

_CROWDED = corpora(("ant", "bee"), min_size=3, max_size=12)
"""So alike that scores are often equal."""

_QUERIES = st.lists(queries(("ant", "bee", "cat"), longest_phrase=1), min_size=1, max_size=6)

_TOKENS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)


class ScoreLaws(StoreLaws):
    """What ``keyword`` says of each match, and the order it puts them in."""

    @law("keyword", corpus=_CROWDED, asked=_QUERIES)
    def test_scores_are_above_0_and_best_first(
        self, store: Store, corpus: list[PutDocument], asked: list[KeywordQuery]
    ) -> None:
        """Every score is a finite number above 0, and none is above the one before it.

        That goes for a token that all chunks have, too. No chunk stands twice.
        """
        publish(store, *corpus)
        for query in asked:
            found = search(store, query)
            scores = [hit.score for hit in found]
            assert all(score > 0 and isfinite(score) for score in scores)
            assert scores == sorted(scores, reverse=True)
            assert len(scored(found)) == len(found)

    @law("keyword", keys=st.permutations([(s, p) for s in SOURCES for p in PATHS]))
    def test_equal_scores_are_ordered_by_source_path_and_place(
        self, store: Store, keys: list[tuple[str, str]]
    ) -> None:
        """Equal scores stand in the order of source, path and place in the document.

        Paths are compared by code points. Chunks of the same words score the same, whatever order
        they came in.
        """
        publish(
            store, *(make_put(path, "ant", "bee", "ant", source=source) for source, path in keys)
        )
        found = search(store, words("ant"))
        assert len({hit.score for hit in found}) == 1
        order = [(source, path, line) for source, path in sorted(keys) for line in (1, 3)]
        assert places(found) == order
        assert search(store, words("ant"), limit=5) == found[:5]

    @law("keyword", corpus=_CROWDED, asked=_QUERIES)
    def test_ties_are_in_order(
        self, store: Store, corpus: list[PutDocument], asked: list[KeywordQuery]
    ) -> None:
        """As above for whatever scores happen to be equal."""
        publish(store, *corpus)
        for query in asked:
            found = search(store, query)
            stand = places(found)
            keys = [(-hit.score, *place) for hit, place in zip(found, stand, strict=True)]
            assert keys == sorted(keys)

    @law("keyword", corpus=_CROWDED, asked=_QUERIES)
    def test_the_same_question_gets_the_same_answer(
        self, store: Store, corpus: list[PutDocument], asked: list[KeywordQuery]
    ) -> None:
        """Ids, scores and order are the same every time."""
        publish(store, *corpus)
        for query in asked:
            first = search(store, query)
            assert [search(store, query) for _ in range(3)] == [first] * 3

    @law("keyword", corpus=_CROWDED, asked=_QUERIES)
    def test_a_limit_only_cuts_off(
        self, store: Store, corpus: list[PutDocument], asked: list[KeywordQuery]
    ) -> None:
        """A smaller limit gives the beginning of what a larger one gives."""
        publish(store, *corpus)
        for query in asked:
            every = search(store, query)
            for limit in (0, 1, 2, len(every) // 2, len(every), len(every) + 1):
                assert search(store, query, EVERYWHERE, limit) == every[:limit]

    @law("keyword", fewer=st.integers(1, 4), more=st.integers(1, 4))
    def test_more_occurrences_score_higher(self, store: Store, fewer: int, more: int) -> None:
        """Of two chunks of one length the one that has a rare token more often scores higher."""
        scores = _scores(
            store,
            {
                "fewer.md": make_chunk(_text("ant", fewer, 9)),
                "more.md": make_chunk(_text("ant", fewer + more, 9)),
            },
            "ant",
        )
        assert scores["more.md"] > scores["fewer.md"]

    @law("keyword", longer=st.integers(1, 20))
    def test_a_longer_chunk_never_scores_higher(self, store: Store, longer: int) -> None:
        """The same token counts no more among more other words."""
        scores = _scores(
            store,
            {
                "short.md": make_chunk(_text("ant", 1, 4)),
                "long.md": make_chunk(_text("ant", 1, 4 + longer)),
            },
            "ant",
        )
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
        self, store: Store, corpus: list[PutDocument], some: list[str], others: list[str]
    ) -> None:
        """The score of a longer query is the sum of the scores of its parts, up to rounding.

        So a token that stands twice counts twice, and none ever counts against a chunk.
        """
        publish(store, *corpus)
        sums: dict[ChunkId, float] = {}
        for part in (some, others):
            for id_, score in scored(search(store, words(*part))).items():
                sums[id_] = sums.get(id_, 0.0) + score
        assert scored(search(store, words(*some, *others))) == pytest.approx(sums, rel=1e-6)


def _scores(store: Store, chunks: dict[str, AnalysedChunk], *should: str) -> dict[str, float]:
    """The scores by path, among enough other chunks that the tokens are rare."""
    others = (make_put(f"other/{number}.md", "x y z") for number in range(20))
    publish(store, *(make_put(path, chunk) for path, chunk in chunks.items()), *others)
    return {hit.chunk.path: hit.score for hit in search(store, words(*should))}


def _text(token: str, times: int, length: int) -> str:
    return " ".join([token] * times + ["x"] * (length - times))
