"""Keeps one server running while it is worth it: started in the background, again after a pause."""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING

from commonplace.plugin import CircuitBreaker
from commonplace_qmd.engine.faults import QmdError
from commonplace_qmd.engine.index import known_collections

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.plugin import Deadline
    from commonplace_qmd.engine.server import Server
    from commonplace_qmd.engine.types import QmdHome

__all__ = ["Resident"]

_PAUSE = 5.0  # seconds before the next attempt after a failure, doubling
_LONGEST_PAUSE = 300.0
_STUCK = 300.0  # ranking again takes minutes without a graphics card

Stamp = tuple[int, ...]


class Resident:
    """At most one server, of ``start``; safe to share between threads.

    QMD reads its configuration when it starts: once that has changed, another one is started.
    """

    def __init__(
        self, start: Callable[[], Server], home: QmdHome, *, clock: Callable[[], float]
    ) -> None:
        self._start = start
        self._home = home
        self._lock = Lock()
        self._breaker = CircuitBreaker(
            cooldown=_PAUSE, longest=_LONGEST_PAUSE, monotonic=clock, clock=clock
        )
        self._server: Server | None = None
        self._stamp: Stamp = (0,)
        self._known: frozenset[str] = frozenset()
        self._closed = False

    def server(
        self, deadline: Deadline, *, patient: bool = True
    ) -> tuple[Server, frozenset[str]] | None:
        """A server that can be asked by ``deadline``, and the collections that it knows.

        If there is none it is started, and with no time left only that: ``None`` is told. It does
        one thing at a time: unless ``patient``, one that still owes an answer is not asked.
        """
        with self._lock:
            server = self._current()
        if server is None:
            return None
        try:
            # Before it is looked at what it owes: until it is greeted, it owes its greeting.
            if not server.ready(deadline) or (server.owing is not None and not patient):
                return None
        except QmdError as error:
            self.failed(server, str(error))
            return None
        with self._lock:
            if server is not self._server:
                return None
            if not self._known:
                self._known = known_collections(self._home.index_path)
            return server, self._known

    def answered(self) -> None:
        """Report that a server did what it was asked."""
        self._breaker.succeeded()

    def failed(self, server: Server, reason: str) -> None:
        """Report that ``server`` cannot be relied on; it is ended."""
        with self._lock:
            if server is self._server:
                self._server = None
                self._breaker.failed(reason)
        server.stop()

    def close(self) -> None:
        """End the server, even in the middle of a request; closing twice is fine."""
        with self._lock:
            self._closed = True
            server, self._server = self._server, None
        if server is not None:
            server.stop()

    def _current(self) -> Server | None:
        stamp = self._stamped()
        server = self._server
        if server is not None and not server.alive:
            self._server = None
            if server.ours and not server.idled:
                self._breaker.failed("the resident server ended by itself")
        elif server is not None and (server.owing or 0.0) > _STUCK:
            self._server = None
            self._breaker.failed("the resident server is stuck")
            server.stop()
        elif server is not None and self._changed(stamp):
            self._server = None
            server.stop()
        if self._server is None and not self._closed and self._breaker.allow():
            self._known, self._stamp = frozenset(), stamp
            try:
                self._server = self._start()
            except (OSError, QmdError) as error:
                self._breaker.failed(str(error))
        return self._server

    def _changed(self, stamp: Stamp) -> bool:
        *config, index = self._stamp
        if config == list(stamp[:-1]) and not index:
            self._stamp = stamp  # an index that was not there is the one it made
        return stamp != self._stamp

    def _stamped(self) -> Stamp:
        """Of the configuration, and of which file the index is: one may be put in its place."""
        config = _stat(os.path.join(self._home.config_dir, "index.yml"))
        index = _stat(self._home.index_path)
        return (
            *((config.st_mtime_ns, config.st_size, config.st_ino) if config else ()),
            index.st_ino if index else 0,
        )


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None
