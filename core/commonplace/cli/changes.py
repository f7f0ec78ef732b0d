"""Tells of syncs as they happen, a line each."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from commonplace.cli.commands.index import warnings_of
from commonplace.cli.words import count
from commonplace.errors import reason_of

if TYPE_CHECKING:
    from commonplace.cli.context import Context
    from commonplace.model.reports import SyncEvent, SyncReport, UpkeepState, WatchMode

__all__ = ["Changes"]

_PATHS = 3  # named in a line; of more, their number


class Changes:
    """Writes what of a stream of events is news: what was done, what is wrong, and its end.

    ``quiet`` leaves out what was done. Paths are shown relative to ``workspace`` where they are
    below it.
    """

    def __init__(self, context: Context, workspace: str, *, quiet: bool = False) -> None:
        self._context = context
        self._inside = os.path.join(os.path.realpath(workspace), "")
        self._beside = os.path.join(os.path.abspath(workspace), "")
        self._quiet = quiet
        self._error = ""
        self._warnings: frozenset[str] = frozenset()
        self._watch: tuple[WatchMode, str] = ("off", "")

    def knows(self, report: SyncReport) -> None:
        """The warnings of ``report`` have been told already."""
        self._warnings = frozenset(warnings_of(report))

    def tell(self, event: SyncEvent) -> None:
        """Write what is new in ``event``, if anything is."""
        error = reason_of(event.error) if event.error is not None else ""
        warnings = warnings_of(event.report) if event.report is not None else []
        new = [warning for warning in warnings if warning not in self._warnings]
        recovered = bool(self._error) and not error
        done = _done(event.report) if event.report is not None else ""
        if event.report is not None:
            self._warnings = frozenset(warnings)
        changed, self._error = error != self._error, error
        if not (done or new or changed):
            return
        if self._context.json:
            if not self._quiet or new or changed:
                self._context.emit_line(_json(event, new))
            return
        if error:
            self._line(event, self._context.style.bad("failed: ") + error)
        elif done and not self._quiet:
            self._line(event, done)
        elif recovered:
            self._line(event, self._context.style.good("works again"))
        for warning in new:
            self._context.note(warning)

    def state(self, state: UpkeepState | None) -> None:
        """Write who watches, if that is news."""
        if state is None or (state.watching, state.reason) == self._watch:
            return
        self._watch = (state.watching, state.reason)
        if self._context.json:
            watch = {"mode": state.watching, "reason": state.reason, "folders": state.folders}
            self._context.emit_line({"event": "watching", **watch})
            return
        words = {
            "native": f"watching {count(state.folders, 'folder')}",
            "polling": "watching by polling",
            "off": "nobody watches",
        }[state.watching]
        self._context.note(words + (f": {state.reason}" if state.reason else ""))

    def _line(self, event: SyncEvent, words: str) -> None:
        from commonplace.cli.terminal import printable

        moment = time.strftime("%H:%M:%S", time.localtime(event.at))
        telling = _telling(event.paths)
        paths = [printable(self._shown(path)) for path in telling[:_PATHS]]
        if len(telling) > _PATHS:
            paths.append(f"{len(telling) - _PATHS} more")
        where = ", ".join(paths) or f"({', '.join(event.reasons)})"
        style = self._context.style
        self._context.line(f"{style.faint(moment)}  {words}  {style.place(where)}")
        self._context.out.flush()

    def _shown(self, path: str) -> str:
        for folder in (self._inside, self._beside):
            if path.startswith(folder):
                return path[len(folder) :].replace(os.sep, "/")
        return path


def _telling(paths: tuple[str, ...]) -> list[str]:
    """Those of ``paths`` that are no folder of another one, which tells more."""
    above = set()
    for path in paths:
        folder = os.path.dirname(path)
        while folder not in above and os.path.dirname(folder) != folder:
            above.add(folder)
            folder = os.path.dirname(folder)
    return [path for path in paths if path not in above]


def _done(report: SyncReport) -> str:
    """What has become other, in words; ``""`` if nothing has."""
    numbers = [(report.added, "added"), (report.updated, "updated"), (report.removed, "removed")]
    parts = [f"{number} {word}" for number, word in numbers if number]
    if report.rebuilt:
        parts.append("made anew")
    embedded = report.embedding.embedded + report.embedding.cached if report.embedding else 0
    if embedded:
        parts.append(f"{count(embedded, 'text')} embedded")
    return ", ".join(parts)


def _json(event: SyncEvent, warnings: list[str]) -> dict[str, object]:
    facts: dict[str, object] = {
        "event": "sync",
        "at": event.at,
        "reasons": event.reasons,
        "paths": event.paths,
    }
    if event.error is not None:
        error = event.error
        kind = type(error).__name__
        return {**facts, "error": {"type": kind, "message": str(error), "hint": error.hint}}
    return {**facts, "report": event.report, "warnings": warnings}
