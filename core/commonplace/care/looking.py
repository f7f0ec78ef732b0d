"""A close look at the files that a memory keeps beside its index."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from commonplace.care.leftovers import leftovers, sweep
from commonplace.model.findings import Finding, Fix
from commonplace.resilience.breaker import recorded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commonplace.embedding.cache import EmbeddingCache

__all__ = ["look_after"]

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
