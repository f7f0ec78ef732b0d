"""Paired differences and their intervals: by hand, against tables, and as laws."""

from __future__ import annotations

from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace_evaluation.comparing import Pair, paired, t_quantile, worst
from commonplace_evaluation.running import Scored
from commonplace_evaluation.sets import EvalQuery


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [(1, 12.7062), (2, 4.30265), (3, 3.18245), (5, 2.57058), (29, 2.04523), (1000, 1.96234)],
)
def test_the_quantile_is_that_of_the_tables(degrees: int, quantile: float) -> None:
    assert t_quantile(0.975, degrees) == pytest.approx(quantile, rel=0.002)
    assert t_quantile(0.5, degrees) == pytest.approx(0, abs=1e-12)


def test_an_interval_worked_by_hand() -> None:
    found = paired([0.5, 0.5, 0.0, 1.0, 0.25], [0.75, 0.5, 0.5, 1.0, 0.5])
    # The changes .25, 0, .5, 0, .25: mean .2, standard deviation .20916, t = 2.77645.
    assert found.difference == pytest.approx(0.2)
    assert found.low == pytest.approx(0.2 - 2.77645 * 0.209165 / 5**0.5, abs=2e-4)
    assert found.high == pytest.approx(0.2 + 2.77645 * 0.209165 / 5**0.5, abs=2e-4)
    assert (found.better, found.worse, found.equal, found.n) == (3, 0, 2, 5)
    assert not found.is_clear


def test_a_single_query_has_no_interval() -> None:
    found = paired([0.0], [1.0])
    assert (found.difference, found.low, found.high, found.is_clear) == (1, None, None, False)


measures = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30)


@given(measures)
@settings(max_examples=40)
def test_the_other_way_round_everything_is_mirrored(rows: list[tuple[float, float]]) -> None:
    ours = paired([one for one, _ in rows], [other for _, other in rows])
    theirs = paired([other for _, other in rows], [one for one, _ in rows])
    assert ours.low is not None
    assert ours.high is not None
    assert theirs.high is not None
    assert -1 <= ours.low <= ours.difference + 1e-9
    assert ours.difference - 1e-9 <= ours.high <= 1
    assert isclose(ours.low, -theirs.high, abs_tol=1e-9)
    assert (ours.better, ours.worse) == (theirs.worse, theirs.better)


def test_the_worst_are_those_that_lost_most() -> None:
    def pair(name: str, before: float, after: float) -> Pair:
        query = EvalQuery(name, name, (), "-")
        return Pair("set", Scored(query, {"ndcg@10": before}), Scored(query, {"ndcg@10": after}))

    pairs = [pair("a", 1, 0.5), pair("b", 0, 1), pair("c", 1, 0), pair("d", 1, 1)]
    assert [lost.before.query.id for lost in worst(pairs, 5)] == ["c", "a"]
    assert [lost.before.query.id for lost in worst(pairs, 1)] == ["c"]
