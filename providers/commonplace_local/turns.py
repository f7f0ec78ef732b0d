"""A lock for which the urgent go first."""

from __future__ import annotations

import threading

__all__ = ["Turns"]


class Turns:
    """One holder at a time; while somebody urgent waits, nobody else is let in.

    A plain lock would let an indexing thread take it again and again, past a waiting search.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held = False
        self._urgent = 0

    def take(self, *, urgent: bool, timeout: float) -> bool:
        """Wait for a turn, at most ``timeout`` seconds; whether it came."""
        with self._changed:
            self._urgent += urgent
            try:
                free = self._changed.wait_for(
                    lambda: not self._held and (urgent or not self._urgent),
                    min(timeout, threading.TIMEOUT_MAX),
                )
            finally:
                self._urgent -= urgent
                self._changed.notify_all()
            if free:
                self._held = True
            return free

    def give_back(self) -> None:
        """Let the next one in."""
        with self._changed:
            self._held = False
            self._changed.notify_all()
