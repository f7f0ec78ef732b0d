"""What has changed between the files and QMD's index, found by comparing stamps alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from commonplace.plugin import (
    RootFailure,
    ScanReport,
    SourceScan,
    StoredDocument,
    SyncReport,
    is_storable,
    plan_changes,
    scan_root,
)
from commonplace_qmd.collections import NEVER_INDEXED, TOOL_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.plugin import Plan
    from commonplace_qmd.collections import Collection
    from commonplace_qmd.home import Manifest


_BACKSLASH = "QMD cannot index a name with a backslash: rename it"


class CollectionScan(NamedTuple):
    """What a scan found below one collection.

    With ``report.failed_roots``, part of the folder could not be listed: QMD must not update the
    collection, or would drop what it does not see, so ``report`` has no documents then. ``skipped``
    are folders with wanted files that QMD never indexes, ``refused`` files that it cannot index.
    """

    collection: Collection
    report: ScanReport
    skipped: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether QMD may update this collection."""
        return bool(self.report.complete_roots)


class Changes(NamedTuple):
    """What the collections hold now, compared with what the last update found.

    ``known`` counts the documents of the last update. ``exports`` are transcripts whose export is
    out of date, ``deferred`` those that have grown by too little to be exported again.
    """

    scans: tuple[CollectionScan, ...]
    plan: Plan
    known: int
    exports: int = 0
    deferred: int = 0

    @property
    def size(self) -> int:
        """How many files need an update."""
        return self.plan.size + self.exports

    @property
    def incomplete(self) -> frozenset[str]:
        """The names of collections that could not be scanned to the end."""
        return frozenset(scan.collection.name for scan in self.scans if not scan.complete)

    def report(self) -> SyncReport:
        """The same as a report on what an update would do."""
        reports = [scan.report for scan in self.scans]
        return SyncReport(
            unchanged=self.plan.unchanged,
            remaining=self.size,
            known=self.known,
            hidden=self.plan.hidden,
            # Collections of one folder fail alike.
            failed_roots=tuple(dict.fromkeys(one for each in reports for one in each.failed_roots)),
            absent_roots=tuple(dict.fromkeys(one for each in reports for one in each.absent_roots)),
            unreadable=tuple((path, _BACKSLASH) for scan in self.scans for path in scan.refused),
            deferred=self.deferred,
            skipped_symlinks=sum(report.skipped_symlinks for report in reports),
        )


def find_changes(collections: Sequence[Collection], workspace: str, manifest: Manifest) -> Changes:
    """Scan every collection and compare with ``manifest``; no file is opened."""
    scans = tuple(
        scan_collection(collection, workspace, known=bool(manifest.get(collection.name)))
        for collection in collections
    )
    stored = [
        StoredDocument(name, path, "", stamp, "")
        for name, files in manifest.items()
        for path, stamp in files.items()
    ]
    plan = plan_changes(
        stored,
        [SourceScan(scan.collection.name, scan.report, "") for scan in scans],
        configured=[collection.name for collection in collections],
    )
    return Changes(scans, plan, known=len(stored))


def scan_collection(
    collection: Collection, workspace: str, *, known: bool = False
) -> CollectionScan:
    """Scan one collection, of which files are ``known`` to QMD or not.

    A missing folder of which no file is known is absent, any other one failed.
    """
    root, source = collection.root, collection.source
    if not is_storable(root.location):
        reason = "its name is not valid UTF-8: rename it to have it indexed"
        report = ScanReport((), (), (RootFailure(root.stored, reason, source),))
        return CollectionScan(collection, report)
    skipped: list[str] = []
    matches = collection.wanted()

    def wanted(path: str) -> bool:
        return is_storable(path) and matches(path)

    def enters(folder: str) -> bool:
        name = folder.rpartition("/")[2]
        if not collection.deep or name.startswith(".") or not is_storable(name):
            return False
        if name in NEVER_INDEXED and _holds_wanted(collection, folder):
            skipped.append(collection.stored(folder))
        return name not in NEVER_INDEXED and name not in TOOL_FOLDERS

    report = scan_root(
        root._replace(suffix="", wanted=wanted, enters=enters),
        source=collection.name,
        workspace=workspace if root.own and source == "memory" else "",
    )
    failed = tuple(each._replace(source=source) for each in report.failed_roots)
    absent = tuple(each._replace(source=source) for each in report.absent_roots)
    if failed or absent:
        links = report.skipped_symlinks
        report = ScanReport((), (), (*failed, *absent), links)
        if not (known or os.path.lexists(root.location)):
            report = ScanReport((), (), failed, links, absent)
    # QMD takes a backslash for a separator.
    refused = tuple(ref.path for ref in report.documents if "\\" in ref.path)
    documents = tuple(ref for ref in report.documents if "\\" not in ref.path)
    report = report._replace(documents=documents)
    return CollectionScan(collection, report, tuple(skipped), refused)


def _holds_wanted(collection: Collection, folder: str) -> bool:
    wanted = collection.wanted()
    try:
        with os.scandir(os.path.join(collection.location, folder)) as entries:
            return any(wanted(f"{folder}/{entry.name}") for entry in entries)
    except OSError:
        return False
