"""Temporary files whose writers were killed: finding them, sweeping them away."""

from __future__ import annotations

import os
import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["leftovers", "sweep"]

_LEAST_AGE_SECONDS = 3_600
"""Writing one of these files takes milliseconds: what is older was left by somebody who died."""

_MOST = 2_000
"""Entries looked at in one folder: so many take some milliseconds, and no memory has them."""

_OF_PROCESS = r"\.(?P<pid>[1-9]\d{0,9})(?:-\d+)?"
_NAMES = {
    os.path.join("state", "memory"): rf"(?:spaces|refused)\.json{_OF_PROCESS}",
    os.path.join("state", "memory", "breakers"): rf"[\w-]+(?:\.[\w-]+){{1,2}}{_OF_PROCESS}",
    os.path.join("state", "memory", "batches"): r"[\w.-]+\.json\.[0-9a-f]{8}",
    "cache": rf"entry-points-\d+\.txt{_OF_PROCESS}",
}
"""By folder, what files are called that are written beside another until they are whole."""


def leftovers(
    state_dir: str,
    cache_dir: str,
    *,
    now: float,
    lives: Callable[[int], bool] | None = None,
) -> Iterator[str]:
    """The temporary files of ours that nobody is writing any more; ``now`` is in epoch seconds.

    Only what is called as ours are, is an hour old, and is of no process that ``lives``. After the
    clock was set back nothing is old enough, and waits.
    """
    lives = _lives if lives is None else lives
    for place, pattern in _NAMES.items():
        base, _, below = place.partition(os.sep)
        folder = os.path.join(state_dir if base == "state" else cache_dir, below)
        ours = re.compile(pattern)
        for entry in _entries(folder):
            match = ours.fullmatch(entry.name)
            if match is None or not _is_old(entry, now):
                continue
            pid = match.groupdict().get("pid")
            if pid is None or not lives(int(pid)):
                yield entry.path


def sweep(files: Iterable[str]) -> int:
    """Delete ``files``; how many are gone. What cannot be deleted is left for the next time."""
    gone = 0
    for file in files:
        try:
            os.unlink(file)
        except OSError:
            continue
        gone += 1
    return gone


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from islice(entries, _MOST)
    except OSError:
        return


def _is_old(entry: os.DirEntry[str], now: float) -> bool:
    try:
        # Of links nothing is ours, wherever they lead.
        return entry.is_file(follow_symlinks=False) and (
            now - entry.stat(follow_symlinks=False).st_mtime >= _LEAST_AGE_SECONDS
        )
    except OSError:
        return False


def _lives(pid: int) -> bool:
    """Whether there is such a process, as far as can be told."""
    if os.name != "posix":
        return False  # asking would end it; who writes for an hour is not writing
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # somebody else's
    return True
