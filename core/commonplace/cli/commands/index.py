"""``commonplace index``: update the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.cli.parser import DONE, IN_PART, argument, flag
from commonplace.errors import IndexReadOnlyError, counted

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from commonplace.cli.context import Context
    from commonplace.config.settings import Settings
    from commonplace.model.reports import Embedding, SyncReport


_WRITABLE = "make its folder writable, or set COMMONPLACE_STATE_DIR to one that is"


class IndexCommand:
    """Indexes what changed since the last time."""

    name = "index"
    summary = "Update the index: index the notes that changed"
    examples = (
        "commonplace index --workspace ~/notes",
        "commonplace index --force --json",
        "commonplace index --to BACKEND",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        flag(parser, "--force", "rebuild the whole index; searches use the previous one meanwhile")
        about = "index in this backend instead, with the vectors of the present one; embeds none"
        argument(parser, "--to", "BACKEND", about)
        about = "send notes to the embedding provider without asking first, also after a no"
        flag(parser, "--yes", about)

    def run(self, args: Namespace, context: Context) -> int:
        """Sync, and print what was done."""
        from commonplace.health.status import left_out_of

        if args.to is not None:
            return _copy(args, context)
        with context.open_memory(yes=args.yes) as memory:
            with context.progress() as progress:
                report = memory.sync(force=args.force, progress=progress)
            settings, left_out = memory.settings, left_out_of(memory.settings)
        check_persistent(report)
        warnings = warnings_of(report)
        if context.json:
            from commonplace.cli.jsonify import left_out_json, report_json

            context.emit(context.whose | report_json(report, warnings) | left_out_json(left_out))
        else:
            context.line(f"Memory index updated ({settings.agent}).")
            context.lines(summary_of(report))
            context.notes([*warnings, *(left_out.sentences() if not report.empty else ())])
        return exit_code_of(report, settings)


def _copy(args: Namespace, context: Context) -> int:
    from commonplace.copying import copy_index

    with context.open_memory(yes=False) as memory:
        settings = memory.settings
        with context.progress() as progress:
            done = copy_index(memory.host, settings, args.to, force=args.force, progress=progress)
    check_persistent(done.report)
    missing = sum(space.missing for space in done.spaces)
    setting = f"commonplace config set memory.backend {args.to}"
    warnings = [*warnings_of(done.report), *([done.note] if done.note else [])]
    if missing:
        warnings.append(
            f"{counted(missing, 'text')} had no vector to copy: `commonplace index` embeds "
            f"{'it' if missing == 1 else 'them'} once memory.backend is {args.to}"
        )
    if context.json:
        from commonplace.cli.jsonify import copied_json, report_json

        facts = report_json(done.report, warnings) | copied_json(done)
        context.emit({**context.whose, **facts, "next": setting})
        return exit_code_of(done.report, settings)
    context.line(f"Memory index copied from {done.of} to {done.to} ({settings.agent}).")
    context.line(_summary(done.report))
    for space in done.spaces:
        context.line(f"vectors of {space.space}: {space.copied} copied, none embedded")
    context.notes(warnings)
    context.line(context.suggesting(f"Search it from now on: {setting}"))
    return exit_code_of(done.report, settings)


def exit_code_of(report: SyncReport, settings: Settings) -> int:
    """0, or 3 for a sync that was done in part.

    That is one with notes that could not be read or are left, and one in which a provider or a
    backend failed that the configuration names.
    """
    done = report.embedding
    named = settings.search.provider not in {"auto", "none", ""}
    partial = (
        (named and done is not None and done.reason)
        or report.unreadable
        or report.remaining
        or report.failed_roots
        or report.failed_backends
    )
    return IN_PART if partial else DONE


def check_persistent(report: SyncReport) -> None:
    """Raise :class:`~commonplace.errors.IndexReadOnlyError` if the index is in memory only."""
    if not report.kept:
        raise IndexReadOnlyError("; ".join(report.notices), hint=_WRITABLE)


def summary_of(report: SyncReport) -> list[str]:
    """What a sync did, in lines."""
    done = report.embedding
    return [_summary(report), *([_embedding(done)] if done is not None else [])]


def _summary(report: SyncReport) -> str:
    numbers = ", ".join(numbers_of(report, "added updated removed unchanged"))
    failed = report.unreadable or report.failed_roots
    notes = numbers or ("none could be read" if failed else "none found")
    chunks = counted(report.chunks_written, "chunk")
    return f"notes: {notes}; {chunks} written in {report.seconds:.2f} s"


def numbers_of(report: SyncReport, counts: str) -> list[str]:
    """Those of ``counts`` that are not 0, in words: ``["1 added", "2 removed"]``."""
    numbers = [(getattr(report, word), word) for word in counts.split()]
    return [f"{number} {word}" for number, word in numbers if number]


def _embedding(done: Embedding) -> str:
    requested = f"{counted(done.embedded, 'text')} by {counted(done.requests, 'request')}"
    line = f"embeddings of {done.provider}: {requested}, {done.cached} from the cache"
    line += f"; {done.batched} of them by batch jobs" if done.batched else ""
    return line + (f"; {done.cut} were too long and shortened" if done.cut else "")


def warnings_of(report: SyncReport) -> list[str]:
    """What a sync could not do, in lines."""
    from commonplace.index.syncing import nothing_found

    lines = [*report.notices, *([report.cut] if report.cut else [])]
    if nothing := nothing_found(report):
        return [*lines, *nothing]
    lines += [f"{path} could not be read: {reason}" for path, reason in report.unreadable]
    lines += [
        failure.words("the workspace", " could not be scanned") for failure in report.failed_roots
    ]
    if report.skipped_symlinks:
        lines.append(f"{counted(report.skipped_symlinks, 'symbolic link')} not followed")
    lines += _not_embedded(report.embedding) if report.embedding is not None else ()
    if report.remaining:
        lines.append(f"{counted(report.remaining, 'note')} left for the next run")
    return lines


def _not_embedded(done: Embedding) -> Iterator[str]:
    if done.note:
        yield done.note
    yield from (f"{path} is not embedded: {reason}" for path, reason in done.refused)
    reasons = [*filter(None, (done.reason, done.batch_note))]
    if done.missing:
        yield ": ".join([f"{counted(done.missing, 'text')} not embedded yet", *reasons[:1]])
    else:
        yield from reasons
