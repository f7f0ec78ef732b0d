"""Tells how far a download is."""

from __future__ import annotations

import sys

__all__ = ["Announcer"]

_STEP = 10  # percent between two lines of the log


class Announcer:
    """Called with (bytes here, bytes in all): to the log, and to a terminal where there is one."""

    def __init__(self, what: str) -> None:
        import logging

        self._what = what
        self._log = logging.getLogger("commonplace.local")
        self._told = -1
        self._shown = -1

    def __call__(self, here: int, size: int | None) -> None:
        """Say it, if it has changed by enough."""
        share = here * 100 // size if size else 0
        if share // _STEP > self._told:
            self._told = share // _STEP
            self._log.info("downloading %s: %d of %s bytes", self._what, here, size or "?")
        if share > self._shown and sys.stderr is not None and sys.stderr.isatty():
            self._shown = share
            end = "\n" if share >= 100 else ""
            sys.stderr.write(f"\rdownloading {self._what}: {share} %{end}")
            sys.stderr.flush()
