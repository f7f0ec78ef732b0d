"""The order of dated notes on one topic where a query asks for what holds now."""

from __future__ import annotations

import pytest

from commonplace.model.search import (
    ArmScore,
    Candidate,
    Explanation,
    KeywordQuery,
    Query,
    StoredChunk,
)
from commonplace.plugin import RankContext
from commonplace_ranking.fusion import Recency
from commonplace_ranking.series import ages_in_series, asks_for_a_state

NOW = 1_793_491_200.0  # 2026-11-01T00:00:00Z
PRESENT = KeywordQuery(should=("gate", "code", "now"), timed=frozenset(("now",)))


def hit(id_: int, day: str | None, score: float, **words: float) -> Candidate:
    arm = ArmScore(arm="keyword", kind="bm25", raw=1.0, rank=1, words=tuple(words.items()))
    chunk = StoredChunk(id_, "memory", f"memory/{id_}.md", 1, 1, "text", day=day)
    return Candidate(chunk, score, Explanation(arms=(arm,)))


def context(
    text: str = "what is the gate code now", keyword: KeywordQuery = PRESENT
) -> RankContext:
    query = Query(text, keyword)
    return RankContext(query=query, now=NOW, limit=6, kinds=frozenset(("bm25",)))


def test_those_of_one_topic_are_ranked_by_day() -> None:
    hits = [
        hit(1, "2025-10-01", 0.9, gate=2.0, code=1.0),
        hit(2, "2026-02-01", 0.8, gate=2.0, code=0.0),
        hit(3, "2026-02-01", 0.8, gate=1.0, code=1.0),
        hit(4, "2026-09-01", 0.8, gate=2.0, code=1.0),
        hit(5, "2026-10-01", 0.8, gate=0.0, code=1.0),  # too little of the topic
        hit(6, "2026-10-02", 0.4, gate=2.0, code=1.0),  # too low a score
        hit(7, None, 0.9, gate=2.0, code=1.0),
        hit(8, "2026-10-03", 0.9),  # found by vectors alone
    ]
    assert ages_in_series(hits) == {1: 1.0, 2: 0.5, 3: 0.5, 4: 0.0}
    assert ages_in_series(hits[1:3]) == {}  # of one day
    assert ages_in_series([hits[0], hits[3]]) == {
        1: 0.5,
        4: 0.0,
    }  # of two, the older is half as old
    assert ages_in_series([hits[6], hits[7]]) == ages_in_series([]) == {}


def test_the_newer_of_two_old_notes_comes_first_for_the_present_alone() -> None:
    hits = [
        hit(1, "2025-12-01", 0.85, gate=2.0, code=1.0),
        hit(2, "2026-02-01", 0.80, gate=2.0, code=1.0),
        hit(3, "2026-10-31", 0.30, code=1.0),
    ]
    older, newer, other = Recency().rank(hits, context())
    assert newer.score > older.score > other.score
    assert "x 0.850 by its day among those about the same" in older.explain.steps[-1].note
    assert newer.score == 0.80
    assert "the newest of those about the same" in newer.explain.steps[-1].note
    assert other.score < 0.30
    assert Recency().rank(hits[1:], context())[0].score < 0.80  # of no series
    for query in (
        ("the latest gate code", PRESENT._replace(timed=frozenset())),
        ("how long have we had the gate code now", PRESENT._replace(answer="measure")),
        ("since when is the gate code the current one", PRESENT),
    ):
        older, newer, _ = Recency().rank(hits, context(*query))
        assert older.score > newer.score
    older, newer, _ = Recency(now=0.0).rank(hits, context())
    assert older.score > newer.score


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("what is the gate code now", True),
        ("seit wann gilt der aktuelle Code", False),
        ("depuis quand le code actuel", False),
    ],
)
def test_what_has_been_so_since_when_is_no_question_for_a_state(text: str, asks: bool) -> None:
    assert asks_for_a_state(Query(text, PRESENT)) == asks
    assert not asks_for_a_state(Query(text, PRESENT._replace(timed=frozenset())))
