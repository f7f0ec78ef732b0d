"""The index file and its folder on disk: made for their owner alone, and told from others."""

from __future__ import annotations

import os
from contextlib import suppress

__all__ = ["bytes_on_disk", "log_size", "make_file", "make_folder", "size_of", "stamp_of"]


def make_folder(folder: str) -> None:
    """Make a folder, and those above it that are missing, for their owner. Raises ``OSError``."""
    if not os.path.isdir(folder):
        make_folder(os.path.dirname(folder))
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
            os.chmod(folder, 0o700)  # the umask may have taken away too much


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
