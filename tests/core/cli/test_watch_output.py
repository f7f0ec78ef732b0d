"""Syncs printed as they happen: what is news, and what is not."""

from __future__ import annotations

import io
import json
from argparse import Namespace
from typing import Any

from commonplace.cli.commands.watch import SyncPrinter
from commonplace.cli.context import Context
from commonplace.errors import IndexReadOnlyError
from commonplace.model.reports import Embedding, SyncEvent, SyncReport, SyncState

AT = 1_700_000_000.0
NOTHING = SyncReport(unchanged=3)


class Screen:
    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.out, self.err = io.StringIO(), io.StringIO()
        args = Namespace(json=as_json, workspace=None, config=None, agent=None)
        context = Context(args, out=self.out, err=self.err, env={})
        self.printer = SyncPrinter(context, "/notes", quiet=quiet)

    def event(self, report: SyncReport | None = None, **more: Any) -> None:
        self.printer.event(SyncEvent(reasons=("watch",), at=AT, report=report, **more))

    def lines(self) -> list[str]:
        """What was written, without the time of day."""
        return [line.partition("  ")[2] for line in self.out.getvalue().splitlines()]

    def notes(self) -> list[str]:
        return self.err.getvalue().splitlines()


def test_what_was_done_is_a_line_with_the_paths() -> None:
    screen = Screen()
    report = SyncReport(added=1, updated=2, removed=3, unchanged=9)
    screen.event(report, paths=("/notes/memory/a.md",))
    paths = ("/elsewhere/b.md", "/notes/MEMORY.md", "/notes/memory/a.md", "/notes/z", "/notes/y")
    screen.event(
        SyncReport(unchanged=3, embedding=Embedding(provider="x", embedded=1, cached=1)),
        paths=paths,
    )
    screen.event(SyncReport(rebuilt=True, unchanged=3))
    assert screen.lines() == [
        "1 added, 2 updated, 3 removed  memory/a.md, 5 more",
        "2 texts embedded  /elsewhere/b.md, MEMORY.md, memory/a.md, 2 more",
        "rebuilt  (watch)",
    ]
    assert screen.notes() == []


def test_folders_give_way_to_what_is_in_them() -> None:
    screen = Screen()
    paths = ("/notes/MEMORY.md", "/notes/memory", "/notes/memory.md", "/notes/memory/a/b.md")
    screen.event(SyncReport(added=1), paths=paths)
    screen.event(SyncReport(removed=3), paths=("/notes/memory", "/notes/memory/a", "/notes/mem"))
    assert screen.lines() == [
        "1 added  MEMORY.md, memory.md, memory/a/b.md",
        "3 removed  memory/a, mem",
    ]


def test_a_sync_without_changes_prints_nothing() -> None:
    screen = Screen()
    screen.event(NOTHING, paths=("/notes/memory/a.md",))
    assert screen.lines() == []


def test_a_name_cannot_steer_the_terminal() -> None:
    screen = Screen()
    screen.event(SyncReport(added=1), paths=("/notes/\x1b[2J.md",))
    assert "\x1b" not in screen.out.getvalue()


def test_an_error_is_printed_once_and_its_end() -> None:
    screen = Screen()
    error = IndexReadOnlyError("it cannot be written", hint="chmod")
    for _ in range(3):
        screen.event(error=error)
    screen.event(NOTHING)
    screen.event(NOTHING)
    screen.event(error=error)
    screen.event(SyncReport(added=1, unchanged=3))
    assert screen.lines() == [
        "failed: it cannot be written (chmod)  (watch)",
        "recovered  (watch)",
        "failed: it cannot be written (chmod)  (watch)",
        "1 added  (watch)",
    ]


def test_a_warning_is_printed_once() -> None:
    screen = Screen()
    bad = NOTHING.replace(unreadable=(("memory/a.md", "Permission denied"),))
    screen.printer.skip(["memory/a.md could not be read: Permission denied"])
    screen.event(bad)
    assert screen.notes() == []
    worse = bad.replace(skipped_symlinks=1)
    screen.event(worse)
    screen.event(worse)
    assert screen.notes() == ["note: 1 symbolic link not followed"]
    screen.event(NOTHING)
    screen.event(bad)
    assert screen.notes()[1:] == ["note: memory/a.md could not be read: Permission denied"]


def test_quiet_prints_only_warnings_and_failures() -> None:
    screen = Screen(quiet=True)
    screen.event(SyncReport(added=1, unchanged=3))
    screen.event(error=IndexReadOnlyError("it cannot be written"))
    assert screen.lines() == ["failed: it cannot be written  (watch)"]


def test_with_json_each_is_an_object_on_a_line() -> None:
    screen = Screen(as_json=True)
    screen.event(NOTHING)
    screen.event(SyncReport(added=1, unchanged=3), paths=("/notes/memory/a.md",))
    screen.event(error=IndexReadOnlyError("it cannot be written", hint="chmod"))
    screen.printer.watching(SyncState(watching="polling", reason="asked for", since=AT, folders=2))
    done, failed, watch = map(json.loads, screen.out.getvalue().splitlines())
    assert (done["event"], done["at"], done["reasons"]) == ("sync", AT, ["watch"])
    assert (done["paths"], done["report"]["added"]) == (["/notes/memory/a.md"], 1)
    assert done["report"]["warnings"] == []
    assert failed["error"] == {
        "type": "IndexReadOnlyError",
        "message": "it cannot be written",
        "hint": "chmod",
    }
    assert watch == {
        "schemaVersion": 1,
        "event": "watching",
        "mode": "polling",
        "reason": "asked for",
        "folders": 2,
    }
    quiet = Screen(as_json=True, quiet=True)
    quiet.event(SyncReport(added=1, unchanged=3))
    assert quiet.out.getvalue() == ""


def test_the_watch_mode_is_printed_when_it_changes() -> None:
    screen = Screen()
    screen.printer.watching(None)
    screen.printer.watching(SyncState())
    for _ in range(2):
        screen.printer.watching(SyncState(watching="native", reason="", since=AT, folders=1))
    screen.printer.watching(SyncState(watching="native", reason="", since=AT, folders=2, waiting=3))
    screen.printer.watching(
        SyncState(watching="polling", reason="the limit is reached", since=AT, folders=2)
    )
    screen.printer.watching(SyncState(watching="off", reason="it failed", since=AT))
    assert screen.notes() == [
        "note: watching 1 folder",
        "note: watching 2 folders by polling: the limit is reached",
        "note: not watching: it failed",
    ]


def test_what_comes_back_after_it_had_gone_is_news_once_more() -> None:
    screen = Screen()
    unread = SyncReport(unchanged=3, unreadable=(("memory/a.md", "no right to read it"),))
    native = SyncState(watching="native", since=AT, folders=2)
    polling = SyncState(watching="polling", reason="the limit is reached", since=AT, folders=2)
    for report, state in ((unread, polling), (NOTHING, native)) * 2:
        screen.event(report)
        screen.printer.watching(state)
    first, again = screen.notes()[:3], screen.notes()[3:]
    assert "memory/a.md" in first[0]
    assert "by polling" in first[1]
    assert again == first
