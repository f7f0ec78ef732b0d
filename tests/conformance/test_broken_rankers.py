from __future__ import annotations

import re
import threading
from itertools import count
from typing import TYPE_CHECKING, Literal

import pytest

from commonplace.search.ranking import with_step
from commonplace.testing import RankerConformance
from commonplace_ranking.fusion import unit_score

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.model.search import Candidate
    from commonplace.protocols.contexts import RankContext, RankerContext

Stage = Literal["fuse", "adjust", "select"]


class Sound:
    """What is broken below: it keeps every law as it is."""

    id = "sound"
    stage: Stage = "fuse"
    needs: frozenset[str] = frozenset()

    def __init__(self, settings: RankerContext) -> None:
        self.settings = settings
        self.calls = count()

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        return [with_step(hit, self.id, self.score(hit, context)) for hit in hits]

    def score(self, hit: Candidate, context: RankContext) -> float:
        if self.stage == "fuse":
            return max((unit_score(said) for said in hit.explain.arms), default=0.0)
        return hit.score


class Adjusts(Sound):
    id = "adjusts"
    stage: Stage = "adjust"


class Selects(Sound):
    id = "selects"
    stage: Stage = "select"


class HasNoProperId(Sound):
    id = "My Ranker!"


class LosesTheLast(Adjusts):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        return super().rank(hits, context)[:3]


class SelectsTwice(Selects):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        return super().rank([*hits[:1], *hits], context)


class InventsAHit(Selects):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        ranked = super().rank(hits, context)
        made_up = [hit._replace(chunk=hit.chunk._replace(id="made up")) for hit in ranked[:1]]
        return ranked + made_up


class MarksTheText(Sound):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        return [
            hit._replace(chunk=hit.chunk._replace(text=f"*{hit.chunk.text}*"))
            for hit in super().rank(hits, context)
        ]


class CountsLinesFrom0(Sound):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        return [hit._replace(lines=(0, 0)) for hit in super().rank(hits, context)]


class ForgetsTheArms(Sound):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        return [
            hit._replace(explain=hit.explain._replace(arms=hit.explain.arms[:1]))
            for hit in super().rank(hits, context)
        ]


class SaysNothing(Adjusts):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        return list(hits)


class ForgetsTheStepsBefore(Adjusts):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        return [
            hit._replace(explain=hit.explain._replace(steps=hit.explain.steps[-1:]))
            for hit in super().rank(hits, context)
        ]


class SaysAnotherScore(Adjusts):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        return [hit._replace(score=hit.score / 2) for hit in super().rank(hits, context)]


class SortsInPlace(Selects):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        if isinstance(hits, list):
            hits.reverse()
        return super().rank(hits, context)


class TakesListsOnly(Selects):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        if isinstance(hits, tuple):
            raise TypeError('can only concatenate list (not "tuple") to list')
        return super().rank(hits, context)


class RemembersHits(Adjusts):
    def score(self, hit: Candidate, context: RankContext) -> float:
        return hit.score / (1 + next(self.calls))


class KnowsOneThread(Sound):
    def score(self, hit: Candidate, context: RankContext) -> float:
        main = threading.current_thread() is threading.main_thread()
        return super().score(hit, context) if main else 0.125


class LooksAtTheFirst(Selects):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        best = hits[0].score
        return [hit for hit in super().rank(hits, context) if hit.score <= best]


class DividesByItsSettings(Adjusts):
    def score(self, hit: Candidate, context: RankContext) -> float:
        return min(1.0, hit.score / self.settings.text_weight)


class KeepsRawScores(Sound):
    def score(self, hit: Candidate, context: RankContext) -> float:
        return sum(said.raw for said in hit.explain.arms)


class RescoresWhatItSelects(Selects):
    def score(self, hit: Candidate, context: RankContext) -> float:
        return hit.score * 0.9


class ScoresByPlace(Adjusts):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        places = enumerate(hits, 1)
        return [with_step(hit, self.id, hit.score / place) for place, hit in places]


class PrefersTheWorse(Sound):
    def score(self, hit: Candidate, context: RankContext) -> float:
        return 1 - super().score(hit, context)


class TurnsScoresAround(Adjusts):
    def score(self, hit: Candidate, context: RankContext) -> float:
        return 1 - hit.score


class ReadsQueriesAsPatterns(Adjusts):
    def score(self, hit: Candidate, context: RankContext) -> float:
        if not context.query.text:
            return hit.score
        return hit.score if re.search(context.query.text, hit.chunk.text) else hit.score / 2


