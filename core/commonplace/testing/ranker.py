"""The laws of rankers: hits kept, scores in range, the same answer for the same hits."""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import partial
from itertools import product
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, get_args

import pytest
from hypothesis import strategies as st

from commonplace.model.documents import Trust
from commonplace.model.search import Arm, ArmKind, Found, StoredChunk
from commonplace.protocols.contexts import RankContext, RankerContext
from commonplace.search.ranking import candidates_of, with_step
from commonplace.testing.base import make_vector
from commonplace.testing.laws import Laws, law
from commonplace.testing.manager_laws import question
from commonplace.testing.pressure import answers_alike, same_elsewhere
from commonplace.testing.strategies import (
    HOSTILE_PATHS,
    HOSTILE_TEXTS,
    HOSTILE_TOKENS,
    PATHS,
    TESTED_SOURCES,
    WORDS,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from hypothesis.strategies import SearchStrategy

    from commonplace.model.search import ArmKind, Candidate, ChunkId
    from commonplace.protocols.contexts import Profile
    from commonplace.protocols.managers import Ranker


def ranked(ranker: Ranker, case: Case) -> list[Candidate]:
    """What the ranker makes of a case."""
    return list(ranker.rank(case.hits(ranker), case.context(ranker)))


NOW = 1_790_000_000.0
"""Epoch seconds: a day in September 2026."""

_CROWD = 300
_DAYS = (None, "2026-09-21", "2026-09-20", "2026-01-31", "1970-01-01", "0001-01-01", "9999-12-31")
_PROFILES: tuple[Profile, ...] = ("default", "compat")
_QUERIES = ("ant", "ant bee", "what did the ant say?", "\u8766\u87fb", '"', "")
_ARMS: dict[ArmKind, tuple[str, SearchStrategy[float], tuple[float, float]]] = {
    "bm25": ("keyword", st.floats(0, 1e6), (0.0, 40.0)),
    "cosine": ("vector", st.floats(-1, 1), (-1.0, 1.0)),
    "opaque": ("engine", st.floats(0, 1) | st.floats(-1e6, 1e6), (0.0, 1.0)),
    "rank": ("order", st.floats(-1e6, 1e6), (0.0, 100.0)),
}
"""By kind: an arm's name, scores that it may have, and the range of usual ones."""

_KINDS = st.lists(st.sampled_from(sorted(_ARMS)), min_size=1, max_size=3, unique=True)


class Case(NamedTuple):
    """One call of a ranker: which hits it is given depends on its stage."""

    arms: tuple[Arm, ...]
    scores: tuple[float, ...]
    vectors: Mapping[ChunkId, bytes] | None
    text: str = "ant"
    limit: int = 6
    profile: Profile = "default"

    def hits(self, ranker: Ranker) -> list[Candidate]:
        """The union of the arms; past ``fuse`` with scores, for ``select`` best first."""
        united = candidates_of(self.arms)
        if ranker.stage == "fuse":
            return united
        scored = [
            with_step(hit, "before", score) for hit, score in zip(united, self.scores, strict=False)
        ]
        if ranker.stage == "select":
            scored.sort(key=lambda hit: (-hit.score, hit.chunk.source, hit.chunk.path))
        return scored

    def context(self, ranker: Ranker) -> RankContext:
        """What the ranker may know; vectors at least where it needs them."""
        known = {} if self.vectors is None and "vectors" in ranker.needs else self.vectors

        def vectors(ids: Collection[ChunkId]) -> Mapping[ChunkId, Any]:
            return {id_: known[id_] for id_ in ids if id_ in known} if known else {}

        return RankContext(
            query=question(self.text)[0],
            now=NOW,
            limit=self.limit,
            profile=self.profile,
            arms=tuple(arm.name for arm in self.arms),
            vectors=None if known is None else vectors,
            kinds=frozenset(arm.kind for arm in self.arms),
        )


def make_arm(name: str, kind: ArmKind, scored: Mapping[StoredChunk, float]) -> Arm:
    """An arm of these chunks, best first."""
    best_first = sorted(scored.items(), key=lambda item: (-item[1], item[0].path))
    return Arm(name, kind, tuple(Found(chunk, score) for chunk, score in best_first))


def _pool(*, named: bool) -> list[StoredChunk]:
    """Chunks of few words or hostile texts, dated or not; their ids are texts if ``named``."""
    texts = (*(" ".join(words) for words in product(WORDS, WORDS)), *HOSTILE_TEXTS)
    names = (*PATHS, *HOSTILE_PATHS)
    return [
        StoredChunk(
            id=f"id {number}" if named else number,
            source=TESTED_SOURCES[number % len(TESTED_SOURCES)],
            path=names[number % len(names)],
            start_line=number % 5 + 1,
            end_line=number % 5 + 3,
            text=text,
            heading=("Ant", "Bee")[: number % 3],
            day=_DAYS[number % len(_DAYS)],
            trust=get_args(Trust)[number % 3],
            body=text if number < 16 else "",
        )
        for number, text in enumerate(texts)
    ]


_POOLS = (_pool(named=False), _pool(named=True))


@st.composite
def cases(draw: st.DrawFn, *, most: int = 8) -> Case:
    """Up to ``most`` hits of up to three arms, and about as many vectors, or none at all."""
    pool = draw(st.sampled_from(_POOLS))
    held = draw(st.lists(st.sampled_from(range(len(pool))), max_size=most, unique=True))
    count = len(held)
    arms = []
    for kind in draw(_KINDS):
        name, scores, _ = _ARMS[kind]
        raw = draw(st.lists(st.none() | scores, min_size=count, max_size=count))
        scored = {pool[at]: score for at, score in zip(held, raw, strict=True) if score is not None}
        arms.append(make_arm(name, kind, scored))
    known = draw(st.none() | st.lists(st.none() | _VECTORS, min_size=count, max_size=count))
    return Case(
        arms=tuple(arms),
        scores=tuple(draw(st.lists(_SCORES, min_size=count, max_size=count))),
        vectors=None
        if known is None
        else {pool[at].id: one for at, one in zip(held, known, strict=True) if one is not None},
        text=draw(st.sampled_from(_QUERIES)),
        limit=draw(st.integers(1, 20)),
        profile=draw(st.sampled_from(_PROFILES)),
    )


def _crowd(size: int = _CROWD) -> Case:
    """Hits of two arms, with vectors, in an order that no id or path gives away."""
    chunks = []
    for at in range(size):
        text, path = f"{WORDS[at % 4]} {at}", f"{at * 31 % 97}/{at}.md"
        id_, source, day = at * 7919 % 1009, TESTED_SOURCES[at % 3], _DAYS[at % 4]
        chunks.append(StoredChunk(id_, source, path, 1, 2, text, day=day, body=text))
    words = {chunk: 1.0 + at * 37 % 89 for at, chunk in enumerate(chunks)}
    meaning = {chunk: (at * 53 % 101) / 101 for at, chunk in enumerate(chunks)}
    vectors = {chunk.id: make_vector(1, at % 13, at % 17) for at, chunk in enumerate(chunks)}
    arms = make_arm("keyword", "bm25", words), make_arm("vector", "cosine", meaning)
    return Case(arms, tuple((at * 29 % 211) / 211 for at in range(size)), vectors, limit=size)


_VECTORS = st.sampled_from(
    [make_vector(*numbers) for numbers in ((1, 0, 0), (1, 1, 0), (-1, 0, 0), (0, 1, 2))]
)
_SHARE = st.floats(0, 1)
_SCORES = st.sampled_from((0.0, 0.5, 1.0)) | _SHARE


def contexts() -> SearchStrategy[RankerContext]:
    """Settings, as far as the configuration lets them go."""
    made = st.builds(RankerContext, vector_weight=_SCORES, text_weight=_SCORES, config=st.none())
    return made.filter(lambda context: context.vector_weight + context.text_weight > 0)


class RankerConformance(Laws):
    """All that a ranker promises: subclass it, name the class ``Test...``, define one method.

    ``make_ranker(context)`` makes the ranker; a registration's factory will do. Where it has
    settings of its own, define ``configs()`` too, a Hypothesis strategy of them. Set
    ``registered_as`` to the id in its entry point. ``settings`` are Hypothesis's, for rankers that
    are slow or to be tested harder.
    """

    subject: ClassVar[str] = "ranker"
    registered_as: ClassVar[str] = ""

    def make_ranker(self, context: RankerContext) -> Ranker:
        """Make the ranker, as its registration's factory does."""
        raise NotImplementedError(f"{type(self).__name__} has to define make_ranker(context)")

    def configs(self) -> SearchStrategy[Any]:
        """Settings of the ranker's own, as ``context.config`` may hold them."""
        return st.none()

    def need(self, subject: Any, *capabilities: str) -> None:
        """Skip a law of another stage than the ranker's."""
        if capabilities and subject.stage not in capabilities:
            pytest.skip(f"a law of the stage {capabilities[0]}")

    @contextmanager
    def opened(self) -> Iterator[Ranker]:
        """A ranker of the usual settings."""
        yield self.make_ranker(RankerContext())

    @law()
    def test_it_says_what_it_is(self, ranker: Ranker) -> None:
        """An id as in its entry point, a stage that there is, and needs that can be met."""
        assert re.fullmatch(r"[a-z0-9]+([-_][a-z0-9]+)*", ranker.id)
        assert ranker.id == (self.registered_as or ranker.id), f"its id is {ranker.id!r}"
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
        """Chunks, their ranks and scores in the arms are unchanged; lines shown are the chunk's."""
        before = {hit.chunk.id: hit for hit in case.hits(ranker)}
        for hit in ranked(ranker, case):
            assert hit.chunk == before[hit.chunk.id].chunk
            first, last = hit.lines or (hit.chunk.start_line, hit.chunk.end_line)
            assert hit.chunk.start_line <= first <= last <= hit.chunk.end_line, hit.lines
            assert hit.explain.arms == before[hit.chunk.id].explain.arms

    @law(case=cases())
    def test_each_hit_gets_one_step(self, ranker: Ranker, case: Case) -> None:
        """Earlier steps stay; the new one has the ranker, scores, a note of one line, its arms."""
        before = {hit.chunk.id: hit for hit in case.hits(ranker)}
        for hit in ranked(ranker, case):
            old = before[hit.chunk.id]
            *steps, last = hit.explain.steps
            assert tuple(steps) == old.explain.steps
            assert (last.ranker, last.before, last.after) == (ranker.id, old.score, hit.score)
            assert "\n" not in last.note
            assert {name for name, _ in last.parts} <= {said.arm for said in old.explain.arms}

    @law(case=cases())
    def test_what_is_given_is_left_alone(self, ranker: Ranker, case: Case) -> None:
        """A ranker changes neither the hits nor their order, whether in a list or a tuple."""
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

    @law()
    def test_threads_get_their_own_answers(self, ranker: Ranker) -> None:
        """Calls with other hits from several threads at once do not meet."""
        answers_alike(ranker, [partial(ranked, ranker, _crowd(size)) for size in (1, 7, 15, 30)])

    @law()
    def test_there_may_be_many_hits(self, ranker: Ranker) -> None:
        """Hundreds are all ranked, each with its step; ``select`` may drop some."""
        after = ranked(ranker, _crowd())
        assert len({hit.chunk.id for hit in after}) == len(after)
        assert all(hit.explain.steps[-1].ranker == ranker.id for hit in after)
        assert len(after) == _CROWD or (ranker.stage == "select" and after)

    @law()
    def test_another_process_ranks_alike(self, ranker: Ranker) -> None:
        """Scores and order hang on no hash seed, no address, and nothing that a process made up."""
        same_elsewhere(self, ranker, "_ranked_by_a_new_one")

    def _ranked_by_a_new_one(self) -> object:
        with self.opened() as ranker:
            answer = ranked(ranker, _crowd())
        return [(hit.chunk.id, round(hit.score, 9), hit.explain.steps[-1].note) for hit in answer]

    @law()
    def test_nothing_comes_of_nothing(self, ranker: Ranker) -> None:
        """No hits in, no hits out, with one arm or with none."""
        arm = make_arm("keyword", "bm25", {})
        assert ranked(ranker, Case((), (), None)) == []
        assert ranked(ranker, Case((arm,), (), {})) == []

    @law(case=cases(), context=contexts(), data=st.data())
    def test_any_settings_keep_all_hits(
        self, ranker: Ranker, case: Case, context: RankerContext, data: st.DataObject
    ) -> None:
        """With whatever weights and settings of its own the configuration allows."""
        config = data.draw(self.configs())
        for weighed in (context, RankerContext(1.0, 0.0), RankerContext(0.0, 1.0)):
            other = self.make_ranker(weighed._replace(config=config))
            assert (other.id, other.stage, other.needs) == (ranker.id, ranker.stage, ranker.needs)
            before = {hit.chunk.id for hit in case.hits(other)}
            after = ranked(other, case)
            assert {hit.chunk.id for hit in after} <= before
            assert other.stage == "select" or len(after) == len(before)
            assert all(0 <= hit.score <= 1 for hit in after)

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
        kinds=_KINDS,
        better=st.tuples(_SHARE, _SHARE, _SHARE),
        share=st.tuples(_SHARE, _SHARE, _SHARE),
        profile=st.sampled_from(_PROFILES),
    )
    def test_the_better_in_every_arm_is_not_worse(
        self,
        ranker: Ranker,
        kinds: list[ArmKind],
        better: tuple[float, ...],
        share: tuple[float, ...],
        profile: Profile,
    ) -> None:
        """A hit that no arm puts behind another does not end behind it."""
        one, other = (StoredChunk(id_, "memory", f"{id_}.md", 1, 1, "ant") for id_ in (1, 2))
        arms = []
        for kind, high, part in zip(kinds, better, share, strict=False):
            _, _, (low, top) = _ARMS[kind]
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
        """Hits that differ in score alone keep their order or tie; equal ones stay equal."""
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
