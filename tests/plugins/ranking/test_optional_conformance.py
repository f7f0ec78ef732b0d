"""The laws of rankers, kept by those that no profile runs by itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import pytest
from hypothesis import strategies as st

from commonplace.plugin import RelevanceRanker
from commonplace.testing import RankerConformance
from commonplace_ranking.optional import (
    ExactPathSettings,
    ImportanceSettings,
    InstructionSettings,
    SourceBalanceSettings,
    SpreadSettings,
    TimeWordsSettings,
    _exact_path,
    _importance,
    _source_balance,
    _spread,
    _standing,
    _time_words,
)
from commonplace_ranking.reranking import Reranker

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from commonplace.plugin import Ranker, RankerContext

pytestmark = pytest.mark.slow

SHARES = st.sampled_from((0.0, 1.0)) | st.floats(0, 1)


class TestSourceBalance(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return _source_balance(context)

    def configs(self) -> SearchStrategy[SourceBalanceSettings]:
        return st.builds(SourceBalanceSettings, share=SHARES, least=SHARES)


class TestExactPath(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return _exact_path(context)

    def configs(self) -> SearchStrategy[ExactPathSettings]:
        return st.builds(ExactPathSettings, stems=st.booleans(), anywhere=st.booleans())


class TestImportance(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return _importance(context)

    def configs(self) -> SearchStrategy[ImportanceSettings]:
        return st.builds(ImportanceSettings, weight=SHARES)


class TestInstructions(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return _standing(context)

    def configs(self) -> SearchStrategy[InstructionSettings]:
        return st.builds(InstructionSettings, every=st.integers(1, 100))


class TestTimeWords(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return _time_words(context)

    def configs(self) -> SearchStrategy[TimeWordsSettings]:
        switch = st.booleans()
        return st.builds(TimeWordsSettings, weight=SHARES, when=switch, now=switch, after=switch)


class TestSpread(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return _spread(context)

    def configs(self) -> SearchStrategy[SpreadSettings]:
        return st.builds(SpreadSettings, another=SHARES, next_to=SHARES)


def _judged(request: httpx.Request) -> httpx.Response:
    """A server that finds long texts more relevant."""
    texts = json.loads(request.content)["texts"]
    return httpx.Response(
        200, json=[{"index": at, "score": len(text) / 1e6} for at, text in enumerate(texts)]
    )


class TestRerank(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        del context
        transport = httpx.MockTransport(_judged)
        return RelevanceRanker("rerank", Reranker("http://127.0.0.1:9/rerank", transport=transport))
