"""Stands in for the hub of models, and has none: who asks learns at once, not after retries."""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Lock, Thread

__all__ = ["Refusal"]

_ANSWER = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_PATIENCE = 2.0
_REQUEST = 1 << 16


class Refusal:
    """A server on the loopback that answers 404; it runs from the first :meth:`address` on."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._listening: socket.socket | None = None

    def address(self) -> str:
        """Its URL, ending in a slash; where nothing can listen, one where nobody does."""
        with self._lock:
            if self._listening is None:
                try:
                    self._listening = socket.create_server(("127.0.0.1", 0))
                except OSError:
                    return "http://127.0.0.1:9/"
                target = self._listening
                Thread(target=_refuse, args=(target,), name="qmd-refusal", daemon=True).start()
            return f"http://127.0.0.1:{self._listening.getsockname()[1]}/"

    def close(self) -> None:
        """Stop listening; closing twice is fine."""
        with self._lock:
            listening, self._listening = self._listening, None
            if listening is not None:
                with suppress(OSError):
                    listening.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
                listening.close()


def _refuse(listening: socket.socket) -> None:
    while True:
        try:
            asking, _ = listening.accept()
        except OSError:
            return
        with asking, suppress(OSError):
            asking.settimeout(_PATIENCE)
            asking.recv(_REQUEST)
            asking.sendall(_ANSWER)
