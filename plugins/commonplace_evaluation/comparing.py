"""Compares measurements of the same queries: paired differences with confidence intervals.

Each query is measured with both configurations, so the difference is taken for each query first,
and the mean of these differences gets the interval. Most of what makes queries easy or hard falls
out that way, and far fewer queries suffice than for two separate means.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from statistics import NormalDist, fmean, stdev
from typing import TYPE_CHECKING

from commonplace.plugin import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from commonplace_evaluation.running import Outcome, Scored

CONFIDENCE = 0.95
"""How often an interval made this way covers the true mean difference."""

RANKED_BY = "ndcg@10"
"""The measure by which queries are called better or worse."""


class Difference(NamedTuple):
    """The mean of a measure before and after, and of its paired difference, with its interval.

    ``low`` and ``high`` are ``None`` for fewer than two queries. ``better``, ``worse`` and
    ``equal`` count queries.
    """

    n: int
    before: float
    after: float
    difference: float
    low: float | None
    high: float | None
    better: int
    worse: int
    equal: int

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def rounded(found: Difference) -> dict[str, float | int | None]:
    """``found`` as JSON has it: its fields by name, to four decimals."""
    return {
        key: round(value, 4) if isinstance(value, float) else value
        for key, value in found._asdict().items()
    }


class Pair(NamedTuple):
    """A query measured with both configurations, and the set that it belongs to."""

    set: str
    before: Scored
    after: Scored

    @property
    def change(self) -> float:
        """By how much :data:`RANKED_BY` grew."""
        return self.after.measures[RANKED_BY] - self.before.measures[RANKED_BY]


def pairs_of(before: Iterable[Outcome], after: Iterable[Outcome]) -> list[Pair]:
    """The queries of two runs over the same sets, in order."""
    return [
        Pair(first.name, one, other)
        for first, second in zip(before, after, strict=True)
        for one, other in zip(first.scores, second.scores, strict=True)
    ]


def differences(pairs: Sequence[Pair]) -> dict[str, Difference]:
    """The :class:`Difference` of each measure over ``pairs``, which are not none."""
    return {
        name: paired(
            [pair.before.measures[name] for pair in pairs],
            [pair.after.measures[name] for pair in pairs],
        )
        for name in pairs[0].before.measures
    }


def grouped(pairs: Iterable[Pair], key: Callable[[Pair], str]) -> dict[str, list[Pair]]:
    """``pairs`` by ``key``, in the order of the keys."""
    groups: dict[str, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(key(pair), []).append(pair)
    return dict(sorted(groups.items()))


def groupings(pairs: Sequence[Pair]) -> dict[str, dict[str, list[Pair]]]:
    """``pairs`` by set, by category and by language."""
    return {
        "sets": grouped(pairs, lambda pair: pair.set),
        "categories": grouped(pairs, lambda pair: pair.before.query.category),
        "languages": grouped(pairs, lambda pair: pair.before.query.lang),
    }


def worst(pairs: Iterable[Pair], most: int) -> list[Pair]:
    """At most ``most`` queries that lost, those that lost most first."""
    lost = [pair for pair in pairs if pair.change < 0]
    return sorted(lost, key=lambda pair: (pair.change, pair.set, pair.before.query.id))[:most]


def paired(before: Sequence[float], after: Sequence[float]) -> Difference:
    """The paired difference of two equally long, not empty lists of measures.

    The interval is that of the paired t test, mean +- t * s / sqrt(n), within -1..1. On measures of
    retrieval it agrees with the bootstrap and with randomisation (Smucker, Allan and Carterette,
    "A comparison of statistical significance tests for information retrieval evaluation",
    CIKM 2007), and it needs no random numbers.
    """
    changes = [other - one for one, other in zip(before, after, strict=True)]
    mean = fmean(changes)
    low = high = None
    if len(changes) > 1:
        half = t_quantile((1 + CONFIDENCE) / 2, len(changes) - 1)
        half *= stdev(changes) / sqrt(len(changes))
        low, high = max(-1.0, mean - half), min(1.0, mean + half)
    return Difference(
        n=len(changes),
        before=fmean(before),
        after=fmean(after),
        difference=mean,
        low=low,
        high=high,
        better=sum(change > 0 for change in changes),
        worse=sum(change < 0 for change in changes),
        equal=sum(change == 0 for change in changes),
    )


def t_quantile(p: float, degrees: int) -> float:
    """The quantile ``p`` (0.5..1) of Student's t distribution with ``degrees`` of freedom.

    Exact for 1 and 2 degrees; else by the expansion of Abramowitz and Stegun, "Handbook of
    Mathematical Functions", 26.7.5, which is within 0.2 % at p = 0.975.
    """
    if degrees == 1:
        return sin((p - 0.5) * pi) / cos((p - 0.5) * pi)
    if degrees == 2:
        return (2 * p - 1) / sqrt(2 * p * (1 - p))
    x = NormalDist().inv_cdf(p)
    terms = (
        x,
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return sum((term / degrees**power for power, term in enumerate(terms)), 0.0)
