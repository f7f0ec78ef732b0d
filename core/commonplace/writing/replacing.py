"""Replacing one file of a workspace atomically, without ever following a link.

The folder is opened step by step, and everything below happens relative to its descriptor. A draft
is written whole beside the file and flushed to the disk. Then file and draft change places in one
step of the file system, so that what another program has saved meanwhile is found in the draft
instead of being lost. Where no two files can change places, as on Windows, the file is read again
just before the draft replaces it: what is saved between these two steps is lost.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from commonplace.errors import UnavailableError, WriteRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | _CLOEXEC
_FILE = os.O_RDONLY | _NOFOLLOW | _CLOEXEC | _BINARY | getattr(os, "O_NONBLOCK", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC | _BINARY
_STEPWISE = {
    os.open,
    os.stat,
    os.mkdir,
    os.rename,
    os.unlink,
    os.link,
    os.rmdir,
} <= os.supports_dir_fd
_NO_FOLLOW_ERRORS = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})
_NO_SWAP = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.EXDEV, errno.EACCES})
_BLOCK = 1 << 20
NO_SPACE = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})
"""What a system answers where a disk, or what a user may have of it, is full."""


@contextmanager
def opened_folder(workspace: str, parts: Sequence[str], *, make: bool) -> Iterator[Folder | None]:
    """The folder ``workspace/parts[0]/...``; ``None`` where it is missing and not to be made.

    Links in ``workspace`` are followed, in ``parts`` never. Raises
    :class:`~commonplace.errors.WriteRefusedError` for a link or a file in its place, and
    ``OSError``.
    """
    location = os.path.join(workspace, *parts)
    if not _STEPWISE:
        yield _compared(workspace, parts, make=make)
        return
    descriptor = os.open(workspace, _FOLDER & ~_NOFOLLOW)
    try:
        for part in parts:
            try:
                inner = os.open(part, _FOLDER, dir_fd=descriptor)
            except FileNotFoundError:
                if not make:
                    yield None
                    return
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=descriptor)
                inner = os.open(part, _FOLDER, dir_fd=descriptor)
            except OSError as error:
                if error.errno in _NO_FOLLOW_ERRORS:
                    raise _refused(f"{part} is no folder of the workspace") from None
                raise
            os.close(descriptor)
            descriptor = inner
        yield Folder(location, descriptor)
    finally:
        os.close(descriptor)


def _compared(workspace: str, parts: Sequence[str], *, make: bool) -> Folder | None:
    """Where there is no walking by descriptors (Windows): compare names instead."""
    location = os.path.join(workspace, *parts)
    direct = os.path.join(os.path.realpath(workspace), *parts)

    def check() -> None:
        ways = [os.path.join(workspace, *parts[:size]) for size in range(1, len(parts) + 1)]
        linked = os.path.normcase(os.path.realpath(location)) != os.path.normcase(direct)
        if linked or any(os.path.lexists(way) and not os.path.isdir(way) for way in ways):
            raise _refused(f"{'/'.join(parts)} is no folder of the workspace")

    if not os.path.isdir(location):
        if not make:
            return None
        check()  # else folders would be made where a link on the way leads to
        os.makedirs(location, exist_ok=True)
    check()
    return Folder(location, None)


def _refused(message: str) -> WriteRefusedError:
    return WriteRefusedError(
        message, kind="path", hint="notes are written to files, never through links or devices"
    )


class Folder:
    """An open folder, in which one file after the other is read and replaced.

    All methods raise ``OSError``, and :class:`~commonplace.errors.WriteRefusedError` for a link or
    anything else that is no regular file.
    """

    def __init__(self, location: str, descriptor: int | None) -> None:
        self.location = location
        self._fd = descriptor

    def read(self, name: str) -> bytes | None:
        """All bytes of a file; ``None`` where there is none."""
        try:
            found = os.stat(self._path(name), dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(found.st_mode):
            kinds = ((stat.S_ISLNK, "a link"), (stat.S_ISDIR, "a folder"))
            what = next((word for check, word in kinds if check(found.st_mode)), "no regular file")
            raise _refused(f"{name} is {what}")
        try:
            descriptor = os.open(self._path(name), _FILE, dir_fd=self._fd)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in _NO_FOLLOW_ERRORS:
                raise _refused(f"{name} is a link") from None
            raise
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _refused(f"{name} is no regular file")
            pieces = []
            while piece := os.read(descriptor, _BLOCK):
                pieces.append(piece)
        finally:
            os.close(descriptor)
        return b"".join(pieces)

    def write_draft(self, draft: str, data: bytes, *, like: str) -> None:
        """Write a new file whole, with the rights of ``like`` where that is there, and flush it.

        It is written under another name first: under its own it is never incomplete.
        """
        part = f"{draft}.part"
        descriptor = os.open(self._path(part), _NEW, 0o666, dir_fd=self._fd)
        try:
            self._take_rights(descriptor, like)
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(self._path(part), self._path(draft), src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def swap(self, draft: str, name: str) -> bool:
        """Let two files change places in one step; whether the system can do that.

        Where it cannot, ``name`` is replaced by the draft, which is gone afterwards.
        """
        exchange = _exchange()
        if exchange is not None and self._fd is not None:
            try:
                exchange(self._fd, draft, name)
            except OSError as error:
                if error.errno not in _NO_SWAP:
                    raise
            else:
                return True
        os.replace(self._path(draft), self._path(name), src_dir_fd=self._fd, dst_dir_fd=self._fd)
        return False

    def create(self, draft: str, name: str) -> None:
        """Give the draft a second name; raises ``FileExistsError`` where another file has it.

        Where a file can have one name alone, the draft is gone afterwards.
        """
        source, target = self._path(draft), self._path(name)
        try:
            os.link(source, target, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        except FileExistsError:
            raise
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if self.read(name) is not None:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from None
            os.rename(source, target, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def is_same(self, one: str, other: str) -> bool:
        """Whether both names are those of one file."""
        try:
            first, second = (
                os.stat(self._path(name), dir_fd=self._fd, follow_symlinks=False)
                for name in (one, other)
            )
        except FileNotFoundError:
            return False
        return os.path.samestat(first, second)

    def move(self, name: str, other: str) -> None:
        """Rename a file."""
        os.rename(self._path(name), self._path(other), src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def delete(self, *names: str) -> None:
        """Delete files that may be there."""
        for name in names:
            with suppress(FileNotFoundError):
                os.unlink(self._path(name), dir_fd=self._fd)

    def remove_folder(self, name: str) -> None:
        """Remove a folder that is empty."""
        os.rmdir(self._path(name), dir_fd=self._fd)

    def flush(self) -> None:
        """Flush the folder itself, so that a rename outlives a loss of power."""
        if self._fd is not None:
            with suppress(OSError):  # some network disks cannot
                os.fsync(self._fd)

    def _take_rights(self, descriptor: int, like: str) -> None:
        try:
            found = os.stat(self._path(like), dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return
        if not found.st_mode & stat.S_IWUSR:
            raise PermissionError(errno.EACCES, "the file is marked as read-only", like)
        if sys.platform != "win32":
            with suppress(OSError):  # only a file's owner may give it away, or keep its group
                os.fchown(descriptor, found.st_uid, found.st_gid)
            with suppress(OSError):
                os.fchmod(descriptor, stat.S_IMODE(found.st_mode))

    def _path(self, name: str) -> str:
        return name if self._fd is not None else os.path.join(self.location, name)


@cache
def _exchange() -> Callable[[int, str, str], None] | None:
    """The system's call that lets two files change places; ``None`` where it has none."""
    names = {"linux": ("renameat2", 2), "darwin": ("renameatx_np", 2)}
    name, flag = names.get(sys.platform, ("", 0))
    try:
        function: Any = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (AttributeError, OSError, TypeError):
        return None
    function.argtypes = (
        *(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint),
    )

    def exchange(folder: int, first: str, second: str) -> None:
        if function(folder, os.fsencode(first), folder, os.fsencode(second), flag) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), second)

    return exchange


