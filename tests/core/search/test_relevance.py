"""Reordering by a judge: what its scores mean, and what is no judgement."""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.search import Candidate, Explanation, KeywordQuery, Query, StoredChunk
from commonplace.plugin import RankContext, RelevanceRanker, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CONTEXT = RankContext(Query("ant path:memory", KeywordQuery(), "ant"), 0.0, 6)
HITS = [
    Candidate(
        StoredChunk(at, "memory", f"{at}.md", 1, 1, f"text {at}", ()), 1 - at / 5, Explanation()
    )
    for at in range(4)
]


class Judge:
    """Gives the scores that a test wants, and keeps what it was asked."""

    def __init__(self, scores: Mapping[int, float]) -> None:
        self.scores = scores
        self.asked: list[tuple[str, list[str]]] = []

    def judge(self, query: str, texts: Sequence[str]) -> Mapping[int, float]:
        self.asked.append((query, list(texts)))
        return self.scores


def order(scores: Mapping[int, float], **options: float) -> list[object]:
    made = RelevanceRanker("judged", Judge(scores), candidates=4, **options)
    return [one.chunk.id for one in made.rank(HITS, CONTEXT)]


def test_it_is_asked_for_the_words_and_the_texts_of_the_first_hits() -> None:
    judge = Judge({0: 0.1, 1: 0.2})
    RelevanceRanker("judged", judge, candidates=2).rank(HITS, CONTEXT)
    assert judge.asked == [("ant", ["text 0", "text 1"])]


@given(st.lists(st.integers(-30, 30), min_size=4, max_size=4, unique=True))
def test_scores_of_any_range_order_the_hits(scores: list[int]) -> None:
    judged = sorted(range(4), key=lambda at: -scores[at])
    assert order(dict(enumerate(scores))) == judged
    assert order({at: score / 100 + 0.5 for at, score in enumerate(scores)}) == judged


def test_scores_beyond_all_bounds_are_taken() -> None:
    assert order({0: -1e308, 1: 1e308, 2: 0.0, 3: -1.0}) == [1, 2, 3, 0]


def test_a_weight_mixes_relevance_and_score() -> None:
    assert order({3: 1.0, 0: 0.0}, weight=0.0) == [0, 1, 2, 3]
    assert order({3: 1.0, 0: 0.0}, weight=0.5) == [3, 0, 1, 2]


def test_a_hit_has_its_number_among_those_that_were_judged() -> None:
    ranker = RelevanceRanker("judged", Judge({0: 0.1, 1: 0.2}), candidates=2)
    assert [one.explain.steps[-1].note for one in ranker.rank(HITS, CONTEXT)] == [
        "number 1 of 2 candidates (2 before), relevance 0.200",
        "number 2 of 2 candidates (1 before), relevance 0.100",
        "not judged",
        "not judged",
    ]


@pytest.mark.parametrize("scores", [{}, {4: 0.5}, {-1: 0.5}, {0: nan}, {0: inf}], ids=str)
def test_what_is_no_judgement_is_a_failure(scores: Mapping[int, float]) -> None:
    with pytest.raises(UnavailableError, match="one score for each text"):
        order(scores)


@pytest.mark.parametrize("options", [{"candidates": 0}, {"weight": 1.1}, {"weight": -0.1}])
def test_options_outside_their_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="weight is 0 to 1"):
        RelevanceRanker("judged", Judge({}), **options)  # type: ignore[arg-type]
