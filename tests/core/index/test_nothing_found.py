from __future__ import annotations

import pytest

from commonplace.cli.commands.index import warnings_of
from commonplace.index.planning import words_on_remaining
from commonplace.index.syncing import NO_NOTES, nothing_found
from commonplace.model.documents import RootFailure
from commonplace.model.reports import SyncReport

DENIED = (("memory/a.md", "Permission denied"),)
CLOSED = (RootFailure("memory", "Permission denied"),)


def test_a_sync_without_notes_found_nothing_whatever_it_removed() -> None:
    report = SyncReport(removed=3, known=3, absent_roots=CLOSED, empty=("looked for *.md",))
    assert nothing_found(report) == ("looked for *.md",)
    assert warnings_of(report) == ["looked for *.md"]
    assert nothing_found(SyncReport()) == (NO_NOTES,)


@pytest.mark.parametrize(
    ("report", "line"),
    [
        (SyncReport(remaining=3), "3 notes left for the next run"),
        (SyncReport(unreadable=DENIED), "memory/a.md could not be read: Permission denied"),
        (SyncReport(failed_roots=CLOSED), "memory could not be scanned: Permission denied"),
    ],
)
def test_what_was_not_read_is_not_taken_for_nothing(report: SyncReport, line: str) -> None:
    assert nothing_found(report) == ()
    assert warnings_of(report) == [line]


def test_an_engine_that_only_says_what_it_knows_is_believed() -> None:
    assert nothing_found(SyncReport(known=1)) == ()
    assert nothing_found(SyncReport(known=3, removed=2)) == ()


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (SyncReport(remaining=2442, known=0, added=559), "2442 of 3001 notes are not indexed yet"),
        (SyncReport(remaining=2, known=1, unchanged=1), "2 of 3 notes are not indexed yet"),
        (SyncReport(remaining=1), "1 of 1 note is not indexed yet"),
        (
            SyncReport(remaining=2, known=5, unchanged=3),
            "2 changed notes may not be in this answer as they are now",
        ),
        (
            SyncReport(remaining=1, known=9, unchanged=9),
            "1 changed note may not be in this answer as it is now",
        ),
    ],
)
def test_notes_that_are_left_are_counted_as_what_they_are(report: SyncReport, words: str) -> None:
    assert words_on_remaining(report) == words