def unavailable(error: OSError, path: str) -> UnavailableError:
    """``error`` of a write, for people."""
    hint = "check the permissions of the file and its folder, and the disk"
    if error.errno in NO_SPACE:
        hint = "free some space on that disk, and write it again"
    return UnavailableError(
        f"{path} cannot be written, and is unchanged: {error.strerror or error}", hint=hint
    )


def undecided(error: OSError, path: str) -> UnavailableError:
    """``error`` of reading the note at ``path``, whose last change was interrupted."""
    reason = error.strerror or error
    return UnavailableError(
        f"no note can be written while {path} cannot be read ({reason}): only its file shows "
        "whether the last change, which was interrupted, was made",
        hint=f"make {path} and its folder readable",
    )


def without_journal(error: BaseException, what: str, journal: str, hint: str) -> UnavailableError:
    """``error`` of what is kept in the state folder, whose disk need not be that of notes."""
    reason = str(error)
    if isinstance(error, OSError):
        reason = error.strerror or reason
        if error.errno in NO_SPACE:
            hint = "free some space on the disk of the state folder, and write it again"
    return UnavailableError(
        f"{what} is unchanged, as the journal {journal} cannot be written: {reason}", hint=hint
    )


def missing_folders(workspace: str, parts: Sequence[str]) -> int:
    """How many of the folders ``workspace/parts[0]/...`` are not there."""
    return sum(
        not os.path.lexists(os.path.join(workspace, *parts[:size]))
        for size in range(1, len(parts) + 1)
    )


def remove_folders(workspace: str, parts: Sequence[str], number: int) -> None:
    """Remove the innermost ``number`` of the folders ``workspace/parts[0]/...`` that are empty.

    One stays where the workspace would be empty without it: that is taken for a missing disk.
    """
    for size in range(len(parts), len(parts) - number, -1):
        with (
            suppress(OSError, WriteRefusedError),
            opened_folder(workspace, parts[: size - 1], make=False) as folder,
        ):
            if folder is not None and (size > 1 or os.listdir(workspace) != [parts[0]]):
                folder.remove_folder(parts[size - 1])
