"""Which folders and files to watch, and their stamps where they are polled."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import time
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from attrs import define, field

from commonplace.files.roots import is_ignored, is_link, stamp_of
from commonplace.files.scan import is_storable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from commonplace.files.scan import Scandir
    from commonplace.model.documents import WatchedPath


# Too many files are open: that says nothing about the folder.
_NOT_THE_FOLDER = (errno.EMFILE, errno.ENFILE)

# File systems that do not report what other machines change.
_REMOTE = re.compile(
    "9p|afs|ceph|cifs|coda|drvfs|glusterfs|lustre|ncpfs|nfs4?|prl_fs|smb[23]|smbfs|vboxsf"
    "|virtiofs|vmhgfs"
)
# File systems in user space: most of them stand for something remote. These do not.
_USER_SPACE = re.compile(r"fuse(?:$|\.(?!(?:bindfs|encfs|fuse-overlayfs|gocryptfs|mergerfs)$))")
_ESCAPED = re.compile(r"\\([0-7]{3})")


class PathState(NamedTuple):
    """What a watched path is: after a change of it, other folders are to be watched.

    ``anchor`` is the innermost folder around the path that exists. ``identities`` are device and
    inode of the anchor, and of the path if that is a folder; a file may be replaced freely.
    ``is_open`` says whether this user may list it.
    """

    anchor: str
    identities: tuple[tuple[int, int] | None, ...]
    is_open: bool


def state_of(location: str) -> PathState:
    """What the path ``location`` is now."""
    anchor = location
    identity = None
    while identity is None and anchor != os.path.dirname(anchor):
        anchor = os.path.dirname(anchor)
        identity = _folder(anchor)
    own = _folder(location)
    is_open = own is not None and os.access(location, os.R_OK | os.X_OK)
    return PathState(anchor, (identity, own), is_open)


def folders_of(watched: Iterable[WatchedPath], *, scandir: Scandir = os.scandir) -> frozenset[str]:
    """The folders to watch, each for its own entries only.

    For a path that is a folder: itself and, if it is recursive, all folders below except ignored
    ones. For any other, and for a link to a folder: the innermost folder around it that exists, as
    it appears, is replaced and goes there. Links further below are not followed. A folder that
    cannot be listed is left out; the one around it reports when that changes. Raises ``OSError`` if
    too many files are open.
    """
    folders: set[str] = set()
    for path in watched:
        own = _folder(path.location)
        if own is None or os.path.islink(path.location):
            folders.add(state_of(path.location).anchor)
        if own is not None:
            folders.update(_listed(path, scandir))
    return frozenset(folders)


def is_entered(entry: os.DirEntry[str]) -> bool:
    """Whether documents are looked for in it: a folder, not a link, that is not ignored."""
    return (
        entry.is_dir(follow_symlinks=False)
        and not is_ignored(entry.name)
        and is_storable(entry.name)
        and (sys.platform != "win32" or not is_link(entry.stat(follow_symlinks=False)))
    )


class Relevance:
    """Judges absolute paths by the watched ones, by their names alone: no file is looked up."""

    def __init__(self, watched: Iterable[WatchedPath]) -> None:
        self._watched = tuple(watched)

    def is_document(self, path: str) -> bool:
        """Whether a file of this name counts: at or below a path, outside of ignored folders."""
        for watched in self._watched:
            if path == watched.location:
                folders = []
            elif path.startswith(_inside(watched.location)):
                folders = _parts(watched.location, path)[:-1]
            else:
                continue
            inside = watched.recursive or not folders
            if inside and path.endswith(watched.suffix) and not any(map(is_ignored, folders)):
                return True
        return False

    def is_folder(self, path: str) -> bool:
        """Whether a folder of this name would be watched: below a path, and not ignored."""
        name = os.path.basename(path)
        return not is_ignored(name) and any(
            watched.recursive
            and path.startswith(_inside(watched.location))
            and not any(map(is_ignored, _parts(watched.location, path)[:-1]))
            for watched in self._watched
        )

    def leads(self, path: str) -> bool:
        """Whether ``path`` is a watched path, or a folder around one."""
        return any(
            path == watched.location or watched.location.startswith(_inside(path))
            for watched in self._watched
        )


class FolderTrees:
    """The ``folders`` (absolute) to watch as trees, for systems that report real paths of these.

    macOS and Windows watch a tree as cheaply as a folder, and do not follow links in it; handing
    macOS a thousand folders takes seconds. ``tops`` are real paths, none below another.
    """

    def __init__(self, folders: Iterable[str]) -> None:
        self._names: dict[str, list[str]] = {}
        for folder in folders:
            self._names.setdefault(os.path.realpath(folder), []).append(folder)
        self.tops = sorted(real for real in self._names if not self._is_below_another(real))

    def names_of(self, path: str) -> list[str]:
        """The names of the real path ``path`` in the folders, one for each that it lies in."""
        real = path
        while real not in self._names:
            around = os.path.dirname(real)
            if around == real:
                return [path]
            real = around
        below = path[len(real) :].lstrip(os.sep)
        return [os.path.join(name, below) if below else name for name in self._names[real]]

    def _is_below_another(self, real: str) -> bool:
        around = os.path.dirname(real)
        while around != real:
            if around in self._names:
                return True
            real, around = around, os.path.dirname(around)
        return False


def remote_file_system(path: str, *, mounts: str = "/proc/self/mounts") -> str:
    """The type of the file system of ``path``, if it does not report remote changes; else ``""``.

    ``path`` need not exist. ``mounts`` is the table of the Linux kernel; elsewhere no file system
    is known to be remote.
    """
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return ""
    path = os.path.realpath(path)
    longest, kind = "", ""
    for line in lines:
        _, where, type_, *_ = [*line.split(" "), "", "", ""]
        where = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), where)
        holds = path == where or path.startswith(where.rstrip("/") + "/")
        # Of two on the same folder the later one is on top.
        if holds and len(where) >= len(longest):
            longest, kind = where, type_
    return kind if _REMOTE.fullmatch(kind) or _USER_SPACE.match(kind) else ""


_SETTLED = 1.0
"""Seconds after which a folder's time cannot hide one more change, and a look at it has ended."""


