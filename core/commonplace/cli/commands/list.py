"""``commonplace list`` and ``commonplace recent``: the notes themselves, without a search."""

from __future__ import annotations

import os
import re
from collections import Counter
from datetime import date, timedelta
from shlex import quote
from typing import TYPE_CHECKING

from commonplace.cli.context import UsageError
from commonplace.cli.parser import argument, positive_int
from commonplace.errors import counted
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Sequence

    from commonplace.cli.context import Context
    from commonplace.files.roots import FileStamp
    from commonplace.memory import Memory
    from commonplace.model.documents import DocumentRef


_NOTES = (".md", ".markdown", ".txt")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t#]*")


class Listed(NamedTuple):
    """One note; ``day`` is an ISO date or ``""``, ``changed`` epoch seconds, ``size`` bytes.

    ``title`` is what its front matter or its first heading says, ``first_line`` its first line of
    text. Of what is no note, such as a transcript, both are ``""`` and ``lines`` is 0.
    """

    path: str
    source: str
    day: str
    changed: float
    size: int
    lines: int = 0
    title: str = ""
    first_line: str = ""
    tags: tuple[str, ...] = ()


class ListCommand:
    """Lists the notes by path."""

    name = "list"
    summary = "List the notes: day, size, path and title"
    examples = (
        "commonplace list",
        "commonplace list --after last-month --tag deploy",
        "commonplace list --source memory --json",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        argument(parser, "--source", "NAME", "only those of a source: memory, sessions")
        argument(parser, "--tag", "TAG", "only notes with this tag")
        about = "only notes of that day or later: 2026-10, 7d, yesterday; sessions with --source"
        argument(parser, "--after", "DAY", about)
        argument(parser, "--before", "DAY", "only notes of that day or earlier")

    def run(self, args: Namespace, context: Context) -> int:
        """Read the notes, not the index, and print a line for each."""
        with context.open_memory() as memory:
            after = _day(args.after, "--after", memory)
            before = _day(args.before, "--before", memory)
            refs = memory.notes()
            sources = tuple(dict.fromkeys(ref.source for ref in refs))
            if args.source:
                refs = tuple(ref for ref in refs if ref.source == args.source)
            found = [*map(_listed, refs)]
            if (after or before) and not args.tag:
                found = _with_days(found, refs, memory, args, context)
        if args.tag:
            from commonplace.text.notes import folded_tag

            found = [note for note in found if folded_tag(args.tag) in note.tags]
        if after or before:
            found = [
                note for note in found if note.day and after <= note.day <= (before or note.day)
            ]
        _print(found, context)
        if args.source and args.source not in sources:
            known = ", ".join(sources) or "no note at all"
            context.note(f"no note is of the source {args.source!r}; there is {known}")
        elif not found:
            context.note("no notes" + (" like that" if refs else ""))
        return 0


def _with_days(
    found: list[Listed],
    refs: Sequence[DocumentRef],
    memory: Memory,
    args: Namespace,
    context: Context,
) -> list[Listed]:
    """``found`` with the days that sources alone know: of a conversation, by its first message.

    That takes too long for all conversations unless they are what is asked for.
    """
    unknown = {
        note.path: ref
        for note, ref in zip(found, refs, strict=True)
        if not (note.day or (_is_note(ref) and os.path.isfile(ref.location)))
    }
    if not unknown:
        return found
    if not args.source:
        sources = [ref.source for ref in unknown.values()]
        for name in dict.fromkeys(sources):
            options = (("--source", name), ("--after", args.after), ("--before", args.before))
            asked = " ".join(f"{option} {quote(value)}" for option, value in options if value)
            context.note(
                f"{counted(sources.count(name), 'document')} of {name} without a day in the name "
                f"left out; to read the days: `commonplace list {asked}`"
            )
        return found
    from commonplace.index.documents import day_from
    from commonplace.sources import make_sources

    source = next(
        one for one in make_sources(memory.host, memory.settings)[0] if one.id == args.source
    )
    days: dict[str, str] = {}
    unread: list[str] = []
    for path, ref in unknown.items():
        try:
            days[path] = day_from(source, ref)
        except OSError as error:
            unread.append(f"{path}: {error.strerror or error}")
    if unread:
        number = counted(len(unread), "document")
        context.note(f"{number} left out, as the day cannot be read: {unread[0]}")
    return [note._replace(day=note.day or days.get(note.path, "")) for note in found]


class RecentCommand:
    """Lists the newest notes first."""

    name = "recent"
    summary = "List the newest days and the notes that changed last, with their first line"
    examples = ("commonplace recent", "commonplace recent -n 30 --json")

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        about = "how many notes (default: 10)"
        argument(parser, "-n --number", "N", about, type=positive_int, default=10)

    def run(self, args: Namespace, context: Context) -> int:
        """Order them by their day, undated ones by the day of their last change, and print them."""
        with context.open_memory() as memory:
            refs = memory.notes()
        newest = _newest_first(refs)[: args.number]
        found = [*map(_listed, newest)]
        _print(found, context, first_line=True)
        if not found:
            context.note("no notes")
        return 0


_MINUTE = 60 * 10**9
_COPIED = 2  # so many of them at the least


def _newest_first(refs: Iterable[DocumentRef]) -> list[DocumentRef]:
    """``refs`` by the day in the name, or that of the last change; then by its time.

    A note of a day does not become newer because it was copied. Where most of the old logs were
    changed in one minute, long after their days, a checkout wrote them: the times of undated notes
    of that minute say nothing, and they come last.
    """
    from commonplace.files.roots import day_of

    dated = [(ref, day_of(ref.path), _file(ref).mtime_ns) for ref in refs]
    minutes = Counter(
        changed // _MINUTE
        for _, day, changed in dated
        if day and day < date.fromisoformat(_day_of(changed / 1e9)) - timedelta(days=1)
    )
    most = max(_COPIED, (minutes.total() + 1) // 2)
    copied = {minute for minute, count in minutes.items() if count >= most}

    def age(one: tuple[DocumentRef, date | None, int]) -> tuple[str, int]:
        _, day, changed = one
        if day is not None:
            return day.isoformat(), changed
        return "" if changed // _MINUTE in copied else _day_of(changed / 1e9), changed

    return [ref for ref, *_ in sorted(dated, key=age, reverse=True)]


def _file(ref: DocumentRef) -> FileStamp:
    """What the scan saw of its file; all 0 where it is not one."""
    from commonplace.files.roots import FileStamp, file_stamp

    return file_stamp(ref.stamp) or FileStamp(0, 0, 0, 0)


def _day_of(moment: float) -> str:
    import time

    return time.strftime("%Y-%m-%d", time.localtime(moment))


def _day(text: str | None, option: str, memory: Memory) -> str:
    """The ISO date that ``text`` means: the first of its days, or for ``--before`` the last."""
    if text is None:
        return ""
    from commonplace.text.dates import EXAMPLES, days_of

    days = days_of(text, memory.today)
    if days is None:
        raise UsageError(f"{option} {text!r} is no day", hint=f"days are {EXAMPLES}")
    return days[option == "--before"].isoformat()


def _listed(ref: DocumentRef) -> Listed:
    """What the note says of itself; one that cannot be read is listed without that."""
    from commonplace.files.roots import day_of

    named = day_of(ref.path)
    facts = Listed(
        path=ref.path,
        source=ref.source,
        day=named.isoformat() if named else "",
        changed=_file(ref).mtime_ns / 1e9,
        size=_file(ref).size,
    )
    text = _text(ref.location) if _is_note(ref) else ""
    if not text:
        return facts
    from commonplace.text.notes import note_facts

    said = note_facts(text)
    heading, line = _first_lines(text)
    return facts._replace(
        day=facts.day or (said.day.isoformat() if said.day else ""),
        lines=text.count("\n") + (not text.endswith("\n")),
        title=said.title or heading,
        first_line=line,
        tags=said.tags,
    )


def _is_note(ref: DocumentRef) -> bool:
    return ref.path.lower().endswith(_NOTES)


def _text(location: str) -> str:
    """The text of the file; ``""`` if it cannot be read."""
    from commonplace.files.reading import decode

    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        with os.fdopen(os.open(location, flags | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            return decode(file.read())
    except (OSError, ValueError):  # what is no text, too
        return ""


def _first_lines(text: str) -> tuple[str, str]:
    """The first heading, and the first line of text that is none, behind the front matter."""
    lines = iter(text.split("\n", 500)[:500])
    heading = line = mark = ""
    for number, raw in enumerate(lines):
        row = raw.strip()
        if number == 0 and row in ("---", "+++"):
            mark = row
        elif mark:
            mark = "" if row in (mark, "...") else mark
        elif row and (found := _HEADING.fullmatch(raw.rstrip())):
            heading = heading or found[1].strip()
        elif row:
            line = line or row
        if heading and line:
            break
    return heading, line


def _print(found: list[Listed], context: Context, *, first_line: bool = False) -> None:
    if context.json:
        context.emit({**context.whose, "notes": found})
        return
    if not found:
        return
    from commonplace.cli.streams import one_line
    from commonplace.cli.terminal import columns, fit, size

    rows = [
        (
            note.day or (_day_of(note.changed) if first_line else " " * 10),
            counted(note.lines, "line") if note.lines else size(note.size),
            one_line(note.path),
            one_line(_words(note, first_line=first_line)),
        )
        for note in found
    ]
    for row in columns(rows):
        context.line(fit(row, context.style.width) if context.pretty else row)


def _words(note: Listed, *, first_line: bool) -> str:
    if not first_line or not note.title or not note.first_line:
        return note.title or (note.first_line if first_line else "")
    return f"{note.title}: {note.first_line}"
