"""How many texts an unknown server takes in one request, found out by asking for more."""

from __future__ import annotations

from threading import Lock

__all__ = ["GrowingLimit"]


class GrowingLimit:
    """Starts at ``start`` texts, doubles with each full request that succeeds, up to ``most``.

    Once a number of texts was refused, half as many are the most from then on.
    """

    def __init__(self, start: int, most: int) -> None:
        self._limit = start
        self._most = most
        self._lock = Lock()

    @property
    def texts(self) -> int:
        """The most texts that the next request may hold."""
        return self._limit

    def succeeded(self, texts: int) -> None:
        """A request of ``texts`` was answered."""
        with self._lock:
            if texts >= self._limit:
                self._limit = min(2 * texts, self._most)

    def refused(self, texts: int) -> None:
        """A request of ``texts`` was refused because they are too many."""
        with self._lock:
            self._most = self._limit = max(1, min(self._limit, texts // 2))
