"""What SQLite's errors, and the system's, mean for an index, and what to raise in their place."""

from __future__ import annotations

import errno
import os
import zlib

import apsw

from commonplace.plugin import (
    DeadlineExceededError,
    IndexBusyError,
    IndexCorruptError,
    IndexNewerError,
    IndexReadOnlyError,
    IndexUnavailableError,
)

DAMAGE = (apsw.CorruptError, apsw.NotADBError)
"""What SQLite raises for a damaged file."""

UNREADABLE = (zlib.error, UnicodeDecodeError)
"""What is raised for a row that is not as it was written."""

_WHILE_WRITING = frozenset(
    {
        apsw.SQLITE_IOERR_WRITE,
        apsw.SQLITE_IOERR_FSYNC,
        apsw.SQLITE_IOERR_TRUNCATE,
        apsw.SQLITE_IOERR_SHMSIZE,
        apsw.SQLITE_IOERR_SHMMAP,
    }
)
"""What SQLite says where a file could not be written, or not grow: the disk may be full."""

_LEAST_ROOM = 64 << 10
"""Bytes free below which a disk is full: a log begins with a file of half as many beside it."""

_UNWRITABLE = (apsw.ReadOnlyError, apsw.PermissionsError)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_FULL = (errno.ENOSPC, errno.EDQUOT)

_WORDS: tuple[
    tuple[
        tuple[type[Exception], ...], type[IndexUnavailableError | DeadlineExceededError], str, str
    ],
    ...,
] = (
    ((apsw.InterruptError,), DeadlineExceededError, "took longer than its deadline", ""),
    (
        (apsw.BusyError, apsw.LockedError),
        IndexBusyError,
        "is locked by another process",
        "try again in a moment",
    ),
    (
        DAMAGE,
        IndexCorruptError,
        "is damaged: {}",
        "run `commonplace index`: the damaged file is set aside and the index rebuilt",
    ),
    (
        _UNWRITABLE,
        IndexReadOnlyError,
        "cannot be written: {}",
        "make the file and its folder writable",
    ),
    ((apsw.ConnectionClosedError,), IndexUnavailableError, "is closed", "open it again"),
    (
        (apsw.FullError,),
        IndexUnavailableError,
        "cannot be written: the disk is full",
        "free some space and try again",
    ),
    (
        (Exception,),
        IndexUnavailableError,
        "cannot be used: {}",
        "check the disk and the rights to the file",
    ),
)


def translate(
    error: apsw.Error | OSError | zlib.error | UnicodeDecodeError, path: str
) -> IndexUnavailableError | DeadlineExceededError:
    """What to raise for ``error``, which SQLite or the system raised for the index at ``path``."""
    if (isinstance(error, OSError) and error.errno in _FULL) or (
        isinstance(error, apsw.IOError)
        and getattr(error, "extendedresult", 0) in _WHILE_WRITING
        and _is_full(path)
    ):
        error = apsw.FullError()
    if isinstance(error, UNREADABLE):
        error = apsw.CorruptError(f"a row cannot be read ({error})")
    kind, words, hint = next(entry[1:] for entry in _WORDS if isinstance(error, entry[0]))
    return kind(f"the index {path} {words.format(reason_of(error))}", hint=hint)


def is_forbidden(error: apsw.Error | OSError, path: str) -> bool:
    """Whether ``error`` says that this process may not write ``path``."""
    if isinstance(error, OSError):
        return error.errno in _FORBIDDEN
    if isinstance(error, apsw.CantOpenError):
        # SQLite gives no reason; it may also have run out of file descriptors.
        return not all(os.access(one, os.W_OK) for one in (path, os.path.dirname(path)))
    return isinstance(error, _UNWRITABLE)


def why_unwritable(path: str) -> str:
    """Why the file at ``path`` is read and not written, where no error has said it."""
    reason = "the disk is full" if _is_full(path) else "it is read-only"
    return f"{path} cannot be written: {reason}"


def _is_full(path: str) -> bool:
    import shutil

    try:
        return shutil.disk_usage(os.path.dirname(path)).free < _LEAST_ROOM
    except OSError:
        return False


def reason_of(error: apsw.Error | OSError) -> str:
    """The reason alone, in words."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def refuse_newer(condition: str, path: str) -> None:
    """Raise :class:`~commonplace.errors.IndexNewerError` for a file we may not touch."""
    if condition == "newer":
        raise IndexNewerError(
            f"a newer version of commonplace wrote the index {path}",
            hint="update commonplace, or configure another path for the index",
        )


def barred_folder(path: str) -> str:
    """The folder above ``path`` that forbids this process to create it; ``""`` if none does."""
    above = os.path.dirname(path)
    while not os.path.lexists(above) and os.path.dirname(above) != above:
        above = os.path.dirname(above)
    return "" if os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK) else above


def notices(path: str, writable: bool, why: str) -> list[str]:  # noqa: FBT001 - one of three facts
    """A line on why the file at ``path`` cannot be written or made, where that is so."""
    if not writable:
        return [f"the index cannot be updated: {why or why_unwritable(path)}"]
    if not os.path.exists(path) and (barred := barred_folder(path)):
        return [f"the index cannot be created: {barred} cannot be written"]
    return []
