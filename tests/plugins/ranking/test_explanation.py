"""Every hit's explanation adds up: the parts of arms and rankers sum to the score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.model.search import Arm, ArmKind, Found, KeywordQuery, Query, StoredChunk
from commonplace.plugin import RankContext
from commonplace.search.ranking import candidates_of, run_rankers
from commonplace_ranking.adjustments import LexicalBoost, TemporalDecay
from commonplace_ranking.fusion import Evidence, Recency, ReciprocalRank, Single, Weighted
from commonplace_ranking.mmr import Mmr
from commonplace_ranking.standing import Instructions

if TYPE_CHECKING:
    from commonplace.plugin import Ranker
    from commonplace.protocols.contexts import Profile

CHUNKS = [
    StoredChunk(at, "memory", f"memory/{at % 3}.md", at + 1, at + 1, f"ant {at}", day=day)
    for at, day in enumerate((None, "2026-01-01", "2026-10-31", "2027-01-01", None))
]
RAW = {"bm25": st.floats(0, 50), "cosine": st.floats(-1, 1), "opaque": st.floats(0, 1)}
FUSERS: tuple[Ranker, ...] = (
    Weighted(),
    Weighted(0.2, 0.8),
    ReciprocalRank(),
    Single(),
    Evidence(),
)
OTHERS: tuple[Ranker, ...] = (
    Recency(),
    TemporalDecay(),
    LexicalBoost(),
    Mmr(),
    Instructions(),
)


@st.composite
def arms(draw: st.DrawFn) -> tuple[Arm, ...]:
    made = []
    kinds: list[ArmKind] = ["bm25", "cosine", "opaque"]
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3, unique=True)):
        raw = draw(st.lists(st.none() | RAW[kind], min_size=len(CHUNKS), max_size=len(CHUNKS)))
        scored = [(chunk, score) for chunk, score in zip(CHUNKS, raw, strict=True) if score]
        scored.sort(key=lambda one: -one[1])
        made.append(Arm(kind, kind, tuple(Found(chunk, score) for chunk, score in scored)))
    return tuple(made)


@settings(max_examples=40)
@given(
    arms(),
    st.sampled_from(FUSERS),
    st.lists(st.sampled_from(OTHERS), max_size=3),
    st.sampled_from(("default", "compat")),
)
def test_the_parts_of_a_hit_sum_to_its_score(
    given_arms: tuple[Arm, ...], fuser: Ranker, others: list[Ranker], profile: Profile
) -> None:
    context = RankContext(
        query=Query("ant", KeywordQuery(("ant",))),
        now=1_793_491_200.0,
        limit=3,
        profile=profile,
        arms=tuple(arm.name for arm in given_arms),
        kinds=frozenset(arm.kind for arm in given_arms),
    )
    filters = ("path:memory",)
    for hit in run_rankers(candidates_of(given_arms, filters), [fuser, *others], context):
        steps = hit.explain.steps
        assert sum(amount for _, amount in hit.explain.parts) == pytest.approx(hit.score)
        assert [step.before for step in steps] == [0.0, *(step.after for step in steps[:-1])]
        assert steps[-1].after == hit.score
        assert {name for name, _ in hit.explain.parts} <= (
            {said.arm for said in hit.explain.arms} | {step.ranker for step in steps}
        )
        assert hit.explain.filters == filters


def test_a_fusion_names_what_each_arm_gave() -> None:
    said = Arm("keyword", "bm25", (Found(CHUNKS[0], 7.5),))
    seen = Arm("vector", "cosine", (Found(CHUNKS[0], 0.9),))
    query = Query("ant", KeywordQuery(("ant",)))
    context = RankContext(
        query, 0.0, 6, arms=("keyword", "vector"), kinds=frozenset({"bm25", "cosine"})
    )
    hits = candidates_of((said, seen))
    (hit,) = run_rankers(hits, [Weighted(0.7, 0.3)], context)
    assert dict(hit.explain.parts) == pytest.approx({"vector": 0.63, "keyword": 0.15})
    (hit,) = run_rankers(hits, [ReciprocalRank()], context)
    assert dict(hit.explain.parts) == pytest.approx({"vector": 0.5, "keyword": 0.5})


def test_what_one_fusion_gave_is_taken_back_by_the_next() -> None:
    arm = Arm("vector", "cosine", (Found(CHUNKS[0], 0.9),))
    query = Query("ant", KeywordQuery(("ant",)))
    context = RankContext(query, 0.0, 6, arms=("keyword", "vector"))
    (hit,) = run_rankers(candidates_of((arm,)), [Weighted(), ReciprocalRank()], context)
    assert sum(amount for _, amount in hit.explain.parts) == pytest.approx(hit.score)
