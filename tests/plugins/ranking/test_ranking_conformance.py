from __future__ import annotations

from typing import TYPE_CHECKING, cast

from hypothesis import strategies as st

from commonplace.testing import RankerConformance
from commonplace_ranking.adjustments import LexicalBoost
from commonplace_ranking.fusion import TRUST, ReciprocalRank, Single, Weighted
from commonplace_ranking.plugin import (
    EvidenceSettings,
    MmrSettings,
    RecencySettings,
    TemporalDecaySettings,
    ValiditySettings,
    _evidence,
    _mmr,
    _recency,
    _temporal_decay,
    _validity,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from commonplace.plugin import Ranker, RankerContext


class TestSingle(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return Single()


class TestEvidence(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return _evidence(context)

    def configs(self) -> SearchStrategy[EvidenceSettings]:
        trust = st.sampled_from(sorted(TRUST)) | st.floats(0, 100)
        return trust.map(lambda given: EvidenceSettings(trust=given))


class TestWeighted(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return Weighted(context.vector_weight, context.text_weight)


class TestReciprocalRank(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return ReciprocalRank()


class TestRecency(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return _recency(context)

    def configs(self) -> SearchStrategy[RecencySettings]:
        return st.builds(
            RecencySettings,
            weight=st.sampled_from((0.0, 1.0)) | st.floats(0, 1),
            half_life_days=st.integers(1, 36_500),
            now=st.sampled_from((0.0, 1.0)) | st.floats(0, 1),
        )


class TestValidity(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return _validity(context)

    def configs(self) -> SearchStrategy[ValiditySettings]:
        shares = st.sampled_from((0.0, 1.0)) | st.floats(0, 1)
        return shares.map(lambda share: ValiditySettings(weight=share))


class TestTemporalDecay(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return _temporal_decay(context)

    def configs(self) -> SearchStrategy[TemporalDecaySettings]:
        days = st.sampled_from((0.01, 36_500.0)) | st.floats(0.01, 36_500)
        return days.map(lambda age: TemporalDecaySettings(half_life_days=cast("int", age)))


class TestLexicalBoost(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return LexicalBoost()


class TestMmr(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return _mmr(context)

    def configs(self) -> SearchStrategy[MmrSettings]:
        shares = st.sampled_from((0.0, 1.0)) | st.floats(0, 1)
        return shares.map(lambda share: MmrSettings(lambda_=share))
