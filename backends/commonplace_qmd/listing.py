"""The files of a collection, found by directory entries alone."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import is_storable, stamp_of, words_of
from commonplace_qmd.globs import NEVER_INDEXED, OURS_IGNORED

if TYPE_CHECKING:
    from commonplace.plugin import Stamp
    from commonplace_qmd.collections import Collection

__all__ = ["Listing", "list_files"]

_KEPT = "what is known of it is kept, as its disk may not be mounted"


class Listing(NamedTuple):
    """What was found below one collection.

    ``files`` maps paths below the folder to stamps. ``failures`` are folders below it (``""``: all
    of it) that could not be seen to their end, and why: QMD must not be let at the collection just
    now, or would forget what it does not see. ``passed_over`` are folders with files that QMD never
    indexes. ``links`` counts what was not followed. ``absent`` says that the folder is not there.
    ``refused`` are files whose names QMD cannot keep: it takes a backslash for a border of folders.
    """

    files: dict[str, Stamp]
    failures: tuple[tuple[str, str], ...] = ()
    passed_over: tuple[str, ...] = ()
    links: int = 0
    absent: bool = False
    refused: tuple[str, ...] = ()


def list_files(collection: Collection, *, workspace_failure: str = "") -> Listing:
    """The files of ``collection``.

    ``workspace_failure`` is why nothing can be concluded from what the workspace does not hold.
    """
    if collection.own and collection.source == "memory" and workspace_failure:
        return _failed(workspace_failure)
    if not is_storable(collection.location):
        return _failed("its name is not valid UTF-8: rename it to have it indexed")
    if any(map(os.path.islink, collection.steps())):
        return _failed("a symbolic link leads to it, which memory does not follow")
    try:
        os.scandir(collection.location).close()
    except (FileNotFoundError, NotADirectoryError):
        # The workspace is there, so what is missing in it was deleted by its owner.
        missing = _failed(f"it is missing: {_KEPT}")._replace(absent=True)
        return Listing({}) if collection.own else missing
    except (OSError, ValueError) as error:
        return _failed(words_of(error))
    return _walked(collection)


def _walked(collection: Collection) -> Listing:
    walk = _Walk(collection)
    walk.run()
    if not (walk.seen or walk.failures or collection.own):
        return _failed(f"it holds nothing: {_KEPT}")
    return Listing(
        walk.files,
        tuple(walk.failures),
        tuple(walk.passed_over),
        walk.links,
        refused=tuple(walk.refused),
    )


def _failed(reason: str) -> Listing:
    return Listing({}, (("", reason),))


class _Walk:
    def __init__(self, collection: Collection) -> None:
        self._top = collection.location
        self._wanted = collection.wanted()
        self._deep = "/" in collection.pattern or "**" in collection.pattern
        self.files: dict[str, Stamp] = {}
        self.passed_over: list[str] = []
        self.failures: list[tuple[str, str]] = []
        self.refused: list[str] = []
        self.links = 0
        self.seen = 0

    def run(self) -> None:
        """Walk all folders; one that cannot be listed fails, and the others go on."""
        waiting = [""]
        while waiting:
            below = waiting.pop()
            try:
                with os.scandir(os.path.join(self._top, below)) as entries:
                    for entry in entries:
                        waiting += self._look_at(entry, below)
            except FileNotFoundError:
                continue  # deleted since it was listed
            except OSError as error:
                self.failures.append((below, words_of(error)))

    def _look_at(self, entry: os.DirEntry[str], below: str) -> list[str]:
        """Take a file; of a folder, its path below the top with a slash behind it."""
        self.seen += 1
        relative = below + entry.name
        if entry.name.startswith(".") or not is_storable(entry.name):
            return []
        if entry.is_symlink():
            self.links += 1
            return []
        if entry.is_dir(follow_symlinks=False):
            if entry.name in NEVER_INDEXED:
                if self._deep and self._has_files(relative):
                    self.passed_over.append(relative)
                return []
            skip = not self._deep or entry.name in OURS_IGNORED
            return [] if skip else [f"{relative}/"]
        if entry.is_file(follow_symlinks=False) and self._wanted(relative):
            if "\\" in relative:
                self.refused.append(relative)
                return []
            with suppress(FileNotFoundError):  # deleted since it was listed
                self.files[relative] = stamp_of(entry.stat(follow_symlinks=False))
        return []

    def _has_files(self, relative: str) -> bool:
        """Whether a folder that QMD passes over directly holds a file that would be wanted."""
        try:
            with os.scandir(os.path.join(self._top, relative)) as entries:
                return any(self._wanted(f"{relative}/{entry.name}") for entry in entries)
        except OSError:
            return False
