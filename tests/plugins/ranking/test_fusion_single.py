"""The fusion of one arm, and the original's lexical bonus, by hand-worked values."""

from __future__ import annotations

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
from commonplace_ranking.adjustments import LexicalBoost, boosted
from commonplace_ranking.fusion import Single, unit_score

if TYPE_CHECKING:
    from commonplace.protocols.contexts import Profile


def said(raw: float, kind: ArmKind = "bm25", rank: int = 1) -> ArmScore:
    return ArmScore(arm="arm", kind=kind, raw=raw, rank=rank)


def candidate(*arms: ArmScore, score: float = 0.0, text: str = "text") -> Candidate:
    chunk = StoredChunk(1, "memory", "memory/a.md", 1, 1, text)
    return Candidate(chunk, score, Explanation(arms=arms))


def context(text: str = "q", profile: Profile = "default") -> RankContext:
    query, kinds = Query(text, KeywordQuery()), frozenset[ArmKind](("bm25",))
    return RankContext(query=query, now=0.0, limit=6, profile=profile, kinds=kinds)


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (said(7.5), 0.5),
        (said(23.5), 0.75),
        (said(0.0), 0.0),
        (said(0.5, "cosine"), 0.5),
        (said(-0.5, "cosine"), 0.0),
        (said(0.9, "opaque"), 0.9),
        (said(90.0, "opaque", rank=4), 0.25),
        (said(-3.0, "rank", rank=2), 0.5),
    ],
)
def test_unit_score_by_hand(score: ArmScore, expected: float) -> None:
    assert unit_score(score) == pytest.approx(expected)


def test_compat_maps_bm25_as_the_original() -> None:
    assert unit_score(said(3.0), compat=True) == pytest.approx(0.75)


@given(st.floats(0, 1e12), st.floats(0, 1e12), st.booleans())
def test_bm25_keeps_its_order_within_0_and_1(low: float, high: float, compat: bool) -> None:
    low, high = sorted((low, high))
    mapped = unit_score(said(low), compat=compat), unit_score(said(high), compat=compat)
    assert 0 <= mapped[0] <= mapped[1] <= 1


def test_the_better_arm_counts() -> None:
    (hit,) = Single().rank([candidate(said(7.5), said(0.9, "cosine"))], context())
    assert hit.score == pytest.approx(0.9)
    assert hit.explain.steps[-1].ranker == "single"


def test_lexical_boost_by_hand() -> None:
    # 2 of 2 query tokens in the text: .45; 2 of 4 text tokens: .1; one in the path: .18;
    # 19 characters: min(19/160, .18)
    text = "red fox jumps today"
    expected = 0.1 + 0.45 + 0.2 * 2 / 4 + 0.18 + len(text) / 160
    assert boosted(0.1, {"red", "fox"}, text, "memory/Fox.md") == pytest.approx(expected)


def test_lexical_boost_never_passes_1() -> None:
    text = "red fox " * 50
    (hit,) = LexicalBoost().rank([candidate(score=0.9, text=text)], context("red fox"))
    assert hit.score == 1.0


def test_lexical_boost_without_words_changes_nothing() -> None:
    (hit,) = LexicalBoost().rank([candidate(score=0.4)], context("?!"))
    assert hit.score == 0.4
