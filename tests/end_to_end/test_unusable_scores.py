"""Scores that are no numbers, from a store or an engine, never make one that is shown."""

from __future__ import annotations

from itertools import product
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any, get_args

import pytest

from commonplace.config.search import RankingSettings, SearchSettings
from commonplace.fallback.backend import Backend
from commonplace.model.search import Arm, ArmKind, Found, StoredChunk
from commonplace.resilience.deadline import NEVER
from commonplace.search.search import Searcher
from commonplace.text.analyse import make_analyser
from commonplace_ranking.adjustments import LexicalBoost, TemporalDecay
from commonplace_ranking.fusion import Recency, ReciprocalRank, Single, Weighted
from commonplace_ranking.mmr import Mmr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.model.search import SearchResult
    from commonplace.protocols.managers import Ranker

UNUSABLE = (nan, inf, -inf, 1e308, -1e308)
KINDS: tuple[ArmKind, ...] = get_args(ArmKind)


class Odd:
    """An engine whose lists have such scores among others."""

    def __init__(self, arms: Sequence[Arm]) -> None:
        self.arms = tuple(arms)

    def search(self, *_: object, **__: object) -> tuple[Arm, ...]:
        return self.arms


def chunk(number: int) -> StoredChunk:
    day = (None, "2026-01-01", "9999-12-31")[number % 3]
    return StoredChunk(number, "memory", f"memory/{number}.md", 1, 1, "tea and walrus", day=day)


def arm(kind: ArmKind) -> Arm:
    usable = Found(chunk(0), 0.5, 0.5)
    unusable = (Found(chunk(i), raw, raw) for i, raw in enumerate(UNUSABLE, 1))
    return Arm(kind, kind, (*unusable, usable, Found(chunk(9), 0.25)))


def searched(arms: Sequence[Arm], fusion: Ranker, profile: str) -> SearchResult:
    settings = SearchSettings(ranking=RankingSettings(profile=profile))  # type: ignore[arg-type]
    odd: Any = Odd(arms)
    chain: list[Ranker] = [fusion, LexicalBoost(), TemporalDecay(), Recency(), Mmr()]
    searcher = Searcher(settings, make_analyser(), chain, ["memory"])
    request = searcher.request("tea", limit=20)
    search = Backend("odd", lambda: odd).search_of(request.query, NEVER)
    answer = searcher.ask(search, request)
    now = 1_793_491_200.0
    chosen = searcher.choose(answer, request, search.freshness, min_score=0.0, now=now)
    return searcher.present(chosen, answer, request, search, NEVER)


@pytest.mark.parametrize("profile", ["default", "compat"])
@pytest.mark.parametrize("fusion", [Weighted(), ReciprocalRank(), Single()], ids=lambda it: it.id)
def test_every_arm_fusion_and_profile_gives_finite_scores(fusion: Ranker, profile: str) -> None:
    for one, other in product(KINDS, (None, *KINDS)):
        arms = [arm(one)] if other is None or other == one else [arm(one), arm(other)]
        result = searched(arms, fusion, profile)
        scores = [hit.score for hit in result.hits]
        assert scores, (one, other)
        assert all(isfinite(score) and 0 <= score <= 1 for score in scores), (one, other)
        steps = [step for hit in result.hits for step in hit.explain.steps]
        assert all(isfinite(step.after) for step in steps), (one, other)
