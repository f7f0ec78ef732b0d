"""Which folders to watch, and what a changed path means for the watched paths."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from typing import TYPE_CHECKING, NamedTuple

from commonplace.files.roots import is_ignored, is_link
from commonplace.files.scan import is_storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commonplace.files.scan import Scandir
    from commonplace.model.documents import WatchedPath

__all__ = [
    "Relevance",
    "Standing",
    "Trees",
    "folders_of",
    "is_entered",
    "silent_system",
    "standing_of",
]


# Too many files are open: that says nothing about the folder.
_NOT_ITS_FAULT = (errno.EMFILE, errno.ENFILE)


class Standing(NamedTuple):
    """What there is of one place: another standing means that other folders are to be watched.

    ``anchor`` is the innermost folder around the place that exists. ``identities`` are device and
    inode of the anchor, and of the place where that is a folder; a file may be replaced freely.
    ``is_open`` says whether we may look into it.
    """

    anchor: str
    identities: tuple[tuple[int, int] | None, ...]
    is_open: bool


def standing_of(location: str) -> Standing:
    """What there is of the place ``location`` now."""
    anchor = location
    identity = None
    while identity is None and anchor != os.path.dirname(anchor):
        anchor = os.path.dirname(anchor)
        identity = _folder(anchor)
    there = _folder(location)
    is_open = there is not None and os.access(location, os.R_OK | os.X_OK)
    return Standing(anchor, (identity, there), is_open)


def folders_of(watched: Iterable[WatchedPath], *, scandir: Scandir = os.scandir) -> frozenset[str]:
    """The folders to be watched, each for its own entries only.

    For a place that is a folder, itself and, if it is recursive, all folders below except ignored
    ones. For what is no folder, or is a link to one, the innermost folder around it that exists:
    that is where it appears, is replaced, or goes. Below a place no link is followed. A folder that
    cannot be listed is left out; the one around it tells when that changes. Raises ``OSError``
    where too many files are open.
    """
    folders: set[str] = set()
    for place in watched:
        if _folder(place.location) is None or os.path.islink(place.location):
            folders.add(standing_of(place.location).anchor)
        if _folder(place.location) is not None:
            folders.update(_listed(place, scandir))
    return frozenset(folders)


def _listed(place: WatchedPath, scandir: Scandir) -> Iterator[str]:
    waiting = [place.location]
    while waiting:
        folder = waiting.pop()
        try:
            with scandir(folder) as entries:
                inner = [entry.path for entry in entries if is_entered(entry)]
        except OSError as error:
            if error.errno in _NOT_ITS_FAULT:
                raise
            continue
        yield folder
        if place.recursive:
            waiting += inner


def is_entered(entry: os.DirEntry[str]) -> bool:
    """Whether documents are looked for in it: a folder, by no link, that is not ignored."""
    return (
        entry.is_dir(follow_symlinks=False)
        and not is_ignored(entry.name)
        and is_storable(entry.name)
        and (sys.platform != "win32" or not is_link(entry.stat(follow_symlinks=False)))
    )


def _folder(path: str) -> tuple[int, int] | None:
    """Device and inode of the folder that ``path`` leads to, if it is one."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


class Relevance:
    """Judges absolute paths by the places where documents may be. Nothing is looked up."""

    def __init__(self, watched: Iterable[WatchedPath]) -> None:
        self._watched = tuple(watched)

    def is_document(self, path: str) -> bool:
        """Whether a file of this name counts: in or below a place, outside of ignored folders."""
        return any(
            path.endswith(suffix) and not any(map(is_ignored, folders))
            for folders, suffix in self._below(path)
        )

    def is_folder(self, path: str) -> bool:
        """Whether a folder of this name would be watched: below a place, and not ignored."""
        name = os.path.basename(path)
        return not is_ignored(name) and any(
            place.recursive
            and path.startswith(_inside(place.location))
            and not any(map(is_ignored, _parts(place.location, path)[:-1]))
            for place in self._watched
        )

    def leads(self, path: str) -> bool:
        """Whether ``path`` is a place itself, or a folder that one lies in."""
        return any(
            path == place.location or place.location.startswith(_inside(path))
            for place in self._watched
        )

    def _below(self, path: str) -> Iterator[tuple[list[str], str]]:
        """The folders between each place that holds ``path`` and its file; the suffix there."""
        for place in self._watched:
            if path == place.location:
                yield [], place.suffix
            elif path.startswith(_inside(place.location)):
                folders = _parts(place.location, path)[:-1]
                if place.recursive or not folders:
                    yield folders, place.suffix


def _inside(folder: str) -> str:
    return folder.rstrip(os.sep) + os.sep


def _parts(folder: str, path: str) -> list[str]:
    return path[len(_inside(folder)) :].split(os.sep)


class Trees:
    """The ``folders`` (absolute) to be watched, as trees that hold them all.

    macOS and Windows watch a tree as cheaply as a folder, and do not follow links in it; handing
    macOS a thousand folders takes seconds. ``tops`` are real paths, none below another.
    """

    def __init__(self, folders: Iterable[str]) -> None:
        self._names: dict[str, list[str]] = {}
        for folder in folders:
            self._names.setdefault(os.path.realpath(folder), []).append(folder)
        self.tops = sorted(real for real in self._names if not self._is_below_another(real))

    def names_of(self, path: str) -> list[str]:
        """What the real path ``path`` is called in the folders, once for each that it lies in."""
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


_SILENT = frozenset(
    {
        "9p",
        "afs",
        "ceph",
        "cifs",
        "coda",
        "drvfs",
        "glusterfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "prl_fs",
        "smb2",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "vmhgfs",
    }
)
# File systems of a program: most of them stand for something far away. These do not.
_PROGRAMS = ("fuse", "fuse.")
_LOCAL_PROGRAMS = frozenset(
    {
        "fuseblk",
        "fuse.bindfs",
        "fuse.encfs",
        "fuse.fuse-overlayfs",
        "fuse.gocryptfs",
        "fuse.mergerfs",
    }
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


def silent_system(path: str, *, mounts: str = "/proc/self/mounts") -> str:
    """The type of the file system that ``path`` is on, if that is a silent one; else ``""``.

    ``path`` need not exist. ``mounts`` is the table of the Linux kernel; without it, nothing is
    known.
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
    return kind if _is_silent(kind) else ""


def _is_silent(kind: str) -> bool:
    return kind in _SILENT or (kind.startswith(_PROGRAMS) and kind not in _LOCAL_PROGRAMS)
