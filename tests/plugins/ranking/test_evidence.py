"""Fusion by evidence: golden numbers, and what must hold for any two lists."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.model.search import Arm, ArmKind, Found, KeywordQuery, Query, StoredChunk
from commonplace.plugin import Candidate, RankContext
from commonplace.search.ranking import candidates_of, run_rankers
from commonplace_ranking.fusion import TRUST, Evidence, Trust, unit_score

CHUNKS = [StoredChunk(at, "memory", f"memory/{at}.md", 1, 1, "", body="ant bee") for at in range(8)]


def keyword(*hits: tuple[int, float | None], raw: float = 9.0) -> Arm:
    found = (
        Found(CHUNKS[id_], raw - place, 0.3, coverage=coverage)
        for place, (id_, coverage) in enumerate(hits)
    )
    return Arm("keyword", "bm25", tuple(found))


def vector(*ids: int, kind: ArmKind = "cosine") -> Arm:
    found = (Found(CHUNKS[id_], 0.9 - place / 100) for place, id_ in enumerate(ids))
    return Arm("vector", kind, tuple(found))


def fused(*arms: Arm, trust: Trust = TRUST["unknown"], **of_context: object) -> list[Candidate]:
    context = RankContext(
        query=Query("ants bees cows", KeywordQuery(("ant", "bee", "cow"), beside=frozenset("b"))),
        now=0.0,
        limit=6,
        arms=tuple(arm.name for arm in arms),
        kinds=frozenset(arm.kind for arm in arms),
    )._replace(**of_context)  # type: ignore[arg-type]  # fields by name
    return run_rankers(candidates_of(arms), [Evidence(trust)], context)


def test_a_hit_of_both_lists_by_hand() -> None:
    hits = fused(keyword((0, 0.41), (1, 0.2)), vector(2, 3, 0))
    by_id = {hit.chunk.id: hit for hit in hits}
    total = 6 / 8 + 4 * 0.41
    assert by_id[0].score == pytest.approx(total / (1 + total))
    assert by_id[0].explain.steps[-1].note == "vector 3rd 0.750 + keyword 1st 4 x 0.410"
    assert by_id[1].score == pytest.approx(0.8 * 21 / 22 / (1 + 0.8 * 21 / 22))
    assert by_id[1].explain.steps[-1].note == "keyword 2nd 4 x 0.200 x 0.955"
    assert by_id[2].score == 0.5
    assert [hit.chunk.id for hit in hits] == [0, 2, 3, 1]


def test_proven_vectors_damp_the_keywords() -> None:
    (hit,) = fused(keyword((0, 0.5)), vector(0), trust=TRUST["proven"])
    assert hit.score == pytest.approx(2 / 3)
    assert (
        hit.explain.steps[-1].note == "vector 1st 1.000 + keyword 1st 4 x 0.500 / (1 + 2 x 0.500)"
    )


def test_without_counts_evidence_is_a_share_of_the_words() -> None:
    first, second = fused(keyword((0, None), (1, None)), Arm("vector", "cosine", ()))
    # Two of the three words; of the second hit's BM25, 8 of 9.
    total = 4 * 0.5 * 2 / 3
    assert first.score == pytest.approx(total / (1 + total))
    total *= (8 / 9) ** 0.5 * 21 / 22
    assert second.score == pytest.approx(total / (1 + total))


def test_engines_that_give_ranks_alone() -> None:
    engine = Arm("engine", "rank", (Found(CHUNKS[1], 0.0), Found(CHUNKS[0], 0.0)))
    first, second = fused(engine, vector(0))
    assert first.chunk.id == 0
    assert first.score == pytest.approx(0.8 + 0.2 * 6 / 7)
    assert second.chunk.id == 1
    assert second.score == pytest.approx(0.2)
    first, second = fused(engine, vector(0, kind="opaque"))
    assert first.chunk.id == 0
    assert first.score == pytest.approx((1 + 6 / 7) / 2)


def test_what_has_no_vector_yet_keeps_its_text_score() -> None:
    (hit, _) = fused(keyword((0, 0.1)), vector(1), unembedded=frozenset({0}))[::-1]
    assert (hit.chunk.id, hit.score) == (0, 0.3)
    assert hit.explain.steps[-1].note == "not embedded yet"


@pytest.mark.parametrize("trust", [Trust(-0.1), Trust(101), Trust(4, -1), Trust(float("nan"))])
def test_nonsense_trust_is_refused(trust: Trust) -> None:
    with pytest.raises(ValueError, match="0 to 100"):
        Evidence(trust)


places = st.lists(st.sampled_from(range(8)), max_size=8, unique=True)
shares = st.lists(st.floats(0, 1), min_size=8, max_size=8)
trusts = st.sampled_from(sorted(TRUST.values())) | st.floats(0, 16).map(Trust)
_NUMBER = r"[\d.e-]+"
_TERM = re.compile(
    rf"(vector|keyword) \d+(?:st|nd|rd|th) ({_NUMBER})(?: x ({_NUMBER}))?"
    rf"(?: / \(1 \+ ({_NUMBER}) x {_NUMBER}\))?(?: x ({_NUMBER}))?"
)


def recomputed(note: str) -> float:
    """The score by the numbers of an explanation, each of which is rounded to 0.0005."""
    total = 0.0
    for term in re.split(r" \+ (?=[vk])", note):
        match = _TERM.fullmatch(term)
        assert match, term
        name, first, evidence, damping, place = match.groups()
        value = float(first)
        if name == "keyword":
            value *= float(evidence) / (1 + float(damping or 0) * float(evidence))
            value *= float(place or 1)
        total += value
    return total / (1 + total)


@settings(max_examples=30)
@given(places, places, shares, trusts)
def test_the_score_follows_from_the_explanation(
    words: list[int], near: list[int], given_shares: list[float], trust: Trust
) -> None:
    arms = keyword(*((id_, given_shares[id_]) for id_ in words)), vector(*near)
    hits = fused(*arms, trust=trust)
    assert {hit.chunk.id for hit in hits} == {*words, *near}
    for hit in hits:
        assert 0 <= hit.score < 1
        assert recomputed(hit.explain.steps[-1].note) == pytest.approx(hit.score, abs=0.01)


@settings(max_examples=30)
@given(places, shares, trusts)
def test_one_arm_alone_keeps_its_order_and_scores(
    ids: list[int], given_shares: list[float], trust: Trust
) -> None:
    for arm in keyword(*((id_, given_shares[id_]) for id_ in ids)), vector(*ids):
        hits = candidates_of([arm])
        for hit, one in zip(hits, fused(arm, trust=trust), strict=True):
            assert one.score == unit_score(hit.explain.arms[0])
    assert [hit.chunk.id for hit in fused(vector(*ids), trust=trust)] == ids


@settings(max_examples=30)
@given(places, places)
def test_evidence_of_nothing_leaves_the_vectors_order(words: list[int], near: list[int]) -> None:
    hits = fused(keyword(*((id_, 0.0) for id_ in words)), vector(*near))
    assert [hit.chunk.id for hit in hits][: len(near)] == near
