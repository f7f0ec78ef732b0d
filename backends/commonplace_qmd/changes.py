"""The files of a collection, found by directory entries alone."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import RootFailure, SyncReport, is_storable, stamp_of, words_of
from commonplace_qmd.collections import NEVER_INDEXED, OURS_IGNORED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from commonplace.plugin import Stamp
    from commonplace_qmd.collections import Collection
    from commonplace_qmd.home import Manifest

__all__ = [
    "Listing",
    "Look",
    "list_files",
    "look",
]


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


class Look(NamedTuple):
    """What each collection holds now, beside what the last update found there.

    ``failures`` are folders that could not be seen to their end, ``absent`` such as are not there,
    and of which nothing is known. ``added``, ``changed`` and ``removed`` count files; ``hidden``
    are known ones of collections that cannot be seen to their end just now, and ``known`` all that
    the last update found. ``exports`` are transcripts that are not exported as they are now,
    ``deferred`` such as have grown by too little for that, and ``refused`` (path, reason) of files
    that QMD cannot keep.
    """

    listings: Mapping[str, Listing]
    failures: tuple[RootFailure, ...]
    absent: tuple[RootFailure, ...]
    added: int
    changed: int
    removed: int
    unchanged: int
    hidden: int
    known: int
    exports: int = 0
    refused: tuple[tuple[str, str], ...] = ()
    deferred: int = 0

    @property
    def size(self) -> int:
        """How many files need an update."""
        return self.added + self.changed + self.removed + self.exports

    def report(self) -> SyncReport:
        """The same for whoever only wants to know what there is to do."""
        return SyncReport(
            unchanged=self.unchanged,
            remaining=self.size,
            known=self.known,
            hidden=self.hidden,
            failed_roots=self.failures,
            absent_roots=self.absent,
            unreadable=self.refused,
            deferred=self.deferred,
            skipped_symlinks=sum(listing.links for listing in self.listings.values()),
        )


def look(collections: Sequence[Collection], workspace: str, manifest: Manifest) -> Look:
    """List every collection and compare; no file is opened."""
    trouble = _trouble_with(workspace)
    listings = {
        collection.name: list_files(collection, workspace_failure=trouble)
        for collection in collections
    }
    added = changed = unchanged = hidden = 0
    removed = sum(len(files) for name, files in manifest.items() if name not in listings)
    for name, listing in listings.items():
        before = manifest.get(name, {})
        if listing.failures:
            hidden += len(before)
            continue
        for path, stamp in listing.files.items():
            if path not in before:
                added += 1
            elif before[path] == stamp:
                unchanged += 1
            else:
                changed += 1
        removed += len(before.keys() - listing.files.keys())
    return Look(
        listings=listings,
        failures=tuple(_failures(collections, listings, manifest, absent=False)),
        absent=tuple(_failures(collections, listings, manifest, absent=True)),
        added=added,
        changed=changed,
        removed=removed,
        unchanged=unchanged,
        hidden=hidden,
        known=sum(map(len, manifest.values())),
        refused=tuple(
            (collection.stored(path), "QMD cannot keep a name with a backslash: rename it")
            for collection in collections
            for path in listings[collection.name].refused
        ),
    )


def _failures(
    collections: Sequence[Collection],
    listings: Mapping[str, Listing],
    manifest: Manifest,
    *,
    absent: bool,
) -> Iterator[RootFailure]:
    """What could not be seen; ``absent`` picks what is not there and was never known."""
    told = set()
    for collection in collections:
        listing = listings[collection.name]
        if absent != (listing.absent and not manifest.get(collection.name)):
            continue
        for below, reason in listing.failures:
            root = (collection.prefix + below).rstrip("/")
            failure = RootFailure(root, reason, collection.source)
            if failure not in told:
                told.add(failure)
                yield failure


def _trouble_with(workspace: str) -> str:
    """Why nothing can be concluded from what is not found in the workspace; else ``""``."""
    try:
        with os.scandir(workspace) as entries:
            if next(entries, None) is not None:
                return ""
    except OSError as error:
        return f"the workspace cannot be listed: {words_of(error)}"
    return "the workspace is empty: nothing is forgotten, as its disk may not be mounted"
