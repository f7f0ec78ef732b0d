"""``commonplace remember``, ``correct``, ``forget``, ``undo`` and ``journal``: changing notes."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from commonplace.cli.context import UsageError
from commonplace.cli.parser import argument, flag, positive_int, unit_interval
from commonplace.cli.streams import typed
from commonplace.errors import MemoryDisabledError, WriteRefusedError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from commonplace.cli.context import Context
    from commonplace.model.receipts import Lines, Receipt
    from commonplace.writing.writer import Writer

_CITATION = "lines of a note as search results have them: path#L3, path#L3-L9 (or path:3-9)"
_WAS = "the text of these lines when you read them: they are found by it if they have moved"


def receipt_json(receipt: Receipt) -> dict[str, Any]:
    """A receipt, as docs/json.md describes it."""
    return {
        "id": receipt.id,
        "action": receipt.action,
        "path": receipt.path,
        "citation": receipt.citation,
        "before": _lines_json(receipt.before),
        "after": _lines_json(receipt.after),
        "who": receipt.who,
        "origin": receipt.origin,
        "at": receipt.when,
        "why": receipt.why,
        "notes": receipt.notes,
        "undoes": receipt.undoes,
        "created": receipt.created,
        "deleted": receipt.deleted,
    }


def _lines_json(lines: Lines) -> dict[str, Any]:
    return {"startLine": lines.start, "endLine": lines.end, "text": lines.text}


def _change(context: Context, change: Callable[[Writer], Receipt], command: str) -> int:
    """Make one change and print its receipt."""
    try:
        opened = context.open_memory()
    except MemoryDisabledError as error:  # to end with 0, as what only reads does, would be a lie
        raise WriteRefusedError(
            f"nothing is written: {error}", kind="disabled", hint=error.hint
        ) from error
    with opened as memory:
        receipt = change(memory.writer(who=f"commonplace {command}"))
        noted = () if context.json else receipt.notes  # printed below
        context.notes(report for report in memory.host.hook_failures if report not in noted)
    if context.json:
        context.emit(context.whose | receipt_json(receipt))
        return 0
    from commonplace.cli.streams import one_line

    style = context.style
    context.line(style.path(one_line(receipt.citation)))
    for sign, lines, colour in (("-", receipt.before, style.bad), ("+", receipt.after, style.good)):
        for line in lines.text.splitlines():
            context.line(colour(f"{sign} {one_line(line)}".rstrip()))
    for note in receipt.notes:
        context.note(one_line(note))
    if receipt.id:
        context.note(f"to take it back: commonplace undo {receipt.id}")
    else:
        context.note("nothing had to be changed")
    return 0


def _text(given: str) -> str:
    """The text of an argument; ``-`` is what standard input has."""
    if not given.strip():
        raise UsageError("the text is empty", hint="give its words, or - to read them from input")
    if given != "-":
        return typed(given)
    if sys.stdin is None:
        raise UsageError("standard input is closed", hint="pipe the text, or pass it as TEXT")
    try:
        text = sys.stdin.read()
        text.encode()  # in some locales Python passes on what is no UTF-8, as lone surrogates
    except UnicodeError as error:
        raise UsageError("standard input is no UTF-8", hint="pipe plain text") from error
    return text


def _day(text: str) -> str:
    """An argument that is a day; raises ``ValueError`` otherwise."""
    from commonplace.model.documents import is_day

    if not is_day(text):
        raise ValueError
    return text


_day.__name__ = "day such as 2026-01-31"  # messages name the type


def _add_why(parser: ArgumentParser) -> None:
    argument(parser, "--why", "REASON", "kept in the journal", default="")


class RememberCommand:
    """Adds a text to today's log or to the curated memory."""

    name = "remember"
    summary = "Write something down: in today's log, or in MEMORY.md"
    examples = (
        'commonplace remember "Staging listens on port 8080 since today"',
        'commonplace remember --entry --heading Preferences "Mia drinks no coffee"',
        "commonplace remember - < decision.txt",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        argument(parser, "text", "TEXT", "what to remember; - reads it from input")
        flag(parser, "--entry", "keep it in MEMORY.md instead of memory/<today>.md")
        argument(parser, "--heading", "H", "section of the note that it is added to")
        argument(parser, "--importance", "N", "0 to 1, noted beside it", type=unit_interval)
        about = "where it was read: it is trusted no more than that"
        argument(parser, "--source", "CITATION", about)
        _add_why(parser)

    def run(self, args: Namespace, context: Context) -> int:
        """Add the text and print its receipt."""
        text = _text(args.text)

        def change(writer: Writer) -> Receipt:
            return writer.remember(
                text,
                kind="entry" if args.entry else "log",
                heading=args.heading,
                importance=args.importance,
                source=args.source,
                why=args.why,
            )

        return _change(context, change, self.name)


class CorrectCommand:
    """Replaces cited lines, or marks them as superseded."""

    name = "correct"
    summary = "Replace lines of a note"
    examples = (
        'commonplace correct MEMORY.md#L3 "Mia drinks tea"',
        'commonplace correct MEMORY.md#L3 --supersede "Mia drinks tea"',
        'commonplace correct MEMORY.md#L3 --was "Mia drinks no coffee" "Mia drinks tea"',
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        argument(parser, "citation", "CITATION", _CITATION)
        argument(parser, "text", "TEXT", "the new text; - reads it from input")
        about = "keep the old lines, marked with the day and what supersedes them"
        flag(parser, "--supersede", about)
        about = "with --supersede: the day since which the new text holds (default: today)"
        argument(parser, "--since", "DAY", about, type=_day)
        argument(parser, "--was", "TEXT", _WAS)
        _add_why(parser)

    def run(self, args: Namespace, context: Context) -> int:
        """Replace the lines and print the receipt."""
        if args.since and not args.supersede:
            from shlex import quote

            lines = quote(args.citation)
            hint = f'commonplace correct {lines} --supersede --since {args.since} "..."'
            raise UsageError("--since is for --supersede alone", hint=hint)
        text = _text(args.text)

        def change(writer: Writer) -> Receipt:
            if not args.supersede:
                return writer.correct(args.citation, text, was=args.was, why=args.why)
            return writer.supersede(
                args.citation, text, since=args.since, was=args.was, why=args.why
            )

        return _change(context, change, self.name)


class ForgetCommand:
    """Deletes cited lines."""

    name = "forget"
    summary = "Delete lines of a note"
    examples = (
        "commonplace forget memory/2026-10-07.md#L5",
        'commonplace forget MEMORY.md#L3-L4 --why "it was never true"',
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        argument(parser, "citation", "CITATION", _CITATION)
        argument(parser, "--was", "TEXT", _WAS)
        _add_why(parser)

    def run(self, args: Namespace, context: Context) -> int:
        """Delete the lines and print the receipt."""

        def change(writer: Writer) -> Receipt:
            return writer.forget(args.citation, was=args.was, why=args.why)

        return _change(context, change, self.name)


class UndoCommand:
    """Takes a change back."""

    name = "undo"
    summary = "Take back a change of a note"
    examples = ("commonplace undo", "commonplace undo 3f9a1c", "commonplace undo last --json")

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        about = "id of the change, or its beginning (default: the last change)"
        argument(parser, "id", "ID", about, nargs="?", default="last")
        _add_why(parser)

    def run(self, args: Namespace, context: Context) -> int:
        """Undo the change and print the receipt of that."""
        return _change(context, lambda writer: writer.undo(args.id, why=args.why), self.name)


class JournalCommand:
    """Lists changes."""

    name = "journal"
    summary = "List the changes of notes, the newest first"
    examples = (
        "commonplace journal",
        "commonplace journal MEMORY.md",
        "commonplace journal --limit 100 --json",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        argument(parser, "path", "PATH", "the changes of this note alone", nargs="?")
        about = "how many at most (default: 20)"
        argument(parser, "-n --limit", "N", about, type=positive_int, default=20)

    def run(self, args: Namespace, context: Context) -> int:
        """Print the receipts."""
        from commonplace.writing.journal import damage_of, journal_path
        from commonplace.writing.undoing import moved_history

        with context.open_memory() as memory:
            found = memory.writer(who="commonplace journal").journal(
                path=args.path, limit=args.limit
            )
            where = memory.settings.state_dir, memory.settings.workspace
            damage = damage_of(*where)
            moved = "" if found else moved_history(journal_path(*where), where[1])
        if damage:
            context.note(damage)
        if context.json:
            changes = [receipt_json(one) for one in found]
            context.emit({**context.whose, "changes": changes})
            return 0
        from commonplace.cli.streams import one_line
        from commonplace.cli.terminal import columns, fit

        rows = [
            (
                one.id,
                time.strftime("%Y-%m-%d %H:%M", time.localtime(one.when)),
                one.origin,
                one.action,
                one_line(one.citation),
                one_line(" ".join((one.after.text or one.before.text).split())),
            )
            for one in found
        ]
        for row in columns(rows):
            context.line(fit(row, context.style.width) if context.pretty else row)
        if not found:
            which = "a note" if args.path is None else one_line(args.path)
            context.note(f"no change of {which} is recorded yet")
            context.notes(filter(None, [moved]))
        return 0
