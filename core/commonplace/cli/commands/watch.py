"""``commonplace watch``: keep the index up to date and print each sync."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING

from commonplace.cli.commands.index import check_persistent, numbers_of, summary_of, warnings_of
from commonplace.cli.context import UsageError
from commonplace.cli.parser import INTERRUPTED, flag
from commonplace.cli.streams import one_line
from commonplace.errors import CallerError, IndexBusyError, counted, reason_of
from commonplace.files.roots import ENDINGS

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from queue import SimpleQueue

    from commonplace.cli.context import Context
    from commonplace.memory import Memory
    from commonplace.model.reports import SyncEvent, SyncReport, SyncState, WatchMode

    Events = SimpleQueue[SyncEvent | None]


_POLL_SECONDS = 0.5
"""Between two reads of the watcher's state; some systems deliver no signal during a wait."""

_PATHS = 3  # named in a line; of more, their number


class WatchCommand:
    """Watches the notes in the foreground and prints what it does."""

    name = "watch"
    summary = "Keep the index up to date as notes change, until you press Ctrl-C"
    examples = (
        "commonplace watch --workspace ~/notes",
        "commonplace watch --poll --json",
        "commonplace watch --install --workspace ~/notes",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        flag(parser, "--poll", "poll the files, where the operating system reports no changes")
        flag(parser, "--quiet", "print only warnings and failures")
        parser.add_argument(
            "--install",
            action="store_true",
            help="print the service (systemd, launchd) that watches from now on, and with --yes or "
            "after asking write and start it",
        )
        flag(parser, "--uninstall", "stop and delete that service, likewise")
        parser.add_argument(
            "--yes",
            action="store_true",
            help="ask nothing: send notes to the embedding provider, also after a no; with "
            "--install or --uninstall only do that",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Sync, then watch; with --json, one object a line. Or set up the service that does."""
        if args.install or args.uninstall:
            return _set_up(args, context)
        from queue import SimpleQueue

        events: Events = SimpleQueue()
        try:
            with context.open_memory(on_sync=events.put, yes=args.yes) as memory:
                _watch(memory, events, args, context)
        except KeyboardInterrupt:
            if not context.json:
                raise
            context.emit_line({"event": "ended"})
            return INTERRUPTED
        return 0


def _watch(memory: Memory, events: Events, args: Namespace, context: Context) -> None:
    settings = memory.settings
    sync = settings.search.sync
    if not sync.watch and not sync.interval_minutes:
        raise CallerError(
            "watching is switched off in the configuration",
            hint="set sync.watch to true, or sync.intervalMinutes to a number of minutes",
        )
    printer = SyncPrinter(context, settings.workspace, quiet=args.quiet)
    _first_sync(memory, printer, args, context)
    while not events.empty():
        events.get()  # printed in full above
    memory.watch(poll=args.poll)
    # SIGTERM, which ends a service, ends the loop.
    signal.signal(signal.SIGTERM, lambda *_: events.put(None))
    _print_syncs(memory, events, printer)


def _first_sync(memory: Memory, printer: SyncPrinter, args: Namespace, context: Context) -> None:
    try:
        with context.progress() as progress:
            report = memory.sync(progress=progress)
    except IndexBusyError as error:
        context.note(f"{error}; trying again")
        return
    check_persistent(report)
    warnings = warnings_of(report)
    printer.skip(warnings)
    if context.json:
        from commonplace.cli.jsonify import report_json

        context.emit_line({"event": "start", "report": report_json(report, warnings)})
        return
    context.lines(() if args.quiet else summary_of(report))
    context.out.flush()
    context.notes(warnings)


def _set_up(args: Namespace, context: Context) -> int:
    """Install or remove the service that watches this memory."""
    from commonplace.cli.service import install, service_of, uninstall
    from commonplace.config.paths import absolute, default_index

    if args.install and args.uninstall:
        raise UsageError("--install and --uninstall exclude each other", hint="give one of them")
    with context.open_memory() as memory:
        settings = memory.settings
    command = [sys.executable, "-m", "commonplace", "watch", "--workspace", settings.workspace]
    command += ["--agent", settings.agent]
    command += ["--config", absolute(context.config, context.env)] if context.config else []
    command += ["--poll"] if args.poll else []
    service = service_of(
        command,
        index=default_index(settings.state_dir, settings.agent, settings.workspace),
        workspace=settings.workspace,
        env=context.env,
        log=os.path.join(settings.state_dir, "watch.log"),
    )
    return (install if args.install else uninstall)(service, context, yes=args.yes)


def _print_syncs(memory: Memory, events: Events, printer: SyncPrinter) -> None:
    from queue import Empty

    while True:
        try:
            event = events.get(timeout=_POLL_SECONDS)
        except Empty:
            printer.watching(memory.sync_state)  # only when idle: a sync about to begin is no news
            continue
        if event is None:
            return
        printer.event(event)


class SyncPrinter:
    """Prints the syncs that changed something, new warnings, failures, and their end.

    ``quiet`` leaves out successful syncs. Paths below ``workspace`` are shown relative to it.
    """

    def __init__(self, context: Context, workspace: str, *, quiet: bool = False) -> None:
        self._context = context
        self._inside = os.path.join(os.path.realpath(workspace), "")
        self._beside = os.path.join(os.path.abspath(workspace), "")
        self._quiet = quiet
        self._error = ""
        self._warnings: frozenset[str] = frozenset()
        self._watch: tuple[WatchMode, str] = ("off", "")

    def skip(self, warnings: list[str]) -> None:
        """Treat ``warnings`` as printed."""
        self._warnings = frozenset(warnings)

    def event(self, event: SyncEvent) -> None:
        """Print what is new in ``event``, if anything is."""
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
            self._line(event, self._context.style.good("recovered"))
        self._context.notes(new)

    def watching(self, state: SyncState | None) -> None:
        """Print how changes are noticed, if that is new."""
        if state is None or (state.watching, state.reason) == self._watch:
            return
        self._watch = (state.watching, state.reason)
        if self._context.json:
            watch = {"mode": state.watching, "reason": state.reason, "folders": state.folders}
            self._context.emit_line({"event": "watching", **watch})
            return
        words = {
            "native": f"watching {counted(state.folders, 'folder')}",
            "polling": f"watching {counted(state.folders, 'folder')} by polling",
            "off": "not watching",
        }[state.watching]
        self._context.note(words + (f": {state.reason}" if state.reason else ""))

    def _line(self, event: SyncEvent, words: str) -> None:
        moment = time.strftime("%H:%M:%S", time.localtime(event.at))
        files = _leaves(event.paths)
        paths = [one_line(self._shown(path)) for path in files[:_PATHS]]
        # A change that came during the sync is in it, and not yet among the paths.
        changed = _changed(event.report) if all(map(_is_note, files)) else 0
        if (more := max(len(files), changed) - len(paths)) > 0 and paths:
            paths.append(f"{more} more")
        where = ", ".join(paths) or f"({', '.join(event.reasons)})"
        style = self._context.style
        self._context.line(f"{style.faint(moment)}  {words}  {style.path(where)}")
        self._context.out.flush()

    def _shown(self, path: str) -> str:
        for folder in (self._inside, self._beside):
            if path.startswith(folder):
                return path[len(folder) :].replace(os.sep, "/")
        return path


def _changed(report: SyncReport | None) -> int:
    return report.added + report.updated + report.removed if report is not None else 0


def _is_note(path: str) -> bool:
    return path.endswith(ENDINGS)


def _leaves(paths: tuple[str, ...]) -> list[str]:
    """Those of ``paths`` that are not a folder above another one."""
    above = set()
    for path in paths:
        folder = os.path.dirname(path)
        while folder not in above and os.path.dirname(folder) != folder:
            above.add(folder)
            folder = os.path.dirname(folder)
    return [path for path in paths if path not in above]


def _done(report: SyncReport) -> str:
    """What a sync changed, in words; ``""`` if nothing."""
    parts = numbers_of(report, "added updated removed")
    if report.rebuilt:
        parts.append("rebuilt")
    embedded = report.embedding.embedded + report.embedding.cached if report.embedding else 0
    if embedded:
        parts.append(f"{counted(embedded, 'text')} embedded")
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
    assert event.report is not None
    from commonplace.cli.jsonify import report_json

    return {**facts, "report": report_json(event.report, warnings)}
