"""Scanning all sources, and what is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.index.changes import SourceScan, lies_under
from commonplace.index.recipe import recipe_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from commonplace.model.documents import RootFailure, ScanReport
    from commonplace.model.reports import SyncReport
    from commonplace.model.store import StoredDocument
    from commonplace.protocols.sources import Source
    from commonplace.text.analyse import Analyser

__all__ = ["scan_sources", "with_scans"]


def scan_sources(
    sources: Iterable[Source],
    *,
    chunker_fingerprint: str,
    analyser: Analyser,
    known: Callable[[], Iterable[StoredDocument]],
    eager: bool = True,
) -> list[SourceScan]:
    """A scan of every source.

    A root that is absent becomes a failure where one of the documents that are ``known`` lies
    below it: a folder that never was is nothing to speak of, one that is gone hides what was in
    it. ``known`` is called only if a root is absent. Unless it is ``eager``, a source of documents
    that grow says which have grown enough.
    """
    scans = [
        SourceScan(
            source=source.id,
            report=_with_source(source.scan(), source.id),
            recipe=recipe_of(source, chunker_fingerprint, analyser),
            due=None if eager else getattr(source, "due", None),
        )
        for source in sources
    ]
    if not any(scan.report.absent_roots for scan in scans):
        return scans
    documents = list(known())
    return [scan._replace(report=_judged(scan.report, scan.source, documents)) for scan in scans]


def with_scans(report: SyncReport, scans: Iterable[SourceScan]) -> SyncReport:
    """``report``, with what the scans could not look at."""
    scans = list(scans)
    return report._replace(
        failed_roots=tuple(failure for scan in scans for failure in scan.report.failed_roots),
        absent_roots=tuple(absent for scan in scans for absent in scan.report.absent_roots),
        skipped_symlinks=sum(scan.report.skipped_symlinks for scan in scans),
    )


def _with_source(report: ScanReport, source: str) -> ScanReport:
    return report._replace(
        failed_roots=tuple(root._replace(source=source) for root in report.failed_roots),
        absent_roots=tuple(root._replace(source=source) for root in report.absent_roots),
    )


def _judged(report: ScanReport, source: str, known: Iterable[StoredDocument]) -> ScanReport:
    paths = [document.path for document in known if document.source == source]
    lost: list[RootFailure] = []
    absent: list[RootFailure] = []
    for root in report.absent_roots:
        (lost if any(lies_under(path, root.root) for path in paths) else absent).append(root)
    return report._replace(failed_roots=(*report.failed_roots, *lost), absent_roots=tuple(absent))
