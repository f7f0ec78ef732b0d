"""Which folders to watch, so that nothing about the watched places goes unnoticed."""

from __future__ import annotations

import errno
import os
import stat
import sys
from typing import TYPE_CHECKING, NamedTuple

from commonplace.files.findings import is_storable
from commonplace.files.roots import is_ignored
from commonplace.files.stats import is_link

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commonplace.files.walk import Scandir
    from commonplace.model.documents import WatchedPath

__all__ = ["Standing", "folders_of", "is_entered", "standing_of"]

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
