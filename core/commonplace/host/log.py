"""The log that the program around us may listen to."""

from __future__ import annotations

import logging

__all__ = ["logger"]


def logger() -> logging.Logger:
    """The logger ``commonplace``; the program decides where it goes, not Python's last resort."""
    log = logging.getLogger("commonplace")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    return log
