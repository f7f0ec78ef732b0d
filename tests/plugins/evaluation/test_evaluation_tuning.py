"""Tuning recomputes the fusion's scores from explanations, and chooses by enough queries alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from commonplace.model.search import Arm, Found, Hit, KeywordQuery, Query, StoredChunk
from commonplace.plugin import CallerError, RankContext
from commonplace.search.ranking import candidates_of, run_rankers
from commonplace_evaluation.tuning import WEIGHTS, chosen, fused, tuned_json, tuned_lines, weight_of
from commonplace_ranking.fusion import TRUST, Evidence, Trust

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.plugins.evaluation.conftest import Ran

    from commonplace.plugin import Ranker

CHUNKS = [StoredChunk(at, "memory", f"memory/{at}.md", 1, 1, "ant") for at in range(6)]


def hits(ranker: Ranker, counted: int = 4) -> list[Hit]:
    """What is found by words and vectors; the store counts the words of the first ``counted``."""
    words = (
        Found(CHUNKS[at], 9.0 - at, 0.3, coverage=0.5 - at / 10 if at < counted else None)
        for at in range(4)
    )
    near = (Found(CHUNKS[at], 0.9 - at / 10) for at in (5, 3, 1))
    arms = Arm("keyword", "bm25", tuple(words)), Arm("vector", "cosine", tuple(near))
    context = RankContext(
        Query("ant", KeywordQuery(("ant",))),
        now=0.0,
        limit=6,
        arms=("keyword", "vector"),
        kinds=frozenset({"bm25", "cosine"}),
    )
    return [
        Hit(
            path=hit.chunk.path,
            start_line=1,
            end_line=1,
            score=hit.score,
            snippet="",
            source="memory",
            explain=hit.explain,
        )
        for hit in run_rankers(candidates_of(arms), [ranker], context)
    ]


@pytest.mark.parametrize("counted", [4, 2, 0])
@pytest.mark.parametrize("configured", [1, 4, 8])
def test_scores_under_another_weight_are_those_of_the_fusion(configured: int, counted: int) -> None:
    made = {hit.path: fused(hit, configured) for hit in hits(Evidence(Trust(configured)), counted)}
    for weight in WEIGHTS:
        for hit in hits(Evidence(Trust(weight)), counted):
            assert made[hit.path].score(weight) == pytest.approx(hit.score)


def test_what_is_configured_stands_for_the_weight_of_the_fusion() -> None:
    assert {name: weight_of(name) for name in TRUST} == {
        name: trust.weight for name, trust in TRUST.items()
    }
    assert weight_of(2.5) == 2.5


def test_the_best_weight_is_chosen_by_enough_queries() -> None:
    rows = {weight: [0.9 if weight == 2 else 0.5] * 20 for weight in WEIGHTS}
    assert chosen(rows).best == 2
    assert list(tuned_lines(chosen(rows)))[-1].startswith("best on 20 queries")
    few = chosen({weight: row[:19] for weight, row in rows.items()})
    assert (few.best, tuned_json(few)["best"]) == (4, 4)
    assert "too few" in list(tuned_lines(few))[-1]
    equal = chosen({weight: [0.5] * 40 for weight in WEIGHTS})
    assert equal.best == 4


def test_without_vectors_there_is_nothing_to_tune(
    run: Callable[..., Ran], tmp_path: Path, workspace: str
) -> None:
    relevant = [{"path": "MEMORY.md", "startLine": 1, "endLine": 9}]
    query = {"id": "q", "query": "spare key", "relevant": relevant}
    (tmp_path / "queries.jsonl").write_text(json.dumps(query) + "\n", encoding="utf-8")
    ran = run("eval", str(tmp_path / "queries.jsonl"), "--tune")
    assert ran.code != 0
    assert "no vectors searched" in ran.err


def test_another_fusion_has_no_trust() -> None:
    (hit, *_) = hits(Evidence())
    steps = tuple(step._replace(ranker="other") for step in hit.explain.steps)
    with pytest.raises(CallerError, match="the fusion is not"):
        fused(hit.replace(explain=hit.explain._replace(steps=steps)), 4)
