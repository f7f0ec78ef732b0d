"""Laws about what a ranker must leave as it is."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from commonplace.model.search import Step
from commonplace.protocols.contexts import RankerContext
from commonplace.testing.ranker.cases import Case, cases, contexts, make_arm
from commonplace.testing.ranker.law import RankerLaws, law, ranked

if TYPE_CHECKING:
    from commonplace.protocols.rankers import Ranker

__all__ = ["KeepingLaws"]


class KeepingLaws(RankerLaws):
    """A pure function that neither loses nor invents, and says what it did."""

    @law()
    def test_it_says_what_it_is(self, ranker: Ranker) -> None:
        """An id as in its entry point, a stage that there is, and needs that can be met."""
        assert re.fullmatch(r"[a-z0-9]+([-_][a-z0-9]+)*", ranker.id)
        assert ranker.stage in {"fuse", "adjust", "select"}
        assert ranker.needs <= {"vectors", "dates"}

    @law(case=cases())
    def test_no_hit_is_lost_or_invented(self, ranker: Ranker, case: Case) -> None:
        """All hits come back, each once; only ``select`` may drop some."""
        before = [hit.chunk.id for hit in case.hits(ranker)]
        after = [hit.chunk.id for hit in ranked(ranker, case)]
        assert len(set(after)) == len(after)
        assert set(after) <= set(before)
        assert ranker.stage == "select" or len(after) == len(before)

    @law(case=cases())
    def test_hits_stay_what_they_are(self, ranker: Ranker, case: Case) -> None:
        """Chunks, and what the arms said of them, are as they were."""
        before = {hit.chunk.id: hit for hit in case.hits(ranker)}
        for hit in ranked(ranker, case):
            assert hit.chunk == before[hit.chunk.id].chunk
            assert hit.explain.arms == before[hit.chunk.id].explain.arms

    @law(case=cases())
    def test_each_hit_gets_one_step(self, ranker: Ranker, case: Case) -> None:
        """The steps before stay; one is added, also where nothing was done.

        It has the ranker's id, begins with the score that was and ends with the score that is; its
        note is one line.
        """
        before = {hit.chunk.id: hit for hit in case.hits(ranker)}
        for hit in ranked(ranker, case):
            old = before[hit.chunk.id]
            *steps, last = hit.explain.steps
            assert tuple(steps) == old.explain.steps
            assert last == Step(ranker.id, old.score, hit.score, last.note)
            assert "\n" not in last.note

    @law(case=cases())
    def test_what_is_given_is_left_alone(self, ranker: Ranker, case: Case) -> None:
        """The hits that come in are as they were, in their order, in whatever sequence."""
        hits = case.hits(ranker)
        given = list(hits)
        answer = list(ranker.rank(given, case.context(ranker)))
        assert given == hits
        assert list(ranker.rank(tuple(hits), case.context(ranker))) == answer

    @law(case=cases(), other=cases())
    def test_the_same_hits_get_the_same_answer(
        self, ranker: Ranker, case: Case, other: Case
    ) -> None:
        """Nothing is remembered from one call to the next, and another ranker answers alike."""
        answer = ranked(ranker, case)
        ranked(ranker, other)
        assert ranked(ranker, case) == answer
        assert ranked(self.make_ranker(RankerContext()), case) == answer

    @law(case=cases())
    def test_threads_get_the_same_answer(self, ranker: Ranker, case: Case) -> None:
        """Calls from several threads do not meet."""
        answer = ranked(ranker, case)
        with ThreadPoolExecutor(2) as pool:
            assert all(pool.map(lambda _: ranked(ranker, case) == answer, range(4)))

    @law()
    def test_nothing_comes_of_nothing(self, ranker: Ranker) -> None:
        """No hits in, no hits out, with one arm or with none."""
        arm = make_arm("keyword", "bm25", {})
        assert ranked(ranker, Case((), (), None)) == []
        assert ranked(ranker, Case((arm,), (), {})) == []

    @law(case=cases(), context=contexts())
    def test_any_settings_keep_all_hits(
        self, ranker: Ranker, case: Case, context: RankerContext
    ) -> None:
        """With whatever weights and half-lives the configuration allows."""
        other = self.make_ranker(context)
        assert (other.id, other.stage, other.needs) == (ranker.id, ranker.stage, ranker.needs)
        before = {hit.chunk.id for hit in case.hits(other)}
        after = ranked(other, case)
        assert {hit.chunk.id for hit in after} <= before
        assert other.stage == "select" or len(after) == len(before)
        assert all(0 <= hit.score <= 1 for hit in after)
