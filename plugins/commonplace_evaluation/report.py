"""A report as one HTML file that opens from disk: tables, charts, queries with explanations."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from commonplace.plugin import (
    NamedTuple,
    PluginUnavailableError,
    how_to_install,
    write_output,
)
from commonplace_evaluation.comparing import CONFIDENCE, RANKED_BY, pairs_of, worst
from commonplace_evaluation.measures import average
from commonplace_evaluation.outputs import check_beside
from commonplace_evaluation.table import (
    comparison_rows,
    difference_table,
    engines_of,
    measures_table,
    position,
    result_lines,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace_evaluation.charts import Chart
    from commonplace_evaluation.running import Outcome, Scored


class Case(NamedTuple):
    """A query with what each configuration found for it."""

    title: str
    query: str
    relevant: str
    sides: tuple[tuple[str, ...], ...]


class Section(NamedTuple):
    """A part of a report. The first row of ``table`` is its header, the first cell of each a label.

    ``notes`` say what the figures come from, and what stands against them. ``cases`` stand below
    ``cases_title``.
    """

    title: str
    table: Sequence[Sequence[str]]
    chart: Chart | None = None
    text: str = ""
    notes: tuple[str, ...] = ()
    cases_title: str = ""
    cases: tuple[Case, ...] = ()


def check_report(path: str) -> None:
    """See that a report can be written to ``path``, before what is to be in it is measured.

    Raises :class:`~commonplace.errors.CallerError` without its folder or for a file that is no
    report, and :class:`~commonplace.errors.PluginUnavailableError` without what makes reports.
    """
    check_beside(path, "the report", lambda first: first.startswith(b"<!doctype html>"))
    from importlib.util import find_spec

    for name in ("jinja2", "pygal"):
        if find_spec(name) is None:
            raise PluginUnavailableError(
                f"a report needs {name}, which is not installed",
                hint=how_to_install("commonplace[eval]"),
            )


def write_report(path: str, title: str, sections: Sequence[Section]) -> None:
    """Write the report to ``path``; a report that is there is replaced.

    Raises :class:`~commonplace.errors.UnavailableError` where it cannot be written.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("commonplace_evaluation"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = templates.get_template("report.html").render(
        title=title, made=time.strftime("%Y-%m-%d %H:%M"), sections=sections
    )
    write_output(path, page)


def measured_sections(outcomes: Sequence[Outcome], most: int) -> list[Section]:
    """Sets and categories with their measures, and the ``most`` queries that scored lowest."""
    from commonplace_evaluation.charts import bars

    table = measures_table(outcomes)
    names = table[0]
    shown = [names.index(name) for name in ("recall@5", RANKED_BY)]
    chart = bars(
        "recall@5 and nDCG@10",
        [row[0].strip() for row in table[1:]],
        [(names[at], [float(row[at]) for row in table[1:]]) for at in shown],
    )
    scored = [(outcome.name, one) for outcome in outcomes for one in outcome.scores]
    low = sorted(
        (one for one in scored if one[1].measures[RANKED_BY] < 1),
        key=lambda one: (one[1].measures[RANKED_BY], one[0], one[1].query.id),
    )[:most]
    return [
        Section(
            "Measures",
            table,
            chart,
            notes=(
                f"answered by {engines_of(outcomes)}",
                *(warning for outcome in outcomes for warning in outcome.warnings),
            ),
            cases_title=f"Queries that scored lowest in {RANKED_BY}",
            cases=tuple(
                _case(name, one, f"{one.measures[RANKED_BY]:.3f}", [("found", one)])
                for name, one in low
            ),
        )
    ]


def comparison_sections(runs: Mapping[str, Sequence[Outcome]], most: int) -> list[Section]:
    """For each configuration its differences from the first one, then the measures of all."""
    from commonplace_evaluation.charts import bars, intervals

    (first, before), *others = runs.items()
    sections = []
    for name, after in others:
        pairs = pairs_of(before, after)
        rows = comparison_rows(pairs)
        lost = worst(pairs, most)
        sections.append(
            Section(
                f"{name} against {first}",
                difference_table(pairs),
                intervals(
                    f"{RANKED_BY}: {name} less {first}, {CONFIDENCE:.0%} intervals",
                    [
                        (label, found[RANKED_BY].difference, *found[RANKED_BY][4:6])
                        for label, found in rows
                    ],
                ),
                f"Differences of the means, with intervals of {CONFIDENCE:.0%}. * marks those that "
                "leave out 0; of many rows one in twenty does so by chance.",
                (),
                f"Queries that lost most in {RANKED_BY}",
                tuple(
                    _case(
                        pair.set,
                        pair.before,
                        f"{pair.before.measures[RANKED_BY]:.3f} → "
                        f"{pair.after.measures[RANKED_BY]:.3f}",
                        [(first, pair.before), (name, pair.after)],
                    )
                    for pair in lost
                ),
            )
        )
    means = {
        name: average([one.measures for outcome in outcomes for one in outcome.scores])
        for name, outcomes in runs.items()
    }
    measures = list(means[first])
    table = [["configuration", *measures]]
    table += [
        [name, *(f"{mean[measure]:.3f}" for measure in measures)] for name, mean in means.items()
    ]
    series = [(name, [mean[measure] for measure in measures]) for name, mean in means.items()]
    notes = [f"{name}: answered by {engines_of(outcomes)}" for name, outcomes in runs.items()]
    notes += [warning for outcomes in runs.values() for one in outcomes for warning in one.warnings]
    chart = bars("All queries", measures, series)
    sections.append(Section("All queries", table, chart, notes=tuple(notes)))
    return sections


def _case(set_name: str, scored: Scored, change: str, sides: list[tuple[str, Scored]]) -> Case:
    query = scored.query
    return Case(
        title=f"{change}  {set_name} {query.id} ({query.category}, {query.lang})",
        query=query.text,
        relevant=", ".join(position(span) for span in query.relevant),
        sides=tuple(tuple(result_lines(label, found)) for label, found in sides),
    )
