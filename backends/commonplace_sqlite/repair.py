"""Setting a damaged file aside, where nothing of it is lost."""

from __future__ import annotations

import os
import time
from contextlib import suppress

__all__ = ["set_aside", "set_aside_before"]

_MARK = ".damaged-"
_COMPANIONS = ("-wal", "-shm", "-journal")


def set_aside(path: str) -> str:
    """Rename the file and what SQLite keeps beside it; returns the new path. Raises ``OSError``.

    For holders of the writer lease that have no connection open. The companions go first: left
    behind, SQLite would take them for those of the next file.
    """
    target = _free_name(path)
    for suffix in (*_COMPANIONS, ""):
        with suppress(FileNotFoundError):
            os.rename(path + suffix, target + suffix)
    return target


def set_aside_before(path: str) -> list[str]:
    """The files that stand beside ``path`` since they were set aside, oldest first."""
    folder, name = os.path.split(path)
    try:
        entries = os.listdir(folder)
    except OSError:
        return []
    return sorted(
        os.path.join(folder, entry)
        for entry in entries
        if entry.startswith(name + _MARK) and not entry.endswith(_COMPANIONS)
    )


def _free_name(path: str) -> str:
    wanted = f"{path}{_MARK}{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    target, number = wanted, 1
    while any(os.path.lexists(target + suffix) for suffix in (*_COMPANIONS, "")):
        number += 1
        target = f"{wanted}-{number}"
    return target
