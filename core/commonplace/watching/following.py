"""Telling of changes for as long as the watched places are the same."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

    from commonplace.watching.polling import Poller
    from commonplace.watching.system import SystemWatch

__all__ = ["Following"]

# Seconds between looks for what nobody tells: a folder far above was moved or mounted, or so much
# happened at once that some of it was lost.
_LOOK = 5.0
_BREATH = 0.5  # seconds between looks whether there is anything to do but wait


class Following:
    """Calls ``tell`` with the paths that ``system`` tells, and those ``poller`` finds beside it.

    It ends once ``stop`` is set, ``ended`` says so, the places do not stand as they did, or
    ``are_others`` says that there are others. All is done on the thread that calls :meth:`run`.
    """

    def __init__(
        self,
        system: SystemWatch,
        poller: Poller | None,
        *,
        tell: Callable[[frozenset[str]], None],
        stop: Event,
        ended: Callable[[], bool],
        are_others: Callable[[], bool],
        clock: Callable[[], float],
    ) -> None:
        self._system = system
        self._poller = poller
        self._tell = tell
        self._stop = stop
        self._ended = ended
        self._are_others = are_others
        self._clock = clock
        self._awake_at = clock()
        self._look_at = clock() + _LOOK
        self._poll_at = clock() + poller.pause if poller is not None else inf
        self._over = False

    def run(self) -> None:
        """Tell until it is over; raises ``UnavailableError`` where watching has failed."""
        while not self._is_over():
            found = self._system.changes(self)
            if found is None and self._system.is_due():
                # What was told in the moment of waking is lost, so that anything may have changed.
                found = self._system.renew() | self._system.everything
            if found:
                self._tell(found)

    def is_set(self) -> bool:
        """Whether to stop waiting for the system to tell something."""
        # Asked twenty times a second, so what can wait for a breath is not done here.
        return self._stop.is_set() or (self._clock() >= self._awake_at and self._is_awake())

    def _is_awake(self) -> bool:
        """Do what is due besides waiting; whether to stop."""
        self._awake_at = self._clock() + _BREATH
        if self._poller is not None and self._clock() >= self._poll_at:
            found = self._poller.changes()
            self._poll_at = self._clock() + self._poller.pause
            if found:
                self._tell(found)
        return self._is_over() or self._system.is_due()

    def _is_over(self) -> bool:
        if self._ended():
            return True
        if not self._over and (self._system.in_doubt or self._clock() >= self._look_at):
            self._look_at = self._clock() + _LOOK
            self._over = not self._system.stands() or self._are_others()
            if not self._over:
                self._system.check()
        return self._over
