"""Fusion and decay: values by hand, and what must hold for any hits."""

from __future__ import annotations

from datetime import date, timedelta
from math import atanh
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.search import (
    ArmKind,
    ArmScore,
    Candidate,
    Explanation,
    KeywordQuery,
    Query,
    StoredChunk,
)
from commonplace.plugin import RankContext
from commonplace_ranking.adjustments import LexicalBoost, TemporalDecay, decay_factor
from commonplace_ranking.fusion import Recency, ReciprocalRank, Weighted, days_since_epoch

if TYPE_CHECKING:
    from commonplace.protocols.contexts import Profile

NOW = 1_793_491_200.0  # 2026-11-01T00:00:00Z
QUERY = Query("q", KeywordQuery())
BOTH = ("keyword", "vector")
KINDS: dict[str, ArmKind] = {"keyword": "bm25", "vector": "cosine", "engine": "opaque"}


def context(*arms: str, profile: Profile = "default") -> RankContext:
    kinds = frozenset(KINDS[arm] for arm in arms)
    return RankContext(query=QUERY, now=NOW, limit=6, profile=profile, arms=arms, kinds=kinds)


def hit(
    id_: int,
    *,
    bm25: float | None = None,
    cosine: float | None = None,
    rank: int = 1,
    score: float = 0.0,
    day: str | None = None,
    text: str = "text",
) -> Candidate:
    arms = []
    if bm25 is not None:
        arms.append(ArmScore(arm="keyword", kind="bm25", raw=bm25, rank=rank))
    if cosine is not None:
        arms.append(ArmScore(arm="vector", kind="cosine", raw=cosine, rank=rank))
    chunk = StoredChunk(id_, "memory", f"memory/{id_}.md", 1, 1, text, day=day, body=text)
    return Candidate(chunk, score, Explanation(arms=tuple(arms)))


def test_weighted_by_hand() -> None:
    both, vector, keyword = Weighted(0.7, 0.3).rank(
        [hit(1, bm25=7.5, cosine=0.9), hit(2, cosine=0.5), hit(3, bm25=23.5)], context(*BOTH)
    )
    assert both.score == pytest.approx(0.7 * 0.9 + 0.3 * 0.5)
    assert vector.score == pytest.approx(0.35)
    assert keyword.score == pytest.approx(0.225)
    assert both.explain.steps[-1].note == "0.7 x 0.900 + 0.3 x 0.500"


def test_weighted_as_the_original_under_compat() -> None:
    (fused,) = Weighted().rank([hit(1, bm25=3.0, cosine=0.8)], context(*BOTH, profile="compat"))
    assert fused.score == pytest.approx(0.7 * 0.8 + 0.3 * 0.75)


def test_a_hit_without_a_vector_yet_is_not_weighed_as_if_it_were_unrelated() -> None:
    hits = [hit(1, bm25=23.5), hit(2, cosine=0.9)]
    asked = context(*BOTH)._replace(unembedded=frozenset({1}))
    keyword, vector = Weighted(0.7, 0.3).rank(hits, asked)
    assert (keyword.score, vector.score) == pytest.approx((0.75, 0.63))
    assert keyword.explain.steps[-1].note == "not embedded yet"
    keyword, vector = ReciprocalRank().rank(hits, asked)
    assert (keyword.score, vector.score) == pytest.approx((1.0, 0.5))
    keyword, _ = Weighted(0.7, 0.3).rank(hits, asked._replace(profile="compat"))
    assert keyword.score == pytest.approx(0.3 * 23.5 / 24.5)


def test_weights_are_divided_by_their_sum() -> None:
    (fused,) = Weighted(1.0, 1.0).rank([hit(1, cosine=0.8)], context(*BOTH))
    assert fused.score == pytest.approx(0.4)


def test_one_arm_alone_keeps_its_whole_score() -> None:
    (fused,) = Weighted().rank([hit(1, bm25=7.5)], context("keyword"))
    assert fused.score == pytest.approx(0.5)


