"""The pipeline unites arms, runs stages in order, and explains each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attrs import field, frozen

from commonplace.model.search import (
    Arm,
    Candidate,
    Explanation,
    Found,
    KeywordQuery,
    Query,
    StoredChunk,
)
from commonplace.plugin import RankContext
from commonplace.search.ranking import candidates_of, run_rankers, with_step

if TYPE_CHECKING:
    from collections.abc import Sequence

CONTEXT = RankContext(query=Query("q", KeywordQuery()), now=0.0, limit=6)


def chunk(id_: int, path: str = "a.md", line: int = 1) -> StoredChunk:
    return StoredChunk(id_, "memory", path, line, line, f"text {id_}")


@frozen
class Constant:
    """Gives every hit the same score."""

    id: str
    stage: Literal["fuse", "adjust", "select"]
    score: float
    needs: frozenset[str] = field(default=frozenset())

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        return [with_step(hit, self.id, self.score) for hit in hits]


def test_one_chunk_of_two_arms_is_one_candidate_with_both_scores() -> None:
    one = chunk(1)
    arms = (
        Arm("keyword", "bm25", (Found(chunk(2), 9.0), Found(one, 3.0))),
        Arm("vector", "cosine", (Found(one, 0.8),)),
    )
    united = {candidate.chunk.id: candidate for candidate in candidates_of(arms)}
    assert set(united) == {1, 2}
    assert [(a.arm, a.raw, a.rank) for a in united[1].explain.arms] == [
        ("keyword", 3.0, 2),
        ("vector", 0.8, 1),
    ]


def test_stages_run_in_their_order_whatever_the_chain_says() -> None:
    hits = candidates_of((Arm("keyword", "bm25", (Found(chunk(1), 1.0),)),))
    chain = [Constant("last", "select", 0.3), Constant("mid", "adjust", 0.2),
             Constant("first", "fuse", 0.1)]  # fmt: skip
    (ranked,) = run_rankers(hits, chain, CONTEXT)
    assert [step.ranker for step in ranked.explain.steps] == ["first", "mid", "last"]
    assert ranked.score == ranked.explain.steps[-1].after == 0.3


def test_each_step_starts_where_the_one_before_ended() -> None:
    hits = candidates_of((Arm("keyword", "bm25", (Found(chunk(1), 1.0),)),))
    chain = [Constant("a", "fuse", 0.5), Constant("b", "adjust", 0.25)]
    (ranked,) = run_rankers(hits, chain, CONTEXT)
    befores = [step.before for step in ranked.explain.steps]
    afters = [step.after for step in ranked.explain.steps]
    assert befores == [0.0, *afters[:-1]]


def test_a_step_changes_the_score_and_the_explanation_alone() -> None:
    hit = Candidate(
        chunk(1),
        0.5,
        Explanation(),
        similar=(chunk(2),),
        earlier=("8402 (2026-10-02)",),
        lines=(1, 1),
        best=(1, 1),
    )
    stepped = with_step(hit, "a", 0.25)
    assert stepped == hit._replace(score=0.25, explain=stepped.explain)


def test_a_ranker_whose_need_is_not_met_is_skipped_and_says_so() -> None:
    hits = candidates_of((Arm("keyword", "bm25", (Found(chunk(1), 1.0),)),))
    chain = [Constant("a", "fuse", 0.5), Constant("mmr", "adjust", 0.9, frozenset({"vectors"}))]
    (ranked,) = run_rankers(hits, chain, CONTEXT)
    assert ranked.score == 0.5
    assert ranked.explain.steps[-1].note == "skipped: needs vectors"


def test_equal_scores_come_in_the_order_of_their_place() -> None:
    found = tuple(
        Found(chunk(i, path, line), 1.0)
        for i, (path, line) in enumerate([("b.md", 1), ("a.md", 9), ("a.md", 2)])
    )
    ranked = run_rankers(
        candidates_of((Arm("keyword", "bm25", found),)), [Constant("a", "fuse", 0.5)], CONTEXT
    )
    assert [(hit.chunk.path, hit.chunk.start_line) for hit in ranked] == [
        ("a.md", 2),
        ("a.md", 9),
        ("b.md", 1),
    ]
