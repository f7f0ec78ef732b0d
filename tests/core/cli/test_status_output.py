"""``commonplace status`` shows how changes are noticed, and the last sync."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace.cli.commands.status import _embedding, _sync_state
from commonplace.cli.terminal import since
from commonplace.memory import Memory
from commonplace.model.reports import ProviderState, SyncOutcome, SyncState

if TYPE_CHECKING:
    from pathlib import Path

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


@pytest.mark.parametrize(
    ("state", "retry_in", "again"),
    [
        ("failing", 29.4, ", next try in 29 s"),
        ("failing", 3540.0, ", next try in 59 min"),
        ("probing", 0.0, ", the next call tries again"),
    ],
)
def test_when_a_failing_provider_is_tried_again(
    state: str, retry_in: float, again: str, tmp_path: Path
) -> None:
    provider = ProviderState(
        id="p", role="primary", state=state, reason="oops", since=AT, retry_in=retry_in
    )
    env = {"HOME": str(tmp_path)}
    with Memory.open(workspace=tmp_path, env=env) as memory:
        status = memory.status().replace(providers=(provider,))
    ((_, words),) = _embedding(status)
    assert words == f"p, 0 of 0 chunks embedded; failing{since(AT)}{again}: oops"
