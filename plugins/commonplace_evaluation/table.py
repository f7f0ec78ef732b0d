"""Measurements of retrieval, as a table or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.plugin import columns
from commonplace_evaluation.measures import average

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from commonplace_evaluation.measures import Outcome


Scores = list[dict[str, float]]


def as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Means for each set and its categories, and over everything, to four decimals."""
    sets = _by_set(outcomes)
    return {
        "all": _row(_scores(outcomes)),
        "sets": {
            name: {
                "all": _row(_scores(parts)),
                "categories": {kind: _row(rows) for kind, rows in _by_category(parts)},
                **_times(parts),
            }
            for name, parts in sets.items()
        },
        **_times(outcomes),
    }


def as_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """A table with a row for each set, and below it one for each of its categories."""
    table: list[list[str]] = []
    for name, parts in _by_set(outcomes).items():
        times = _times(parts)
        table.append([name, *_cells(_scores(parts)), f"{times['searchSeconds']:.2f}"])
        categories = _by_category(parts)
        if len(categories) > 1:
            table += [[f"  {kind}", *_cells(rows), ""] for kind, rows in categories]
    times = _times(outcomes)
    table.append(["all", *_cells(_scores(outcomes)), f"{times['searchSeconds']:.2f}"])
    names = list(average(_scores(outcomes)))
    header = ["set", "queries", *names, "seconds"]
    widths = [max(len(row[place]) for row in [header, *table]) for place in range(len(header))]
    lines = columns(
        [
            [row[0], *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
            for row in [header, *table]
        ]
    )
    return [*lines, "", f"indexing took {times['indexSeconds']:.2f} s"]


def _scores(outcomes: Iterable[Outcome]) -> Scores:
    return [scores for outcome in outcomes for _, scores in outcome.scores]


def _by_set(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    sets: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        sets.setdefault(outcome.name, []).append(outcome)
    return sets


def _by_category(outcomes: Iterable[Outcome]) -> list[tuple[str, Scores]]:
    kinds: dict[str, Scores] = {}
    for outcome in outcomes:
        for kind, scores in outcome.scores:
            kinds.setdefault(kind, []).append(scores)
    return sorted(kinds.items())


def _times(outcomes: Sequence[Outcome]) -> dict[str, float]:
    return {
        "indexSeconds": round(sum(outcome.index_seconds for outcome in outcomes), 3),
        "searchSeconds": round(sum(outcome.search_seconds for outcome in outcomes), 3),
    }


def _cells(rows: Scores) -> list[str]:
    return [str(len(rows)), *(f"{value:.3f}" for value in average(rows).values())]


def _row(rows: Scores) -> dict[str, float]:
    return {"n": len(rows)} | {name: round(value, 4) for name, value in average(rows).items()}
