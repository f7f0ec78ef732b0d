"""Changes found by comparing the stamps of all files with the previous ones."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from commonplace.files.roots import stamp_of
from commonplace.sync.folders import is_entered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from commonplace.files.scan import Scandir
    from commonplace.model.documents import WatchedPath

__all__ = ["Poller", "stamps_of"]

Stamps = dict[str, int]
"""For each file the hash of its stamp."""

_CPU_SHARE = 0.008  # of a core, so that with its waiting it stays below a hundredth
_WALL_SHARE = 0.2  # a slow disk has others to serve


class Poller:
    """Compares the files at and below ``paths`` with what was there before.

    ``pause`` is how many seconds to wait before the next call: ``least``, or more if a call takes
    so long that polling would use more than a hundredth of a core. ``cpu`` and ``wall`` are clocks
    in seconds.
    """

    def __init__(
        self,
        paths: Iterable[WatchedPath],
        *,
        least: float,
        cpu: Callable[[], float],
        wall: Callable[[], float],
    ) -> None:
        self.paths = tuple(paths)
        self._least = least
        self._cpu = cpu
        self._wall = wall
        self.pause = least
        self.folders = 0
        self._before = self._stamps()

    def changes(self) -> frozenset[str]:
        """The absolute paths of files that were created, changed or deleted since the last call."""
        before, self._before = self._before, self._stamps()
        return frozenset(path for path, _ in before.items() ^ self._before.items())

    def _stamps(self) -> Stamps:
        cpu, wall = self._cpu(), self._wall()
        found, self.folders = stamps_of(self.paths)
        cpu, wall = self._cpu() - cpu, self._wall() - wall
        self.pause = max(self._least, cpu / _CPU_SHARE, wall / _WALL_SHARE)
        return found


def stamps_of(
    watched: Iterable[WatchedPath], *, scandir: Scandir = os.scandir
) -> tuple[Stamps, int]:
    """All files at and below the paths, and how many folders were listed.

    A folder that cannot be listed counts as empty. A link is followed at a path, not below it.
    """
    found: Stamps = {}
    folders = 0
    for path in watched:
        waiting = [path.location]
        if not os.path.isdir(path.location):
            _take_file(path, found)
            continue
        while waiting:
            inner = _take_folder(waiting.pop(), path.suffix, found, scandir)
            folders += 1
            if path.recursive:
                waiting += inner
    return found, folders


def _take_file(path: WatchedPath, found: Stamps) -> None:
    try:
        status = os.lstat(path.location)
    except (OSError, ValueError):
        return
    if stat.S_ISREG(status.st_mode) and path.location.endswith(path.suffix):
        found[path.location] = hash(stamp_of(status))


def _take_folder(folder: str, suffix: str, found: Stamps, scandir: Scandir) -> list[str]:
    """Take the files of one folder; the folders in it to look into."""
    inner: list[str] = []
    try:
        with scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                try:
                    if name.endswith(suffix):
                        status = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(status.st_mode):
                            found[entry.path] = hash(stamp_of(status))
                            continue
                    if is_entered(entry):
                        inner.append(entry.path)
                except FileNotFoundError:
                    continue  # deleted since it was listed
    except OSError:
        return inner
    return inner
