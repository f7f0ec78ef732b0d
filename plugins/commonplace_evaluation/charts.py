"""Charts as pictures that stand in a page: SVG made by pygal, as data URIs.

A picture runs no script and asks for nothing, whatever is in it; scripts and comments, among them
the day it was made, are left out all the same.
"""

from __future__ import annotations

import sys
from base64 import b64encode
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pygal
from pygal.style import Style

from commonplace.plugin import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# pygal adds a finder of a kind that Python no longer knows, for maps: every import after it that
# finds nothing would warn about it.
sys.meta_path[:] = [
    finder for finder in sys.meta_path if not isinstance(finder, pygal.PluginImportFixer)
]

MOST_ROWS = 40
"""A chart with more rows than this is not readable; the table has all."""

_WIDTH = 900
_ROW, _REST = 34, 110
_STYLE = Style(
    background="#ffffff",
    plot_background="#ffffff",
    font_family="sans-serif",
    label_font_size=13,
    major_label_font_size=13,
    legend_font_size=13,
    title_font_size=15,
    colors=("#00695c", "#ef6c00", "#3949ab", "#ad1457", "#558b2f", "#5d4037"),
    opacity="1",
)


class Chart(NamedTuple):
    """A picture and what it shows, in words for those who do not see it."""

    uri: str
    alt: str


def bars(title: str, labels: Sequence[str], series: Sequence[tuple[str, Sequence[float]]]) -> Chart:
    """A group of bars from 0 to 1 for each label, the first on top; one bar for each series."""
    chart = _horizontal(title, labels[:MOST_ROWS], len(series), range=(0, 1))
    for name, values in series:
        chart.add(name, [round(value, 4) for value in reversed(values[:MOST_ROWS])])
    return Chart(_uri(chart), f"Bars: {title}")


def intervals(title: str, rows: Sequence[tuple[str, float, float | None, float | None]]) -> Chart:
    """A bar for each row (label, difference, low, high), with its interval, the first on top."""
    shown = rows[:MOST_ROWS]
    ends = [end for row in shown for end in row[1:] if end is not None]
    span = (1.05 * min(0.0, *ends), 1.05 * max(0.0, *ends))
    chart = _horizontal(
        title, [label for label, *_ in shown], 1, range=span if span[0] < span[1] else (-0.1, 0.1)
    )
    values: list[Any] = [
        {"value": round(value, 4), "ci": {"low": round(low, 4), "high": round(high, 4)}}
        if low is not None and high is not None
        else round(value, 4)
        for _, value, low, high in reversed(shown)
    ]
    chart.show_legend = False
    chart.add("difference", values)
    return Chart(_uri(chart), f"Bars with their intervals: {title}")


def _horizontal(title: str, labels: Sequence[str], series: int, **more: Any) -> Any:
    chart = pygal.HorizontalBar(
        title=title,
        js=[],
        style=_STYLE,
        width=_WIDTH,
        height=_REST + max(_ROW, 20 * series) * len(labels),
        legend_at_bottom=True,
        truncate_label=40,
        explicit_size=True,
        disable_xml_declaration=True,
        **more,
    )
    chart.x_labels = list(reversed(labels))
    return chart


def _uri(chart: Any) -> str:
    svg = ET.fromstring(chart.render())  # noqa: S314 - our own chart; comments fall away
    for parent in list(svg.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] == "script":
                parent.remove(child)
    ET.register_namespace("", "http://www.w3.org/2000/svg")
    return "data:image/svg+xml;base64," + b64encode(ET.tostring(svg)).decode()
