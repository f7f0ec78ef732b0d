"""``commonplace status`` shows how changes are noticed, and the last sync."""

from __future__ import annotations

from commonplace.cli.commands.status import _sync_state
from commonplace.model.reports import SyncOutcome, SyncState

AT = 1_700_000_000.0


def test_how_changes_are_noticed_and_since_when() -> None:
    ((label, words),) = _sync_state(SyncState(watching="native", reason="", since=AT, folders=3))
    assert (label, words[:22]) == ("Watched", "by the system since 20")
    ((_, words),) = _sync_state(
        SyncState(watching="polling", reason="it is a network disk", since=AT, folders=3)
    )
    assert words.endswith(": it is a network disk")
    assert list(_sync_state(SyncState(watching="off", reason="sync.watch is false"))) == [
        ("Watched", "no: sync.watch is false")
    ]
    assert list(_sync_state(SyncState())) == []


def test_what_is_being_done_and_what_waits() -> None:
    assert dict(_sync_state(SyncState(running=("watch", "search"), waiting=3))) == {
        "Syncing": "now (watch, search)"
    }
    assert dict(_sync_state(SyncState(waiting=1))) == {"Syncing": "soon: 1 changed path"}
    assert dict(_sync_state(SyncState(full_scan_in=420.0))) == {
        "Full scan": "in 7 min: since the last, only changes"
    }


def test_how_the_last_sync_ended() -> None:
    last = SyncOutcome(at=AT, reasons=("watch",), added=1, updated=2, removed=3)
    (_, words), *rest = _sync_state(SyncState(last=last))
    assert words.endswith(" (watch): 1 added, 2 updated, 3 removed")
    assert rest == []
    failed = last.replace(error="the index is read-only", failing_since=AT)
    facts = dict(_sync_state(SyncState(last=failed)))
    assert facts["  failing"].startswith("the index is read-only since 20")