@define
class FolderTimes:
    """Tells whether names in folders have come, gone or been replaced since all was looked at.

    A look holds for ``longest`` seconds of ``clock``. What is written in place leaves the time of
    its folder as it is.
    """

    longest: float
    clock: Callable[[], float] = time.time
    _times: dict[str, int] = field(factory=dict, init=False)
    _since: float = field(default=-inf, init=False)

    def hold(self, folders: Iterable[str]) -> bool:
        """Whether none of ``folders`` has changed; otherwise the caller looks at all now."""
        try:
            times = {folder: os.stat(folder).st_mtime_ns for folder in folders}
        except OSError:
            times = {}
        now = self.clock()
        holds = self._since <= now < self._since + self.longest
        if not times or times != self._times or not holds:
            self._times, self._since = times, now
            return False
        return now >= self._since + _SETTLED


def _listed(path: WatchedPath, scandir: Scandir) -> Iterator[str]:
    waiting = [path.location]
    while waiting:
        folder = waiting.pop()
        try:
            with scandir(folder) as entries:
                inner = [entry.path for entry in entries if is_entered(entry)]
        except OSError as error:
            if error.errno in _NOT_THE_FOLDER:
                raise
            continue
        yield folder
        if path.recursive:
            waiting += inner


def _folder(path: str) -> tuple[int, int] | None:
    """Device and inode of the folder that ``path`` leads to, if it is one."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISDIR(status.st_mode) else None


def _inside(folder: str) -> str:
    return folder.rstrip(os.sep) + os.sep


def _parts(folder: str, path: str) -> list[str]:
    return path[len(_inside(folder)) :].split(os.sep)


Stamps = dict[str, int]
"""For each file the hash of its stamp."""

_CPU_SHARE = 0.008  # of a core, so that with its waiting it stays below a hundredth
_WALL_SHARE = 0.2  # a slow disk has others to serve


@define
class Poller:
    """Compares the files at and below ``paths`` with what was there before.

    ``pause`` is how many seconds to wait before the next call: ``least``, or more if a call takes
    so long that polling would use more than a hundredth of a core. ``cpu`` and ``wall`` are clocks
    in seconds.
    """

    paths: Sequence[WatchedPath]
    _least: float
    _cpu: Callable[[], float]
    _wall: Callable[[], float]
    pause: float = field(init=False)
    folders: int = field(init=False)
    _before: Stamps = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._before = self._stamps()

    def changes(self) -> frozenset[str]:
        """The absolute paths of files that were created, changed or deleted since the last call."""
        before, self._before = self._before, self._stamps()
        return frozenset(path for path, _ in before.items() ^ self._before.items())

    def _stamps(self) -> Stamps:
        cpu, wall = self._cpu(), self._wall()
        stamps, self.folders = stamps_of(self.paths)
        cpu, wall = self._cpu() - cpu, self._wall() - wall
        self.pause = max(self._least, cpu / _CPU_SHARE, wall / _WALL_SHARE)
        return stamps


def stamps_of(
    watched: Iterable[WatchedPath], *, scandir: Scandir = os.scandir
) -> tuple[Stamps, int]:
    """All files at and below the paths, and how many folders were listed.

    A folder that cannot be listed counts as empty. A link is followed at a path, not below it.
    """
    stamps: Stamps = {}
    folders = 0
    for path in watched:
        waiting = [path.location]
        if not os.path.isdir(path.location):
            _take_file(path, stamps)
            continue
        while waiting:
            inner = _take_folder(waiting.pop(), path.suffix, stamps, scandir)
            folders += 1
            if path.recursive:
                waiting += inner
    return stamps, folders


def _take_file(path: WatchedPath, stamps: Stamps) -> None:
    try:
        status = os.lstat(path.location)
    except (OSError, ValueError):
        return
    if stat.S_ISREG(status.st_mode) and path.location.endswith(path.suffix):
        stamps[path.location] = hash(stamp_of(status))


def _take_folder(
    folder: str, suffix: str | tuple[str, ...], stamps: Stamps, scandir: Scandir
) -> list[str]:
    """Take the files of one folder; the folders in it to look into."""
    inner: list[str] = []
    with suppress(OSError), scandir(folder) as entries:
        for entry in entries:
            try:
                if entry.name.endswith(suffix):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        stamps[entry.path] = hash(stamp_of(status))
                        continue
                if is_entered(entry):
                    inner.append(entry.path)
            except FileNotFoundError:
                continue  # deleted since it was listed
    return inner
