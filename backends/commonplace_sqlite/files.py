"""The files of an index beside each other: damaged ones that were set aside, and their rights."""

from __future__ import annotations

import os
import time
from contextlib import suppress

_MARK = ".damaged-"
_KEPT = 2
"""How many damaged files are kept: the last, and the one before, in case it happens twice."""
_COMPANIONS = ("-wal", "-shm", "-journal")
_SUFFIXES = ("", *_COMPANIONS, ".lock", ".lock.pid")


def set_aside(path: str) -> str:
    """Rename the file and what SQLite keeps beside it; returns the new path. Raises ``OSError``.

    For holders of the writer lease that have no connection open. The companions go first: left
    behind, SQLite would take them for those of the next file.
    """
    target = _free_name(path)
    for suffix in (*_COMPANIONS, ""):
        with suppress(FileNotFoundError):
            os.rename(path + suffix, target + suffix)
    prune(path, keep=_KEPT)
    return target


def prune(path: str, *, keep: int) -> list[str]:
    """Delete all but the newest files that were set aside; returns the deleted ones."""
    deleted = []
    for old in set_aside_before(path)[:-keep]:
        with suppress(OSError):  # what remains is deleted the next time
            for suffix in (*_COMPANIONS, ""):
                with suppress(FileNotFoundError):
                    os.unlink(old + suffix)
            deleted.append(old)
    return deleted


def set_aside_before(path: str) -> list[str]:
    """The damaged files that were set aside beside ``path``, oldest first."""
    folder, name = os.path.split(path)
    try:
        entries = os.listdir(folder)
    except OSError:
        return []
    found = [
        os.path.join(folder, entry)
        for entry in entries
        if entry.startswith(name + _MARK) and not entry.endswith(_COMPANIONS)
    ]
    # Several of one second are numbered, the first one not.
    return sorted(
        found, key=lambda found: (found.rpartition(_MARK)[2].partition("-")[0], len(found), found)
    )


def _free_name(path: str) -> str:
    """A name that sorts after all existing ones, even if the clock went back."""
    wanted = f"{path}{_MARK}{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    number = 1
    if before := set_aside_before(path):
        newest, _, last = before[-1][len(path + _MARK) :].partition("-")
        if f"{path}{_MARK}{newest}" >= wanted:
            wanted, number = f"{path}{_MARK}{newest}", int(last or 1) + 1
    target = wanted if number == 1 else f"{wanted}-{number}"
    while any(os.path.lexists(target + suffix) for suffix in (*_COMPANIONS, "")):
        number += 1
        target = f"{wanted}-{number}"
    return target


def open_to_others(path: str) -> list[str]:
    """Of ``path`` and the files that belong to it, those that others than their owner can open."""
    return [path + suffix for suffix in _SUFFIXES if _mode_of(path + suffix) & 0o077]


def make_private(paths: list[str]) -> None:
    """Leave each that is there to its owner alone. Raises ``OSError``."""
    for path in paths:
        with suppress(FileNotFoundError):  # the log is deleted with its last connection
            os.chmod(path, 0o600)


def _mode_of(path: str) -> int:
    """What is allowed to whom; nothing where there is no such file, or where that is not known."""
    if os.name != "posix":
        return 0
    try:
        return os.stat(path).st_mode & 0o777
    except OSError:
        return 0
