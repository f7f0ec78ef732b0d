"""Opening a file below a folder without following any link on the way."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from commonplace.errors import PathNotAllowedError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["open_below"]

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
# A folder that is only passed through needs no permission to be listed, where that can be said.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _CLOEXEC
_FILE = (
    os.O_RDONLY | _NOFOLLOW | _CLOEXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_STEPWISE = bool(_NOFOLLOW) and {os.open, os.stat} <= os.supports_dir_fd

_REFUSALS = frozenset(
    {errno.ELOOP, errno.EMLINK, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ENXIO, errno.EINVAL}
)
"""What systems answer for links, for files used as folders, sockets and impossible names."""


def open_below(base: str, parts: Sequence[str]) -> int:
    """A descriptor for reading of the regular file ``base/parts[0]/parts[1]/...``.

    Links in ``base`` are followed, in ``parts`` never, also if one is put there while this runs.
    A file that is not regular is not opened at all, so that no pipe is waited for.

    Raises :class:`~commonplace.errors.PathNotAllowedError` for links and for what is no regular
    file, ``FileNotFoundError`` where nothing is, and other ``OSError``.
    """
    if not parts:
        raise PathNotAllowedError
    try:
        return (_open_stepwise if _STEPWISE else _open_compared)(base, parts)
    except OSError as error:
        if error.errno in _REFUSALS:
            raise PathNotAllowedError from None
        raise
    except ValueError:  # a NUL, or a surrogate that stands for nothing
        raise PathNotAllowedError from None


def _open_stepwise(base: str, parts: Sequence[str]) -> int:
    """Walk down by descriptors: what is checked is what is opened."""
    folder = os.open(base, _FOLDER)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _FOLDER | _NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        _require_regular(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False))
        opened = os.open(parts[-1], _FILE, dir_fd=folder)
    finally:
        os.close(folder)
    return _checked(opened)


def _open_compared(base: str, parts: Sequence[str]) -> int:
    """Where there is no walking by descriptors (Windows): compare names before and after.

    A link that is there, or is put there once, is refused. Somebody who keeps swapping a folder
    and a link at the right moments could still win; where descriptors work, nobody can.
    """
    location = os.path.join(base, *parts)
    _require_no_link(base, parts)
    _require_regular(os.lstat(location))
    opened = _checked(os.open(location, _FILE))
    try:
        _require_no_link(base, parts)
        same = os.path.samestat(os.fstat(opened), os.lstat(location))
        _require_no_link(base, parts)
    except BaseException:
        os.close(opened)
        raise
    if not same:
        os.close(opened)
        raise PathNotAllowedError
    return opened


def _require_no_link(base: str, parts: Sequence[str]) -> None:
    direct = os.path.join(os.path.realpath(base), *parts)
    real = os.path.realpath(os.path.join(base, *parts))
    if os.path.normcase(real) != os.path.normcase(direct):
        raise PathNotAllowedError


def _require_regular(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise PathNotAllowedError


def _checked(opened: int) -> int:
    try:
        _require_regular(os.fstat(opened))
    except BaseException:
        os.close(opened)
        raise
    return opened
