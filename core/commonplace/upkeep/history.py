"""What came of the syncs of this process, and what of it is worth telling."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from commonplace.errors import CommonplaceError, IndexBusyError, reason_of
from commonplace.model.reports import SyncEvent, SyncOutcome, SyncReport

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.upkeep.request import SyncRequest

__all__ = ["History", "undone"]

_LASTING_SECONDS = 30.0
"""Another process that writes is no news until it has been at it for this long."""


class History:
    """Remembers the last sync that ended. ``clock`` gives epoch seconds."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._failing_since: float | None = None
        self.last: SyncOutcome | None = None

    def ended(
        self, request: SyncRequest, outcome: SyncReport | CommonplaceError
    ) -> SyncEvent | None:
        """Take note of it; the event to tell, if it is to be told."""
        now = self._clock()
        error = outcome if isinstance(outcome, CommonplaceError) else None
        report = outcome if not isinstance(outcome, CommonplaceError) else None
        wrong = reason_of(error) if error is not None else undone(report or SyncReport())
        since = (self._failing_since or now) if wrong else None
        self._failing_since = since
        if isinstance(error, IndexBusyError) and now - (since or now) < _LASTING_SECONDS:
            return None
        done = report or SyncReport()
        self.last = SyncOutcome(
            at=now,
            reasons=request.reasons,
            added=done.added,
            updated=done.updated,
            removed=done.removed,
            error=wrong,
            failing_since=since,
        )
        return SyncEvent(
            reasons=request.reasons,
            at=now,
            report=report,
            error=error,
            paths=tuple(sorted(request.paths)),
            force=request.force,
        )


def undone(report: SyncReport) -> str:
    """What a sync had to leave that another one may do; ``""`` if it is nothing."""
    lacks = []
    if report.remaining:
        notes = "1 note is" if report.remaining == 1 else f"{report.remaining} notes are"
        lacks.append(f"{notes} not indexed yet")
    done = report.embedding
    if done is not None and done.missing:
        texts = "1 text is" if done.missing == 1 else f"{done.missing} texts are"
        why = done.reason or done.batch_note
        lacks.append(f"{texts} not embedded yet" + (f": {why}" if why else ""))
    return "; ".join(lacks)
