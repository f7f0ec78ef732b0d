"""Checks the files beside an index, keeps damaged indexes, and deletes leftover temporary files."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from commonplace.dirs import DRAFT_ENDING, is_abandoned, is_draft, is_running
from commonplace.errors import counted
from commonplace.model.documents import Finding, Fix
from commonplace.resilience.breaker import recorded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from commonplace.config.settings import Settings
    from commonplace.embedding.cache import EmbeddingCache


_MAX_ENTRIES = 2_000
"""Entries read from one folder: they take some milliseconds, and no memory has as many."""

_FOLDERS = ("", "breakers", "batches")
"""The folders below ``memory`` in the state folder in which files are replaced."""


def leftovers(
    state_dir: str, cache_dir: str, *, now: float, lives: Callable[[int], bool] = is_running
) -> Iterator[str]:
    """Yield temporary files that no process writes any more; ``now`` is in epoch seconds.

    A file counts if :func:`~commonplace.dirs.is_abandoned` says so. After the clock was set
    back, no file is old enough for a while.
    """
    memory = os.path.join(state_dir, "memory")
    for folder in (*(os.path.join(memory, name) for name in _FOLDERS), cache_dir):
        for path in _named_as_drafts(folder):
            if is_abandoned(path, now=now, lives=lives):
                yield path


def delete_files(files: Iterable[str]) -> int:
    """Delete ``files`` and return how many; one that cannot be deleted is left."""
    gone = 0
    for file in files:
        try:
            os.unlink(file)
        except OSError:
            continue
        gone += 1
    return gone


def tidy(settings: Settings, clock: Callable[[], float]) -> None:
    """Delete the temporary files that no process writes any more."""
    delete_files(leftovers(settings.state_dir, settings.cache_dir, now=clock()))


def _named_as_drafts(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, _MAX_ENTRIES):
                if entry.name.endswith(DRAFT_ENDING):
                    yield entry.path
    except OSError:
        return


_SHARED = ("embeddings.sqlite", "spaces.json", "refused.json", "uploads.json")
_STALE_SECONDS = 7 * 86_400
"""No breaker pauses longer than a quarter of an hour: after a week its record is obsolete."""


def check_state_files(
    state_dir: str, cache_dir: str, *, cache: EmbeddingCache | None, now: float
) -> Iterator[Finding]:
    """Check the state folder; ``now`` is in epoch seconds."""
    memory = os.path.join(state_dir, "memory")
    if cache is not None:
        yield _cache(cache)
    yield _breakers(os.path.join(memory, "breakers"), now)
    yield _leftovers(state_dir, cache_dir, now)
    yield _rights(memory)


def _cache(cache: EmbeddingCache) -> Finding:
    if not os.path.exists(cache.path):
        return Finding("ok", "cache", "no embeddings yet")
    damage, entries = cache.faults(), cache.count()
    size = sum(os.path.getsize(path) for path in _whole(cache.path)) / 1e6
    text = f"{entries} embeddings, {size:.1f} MB, at {cache.path}"

    def run() -> str:
        cache.discard()
        return f"deleted the embedding cache ({text}): it fills again as notes are embedded"

    fix = Fix("delete the damaged embedding cache", run)
    if damage:
        return Finding("problem", "cache", f"{text}: {damage[0]}", fix)
    if cache.trouble:
        return Finding("warning", "cache", cache.trouble)
    return Finding("ok", "cache", text)


def _whole(path: str) -> list[str]:
    return [path + end for end in ("", "-wal", "-shm") if os.path.exists(path + end)]


def _breakers(folder: str, now: float) -> Finding:
    paths = [path for path in _files(folder) if not is_draft(os.path.basename(path))]
    records = {path: recorded(path) for path in paths}
    stale = [
        path
        for path, record in records.items()
        if record is None or not -_STALE_SECONDS < now - record.at < _STALE_SECONDS
    ]
    if stale:
        names = ", ".join(map(os.path.basename, stale))
        fix = _delete("delete obsolete records of failures", stale, "records of failures")
        return Finding("warning", "breakers", f"obsolete or unreadable: {names}", fix)
    failing = [
        f"{os.path.basename(path)} since {_time(record.since)}"
        for path, record in records.items()
        if record is not None
    ]
    return Finding("ok", "breakers", "; ".join(failing) or "nothing is failing")


def _leftovers(state_dir: str, cache_dir: str, now: float) -> Finding:
    files = list(leftovers(state_dir, cache_dir, now=now))
    if not files:
        return Finding("ok", "leftovers", "no temporary files of ended processes")
    text = f"{len(files)} temporary files of ended processes, such as {files[0]}"
    fix = _delete("delete temporary files of ended processes", files, "temporary files")
    return Finding("warning", "leftovers", text, fix)


def _rights(folder: str) -> Finding:
    open_ = [path for path in _ours(folder) if _others_may(path)]
    if not open_:
        return Finding("ok", "folder", f"only its owner can access {folder}")
    text = f"other users can access {', '.join(open_[:3])}" + (" ..." if len(open_) > 3 else "")

    def run() -> str:
        for path in open_:
            with suppress(FileNotFoundError):  # a log is deleted with its last connection
                os.chmod(path, 0o700 if os.path.isdir(path) else 0o600)
        return f"removed the access of other users to {counted(len(open_), 'path')}"

    fix = Fix("remove the access of other users to the state folder", run)
    return Finding("warning", "folder", text, fix)


def _ours(folder: str) -> list[str]:
    """The folder, its subfolders, and the files that all agents share."""
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


def _delete(text: str, files: Sequence[str], what: str) -> Fix:
    def run() -> str:
        return f"deleted {delete_files(files)} {what}"

    return Fix(text, run)


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


_MARK = ".damaged-"
_KEPT = 2
"""How many damaged indexes are kept: the last, and the one before, in case it happens twice."""


class DamagedIndexes:
    """What was set aside of the index at ``path``, as ``path`` + ``.damaged-TIME``.

    ``endings`` are those of the files or folders that make up the index, in the order in which they
    are renamed, with the endings that they have afterwards: ``""`` for the one that is named.
    """

    def __init__(self, path: str, endings: Mapping[str, str]) -> None:
        self._path = path
        self._endings = endings
        self._companions = tuple(filter(None, endings.values()))

    def set_aside(self) -> str:
        """Rename the index; returns the new path. Raises ``OSError``.

        For a process that keeps all writers out, and has nothing of the index open.
        """
        target = self._free_name()
        for before, after in self._endings.items():
            with suppress(FileNotFoundError):
                os.rename(self._path + before, target + after)
        self.prune(keep=_KEPT)
        return target

    def prune(self, *, keep: int) -> list[str]:
        """Delete all but the newest; returns the deleted ones."""
        deleted = []
        for old in self.kept()[:-keep]:
            with suppress(OSError):  # what remains is deleted the next time
                for ending in self._endings.values():
                    _delete_all(old + ending)
                deleted.append(old)
        return deleted

    def kept(self) -> list[str]:
        """Those that were set aside, oldest first."""
        folder, name = os.path.split(self._path)
        try:
            entries = os.listdir(folder)
        except OSError:
            return []
        found = [
            os.path.join(folder, entry)
            for entry in entries
            if entry.startswith(name + _MARK) and not entry.endswith(self._companions)
        ]
        # Several of one second are numbered, the first one not.
        return sorted(
            found,
            key=lambda found: (found.rpartition(_MARK)[2].partition("-")[0], len(found), found),
        )

    def finding(self) -> Finding:
        """How many are kept, for a deep check; its fix deletes all but the newest."""
        kept = self.kept()
        if not kept:
            return Finding("ok", "set aside", "nothing")
        size = sum(map(_size_of, kept)) / 1e6
        files = counted(len(kept), "damaged index is", "damaged indexes are")
        value = f"{files} kept ({size:.1f} MB), the newest is {kept[-1]}"
        if len(kept) == 1:
            return Finding("ok", "set aside", value)

        def run() -> str:
            deleted = counted(len(self.prune(keep=1)), "damaged index", "damaged indexes")
            return f"deleted {deleted}, kept {kept[-1]}"

        fix = Fix("delete all damaged indexes that were set aside but the newest", run)
        return Finding("warning", "set aside", value, fix)

    def _free_name(self) -> str:
        """A name that sorts after all existing ones, even if the clock went back."""
        path = self._path
        wanted = f"{path}{_MARK}{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
        number = 1
        if before := self.kept():
            newest, _, last = before[-1][len(path + _MARK) :].partition("-")
            if f"{path}{_MARK}{newest}" >= wanted:
                wanted, number = f"{path}{_MARK}{newest}", int(last or 1) + 1
        target = wanted if number == 1 else f"{wanted}-{number}"
        while any(os.path.lexists(target + ending) for ending in self._endings.values()):
            number += 1
            target = f"{wanted}-{number}"
        return target


def _delete_all(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
        return
    with suppress(FileNotFoundError):
        os.unlink(path)


def _size_of(path: str) -> int:
    """Bytes of a file, or of all files below a folder."""
    files = [path]
    for parent, _, names in os.walk(path):
        files += [os.path.join(parent, name) for name in names]
    size = 0
    for file in files:
        with suppress(OSError):  # deleted this moment
            size += os.stat(file).st_size
    return size
