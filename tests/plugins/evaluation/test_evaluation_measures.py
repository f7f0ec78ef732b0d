"""The measures of retrieval: by hand, as laws, and against the reference script."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace_evaluation.measures import METRICS, Span, average, recall_in_budget, score_query

if TYPE_CHECKING:
    from pathlib import Path

A5, B1 = Span("a.md", 5, 5), Span("b.md", 1, 3)


def test_worked_by_hand() -> None:
    results = [Span("a.md", 6, 9), Span("a.md", 1, 5), Span("b.md", 3, 8)]
    scores = score_query([A5, B1], results)
    assert scores["recall@1"] == 0
    assert scores["recall@5"] == scores["recall@10"] == 1
    assert scores["hit@5"] == 1
    assert scores["mrr@10"] == 0.5
    want = (1 / log2(3) + 1 / log2(4)) / (1 + 1 / log2(3))
    assert scores["ndcg@10"] == pytest.approx(want)


def test_a_repeat_earns_nothing_more() -> None:
    assert score_query([A5], [A5, A5])["ndcg@10"] == 1


def test_no_result_scores_nothing() -> None:
    assert set(score_query([A5], []).values()) == {0.0}


def test_the_eleventh_result_is_not_looked_at() -> None:
    late = [Span("z.md", 1, 1)] * 10 + [A5]
    assert set(score_query([A5], late).values()) == {0.0}


def test_the_budget_cuts_the_last_result_and_does_not_charge_twice() -> None:
    def recall(results: list[Span], budget: int) -> float:
        relevant = [Span("a", 5, 5), Span("a", 9, 9)]
        return recall_in_budget(relevant, results, lambda _: [11] * 9, budget)

    assert recall([Span("a", 4, 6)], 11) == 0
    assert recall([Span("a", 4, 6)], 22) == 0.5
    assert recall([Span("a", 4, 6), Span("a", 5, 9)], 66) == 1
    assert recall([Span("a", 4, 6), Span("a", 5, 9)], 55) == 0.5


def test_average_is_over_queries() -> None:
    assert average([{"x": 0.0}, {"x": 1.0}, {"x": 0.5}]) == {"x": 0.5}


spans = st.builds(
    lambda path, start, length: Span(path, start, start + length),
    st.sampled_from(["a.md", "b.md", "c.md"]),
    st.integers(1, 30),
    st.integers(0, 12),
)


@given(st.lists(spans, min_size=1, max_size=6), st.lists(spans, max_size=14))
@settings(max_examples=80)
def test_all_measures_lie_between_0_and_1_and_recall_grows(
    relevant: list[Span], results: list[Span]
) -> None:
    scores = score_query(relevant, results)
    assert tuple(scores) == METRICS
    assert all(0 <= value <= 1 for value in scores.values())
    assert scores["recall@1"] <= scores["recall@5"] <= scores["recall@10"]


def _as_json(span: Span) -> dict[str, Any]:
    return {"path": span.path, "startLine": span.start_line, "endLine": span.end_line}


def test_equals_the_reference_script(tmp_path: Path, reference: Any) -> None:
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).write_text("".join("x" * n + "\n" for n in range(25)), encoding="utf-8")

    def lengths(path: str) -> list[int]:
        with (tmp_path / path).open(encoding="utf-8") as lines:
            return [len(line) for line in lines]

    @given(
        st.lists(spans, min_size=1, max_size=6), st.lists(spans, max_size=14), st.integers(1, 900)
    )
    @settings(max_examples=200, deadline=None)
    def equal(relevant: list[Span], results: list[Span], budget: int) -> None:
        theirs = [_as_json(span) for span in relevant], [_as_json(span) for span in results]
        wanted = reference.score_query(*theirs)
        assert score_query(relevant, results) == pytest.approx({k: wanted[k] for k in METRICS})
        assert recall_in_budget(relevant, results, lengths, budget) == pytest.approx(
            reference.recall_in_budget(*theirs, str(tmp_path), budget)
        )

    equal()
