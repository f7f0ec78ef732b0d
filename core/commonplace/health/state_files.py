"""Temporary files whose writers were killed: finding them, sweeping them away."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from commonplace.model.findings import Finding, Fix
from commonplace.resilience.breaker import recorded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from commonplace.embedding.cache import EmbeddingCache

__all__ = [
    "leftovers",
    "look_after",
    "sweep",
]


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


_SHARED = ("embeddings.sqlite", "spaces.json", "refused.json")
_STALE_SECONDS = 7 * 86_400
"""No breaker pauses longer than a quarter of an hour: a week later it speaks of the past."""


def look_after(
    state_dir: str, cache_dir: str, *, cache: EmbeddingCache | None, now: float
) -> Iterator[Finding]:
    """What is in the folder of state, and what would fix it; ``now`` is in epoch seconds."""
    memory = os.path.join(state_dir, "memory")
    if cache is not None:
        yield _cache(cache)
    yield _breakers(os.path.join(memory, "breakers"), now)
    yield _leftovers(state_dir, cache_dir, now)
    yield _rights(memory)


def _cache(cache: EmbeddingCache) -> Finding:
    if not os.path.exists(cache.path):
        return Finding("ok", "cache", "no embeddings yet")
    faults, entries = cache.faults(), cache.count()
    size = sum(os.path.getsize(path) for path in _whole(cache.path)) / 1e6
    value = f"{entries} embeddings, {size:.1f} MB, at {cache.path}"

    def run() -> str:
        cache.discard()
        return f"threw the embedding cache away ({value}): it is filled again as notes are embedded"

    fix = Fix("throw the damaged embedding cache away", run)
    if faults:
        return Finding("problem", "cache", f"{value}: {faults[0]}", fix)
    if cache.trouble:
        return Finding("warning", "cache", cache.trouble)
    return Finding("ok", "cache", value)


def _whole(path: str) -> list[str]:
    return [path + end for end in ("", "-wal", "-shm") if os.path.exists(path + end)]


def _breakers(folder: str, now: float) -> Finding:
    paths = [path for path in _files(folder) if not path.rpartition(".")[2].isdecimal()]
    records = {path: recorded(path) for path in paths}
    stale = [
        path
        for path, record in records.items()
        if record is None or not -_STALE_SECONDS < now - record.at < _STALE_SECONDS
    ]
    if stale:
        names = ", ".join(map(os.path.basename, stale))
        fix = _deleting("forget failures of long ago", stale, "records of failures")
        return Finding("warning", "breakers", f"of long ago, or unreadable: {names}", fix)
    failing = [
        f"{os.path.basename(path)} since {_time(record.since)}"
        for path, record in records.items()
        if record is not None
    ]
    return Finding("ok", "breakers", "; ".join(failing) or "nothing is failing")


def _leftovers(state_dir: str, cache_dir: str, now: float) -> Finding:
    files = list(leftovers(state_dir, cache_dir, now=now))
    if not files:
        return Finding("ok", "leftovers", "no temporary files of processes that ended")
    value = f"{len(files)} of processes that ended, such as {files[0]}"
    fix = _deleting("delete temporary files of processes that ended", files, "temporary files")
    return Finding("warning", "leftovers", value, fix)


def _rights(folder: str) -> Finding:
    open_ = [path for path in _ours(folder) if _others_may(path)]
    if not open_:
        return Finding("ok", "folder", f"{folder} is its owner's alone")
    value = f"others have rights to {', '.join(open_[:3])}" + (" ..." if len(open_) > 3 else "")

    def run() -> str:
        for path in open_:
            with suppress(FileNotFoundError):  # a log goes with its last connection
                os.chmod(path, 0o700 if os.path.isdir(path) else 0o600)
        places = "1 place" if len(open_) == 1 else f"{len(open_)} places"
        return f"took the rights of others from {places}"

    fix = Fix("take the rights of others from the folder of state", run)
    return Finding("warning", "folder", value, fix)


def _ours(folder: str) -> list[str]:
    """The folder, those in it and the files that this memory keeps for all agents."""
    folders = [folder, *(os.path.join(folder, name) for name in ("breakers", "batches"))]
    return folders + [path for path in _files(folder) if os.path.basename(path).startswith(_SHARED)]


def _others_may(path: str) -> bool:
    if os.name != "posix":
        return False
    try:
        stat = os.lstat(path)
    except OSError:
        return False
    return bool(stat.st_mode & 0o077) and stat.st_uid == os.geteuid()


def _files(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return []


def _deleting(says: str, files: Sequence[str], what: str) -> Fix:
    def run() -> str:
        return f"deleted {sweep(files)} {what}"

    return Fix(says, run)


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