class NeedsVectorsUnsaid(Adjusts):
    def score(self, hit: Candidate, context: RankContext) -> float:
        assert context.vectors is not None
        return hit.score if context.vectors([hit.chunk.id]) else hit.score / 2


class NeedsDatesUnsaid(Adjusts):
    def score(self, hit: Candidate, context: RankContext) -> float:
        assert hit.chunk.day is not None
        return hit.score if hit.chunk.day > "2026" else hit.score / 2


class SharesItsHits(Adjusts):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        self.hits = hits
        return super().rank(self.hits, context)


class RanksAHundred(Adjusts):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        return super().rank(hits[:100], context)


class StepsAHundred(Adjusts):
    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        return [*super().rank(hits[:128], context), *hits[128:]]


class ScoresByHash(Adjusts):
    def score(self, hit: Candidate, context: RankContext) -> float:
        return hit.score * (1 - hash(hit.chunk.path) % 97 / 1e4)


BROKEN: list[tuple[type[Sound], str]] = [
    (HasNoProperId, "test_it_says_what_it_is"),
    (LosesTheLast, "test_no_hit_is_lost_or_invented"),
    (SelectsTwice, "test_no_hit_is_lost_or_invented"),
    (InventsAHit, "test_no_hit_is_lost_or_invented"),
    (MarksTheText, "test_hits_stay_what_they_are"),
    (CountsLinesFrom0, "test_hits_stay_what_they_are"),
    (ForgetsTheArms, "test_hits_stay_what_they_are"),
    (SaysNothing, "test_each_hit_gets_one_step"),
    (ForgetsTheStepsBefore, "test_each_hit_gets_one_step"),
    (SaysAnotherScore, "test_each_hit_gets_one_step"),
    (SortsInPlace, "test_what_is_given_is_left_alone"),
    (TakesListsOnly, "test_what_is_given_is_left_alone"),
    (RemembersHits, "test_the_same_hits_get_the_same_answer"),
    (KnowsOneThread, "test_threads_get_their_own_answers"),
    (LooksAtTheFirst, "test_nothing_comes_of_nothing"),
    (DividesByItsSettings, "test_any_settings_keep_all_hits"),
    (KeepsRawScores, "test_scores_are_0_to_1"),
    (NeedsVectorsUnsaid, "test_scores_are_0_to_1"),
    (NeedsDatesUnsaid, "test_scores_are_0_to_1"),
    (RescoresWhatItSelects, "test_selecting_changes_no_score"),
    (ScoresByPlace, "test_the_order_of_hits_decides_no_score"),
    (PrefersTheWorse, "test_the_better_in_every_arm_is_not_worse"),
    (TurnsScoresAround, "test_of_two_alike_the_better_stays_ahead"),
    (ReadsQueriesAsPatterns, "test_odd_texts_do_no_harm"),
    (SharesItsHits, "test_threads_get_their_own_answers"),
    (RanksAHundred, "test_there_may_be_many_hits"),
    (StepsAHundred, "test_there_may_be_many_hits"),
    (ScoresByHash, "test_another_process_ranks_alike"),
]


class Bench(RankerConformance):
    def __init__(self, broken: type[Sound]) -> None:
        self.broken = broken

    def make_ranker(self, context: RankerContext) -> Sound:
        return self.broken(context)


class RegisteredAsAnother(Bench):
    registered_as = "another"


def test_an_id_other_than_that_of_the_entry_point_is_caught(judge: Callable[..., str]) -> None:
    assert judge(RegisteredAsAnother(Sound), "test_it_says_what_it_is", lambda: "") == "broken"


@pytest.mark.parametrize(("broken", "law"), BROKEN, ids=[broken.__name__ for broken, _ in BROKEN])
def test_the_law_catches(broken: type[Sound], law: str, judge: Callable[..., str]) -> None:
    assert judge(Bench(broken), law, lambda: broken.__name__) == "broken"


@pytest.mark.parametrize("sound", [Sound, Adjusts, Selects])
@pytest.mark.parametrize("law", sorted({law for _, law in BROKEN}))
def test_what_is_broken_here_was_sound_before(
    sound: type[Sound], law: str, judge: Callable[..., str]
) -> None:
    assert judge(Bench(sound), law, lambda: "", 8) in {"kept", "skipped"}


def test_every_law_can_fail(all_laws: Callable[[type], set[str]]) -> None:
    assert {law for _, law in BROKEN} == all_laws(RankerConformance)
