"""Keeps what each evaluation measured in the state folder, and compares it with the one before.

A report has figures alone: neither a query nor the path of a note is in it.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from commonplace.plugin import (
    NamedTuple,
    UnavailableError,
    columns,
    counted,
    state_dir,
    write_output,
)
from commonplace_evaluation.measures import METRICS, average

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from commonplace_evaluation.running import Outcome
    from commonplace_evaluation.sets import EvalQuery

KEPT = 20
"""Reports of one workspace that are kept, the newest."""

SHOWN = ("recall@5", "ndcg@10")
"""The measures of the table; JSON has all."""

_MOST_BYTES = 100_000
"""Of a report that is read; ours have about one thousand."""

_LAST = 32_503_680_000
"""The year 3000 in epoch seconds: later ones are of a damaged file."""


class Report(NamedTuple):
    """One evaluation of one set of queries.

    ``at`` is in epoch seconds. ``digest`` is the same for the same queries with the same answers,
    ``settings`` for settings that rank alike. ``engine`` names backend, provider and model.
    """

    at: float
    set: str
    queries: int
    notes: int
    engine: str
    settings: str
    digest: str
    measures: dict[str, float]


class Compared(NamedTuple):
    """A report with its change from ``before``, the last one of the same set.

    ``change`` has the differences of the measures; it is ``None`` without a report before, and
    where the queries are others, whose figures say nothing about these.
    """

    report: Report
    before: Report | None
    change: dict[str, float] | None


class History:
    """The reports of ``workspace``, a file for each, in a folder of the state folder."""

    def __init__(
        self,
        env: Mapping[str, str],
        workspace: str,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        key = blake2b(os.fsencode(os.path.realpath(workspace)), digest_size=8).hexdigest()
        self._folder = os.path.join(state_dir(env), "memory", "evals", key)
        self._clock = clock

    def keep(self, outcome: Outcome) -> None:
        """Write a report of ``outcome``, and delete the oldest.

        Raises :class:`~commonplace.errors.UnavailableError` where it cannot be written.
        """
        now = self._clock()
        means = average([one.measures for one in outcome.scores])
        report = Report(
            at=round(now, 3),
            set=outcome.title,
            queries=len(outcome.scores),
            notes=outcome.notes,
            engine=outcome.engine,
            settings=outcome.settings,
            digest=queries_digest(one.query for one in outcome.scores),
            measures={name: means[name] for name in METRICS},
        )
        name = f"{round(now * 1000):013d}-{os.getpid()}.json"
        write_output(os.path.join(self._folder, name), json.dumps(report._asdict()) + "\n")
        for old in self._names()[:-KEPT]:
            with suppress(OSError):
                os.unlink(os.path.join(self._folder, old))

    def read(self) -> tuple[list[Report], int]:
        """The reports, the oldest first, and how many could not be read.

        Raises :class:`~commonplace.errors.UnavailableError` where they cannot be listed.
        """
        reports, unreadable = [], 0
        for name in self._names():
            try:
                with open(os.path.join(self._folder, name), encoding="utf-8") as file:
                    reports.append(_report_of(json.loads(file.read(_MOST_BYTES))))
            except FileNotFoundError:
                continue  # deleted by an evaluation that ended just now
            except (OSError, ValueError, KeyError, TypeError, RecursionError):
                unreadable += 1
        return reports, unreadable

    def _names(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._folder) if name.endswith(".json"))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UnavailableError(
                f"{self._folder} cannot be listed: {error.strerror or error}",
                hint="check its rights: evaluations are kept there",
            ) from error


def queries_digest(queries: Iterable[EvalQuery]) -> str:
    """A digest of queries and the lines that answer them."""
    whole = [
        (one.text, [(span.path, span.start_line, span.end_line) for span in one.relevant])
        for one in queries
    ]
    return blake2b(json.dumps(whole).encode("ascii"), digest_size=8).hexdigest()


def compared(reports: Sequence[Report]) -> Iterator[Compared]:
    """Each of ``reports``, which are the oldest first, with the one of its set before it."""
    latest: dict[str, Report] = {}
    for report in reports:
        before = latest.get(report.set)
        latest[report.set] = report
        change = None
        if before is not None and before.digest == report.digest:
            change = {
                name: round(value - before.measures[name], 4)
                for name, value in report.measures.items()
            }
        yield Compared(report, before, change)


def history_json(workspace: str, history: History) -> dict[str, Any]:
    """The reports of ``workspace``, the newest first, each with its change.

    Measures are not rounded: what shows them rounds them, once.
    """
    reports, unreadable = history.read()
    return {
        "workspace": workspace,
        "reports": [
            {
                "at": one.report.at,
                "set": one.report.set,
                "queries": one.report.queries,
                "notes": one.report.notes,
                "engine": one.report.engine,
                "measures": one.report.measures,
                "change": one.change,
                "changed": _differing(one),
            }
            for one in reversed(list(compared(reports)))
        ],
        "unreadable": unreadable,
    }


def history_lines(found: Mapping[str, Any]) -> list[str]:
    """The table of what :func:`history_json` gives."""
    if not found["reports"]:
        lines = [f"no evaluation of {found['workspace']} yet; commonplace eval makes the first"]
    else:
        table = [["date", "set", "queries", *(part for name in SHOWN for part in (name, "")), ""]]
        for one in found["reports"]:
            when = datetime.fromtimestamp(one["at"]).astimezone().strftime("%Y-%m-%d %H:%M")
            cells = [cell for name in SHOWN for cell in _cells(one, name)]
            differs = f"other {' and '.join(one['changed'])}" if one["changed"] else ""
            table.append([when, one["set"], str(one["queries"]), *cells, differs])
        lines = columns(table)
    if found["unreadable"]:
        lines.append(f"{counted(found['unreadable'], 'report')} could not be read")
    return lines


def _cells(one: Mapping[str, Any], name: str) -> tuple[str, str]:
    change = one["change"]
    changed = "" if change is None else f"{change[name]:+.3f}"
    # A change that three decimals show as zero is none.
    return f"{one['measures'][name]:.3f}", "=" if changed in ("+0.000", "-0.000") else changed


def _differing(one: Compared) -> list[str]:
    """What differs from the report before, of what makes figures differ."""
    if one.before is None:
        return []
    return [
        name
        for name, field in (("queries", "digest"), ("engine", "engine"), ("settings", "settings"))
        if getattr(one.before, field) != getattr(one.report, field)
    ]


def _report_of(fields: dict[str, Any]) -> Report:
    """The report with ``fields``; raises what a damaged file makes it raise."""
    report = Report(
        at=float(fields["at"]),
        set=str(fields["set"]),
        queries=int(fields["queries"]),
        notes=int(fields["notes"]),
        engine=str(fields["engine"]),
        settings=str(fields["settings"]),
        digest=str(fields["digest"]),
        measures={name: float(fields["measures"][name]) for name in METRICS},
    )
    if not (0 <= report.at < _LAST and all(0 <= one <= 1 for one in report.measures.values())):
        raise ValueError("figures that no evaluation gives")
    return report
