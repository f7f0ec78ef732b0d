"""Laws about the scores that a ranker gives."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from commonplace.model.search import Arm, Found, StoredChunk
from commonplace.testing.ranker.cases import Case, cases
from commonplace.testing.ranker.law import RankerLaws, law, ranked
from commonplace.testing.strategies import HOSTILE_PATHS, HOSTILE_TEXTS, HOSTILE_TOKENS

if TYPE_CHECKING:
    from commonplace.model.search import ArmKind
    from commonplace.protocols.rankers import Ranker

__all__ = ["ScoreLaws"]

_SHARE = st.floats(0, 1)
_RANGES: dict[ArmKind, tuple[float, float]] = {
    "bm25": (0.0, 40.0),
    "cosine": (-1.0, 1.0),
    "opaque": (0.0, 1.0),
    "rank": (0.0, 100.0),
}


class ScoreLaws(RankerLaws):
    """Range, order, and what a score may depend on."""

    @law(case=cases())
    def test_scores_are_0_to_1(self, ranker: Ranker, case: Case) -> None:
        """Scores are finite and between 0 and 1, whatever the arms' raw scores are."""
        for hit in ranked(ranker, case):
            assert isfinite(hit.score)
            assert 0 <= hit.score <= 1

    @law("select", case=cases())
    def test_selecting_changes_no_score(self, ranker: Ranker, case: Case) -> None:
        """``select`` changes the order or drops; what stays has the score it had."""
        before = {hit.chunk.id: hit.score for hit in case.hits(ranker)}
        assert all(hit.score == before[hit.chunk.id] for hit in ranked(ranker, case))

    @law(case=cases())
    def test_the_order_of_hits_decides_no_score(self, ranker: Ranker, case: Case) -> None:
        """Before ``select`` hits come in no order, so that no score can depend on it."""
        if ranker.stage == "select":
            return
        hits = case.hits(ranker)
        forward = ranker.rank(hits, case.context(ranker))
        backward = ranker.rank(hits[::-1], case.context(ranker))
        assert {hit.chunk.id: hit for hit in forward} == {hit.chunk.id: hit for hit in backward}

    @law(
        "fuse",
        kinds=st.lists(st.sampled_from(sorted(_RANGES)), min_size=1, max_size=3, unique=True),
        better=st.tuples(_SHARE, _SHARE, _SHARE),
        share=st.tuples(_SHARE, _SHARE, _SHARE),
        profile=st.sampled_from(("default", "compat")),
    )
    def test_the_better_in_every_arm_is_not_worse(
        self,
        ranker: Ranker,
        kinds: list[ArmKind],
        better: tuple[float, ...],
        share: tuple[float, ...],
        profile: str,
    ) -> None:
        """A hit that no arm puts behind another does not end behind it."""
        one, other = (StoredChunk(id_, "memory", f"{id_}.md", 1, 1, "ant") for id_ in (1, 2))
        arms = []
        for kind, high, part in zip(kinds, better, share, strict=False):
            low, top = _RANGES[kind]
            best = low + high * (top - low)
            worse = low + (best - low) * part
            arms.append(Arm(kind, kind, (Found(one, best), Found(other, worse))))
        case = Case(tuple(arms), (), None, profile=profile)
        scores = {hit.chunk.id: hit.score for hit in ranked(ranker, case)}
        assert scores[1] >= scores[2]

    @law("adjust", case=cases(most=1), scores=st.tuples(_SHARE, _SHARE))
    def test_of_two_alike_the_better_stays_ahead(
        self, ranker: Ranker, case: Case, scores: tuple[float, float]
    ) -> None:
        """Two hits that differ in nothing but their score keep their order, or become equal.

        Two that do not even differ in that get the same.
        """
        low, high = sorted(scores)
        hits = case.hits(ranker)
        if not hits:
            return
        changed = [
            ranker.rank([hits[0]._replace(score=score)], case.context(ranker))[0].score
            for score in (low, low, high)
        ]
        assert changed[0] == changed[1] <= changed[2]

    @law()
    def test_odd_texts_do_no_harm(self, ranker: Ranker) -> None:
        """Any text, heading, path or query: empty, hostile, of any script, very long."""
        texts = (*HOSTILE_TEXTS, *HOSTILE_TOKENS, "x" * 20_000, "ant " * 5_000)
        for number, text in enumerate(texts):
            path = HOSTILE_PATHS[number % len(HOSTILE_PATHS)]
            found = tuple(
                Found(StoredChunk(id_, "memory", path, 1, 1, text, (text,), body=body), 1.0)
                for id_, body in enumerate((text, "", "ant"))
            )
            arms = (Arm("keyword", "bm25", found),)
            answer = ranked(ranker, Case(arms, (0.5, 0.5, 0.5), None, text=text[:500]))
            assert ranker.stage == "select" or len(answer) == 3