@pytest.mark.parametrize("weights", [(-0.1, 1.0), (0.0, 0.0)])
def test_nonsense_weights_are_refused(weights: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        Weighted(*weights)


def test_rrf_by_hand() -> None:
    first, second = ReciprocalRank().rank(
        [hit(1, bm25=9.0, cosine=0.9), hit(2, bm25=1.0, rank=2)], context(*BOTH)
    )
    assert first.score == pytest.approx(1.0)
    assert second.score == pytest.approx((1 / 62) / (2 / 61))


scores = st.none() | st.floats(0.001, 50)
hits_of_any_kind = st.lists(
    st.tuples(scores, st.none() | st.floats(-1, 1), st.integers(1, 50)).filter(
        lambda drawn: drawn[0] is not None or drawn[1] is not None
    ),
    max_size=12,
).map(lambda drawn: [hit(i, bm25=b, cosine=c, rank=r) for i, (b, c, r) in enumerate(drawn)])


@given(hits_of_any_kind, st.sampled_from([(), ("keyword",), BOTH]), st.booleans())
def test_fusions_keep_all_hits_and_give_0_to_1(
    hits: list[Candidate], arms: tuple[str, ...], compat: bool
) -> None:
    asked = context(*arms, profile="compat" if compat else "default")
    for ranker in (Weighted(), ReciprocalRank()):
        fused = ranker.rank(hits, asked)
        assert [one.chunk.id for one in fused] == [one.chunk.id for one in hits]
        assert all(0 <= one.score <= 1 for one in fused)
        assert all(one.explain.steps[-1].after == one.score for one in fused)


@given(st.floats(0.001, 50), st.floats(0.001, 50), st.floats(0, 1))
def test_more_of_an_arm_is_never_less(low: float, high: float, cosine: float) -> None:
    low, high = sorted((low, high))
    one, other = Weighted().rank(
        [hit(1, bm25=low, cosine=cosine), hit(2, bm25=high, cosine=cosine)], context(*BOTH)
    )
    assert one.score <= other.score


def test_evidence_is_the_score_and_compat_does_without_it() -> None:
    item = hit(1, bm25=7.5)
    (said,) = item.explain.arms
    item = item._replace(explain=Explanation(arms=(said._replace(evidence=0.42),)))
    assert Weighted().rank([item], context("keyword"))[0].score == 0.42
    (fused,) = Weighted().rank([item], context("keyword", profile="compat"))
    assert fused.score == pytest.approx(7.5 / 8.5)
    assert fused.explain.steps[-1].note == "one arm: 7.500 / (7.500 + 1)"


@pytest.mark.parametrize(
    ("days", "factor"), [(0, 1.0), (30, 0.95), (60, 0.925), (100_000, 0.9), (-3, 1.0)]
)
def test_recency_by_hand(days: int, factor: float) -> None:
    day = (date(2026, 11, 1) - timedelta(days)).isoformat()
    hits = [hit(1, score=0.8, day=day), hit(2, score=0.8)]
    aged, evergreen = Recency().rank(hits, context(*BOTH))
    assert aged.score == pytest.approx(0.8 * factor)
    (of_words, _) = Recency().rank(hits, context("keyword"))
    assert atanh(of_words.score) == pytest.approx(factor * atanh(0.8))
    assert (evergreen.score, evergreen.explain.steps[-1].note) == (0.8, "no date")
    (off,) = Recency(weight=0).rank([hit(1, score=0.8, day=day)], context())
    assert off.score == 0.8


def test_recency_goes_by_the_day_of_each_search() -> None:
    recency, hits = Recency(), [hit(1, score=0.8, day="1970-01-01"), hit(2, score=0.8)]
    for days, factor in ((0, 1.0), (30, 0.95), (60, 0.925), (30, 0.95)):
        aged, evergreen = recency.rank(hits, context(*BOTH)._replace(now=days * 86_400.0))
        assert aged.score == pytest.approx(0.8 * factor)
        assert evergreen.score == 0.8


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("which port does staging use now?", True),
        ("the current port", True),
        ("CURRENTLY", True),
        ("the most recent backup", True),
        ("who is on call right now", True),
        ("the last deploy", True),
        ("wer hat zuletzt deployed?", True),
        ("letzter Zählerstand", True),
        ("welcher Port gilt aktuell?", True),
        ("数据库现在在哪个云?", True),
        ("지금 포트", True),
        ("what do I know of the ferry", False),
        ("the actual cost", False),
        (
            "we always played together, but now I play alone, and even video calls bore me all day",
            False,
        ),
    ],
)
def test_recency_counts_for_more_where_the_query_asks_for_now(query: str, asks: bool) -> None:
    asked = context(*BOTH)._replace(query=Query(query, KeywordQuery()))
    hits = [hit(1, score=0.8, day="2025-11-01"), hit(2, score=0.8)]
    aged, evergreen = Recency().rank(hits, asked)
    assert aged.score == pytest.approx(0.8 * 0.9 * (0.8 if asks else 1), rel=1e-3)
    assert ("asks for now" in aged.explain.steps[-1].note) == asks
    assert evergreen.score == 0.8
    (off,) = Recency(weight=0).rank(hits[:1], asked)
    assert off.score == 0.8


def test_an_old_note_that_has_the_whole_query_stays_ahead_of_one_that_has_most_of_it() -> None:
    old, evergreen = Recency().rank(
        [hit(1, score=0.92, day="2026-01-13"), hit(2, score=0.84)], context("keyword")
    )
    assert old.score > evergreen.score


