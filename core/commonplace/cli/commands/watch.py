"""``commonplace watch``: keep the index up to the notes for as long as it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.errors import CallerError, IndexBusyError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from queue import SimpleQueue

    from commonplace.cli.changes import Changes
    from commonplace.cli.context import Context
    from commonplace.memory import Memory
    from commonplace.model.reports import SyncEvent

__all__ = ["create"]

_LOOK_SECONDS = 0.5
"""Between looks at who watches; also, some systems let no signal through while one waits."""


class WatchCommand:
    """Follows the notes in the foreground, and says what it does."""

    name = "watch"
    summary = "Keep the index up to the notes as they change, until it is interrupted"
    examples = ("commonplace watch --workspace ~/notes", "commonplace watch --poll --json")

    def configure(self, parser: ArgumentParser) -> None:
        """Add what it takes."""
        parser.add_argument(
            "--poll",
            action="store_true",
            help="look at the files again and again, where the system does not tell of changes",
        )
        parser.add_argument(
            "--quiet", action="store_true", help="tell only of what is wrong, not of what is done"
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Sync, then follow; with --json, an object a line."""
        from queue import SimpleQueue

        events: SimpleQueue[SyncEvent | None] = SimpleQueue()
        try:
            with context.open_memory(on_sync=events.put) as memory:
                return self._watch(memory, events, args, context)
        except KeyboardInterrupt:
            if not context.json:
                raise
            context.emit_line({"event": "ended"})
            return 130

    def _watch(
        self,
        memory: Memory,
        events: SimpleQueue[SyncEvent | None],
        args: Namespace,
        context: Context,
    ) -> int:
        from commonplace.cli.changes import Changes

        settings = memory.settings
        sync = settings.search.sync
        if not sync.watch and not sync.interval_minutes:
            raise CallerError(
                "the configuration says that nobody watches the notes",
                hint="set sync.watch to true, or sync.intervalMinutes to a number of minutes",
            )
        changes = Changes(context, settings.workspace, quiet=args.quiet)
        self._bring_up(memory, changes, args, context)
        while not events.empty():
            events.get()  # told in full
        memory.watch(poll=args.poll)
        _end_on_request(events)
        return _follow(memory, events, changes)

    def _bring_up(
        self, memory: Memory, changes: Changes, args: Namespace, context: Context
    ) -> None:
        from commonplace.cli.commands.index import check_kept, summary_of, warnings_of

        try:
            with context.progress() as progress:
                report = memory.sync(progress=progress)
        except IndexBusyError as error:
            context.note(f"{error}; it is tried again")
            return
        check_kept(report)
        changes.knows(report)
        if context.json:
            context.emit_line({"event": "start", "report": report})
            return
        for line in () if args.quiet else summary_of(report):
            context.line(line)
        context.out.flush()
        for warning in warnings_of(report):
            context.note(warning)


def _end_on_request(events: SimpleQueue[SyncEvent | None]) -> None:
    """End well when the system asks for it, as it does of a service."""
    import signal

    signal.signal(signal.SIGTERM, lambda *_: events.put(None))


def _follow(memory: Memory, events: SimpleQueue[SyncEvent | None], changes: Changes) -> int:
    from queue import Empty

    while True:
        try:
            event = events.get(timeout=_LOOK_SECONDS)
        except Empty:
            changes.state(memory.upkeep)  # at rest: what is just about to begin is no news
            continue
        if event is None:
            return 0
        changes.tell(event)


create = WatchCommand
