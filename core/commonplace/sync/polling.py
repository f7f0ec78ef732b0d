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

__all__ = ["Poller", "look"]

Snapshot = dict[str, int]
"""A number for each file, which is another one when the file's stamp is."""

_CPU_SHARE = 0.008  # of a core, so that with its waiting it stays below a hundredth
_WALL_SHARE = 0.2  # a slow disk has others to serve


class Poller:
    """Compares what is in and below ``places`` with what was there before.

    ``pause`` is how many seconds to wait before the next look: ``least``, or more where looking
    takes so long that it would take more than a hundredth of a core. ``cpu`` and ``wall`` are
    clocks in seconds.
    """

    def __init__(
        self,
        places: Iterable[WatchedPath],
        *,
        least: float,
        cpu: Callable[[], float],
        wall: Callable[[], float],
    ) -> None:
        self.places = tuple(places)
        self._least = least
        self._cpu = cpu
        self._wall = wall
        self.pause = least
        self.folders = 0
        self._before = self._look()

    def changes(self) -> frozenset[str]:
        """The absolute paths of files that were made, changed or deleted since the last look."""
        before, self._before = self._before, self._look()
        return frozenset(path for path, _ in before.items() ^ self._before.items())

    def _look(self) -> Snapshot:
        cpu, wall = self._cpu(), self._wall()
        found, self.folders = look(self.places)
        cpu, wall = self._cpu() - cpu, self._wall() - wall
        self.pause = max(self._least, cpu / _CPU_SHARE, wall / _WALL_SHARE)
        return found


def look(watched: Iterable[WatchedPath], *, scandir: Scandir = os.scandir) -> tuple[Snapshot, int]:
    """All files in and below the places, and how many folders were listed.

    A folder that cannot be listed holds nothing. Links are followed to a place, and not below.
    """
    found: Snapshot = {}
    folders = 0
    for place in watched:
        waiting = [place.location]
        if not os.path.isdir(place.location):
            _take_file(place, found)
            continue
        while waiting:
            inner = _take_folder(waiting.pop(), place.suffix, found, scandir)
            folders += 1
            if place.recursive:
                waiting += inner
    return found, folders


def _take_file(place: WatchedPath, found: Snapshot) -> None:
    try:
        status = os.lstat(place.location)
    except (OSError, ValueError):
        return
    if stat.S_ISREG(status.st_mode) and place.location.endswith(place.suffix):
        found[place.location] = hash(stamp_of(status))


def _take_folder(folder: str, suffix: str, found: Snapshot, scandir: Scandir) -> list[str]:
    """Take the files of one folder; the folders in it that are to be looked at."""
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
