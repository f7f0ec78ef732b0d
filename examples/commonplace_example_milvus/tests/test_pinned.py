"""The ranker lifts what is pinned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace.plugin import (
    Candidate,
    Explanation,
    KeywordQuery,
    Query,
    RankContext,
    StoredChunk,
    run_rankers,
)
from commonplace.testing import RankerConformance
from commonplace_example_milvus.pinned import Pinned, PinnedSettings
from commonplace_example_milvus.plugin import make_ranker

if TYPE_CHECKING:
    from commonplace.plugin import Ranker, RankerContext


class TestPinned(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        return make_ranker(context)


class TestEagerlyPinned(RankerConformance):
    def make_ranker(self, context: RankerContext) -> Ranker:
        # Words that the laws' own notes are made of.
        settings = PinnedSettings(marks=("ant", "bee", "text"), lift=1.0)
        return make_ranker(context._replace(config=settings))


CONTEXT = RankContext(Query("x", KeywordQuery()), now=0.0, limit=5)


def candidate(text: str, score: float, *heading: str, path: str = "a.md") -> Candidate:
    return Candidate(StoredChunk(1, "memory", path, 1, 2, text, heading), score, Explanation())


def test_a_pinned_piece_passes_one_that_is_a_little_better() -> None:
    plain, pinned = candidate("keys", 0.5), candidate("keys #pinned", 0.45, path="b.md")
    first, second = run_rankers([plain, pinned], [Pinned(PinnedSettings())], CONTEXT)
    assert first.chunk.path == "b.md"
    assert first.score == pytest.approx(0.45 + 0.3 * 0.55)
    assert first.explain.steps[-1].note == "pinned by #pinned"
    assert second.score == 0.5


@pytest.mark.parametrize(
    ("text", "heading", "lifted"),
    [
        ("a #pinned note", (), True),
        ("a note", ("Rules #pinned", "Small ones"), True),
        ("a #pinnedly written note", ("unpinned",), False),
        ("a note", (), False),
    ],
)
def test_a_mark_is_a_word(text: str, heading: tuple[str, ...], lifted: bool) -> None:
    (hit,) = Pinned(PinnedSettings()).rank([candidate(text, 0.5, *heading)], CONTEXT)
    assert (hit.score > 0.5) is lifted


def test_a_score_stays_a_score() -> None:
    eager = Pinned(PinnedSettings(lift=1.0))
    hits = [candidate("#pinned", score) for score in (0.0, 0.3, 1.0)]
    assert [hit.score for hit in eager.rank(hits, CONTEXT)] == [1.0, 1.0, 1.0]


def test_marks_are_a_setting() -> None:
    (hit,) = Pinned(PinnedSettings(marks=("!",), lift=0.5)).rank([candidate("so !", 0.5)], CONTEXT)
    assert hit.score == 0.75
