from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.testing import RankerConformance
from commonplace_ranking.lexical_boost import LexicalBoost
from commonplace_ranking.mmr import Mmr
from commonplace_ranking.rrf import ReciprocalRank
from commonplace_ranking.single import Single
from commonplace_ranking.temporal_decay import TemporalDecay
from commonplace_ranking.weighted import Weighted

if TYPE_CHECKING:
    from commonplace.plugin import Ranker, RankerContext


class TestSingle(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return Single()


class TestWeighted(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return Weighted(context.vector_weight, context.text_weight)


class TestReciprocalRank(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return ReciprocalRank()


class TestTemporalDecay(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return TemporalDecay(context.half_life_days)


class TestLexicalBoost(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return LexicalBoost()


class TestMmr(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return Mmr(context.mmr_lambda)
