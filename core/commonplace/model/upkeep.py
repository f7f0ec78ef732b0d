"""What there is to say about keeping an index up to the files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from commonplace.errors import CommonplaceError
    from commonplace.model.reports import SyncReport

__all__ = ["Reason", "SyncEvent", "SyncListener", "SyncOutcome", "UpkeepState", "WatchMode"]

Reason = Literal[
    "demand", "start", "session-start", "search", "watch", "interval", "post-compaction"
]
"""Why a sync is made: somebody asked for it; watching began; a session did; a search met changed
files; a file changed; its time had come; a session was compacted."""

WatchMode = Literal["native", "polling", "off"]
"""Who notices changed files: the operating system, somebody who looks again and again, or nobody.
"""


class SyncEvent(NamedTuple):
    """A sync that ended, or could not be made.

    ``report`` says what was done, or ``error`` why nothing was: one of them is there. ``paths`` are
    the absolute paths whose change was noticed, where that is known; ``at`` is when it ended, in
    epoch seconds.
    """

    reasons: tuple[Reason, ...]
    at: float
    report: SyncReport | None = None
    error: CommonplaceError | None = None
    paths: tuple[str, ...] = ()
    force: bool = False


SyncListener = Callable[[SyncEvent], None]


class SyncOutcome(NamedTuple):
    """How the last sync of this process ended, ``at`` epoch seconds, and why it was made.

    ``error`` is what was wrong, in one line, and ``failing_since`` when that began.
    """

    at: float
    reasons: tuple[Reason, ...]
    added: int = 0
    updated: int = 0
    removed: int = 0
    error: str = ""
    failing_since: float | None = None


class UpkeepState(NamedTuple):
    """Who keeps the index up to the files in this process.

    ``watching`` with its ``reason``, where it is not as good as it could be, ``since`` (epoch
    seconds) and over how many ``folders``. ``running`` are the reasons of the sync under way;
    ``waiting`` counts the changed paths that wait for the next one, which is due in ``due_in``
    seconds (``None``: none is).
    """

    watching: WatchMode = "off"
    reason: str = ""
    since: float | None = None
    folders: int = 0
    running: tuple[Reason, ...] = ()
    waiting: int = 0
    due_in: float | None = None
    last: SyncOutcome | None = None