def test_scores_of_ranks_lose_the_share_that_is_named() -> None:
    fused = ReciprocalRank().rank([hit(1, bm25=7.5, day="2020-01-01")], context("keyword"))
    (aged,) = Recency().rank(fused, context("keyword"))
    assert fused[0].score == 1.0
    assert aged.score == pytest.approx(0.9)


@pytest.mark.parametrize("score", [0.1, 0.3, 0.7, 0.8, 0.93, 1.0])
def test_a_note_of_today_keeps_its_score_to_the_last_digit(score: float) -> None:
    hits = [hit(1, score=score, day="2026-11-01"), hit(2, score=score, day="2027-01-01")]
    assert [one.score for one in Recency().rank(hits, context("keyword"))] == [score, score]


def test_recency_rests_where_the_query_names_a_time() -> None:
    keyword = QUERY.keyword._replace(days=(("1970-01-01", "1970-01-01"),))
    asked = context()._replace(query=QUERY._replace(keyword=keyword))
    (old,) = Recency().rank([hit(1, score=0.8, day="1970-01-01")], asked)
    assert old.score == 0.8
    assert old.explain.steps[-1].note == "no prior: the query names a time"


@given(st.dates())
def test_days_are_numbered_as_the_calendar_does(day: date) -> None:
    assert days_since_epoch(day.isoformat()) == (day - date(1970, 1, 1)).days


def test_decay_by_hand() -> None:
    assert decay_factor(30, 30) == pytest.approx(0.5)
    assert decay_factor(60, 30) == pytest.approx(0.25)
    assert decay_factor(-5, 30) == 1.0


def test_old_notes_keep_half_and_evergreen_notes_all() -> None:
    aged = TemporalDecay(30).rank(
        [
            hit(1, score=0.8, day="2026-11-01"),
            hit(2, score=0.8, day="2016-11-01"),
            hit(3, score=0.8),
            hit(4, score=0.8, day="2030-01-01"),
        ],
        context(),
    )
    assert [one.score for one in aged] == pytest.approx([0.8, 0.4, 0.8, 0.8])
    assert aged[2].explain.steps[-1].note == "no date"


def test_compat_decays_without_a_floor() -> None:
    (aged,) = TemporalDecay(30).rank(
        [hit(1, score=0.8, day="2026-09-02")], context("keyword", profile="compat")
    )
    assert aged.score == pytest.approx(0.2)


@pytest.mark.parametrize("arm", ["vector", "engine"])
def test_compat_decays_and_boosts_nothing_that_no_keyword_search_found(arm: str) -> None:
    hits = [hit(1, score=0.8, day="2026-09-02", text="q")]
    for ranker in (TemporalDecay(30), LexicalBoost()):
        (kept,) = ranker.rank(hits, context(arm, profile="compat"))
        assert kept.score == 0.8
        assert kept.explain.steps[-1].note.startswith("only ")


def test_compat_boosts_by_the_word_that_was_asked_singly() -> None:
    said = [
        ArmScore(arm=f"keyword:{word}", kind="bm25", raw=raw, rank=1)
        for word, raw in (("fox", 0.25), ("zebra", 1.0))
    ]
    item = hit(1, text="a red fox")._replace(explain=Explanation(arms=tuple(said)))
    asked = context("keyword", profile="compat")
    (fused,) = Weighted().rank([item], asked)
    assert fused.score == 0.5
    (best,) = LexicalBoost().rank([fused], asked)
    fox = 0.2 + 0.45 + 0.2 / 3 + len("a red fox") / 160
    assert best.score == pytest.approx(fox)


def test_compat_subtracts_a_negative_cosine_and_never_goes_below_0() -> None:
    hits = [hit(1, bm25=9.0, cosine=-0.1), hit(2, cosine=-0.9), hit(3, bm25=9.0)]
    asked = context(*BOTH, profile="compat")
    first, below, keyword = [one.score for one in Weighted(0.7, 0.3).rank(hits, asked)]
    assert first == pytest.approx(0.27 - 0.07)
    assert keyword == pytest.approx(0.27)
    assert below == 0.0


def test_what_matches_alike_scores_1() -> None:
    item = hit(1, bm25=0.0)
    (said,) = item.explain.arms
    item = item._replace(explain=Explanation(arms=(said._replace(evidence=1.0),)))
    assert Weighted().rank([item], context("keyword", profile="compat"))[0].score == 1.0


def test_the_originals_bonus_is_for_keywords_alone() -> None:
    hits = [hit(1, score=0.2)]
    (kept,) = LexicalBoost().rank(hits, context(*BOTH))
    assert (kept.score, kept.explain.steps[-1].note) == (0.2, "only where keywords search alone")
    assert LexicalBoost().rank(hits, context("keyword"))[0].score > 0.2
