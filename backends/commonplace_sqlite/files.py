"""The index file and its folder on disk: made for their owner alone, and told from others."""

from __future__ import annotations

import os
from contextlib import suppress

__all__ = [
    "barred_folder",
    "bytes_on_disk",
    "log_size",
    "make_file",
    "make_private",
    "open_to_others",
    "size_of",
    "stamp_of",
]

_SUFFIXES = ("", "-wal", "-shm", "-journal", ".lock", ".lock.pid")


def barred_folder(path: str) -> str:
    """What forbids this process to make ``path``: a folder above, or ``""`` where nothing does."""
    above = os.path.dirname(path)
    while not os.path.lexists(above) and os.path.dirname(above) != above:
        above = os.path.dirname(above)
    return "" if os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK) else above


def make_file(path: str) -> None:
    """Make an empty file for its owner, unless there is one. Raises ``OSError``.

    A file that is there is not opened: closed again, this process would lose its locks on it.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    try:
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, 0o600)  # as above
    finally:
        os.close(descriptor)


def stamp_of(path: str, *, frozen: bool = False) -> tuple[int, ...] | None:
    """What changes when another file takes the place of this one; ``None`` where there is none.

    With ``frozen`` it changes with any change of the file, for SQLite does not look for them there.
    """
    try:
        stat = os.stat(path)
    except OSError:
        return None
    if not frozen:
        return stat.st_dev, stat.st_ino
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, log_size(path)


def log_size(path: str) -> int:
    """Bytes in the write-ahead log of ``path``; 0 where there is none."""
    return size_of(f"{path}-wal")


def bytes_on_disk(path: str) -> int:
    """Bytes in ``path`` and in the files that SQLite keeps beside it."""
    return size_of(path) + size_of(f"{path}-wal") + size_of(f"{path}-shm")


def size_of(path: str) -> int:
    """Bytes in ``path``; 0 where there is no such file."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def open_to_others(path: str) -> list[str]:
    """Of ``path`` and the files that belong to it, those that others than their owner can open."""
    return [path + suffix for suffix in _SUFFIXES if _mode_of(path + suffix) & 0o077]


def make_private(paths: list[str]) -> None:
    """Leave each that is there to its owner alone. Raises ``OSError``."""
    for path in paths:
        with suppress(FileNotFoundError):  # the log goes with its last connection
            os.chmod(path, 0o600)


def _mode_of(path: str) -> int:
    """What is allowed to whom; nothing where there is no such file, or where that is not known."""
    if os.name != "posix":
        return 0
    try:
        return os.stat(path).st_mode & 0o777
    except OSError:
        return 0
