"""Finds how far the fusion of keywords and vectors should trust the vectors, on labelled queries.

Each query is searched once. The explanations of its hits hold what the fusion sums, 6 / (5 + vector
rank) and the weight of keyword evidence x coverage x 21 / (20 + keyword rank), so that the order
under any other weight follows without searching again. Stores tell the coverage of their first
candidates; of later ones, and of stores that do not count, the step's own parts give the product.
"""

from __future__ import annotations

from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from commonplace.plugin import CallerError, NamedTuple, Progress, counted
from commonplace_evaluation.comparing import RANKED_BY, paired
from commonplace_evaluation.measures import Span, score_query

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace import Hit
    from commonplace.plugin import Context
    from commonplace_evaluation.comparing import Difference
    from commonplace_evaluation.sets import EvalSet

FUSION = "evidence"
WEIGHTS = (0, 1, 2, 4, 6, 8, 16)
USUAL = 4
_NAMED = {"weak": 8}
LEAST_QUERIES = 20
"""With fewer, luck would choose: the default is kept."""

FAIR_QUERIES = 40
_DEPTH = 40


class Fused(NamedTuple):
    """A hit: what the fusion sums of vectors and of words, and what later rankers multiplied."""

    span: Span
    near: float
    words: float
    later: float

    def score(self, weight: float) -> float:
        """The hit's score where keyword evidence has this weight."""
        total = self.near + weight * self.words
        return total / (1 + total) * self.later


class Tuned(NamedTuple):
    """nDCG@10 with each weight against :data:`USUAL`, over ``queries``; ``best`` is the advice."""

    queries: int
    differences: dict[int, Difference]
    best: int


def tune(sets: Sequence[EvalSet], context: Context) -> Tuned:
    """Measure each weight of keyword evidence on ``sets``.

    Raises :class:`~commonplace.plugin.CallerError` where no vectors searched, or where another
    fusion is configured.
    """
    measures: dict[int, list[float]] = {weight: [] for weight in WEIGHTS}
    for evalset in sets:
        with (
            TemporaryDirectory(prefix="commonplace-eval-") as state,
            context.open_memory(
                workspace=evalset.workspace, state_dir=state, alone=not evalset.is_own
            ) as memory,
            context.progress() as progress,
        ):
            trust = getattr(memory.settings.plugin_config(FUSION), "trust", USUAL)
            weight = weight_of(trust)
            memory.sync(progress=progress)
            for number, query in enumerate(evalset.queries, 1):
                found = memory.search(query.text, max_results=_DEPTH, min_score=0)
                if found.provider is None:
                    raise CallerError(
                        "no vectors searched, so that there is nothing to tune",
                        hint="configure an embedding provider; commonplace status says what fails",
                    )
                hits = [fused(hit, weight) for hit in found.hits]
                for other, row in measures.items():
                    row.append(_measured(query.relevant, hits, other))
                progress(Progress(label="Searching", completed=number, total=len(evalset.queries)))
    return chosen(measures)


def weight_of(trust: str | float) -> float:
    """The weight of keyword evidence that ``query.hybrid.trust`` stands for."""
    return _NAMED.get(trust, USUAL) if isinstance(trust, str) else trust


def fused(hit: Hit, weight: float) -> Fused:
    """What the fusion made the score of, with this weight of keyword evidence."""
    step = next((step for step in hit.explain.steps if step.ranker == FUSION), None)
    if step is None:
        raise CallerError(
            f"the fusion is not {FUSION!r}, and only that has a trust to tune",
            hint=f"set query.hybrid.fusion to {FUSION!r}, and leave ranking.chain unset",
        )
    near = words = 0.0
    parts = dict(step.parts)
    for arm_score in hit.explain.arms:
        if arm_score.kind == "cosine":
            near = max(near, 6 / (5 + arm_score.rank))
        elif arm_score.coverage is not None:
            words = max(words, arm_score.coverage * 21 / (20 + arm_score.rank))
        elif weight and step.after < 1:
            words = max(words, parts.get(arm_score.arm, 0.0) / (1 - step.after) / weight)
    later = hit.score / step.after if step.after else 0.0
    return Fused(Span(hit.path, hit.start_line, hit.end_line), near, words, later)


def _measured(relevant: Sequence[Span], hits: Sequence[Fused], weight: float) -> float:
    ranked = sorted(hits, key=lambda hit: -hit.score(weight))
    return score_query(relevant, [hit.span for hit in ranked])[RANKED_BY]


def chosen(measures: dict[int, list[float]]) -> Tuned:
    """The weight with the best mean, the nearest to the usual one of equals."""
    queries = len(measures[USUAL])
    best = USUAL
    if queries >= LEAST_QUERIES:
        best = max(measures, key=lambda weight: (fmean(measures[weight]), -abs(weight - USUAL)))
    usual = measures[USUAL]
    return Tuned(queries, {weight: paired(usual, row) for weight, row in measures.items()}, best)


def tuned_lines(tuned: Tuned) -> Iterator[str]:
    """A table of the weights, and what to set."""
    yield f"{'trust':>12} {RANKED_BY} {'against unknown':>15}"
    for weight, difference in tuned.differences.items():
        sign = "*" if difference.is_clear else " "
        name = f"{weight} (unknown)" if weight == USUAL else str(weight)
        yield f"{name:>12} {difference.after:7.3f} {difference.difference:+15.3f}{sign}"
    total = counted(tuned.queries, "query", "queries")
    if tuned.queries < LEAST_QUERIES:
        yield f"keep the default: {total} are too few to choose by, {LEAST_QUERIES} the least"
    elif tuned.best == USUAL:
        yield f"keep the default: no other weight was better on {total}"
    else:
        few = f" ({FAIR_QUERIES} queries would say more)" if tuned.queries < FAIR_QUERIES else ""
        yield f"best on {total}: query.hybrid.trust: {tuned.best}{few}"


def tuned_json(tuned: Tuned) -> dict[str, Any]:
    """The same for scripts."""
    return {
        "queries": tuned.queries,
        "best": tuned.best,
        "weights": [
            {
                "trust": weight,
                RANKED_BY: difference.after,
                "difference": difference.difference,
                "low": difference.low,
                "high": difference.high,
            }
            for weight, difference in tuned.differences.items()
        ],
    }
