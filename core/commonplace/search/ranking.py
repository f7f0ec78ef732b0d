"""Ranking: the lists of a backend become one, whose hits are scored, ordered and enough alone."""

from __future__ import annotations

from functools import partial
from math import exp, isfinite
from typing import TYPE_CHECKING, Protocol

from commonplace.errors import DeclinedError, UnavailableError, counted, reason_of
from commonplace.model.search import ArmScore, Candidate, Explanation, QueryNote, Step, newest_first
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Literal

    from commonplace.config.search import HybridSettings
    from commonplace.model.search import Arm, ArmKind, ChunkId
    from commonplace.protocols.contexts import RankContext
    from commonplace.protocols.managers import Ranker

    Parts = tuple[tuple[str, float], ...]


class Ranked(NamedTuple):
    """Candidates, best first, and notes on what failed on the way."""

    candidates: Sequence[Candidate] = ()
    notes: tuple[str, ...] = ()


def candidates_of(arms: Sequence[Arm], filters: tuple[str, ...] = ()) -> list[Candidate]:
    """The union of the arms' hits by chunk, each with its score by each arm, and ``filters``.

    In order of first appearance, arm by arm; scores are 0 until a ``fuse`` ranker has run.
    """
    found: dict[ChunkId, Candidate] = {}
    for arm in arms:
        score_of = partial(ArmScore, arm=arm.name, kind=arm.kind)
        for rank, (chunk, raw, evidence, note, coverage, words) in enumerate(arm.found, 1):
            arm_score = score_of(
                raw=raw, rank=rank, evidence=evidence, note=note, coverage=coverage, words=words
            )
            before = known.explain.arms if (known := found.get(chunk.id)) else ()
            explain = Explanation(arms=(*before, arm_score), filters=filters)
            found[chunk.id] = Candidate(chunk, 0.0, explain)
    return list(found.values())


def unembedded(
    hits: Sequence[Candidate], arms: Sequence[Arm]
) -> tuple[frozenset[ChunkId], tuple[str, ...]]:
    """The ``hits`` whose chunks have no vector yet; and a note where they are not known.

    No vector is read where all chunks have one.
    """
    arm = next((arm for arm in arms if arm.incomplete), None)
    if arm is None or arm.vectors is None:
        return frozenset(), ()
    unlisted = {hit.chunk.id for hit in hits} - {found.chunk.id for found in arm.found}
    try:
        return frozenset(unlisted.difference(arm.vectors(unlisted)) if unlisted else ()), ()
    except (UnavailableError, DeclinedError) as error:  # they rank as if they had one
        return frozenset(), (f"what is not embedded yet may rank too low: {reason_of(error)}",)


def run_rankers(
    hits: Sequence[Candidate], rankers: Sequence[Ranker], context: RankContext
) -> list[Candidate]:
    """Run ``rankers`` in the order of their stages, and within a stage as they are given.

    A ranker whose need is not met is skipped, and each hit says so. Before ``select`` the hits are
    sorted by score; equal ones by day, the newest first and undated ones last, then by source, path
    and line, so that the order is always the same.
    """
    ranked = list(hits)
    for stage in ("fuse", "adjust", "select"):
        if stage == "select":
            ranked.sort(key=_by_score)
        for ranker in (one for one in rankers if one.stage == stage):
            if missing := _missing(ranker, context):
                note = f"skipped: needs {', '.join(missing)}"
                ranked = [with_step(hit, ranker.id, hit.score, note) for hit in ranked]
            else:
                ranked = list(ranker.rank(ranked, context))
    return ranked


def with_step(
    hit: Candidate, ranker: str, score: float, note: str = "", parts: Parts = ()
) -> Candidate:
    """``hit`` with a new score, and the step that gave it; ``parts`` say what each arm gave."""
    arms, steps, filters = hit.explain
    explain = Explanation(arms, (*steps, Step(ranker, hit.score, score, note, parts)), filters)
    return Candidate(hit.chunk, score, explain, hit.similar, hit.earlier, hit.lines, hit.best)


def _missing(ranker: Ranker, context: RankContext) -> list[str]:
    has = {"dates"} if context.vectors is None else {"dates", "vectors"}
    return sorted(ranker.needs - has)


def _by_score(hit: Candidate) -> tuple[float, int, str, str, int]:
    chunk = hit.chunk
    return (-hit.score, newest_first(chunk.day), chunk.source, chunk.path, chunk.start_line)


USUAL_LEAST = 0.35
"""The cosine that a hit needs which vectors alone found, where no threshold is given."""


class Threshold(NamedTuple):
    """The score that a hit needs: ``requested`` with the call, else that of ``query.minScore``."""

    requested: float | None
    configured: float | None

    @property
    def least(self) -> float | None:
        """The one that holds; ``None`` where neither is given."""
        return self.configured if self.requested is None else self.requested


def passing(
    arms: Sequence[Arm],
    hybrid: HybridSettings,
    threshold: Threshold,
    ranked: Sequence[Candidate],
    *,
    compat: bool,
) -> list[Candidate]:
    """The candidates of ``arms`` that pass the threshold."""
    if not compat:
        return above(ranked, threshold.least)
    kinds = {arm.kind for arm in arms if not arm.note}
    weights = hybrid.vector_weight, hybrid.text_weight
    return above_as_original(ranked, kinds, threshold, weights)


def above(ranked: Sequence[Candidate], least: float | None) -> list[Candidate]:
    """The candidates with a score of ``least`` or more.

    Where that is ``None``, a hit that only vectors found must have a cosine of 0.35, as there is a
    nearest chunk to any question; its score may say no more than its rank.
    """
    if least is not None:
        return [hit for hit in ranked if hit.score >= least]
    return [
        hit
        for hit in ranked
        if any(arm.kind != "cosine" or arm.raw >= USUAL_LEAST for arm in hit.explain.arms)
    ]


