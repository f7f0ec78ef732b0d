"""How good a ranking is, measured against known relevant lines.

A result is relevant when its path is that of a relevant span and its lines overlap the span's.
Lines are 1-based and inclusive. Every measure lies in 0..1, and more is better.
"""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

from commonplace.plugin import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


DEPTH = 10
"""How many results of a query are looked at."""

METRICS = ("recall@1", "recall@5", "recall@10", "hit@5", "mrr@10", "ndcg@10")
"""What :func:`score_query` measures, in the order in which it is shown."""

_RECALL_AT = (1, 5, 10)


class Span(NamedTuple):
    """Lines of a document: what is relevant to a query, or what a search returned."""

    path: str
    start_line: int
    end_line: int

    @property
    def lines(self) -> range:
        """The numbers of its lines."""
        return range(self.start_line, self.end_line + 1)

    def overlaps(self, other: Span) -> bool:
        """Whether the two share a line."""
        return (
            self.path == other.path
            and self.start_line <= other.end_line
            and other.start_line <= self.end_line
        )


def score_query(relevant: Sequence[Span], results: Sequence[Span]) -> dict[str, float]:
    """The :data:`METRICS` of one query; ``results`` best first, ``relevant`` not empty.

    ``recall@k`` is the share of the relevant spans met by the first k results; ``hit@5`` is 1 if
    one of the first five is relevant; ``mrr@10`` is 1 / rank of the first relevant result among
    ten. ``ndcg@10`` has binary gain: a result earns only for spans that no earlier one met, and
    the ideal run meets one span with each result.
    """
    met: set[int] = set()
    first = 0
    gain = 0.0
    recalls = {}
    for rank in range(1, DEPTH + 1):
        hit = _met(relevant, results[rank - 1]) if rank <= len(results) else frozenset()
        if hit and not first:
            first = rank
        if hit - met:
            gain += 1 / log2(rank + 1)
        met |= hit
        if rank in _RECALL_AT:
            recalls[f"recall@{rank}"] = len(met) / len(relevant)
    ideal = sum(1 / log2(rank + 1) for rank in range(1, min(len(relevant), DEPTH) + 1))
    return recalls | {
        "hit@5": 1.0 if 0 < first <= 5 else 0.0,
        "mrr@10": 1 / first if first else 0.0,
        # Rounding alone could lift a perfect run above 1.
        "ndcg@10": min(1.0, gain / ideal),
    }


def _met(relevant: Sequence[Span], result: Span) -> frozenset[int]:
    return frozenset(number for number, span in enumerate(relevant) if span.overlaps(result))


def recall_in_budget(
    relevant: Sequence[Span],
    results: Iterable[Span],
    line_lengths: Callable[[str], Sequence[int]],
    budget: int,
) -> float:
    """Recall after reading the results' lines, in order, until ``budget`` characters are read.

    ``line_lengths`` gives the characters of each line of a path, line ends included. Lines that
    are read twice cost nothing. This takes back what large chunks gain by meeting a span by chance.
    """
    read: set[tuple[str, int]] = set()
    left = budget
    for path, line in ((result.path, line) for result in results for line in result.lines):
        if left <= 0:
            break
        if (path, line) not in read:
            lengths = line_lengths(path)
            left -= lengths[line - 1] if line <= len(lengths) else 0
            read.add((path, line))
    met = (
        any(path == span.path and line in span.lines for path, line in read) for span in relevant
    )
    return sum(met) / len(relevant)


def average(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over ``rows``, which all have the same ones and are not none."""
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
