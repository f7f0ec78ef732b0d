"""What has changed between the files and QMD's index, found by comparing stamps alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import RootFailure, SyncReport, words_of
from commonplace_qmd.listing import list_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from commonplace_qmd.collections import Collection
    from commonplace_qmd.listing import Listing
    from commonplace_qmd.state import Manifest

__all__ = ["Look", "look"]


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