def above_as_original(
    ranked: Sequence[Candidate],
    kinds: Collection[ArmKind],
    threshold: Threshold,
    weights: tuple[float, float],
) -> list[Candidate]:
    """The candidates that pass the threshold of the profile ``compat``, 0.35 if none is given.

    Where nothing passes, keyword hits need only the most that keywords alone can score: their share
    of the ``weights`` of vectors and text; or nothing at all where no vectors were searched. For an
    engine's own ranking only a threshold of the call holds. ``kinds`` are the arms'.
    """
    if not {"bm25", "cosine"}.intersection(kinds):
        return [hit for hit in ranked if hit.score >= (threshold.requested or 0.0)]
    least = USUAL_LEAST if threshold.least is None else threshold.least
    strict = [hit for hit in ranked if _reaches(hit, least)]
    if strict or "cosine" not in kinds:
        return strict or list(ranked)
    relaxed = min(least, weights[1] / sum(weights))
    by_words = (hit for hit in ranked if any(arm.kind != "cosine" for arm in hit.explain.arms))
    return [hit for hit in by_words if _reaches(hit, relaxed)]


def _reaches(hit: Candidate, least: float) -> bool:
    """Whether it scores enough: 0 also stands for what a negative cosine has brought below it."""
    below = hit.score == 0 and any(arm.kind == "cosine" and arm.raw < 0 for arm in hit.explain.arms)
    return hit.score >= least and not below


def left_out(candidates: int, passed: Sequence[Candidate], threshold: Threshold) -> tuple[str, ...]:
    """A note on how many of so many ``candidates`` the threshold has left out."""
    least, count = threshold.least, candidates - len(passed)
    if not count or least is None or any(hit.score < least for hit in passed):  # as in compat
        return ()
    name = "query.minScore" if threshold.requested is None else "the least score asked for"
    hits = counted(count, "hit that scores", "hits that score")
    return (QueryNote(f"left out: {hits} less than {least:g}, {name}"),)


_MOST_LOGIT = 700.0  # beyond it exp overflows


class RelevanceJudge(Protocol):
    """Whatever scores texts by a query: a server, a model on this machine."""

    def judge(self, query: str, texts: Sequence[str]) -> Mapping[int, float]:
        """Scores of ``texts`` by their positions, of any range: higher is more relevant.

        It may leave out texts that it cannot judge. Raises
        :class:`~commonplace.errors.UnavailableError` where it cannot answer now.
        """
        ...


class RelevanceRanker:
    """Puts the first ``candidates`` hits into the order that ``judge`` gives them.

    They are ordered by weight x relevance + (1 - weight) x their share of the best score; the
    others stay behind them. A note gives a hit's number among these: some of them may be left out
    of the search later, as their cosine is too low or they fold. Relevances are the judge's scores
    where all are in 0..1, else 1 / (1 + e^-score). Scores of hits stay. Where the judge fails, the
    order stays, and a note of the search says why: the host skips a ranker that raises.

    Raises ``ValueError`` for fewer than one candidate or a weight outside 0..1.
    """

    stage: Literal["select"] = "select"
    needs: frozenset[str] = frozenset()

    def __init__(
        self, name: str, judge: RelevanceJudge, *, candidates: int = 20, weight: float = 1.0
    ) -> None:
        if candidates < 1 or not 0 <= weight <= 1:
            raise ValueError("at least one candidate is ranked, and a weight is 0 to 1")
        self.id = name
        self._judge = judge
        self._candidates = candidates
        self._weight = weight

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Ask, and reorder. Raises :class:`~commonplace.errors.UnavailableError`."""
        head, tail = list(hits[: self._candidates]), hits[self._candidates :]
        if len(head) < 2:
            return [with_step(hit, self.id, hit.score, "nothing to reorder") for hit in hits]
        from commonplace.model.chunks import embedding_text

        query = context.query.words or context.query.text
        scores = self._judge.judge(query, [embedding_text(hit.chunk) for hit in head])
        relevances = _relevances(scores, len(head))
        best = max(hit.score for hit in head) or 1.0
        keys = [
            self._weight * relevances.get(at, 0.0) + (1 - self._weight) * hit.score / best
            for at, hit in enumerate(head)
        ]
        ranked = []
        for place, at in enumerate(sorted(range(len(head)), key=lambda at: -keys[at]), 1):
            judged = f"relevance {relevances[at]:.3f}" if at in relevances else "not judged"
            note = f"number {place} of {len(head)} candidates ({at + 1} before), {judged}"
            ranked.append(with_step(head[at], self.id, head[at].score, note))
        return ranked + [with_step(hit, self.id, hit.score, "not judged") for hit in tail]


def _relevances(scores: Mapping[int, float], count: int) -> Mapping[int, float]:
    if not scores or not all(0 <= at < count and isfinite(s) for at, s in scores.items()):
        raise UnavailableError("its judgement is not one score for each text it was given")
    if all(0 <= score <= 1 for score in scores.values()):
        return scores
    return {at: 1 / (1 + exp(min(_MOST_LOGIT, -score))) for at, score in scores.items()}


def failures_of(hits: Sequence[Candidate]) -> tuple[str, ...]:
    """Which rankers of ``hits`` were skipped for their failures, and why, each once."""
    notes = [step.note for hit in hits for step in hit.explain.steps if step.failed]
    return tuple(dict.fromkeys(notes))
