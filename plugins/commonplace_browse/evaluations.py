"""The evaluations on the health page: what the command ``eval`` kept, as rows and as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.plugin import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MEASURES = (("recall@5", "Recall@5"), ("ndcg@10", "nDCG@10"))
"""The measures that are shown, and their titles."""

WIDTH, HEIGHT = 640, 120
"""Of a chart, in units of its own."""

_LEAST_SPAN = 0.1
"""The least part of a measure that a chart spans, so that noise does not look like a cliff."""
_MOST_CHARTS = 3
_INK = 0.0005
"""A change that three decimals show as zero is none."""


class Figure(NamedTuple):
    """A measure of an evaluation; ``change`` is "" without one to compare with."""

    value: str
    change: str
    better: bool
    worse: bool


class Row(NamedTuple):
    """An evaluation; ``changed`` names what else differs from the one before."""

    at: float
    set: str
    queries: int
    figures: tuple[Figure, ...]
    engine: str
    changed: str


class Line(NamedTuple):
    """A measure over the evaluations of a set; ``points`` are (x, y, what the point says)."""

    title: str
    path: str
    points: tuple[tuple[float, float, str], ...]


class Chart(NamedTuple):
    """The last evaluations of the same queries of ``set``, and what lies at top and bottom."""

    set: str
    lines: tuple[Line, ...]
    top: str
    bottom: str
    label: str


class Evaluations(NamedTuple):
    """What was kept, the newest first; ``unreadable`` counts reports that cannot be read."""

    rows: tuple[Row, ...]
    charts: tuple[Chart, ...]
    unreadable: int


def evaluations(run: Callable[..., Mapping[str, Any]]) -> Evaluations:
    """What ``commonplace eval --history`` has of this memory.

    ``run`` gives the JSON of a command. Raises what the command raises, and
    :class:`~commonplace.PluginUnavailableError` where it is not installed.
    """
    found = run("eval", "--history")
    return Evaluations(
        tuple(_row(one) for one in found["reports"]),
        tuple(_charts(found["reports"])),
        found["unreadable"],
    )


def _row(one: Mapping[str, Any]) -> Row:
    figures = []
    for name, _ in MEASURES:
        change = (one["change"] or {}).get(name)
        shown = "" if change is None else f"{change:+.3f}" if abs(change) >= _INK else "="
        better, worse = shown.startswith("+"), shown.startswith("-")
        value = f"{one['measures'][name]:.3f}"
        figures.append(Figure(value, shown.replace("-", "\N{MINUS SIGN}"), better, worse))
    return Row(
        one["at"],
        one["set"],
        one["queries"],
        tuple(figures),
        one["engine"],
        f"other {' and '.join(one['changed'])}" if one["changed"] else "",
    )


def _charts(reports: list[Mapping[str, Any]]) -> list[Chart]:
    """A chart for each set that was measured twice with the queries that it has now."""
    runs: dict[str, list[Mapping[str, Any]]] = {}
    ended = set()
    for one in reports:
        if one["set"] in ended:
            continue
        runs.setdefault(one["set"], []).append(one)
        if one["change"] is None:  # older ones are of other queries
            ended.add(one["set"])
    return [_chart(name, run[::-1]) for name, run in runs.items() if len(run) > 1][:_MOST_CHARTS]


def _chart(name: str, run: list[Mapping[str, Any]]) -> Chart:
    values = [one["measures"][measure] for one in run for measure, _ in MEASURES]
    low, high = min(values), max(values)
    spare = max(0.0, _LEAST_SPAN - (high - low))
    high = min(1.0, high + spare / 2)
    low = max(0.0, min(low, high - _LEAST_SPAN))
    high = max(high, low + _LEAST_SPAN)
    step = WIDTH / (len(run) - 1)
    lines = []
    for measure, title in MEASURES:
        points = []
        for at, one in enumerate(run):
            value = one["measures"][measure]
            y = HEIGHT * (high - value) / (high - low)
            points.append((round(at * step, 1), round(y, 1), f"{title} {value:.3f}"))
        path = " ".join(f"{x},{y}" for x, y, _ in points)
        lines.append(Line(title, path, tuple(points)))
    changes = ", ".join(
        f"{title} from {run[0]['measures'][measure]:.3f} to {run[-1]['measures'][measure]:.3f}"
        for measure, title in MEASURES
    )
    label = f"{name}, {len(run)} evaluations: {changes}"
    return Chart(name, tuple(lines), f"{high:.2f}", f"{low:.2f}", label)
