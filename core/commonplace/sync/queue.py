"""Sync requests, how they are merged, and the queue that runs one sync at a time."""

from __future__ import annotations

import threading
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from commonplace.errors import CallerError, DeadlineExceededError
from commonplace.resilience.deadline import LOOK_SECONDS, NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from commonplace.model.reports import Progress, ProgressCallback, Reason, SyncReport
    from commonplace.resilience.deadline import Deadline

__all__ = [
    "SyncQueue",
    "SyncRequest",
    "merged",
]


class SyncRequest(NamedTuple):
    """A sync that is wanted.

    ``force`` makes the index anew; ``embed`` also embeds what is not; ``eager`` leaves nothing for
    later because it is little. ``paths`` are absolute paths that are known to have changed: they
    are told, and the sync looks at everything all the same. ``wait`` is how many seconds to wait
    for another writer.
    """

    reasons: tuple[Reason, ...]
    force: bool = False
    embed: bool = True
    eager: bool = False
    paths: frozenset[str] = frozenset()
    wait: float = 0.0
    progress: ProgressCallback | None = None


def merged(requests: Iterable[SyncRequest]) -> SyncRequest:
    """One request that does all that ``requests`` want; there must be one at least."""
    wanted = list(requests)
    if len(wanted) == 1:
        return wanted[0]
    told = [request.progress for request in wanted if request.progress is not None]

    def progress(done: Progress) -> None:
        for tell in told:
            tell(done)

    return SyncRequest(
        reasons=tuple(dict.fromkeys(reason for request in wanted for reason in request.reasons)),
        force=any(request.force for request in wanted),
        embed=any(request.embed for request in wanted),
        eager=any(request.eager for request in wanted),
        paths=frozenset().union(*(request.paths for request in wanted)),
        wait=max(request.wait for request in wanted),
        progress=progress if told else None,
    )


class SyncQueue:
    """Runs ``sync`` for all who ask, never twice at once, on the threads of those who ask.

    Requests that come while a round runs gather into one next round: the running one may have
    looked at the files already. The first of them to notice that it has ended leads the next, and
    all whose requests it covers get its report, or its error.
    """

    def __init__(self, sync: Callable[[SyncRequest], SyncReport]) -> None:
        self._sync = sync
        self._changed = threading.Condition()
        self._waiting: list[_Ticket] = []
        self._round: _Round | None = None
        self._closed = False

    @property
    def running(self) -> SyncRequest | None:
        """What the round under way is for."""
        under_way = self._round
        return under_way.request if under_way is not None else None

    def run(self, request: SyncRequest, *, deadline: Deadline = NEVER) -> SyncReport:
        """The report of a round that began after this call and does what ``request`` wants.

        Raises what the round raised. An interrupt of the thread that leads a round ends it for
        that thread alone: another that waits begins it anew. Whoever stops waiting, interrupted
        or at ``deadline`` with :class:`~commonplace.errors.DeadlineExceededError`, takes the
        request along, unless its round has begun. Raises
        :class:`~commonplace.errors.CallerError` once the queue is closed, and on a thread that is
        in the midst of a round.
        """
        ticket = _Ticket(request)
        try:
            if self._leads(ticket, deadline):
                self._lead()
        finally:
            self._leave(ticket)
        return ticket.outcome()

    def close(self) -> None:
        """Refuse all who wait and all who come; the round under way goes on."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def settle(self, seconds: float) -> bool:
        """Wait for the round under way, if there is one; whether it has ended in time."""
        with self._changed:
            if self._leading():
                return True  # it is this very thread that would be waited for
            return self._changed.wait_for(lambda: self._round is None, seconds)

    def _leads(self, ticket: _Ticket, deadline: Deadline) -> bool:
        """Wait for a round: whether it is for this thread to lead it, or it has been led."""
        with self._changed:
            if self._leading():
                raise CallerError(
                    "a sync cannot wait for another one that it is part of",
                    hint="ask for it after the sync, not in its callback",
                )
            self._waiting.append(ticket)
            while not ticket.over:
                if ticket in self._waiting:
                    if self._closed:
                        raise CallerError("this memory is closed", hint="open another one")
                    if self._round is None:
                        self._round = _Round(ticket, self._waiting)
                        self._waiting = []
                        return True
                if deadline.expired:
                    raise DeadlineExceededError("another sync took longer than was waited for")
                self._changed.wait(_patience(deadline))
        return False

    def _lead(self) -> None:
        this = self._round
        assert this is not None, "a leader has a round"
        report: SyncReport | None = None
        failure: Exception | None = None
        try:
            report = self._sync(this.request)
        except Exception as error:  # noqa: BLE001 - raised again for each who waits for it
            failure = error
        with self._changed:
            for covered in this.tickets:
                covered.end(report, failure)

    def _leave(self, ticket: _Ticket) -> None:
        """Leave nothing of this thread's behind, however its waiting or leading ended."""
        with self._changed:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            this = self._round
            if this is not None and this.leader is ticket:
                self._round = None
                # Of a round that was interrupted the others are still to be served.
                again = [other for other in this.tickets if other is not ticket and not other.over]
                self._waiting[:0] = again
            self._changed.notify_all()

    def _leading(self) -> bool:
        return self._round is not None and self._round.thread == threading.get_ident()


class _Round:
    """Requests that are carried out together."""

    def __init__(self, leader: _Ticket, tickets: list[_Ticket]) -> None:
        self.leader = leader
        self.tickets = tickets
        self.thread = threading.get_ident()
        self.request = merged(ticket.request for ticket in tickets)


class _Ticket:
    """One request and what came of it."""

    def __init__(self, request: SyncRequest) -> None:
        self.request = request
        self._report: SyncReport | None = None
        self._failure: Exception | None = None

    @property
    def over(self) -> bool:
        return self._report is not None or self._failure is not None

    def end(self, report: SyncReport | None, failure: Exception | None) -> None:
        self._report, self._failure = report, failure

    def outcome(self) -> SyncReport:
        """The report, or the failure raised here; once it is over."""
        if self._failure is not None:
            raise self._failure
        assert self._report is not None, "a round ends with a report or a failure"
        return self._report


def _patience(deadline: Deadline) -> float | None:
    seconds = deadline.remaining()
    if deadline.cancellable:
        return min(seconds, LOOK_SECONDS)
    return None if seconds == inf else min(seconds, threading.TIMEOUT_MAX)
