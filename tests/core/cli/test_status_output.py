"""``commonplace status`` shows how changes are noticed, and the last sync."""

from __future__ import annotations

from commonplace.cli.commands.status import _upkeep
from commonplace.model.reports import SyncOutcome, UpkeepState

AT = 1_700_000_000.0


def test_how_changes_are_noticed_and_since_when() -> None:
    ((label, words),) = _upkeep(UpkeepState("native", "", AT, 3))
    assert (label, words[:22]) == ("Watched", "by the system since 20")
    ((_, words),) = _upkeep(UpkeepState("polling", "it is a network disk", AT, 3))
    assert words.endswith(": it is a network disk")
    assert list(_upkeep(UpkeepState("off", "sync.watch is false"))) == [
        ("Watched", "no: sync.watch is false")
    ]
    assert list(_upkeep(UpkeepState())) == []


def test_what_is_being_done_and_what_waits() -> None:
    assert dict(_upkeep(UpkeepState(running=("watch", "search"), waiting=3))) == {
        "Syncing": "now (watch, search)"
    }
    assert dict(_upkeep(UpkeepState(waiting=1))) == {"Syncing": "soon: 1 changed path"}


def test_how_the_last_sync_ended() -> None:
    last = SyncOutcome(AT, ("watch",), added=1, updated=2, removed=3)
    (_, words), *rest = _upkeep(UpkeepState(last=last))
    assert words.endswith(" (watch): 1 added, 2 updated, 3 removed")
    assert rest == []
    failed = last._replace(error="the index is read-only", failing_since=AT)
    facts = dict(_upkeep(UpkeepState(last=failed)))
    assert facts["  failing"].startswith("the index is read-only since 20")
