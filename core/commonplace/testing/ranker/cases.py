"""What rankers are given: arms as engines answer, candidates, and contexts."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from hypothesis import strategies as st

from commonplace.model.documents import Trust
from commonplace.model.search import Arm, ArmKind, Found, StoredChunk
from commonplace.protocols.contexts import RankContext, RankerContext
from commonplace.search.ranking import candidates_of, with_step
from commonplace.testing.manager.law import question
from commonplace.testing.strategies import HOSTILE_PATHS, HOSTILE_TEXTS, PATHS, SOURCES, WORDS
from commonplace.testing.vectors import make_vector

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hypothesis.strategies import SearchStrategy

    from commonplace.model.search import Candidate, ChunkId
    from commonplace.protocols.rankers import Ranker

__all__ = ["NOW", "Case", "cases", "contexts", "make_arm"]

NOW = 1_790_000_000.0
"""Epoch seconds: a day in September 2026."""

_DAYS = (None, "2026-09-21", "2026-09-20", "2026-01-31", "1970-01-01", "0001-01-01", "9999-12-31")
_QUERIES = ("ant", "ant bee", "what did the ant say?", "\u8766\u87fb", '"', "")
_ARMS: tuple[tuple[str, ArmKind], ...] = (
    ("keyword", "bm25"),
    ("vector", "cosine"),
    ("engine", "opaque"),
    ("order", "rank"),
)
_RAW: dict[str, SearchStrategy[float]] = {
    "bm25": st.floats(0, 1e6),
    "cosine": st.floats(-1, 1),
    "opaque": st.floats(0, 1) | st.floats(-1e6, 1e6),
    "rank": st.floats(-1e6, 1e6),
}


class Case(NamedTuple):
    """One call of a ranker: which hits it is given depends on its stage."""

    arms: tuple[Arm, ...]
    scores: tuple[float, ...]
    vectors: Mapping[ChunkId, bytes] | None
    text: str = "ant"
    limit: int = 6
    profile: str = "default"

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
        known = self.vectors
        if known is None and "vectors" in ranker.needs:
            known = {}

        def vectors(ids: Collection[ChunkId]) -> Mapping[ChunkId, Any]:
            return {id_: known[id_] for id_ in ids if id_ in known} if known else {}

        return RankContext(
            query=question(self.text)[0],
            now=NOW,
            limit=self.limit,
            profile=self.profile,
            arms=tuple(arm.name for arm in self.arms),
            vectors=None if known is None else vectors,
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
            source=SOURCES[number % len(SOURCES)],
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
    for name, kind in draw(st.lists(st.sampled_from(_ARMS), min_size=1, max_size=3, unique=True)):
        raw = draw(st.lists(st.none() | _RAW[kind], min_size=count, max_size=count))
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
        profile=draw(st.sampled_from(("default", "compat"))),
    )


_VECTORS = st.sampled_from(
    [make_vector(*numbers) for numbers in ((1, 0, 0), (1, 1, 0), (-1, 0, 0), (0, 1, 2))]
)
_SCORES = st.sampled_from((0.0, 0.5, 1.0)) | st.floats(0, 1)


def contexts() -> SearchStrategy[RankerContext]:
    """Settings, as far as the configuration lets them go."""
    share = st.sampled_from((0.0, 1.0)) | st.floats(0, 1)
    return st.builds(
        RankerContext,
        vector_weight=share,
        text_weight=share,
        half_life_days=st.sampled_from((0.01, 36_500.0)) | st.floats(0.01, 36_500),
        mmr_lambda=share,
        config=st.none(),
    ).filter(lambda context: context.vector_weight + context.text_weight > 0)
