"""The command ``ltm``: the person's view of the long-term store."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from commonplace.plugin import (
    CallerError,
    UsageError,
    check_output,
    columns,
    counted,
    positive_int,
    write_output,
)
from commonplace_longterm.entries import CATEGORIES
from commonplace_longterm.markdown import TITLE, read, written
from commonplace_longterm.original import originals
from commonplace_longterm.settings import ID

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from commonplace.plugin import Context
    from commonplace_longterm.entries import Entry
    from commonplace_longterm.toolset import LongTermTools

_SEARCH_SCORE = 0.3
_SEARCH_LIMIT = 5
_TAKES = {"search": "a query", "import": "a file", "forget": "the id of a memory"}
_MOST_BYTES = 64_000_000


class LtmCommand:
    """Lists, searches, exports, imports and deletes memories of one agent."""

    name = "ltm"
    summary = "List, search, export, import and forget the memories of the long-term store"
    examples = (
        "commonplace ltm list --limit 20",
        'commonplace ltm search "which editor do I use?"',
        "commonplace ltm stats",
        "commonplace ltm export memories.md",
        "commonplace ltm import memories.md --replace",
        "commonplace ltm import ~/.openclaw/memory/lancedb",
        "commonplace ltm forget 0b0e6c1a",
    )

    def configure(self, parser: ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "action",
            choices=("list", "search", "stats", "export", "import", "forget"),
            help="list: the newest first; search: the best for a query; stats: how many, and how "
            "many have vectors; export: all as Markdown; import: take such a file; forget: delete",
        )
        parser.add_argument(
            "value",
            metavar="WHAT",
            nargs="?",
            help="search: the query; export, import: the file (- is standard output or input), "
            "or for import the folder of an original's memories; forget: an id, or its first eight "
            "characters",
        )
        parser.add_argument("--limit", metavar="N", type=positive_int, help="list, search: most")
        parser.add_argument("--category", choices=CATEGORIES, help="list: only these")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="import: delete the memories that are not in the file",
        )

    def run(self, args: Namespace, context: Context) -> int:
        """Run the action."""
        if args.action in _TAKES and not (args.value or "").strip():
            raise UsageError(
                f"ltm {args.action} takes {_TAKES[args.action]}",
                hint=f"commonplace ltm --help shows how to {args.action}",
            )
        if args.value and args.action in {"list", "stats"}:
            raise UsageError(f"ltm {args.action} takes nothing more", hint="commonplace ltm --help")
        with context.open_memory() as memory:
            tools = cast("LongTermTools", memory.plugin_tools.get(ID))
            actions = {
                "list": _list,
                "search": _search,
                "stats": _stats,
                "export": _export,
                "import": _import,
                "forget": _forget,
            }
            return actions[args.action](tools, args, context)


def _list(tools: LongTermTools, args: Namespace, context: Context) -> int:
    entries = tools.store.entries(category=args.category, limit=args.limit)
    if context.json:
        context.emit({"agent": tools.agent, "memories": [_data(entry) for entry in entries]})
        return 0
    for entry in entries:
        context.line(_line(entry))
    if not entries:
        context.note("there are no memories")
    return 0


def _search(tools: LongTermTools, args: Namespace, context: Context) -> int:
    limit = args.limit or _SEARCH_LIMIT
    recalled = tools.store.recall(args.value, limit=limit, min_score=_SEARCH_SCORE)
    if recalled.note:
        context.note(recalled.note)
    if context.json:
        found = [_data(hit.entry) | {"score": hit.score} for hit in recalled.found]
        context.emit({"agent": tools.agent, "memories": found, "note": recalled.note})
        return 0
    for hit in recalled.found:
        context.line(f"{hit.score:.3f}  {_line(hit.entry)}")
    if not recalled.found:
        context.line("No matches.")
    return 0


def _stats(tools: LongTermTools, args: Namespace, context: Context) -> int:
    del args
    stats = tools.store.stats()
    if context.json:
        context.emit(
            {
                "agent": tools.agent,
                "entries": stats.entries,
                "categories": stats.categories,
                "embedded": stats.embedded,
                "provider": stats.provider,
                "model": stats.model,
                "note": stats.note,
            }
        )
        return 0
    rows = [("memories", str(stats.entries))]
    rows += [(f"  {name}", str(number)) for name, number in stats.categories.items() if number]
    rows.append(("embedded", f"{stats.embedded} of {stats.entries}"))
    rows.append(("provider", f"{stats.provider} {stats.model}" if stats.provider else "none"))
    for row in columns(rows):
        context.line(row)
    if stats.note:
        context.note(stats.note)
    return 0


def _export(tools: LongTermTools, args: Namespace, context: Context) -> int:
    if args.value not in {None, "-"}:  # another file, such as MEMORY.md itself, is not replaced
        check_output(args.value, "memories", lambda first: first.startswith(TITLE.encode()))
    entries = tools.store.entries()
    text = written(entries, tools.agent)
    if args.value in {None, "-"}:
        if context.json:
            context.emit({"agent": tools.agent, "memories": [_data(entry) for entry in entries]})
        else:
            context.out.write(text)
        return 0
    write_output(args.value, text)
    if context.json:
        context.emit({"agent": tools.agent, "file": args.value, "entries": len(entries)})
    else:
        context.line(f"{_memories(len(entries))} in {args.value}")
    return 0


def _import(tools: LongTermTools, args: Namespace, context: Context) -> int:
    left_out = 0
    if os.path.isdir(args.value):
        tools.store.database.check()
        entries, left_out = originals(args.value, tools.agent)
    else:
        known = {entry.id: entry for entry in tools.store.entries()}
        entries = read(_text(args.value), now=int(time.time() * 1000), known=known)
    if args.replace and not entries:
        raise CallerError(
            f"{args.value} holds no memory: with --replace all would be deleted",
            hint="check the file",
        )
    taken = tools.store.take(entries, replace=args.replace)
    if taken.note:
        context.note(taken.note)
    if left_out:
        context.note(f"left out: {_memories(left_out)} that are not whole, or of one scope alone")
    if context.json:
        context.emit(
            {
                "agent": tools.agent,
                "added": taken.added,
                "updated": taken.updated,
                "unchanged": taken.unchanged,
                "removed": taken.removed,
                "doubles": taken.doubles,
                "leftOut": left_out,
                "note": taken.note,
            }
        )
        return 0
    context.line(
        f"{taken.added} added, {taken.updated} updated, {taken.unchanged} unchanged, "
        f"{taken.removed} removed, {taken.doubles} known under another id"
    )
    return 0


def _forget(tools: LongTermTools, args: Namespace, context: Context) -> int:
    entry = tools.store.find(args.value)
    tools.store.forget([entry.id])
    if context.json:
        context.emit({"agent": tools.agent, "forgotten": _data(entry)})
    else:
        context.line(f"forgotten: {_line(entry)}")
    return 0


def _text(file: str) -> str:
    """A file's text; raises ``CallerError`` where it cannot be read whole."""
    shown = "standard input" if file == "-" else file
    try:
        if file == "-":
            if sys.stdin is None:
                raise CallerError("standard input is closed", hint="name a file")
            data = sys.stdin.buffer.read(_MOST_BYTES + 1)
        else:
            with open(file, "rb") as stream:
                data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise CallerError(
            f"{shown} cannot be read: {error.strerror or error}",
            hint="name a file that `ltm export` wrote, or - for standard input",
        ) from error
    if len(data) > _MOST_BYTES:
        raise CallerError(f"{shown} has more than {_MOST_BYTES:,} bytes", hint="import it in parts")
    with suppress(UnicodeDecodeError):
        return data.decode("utf-8-sig")
    raise CallerError(f"{shown} is no text in UTF-8", hint="save it as UTF-8")


def _data(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "text": entry.text,
        "category": entry.category,
        "importance": entry.importance,
        "createdAt": entry.created,
        "origin": entry.origin,
    }


def _memories(number: int) -> str:
    return counted(number, "memory", "memories")


def _line(entry: Entry) -> str:
    return f"{entry.id[:8]}  [{entry.category}] {' '.join(entry.text.split())}"
