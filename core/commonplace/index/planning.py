"""What has changed between the files and the index, by scanning sources and comparing stamps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.index.builds import recipe_of
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from commonplace.model.documents import DocumentRef, RootFailure, ScanReport, Stamp
    from commonplace.model.reports import SyncReport
    from commonplace.model.store import StoredDocument
    from commonplace.protocols.sources import Source
    from commonplace.text.analyse import Analyser

__all__ = [
    "TICK_NS",
    "MissingSource",
    "Plan",
    "SourceScan",
    "is_unsettled",
    "lies_under",
    "plan_changes",
    "scan_sources",
    "settled_stamp",
    "with_scans",
]


TICK_NS = 20_000_000
"""Longer than the tick of any common kernel's file times (1 to 10 ms)."""

_COARSE_WINDOW_NS = 2_000_000_000

_NO_TIME = -1

_COMPARED = 64
"""How many bytes are compared in the time in which one is cut and analysed, or fewer."""


class SourceScan(NamedTuple):
    """A source's scan, with the recipe its documents would be made by today.

    ``due`` says of a document that has changed since a stamp whether it shall be read now; without
    it, each is.
    """

    source: str
    report: ScanReport
    recipe: str
    due: Callable[[DocumentRef, Stamp], bool] | None = None


class MissingSource(NamedTuple):
    """Stands for a source that is configured and not here, as its plugin is missing, say."""

    id: str


class Plan(NamedTuple):
    """``read`` may have changed; ``gone`` are certainly no longer there; the rest is as it was.

    ``left`` may have changed too, and wait for a sync that has more time; ``deferred`` have grown
    by too little to be read again without being asked for.
    """

    read: tuple[tuple[DocumentRef, StoredDocument | None], ...]
    gone: tuple[StoredDocument, ...]
    unchanged: int
    hidden: int
    left: tuple[tuple[DocumentRef, StoredDocument | None], ...] = ()
    deferred: tuple[tuple[DocumentRef, StoredDocument | None], ...] = ()

    @property
    def size(self) -> int:
        """How many documents need work."""
        return len(self.read) + len(self.gone)

    @property
    def known(self) -> int:
        """How many documents of the scanned sources the index holds, changed ones included."""
        changed = sum(old is not None for _, old in (*self.read, *self.left, *self.deferred))
        return self.unchanged + len(self.gone) + changed

    @property
    def changed(self) -> int:
        """How many documents are not as they were, whatever their recipe."""
        pairs = (*self.read, *self.left)
        return len(self.gone) + sum(not _made_otherwise(*pair) for pair in pairs)

    @property
    def remade(self) -> tuple[int, int] | None:
        """(made, of) documents, where some are to be made again though they are as they were."""
        if not any(_made_otherwise(*pair) for pair in (*self.read, *self.left)):
            return None
        return self.unchanged, self.unchanged + len(self.read) + len(self.left)

    def without_large(self, largest: int) -> Plan:
        """The same, with what seems to have more than ``largest`` bytes to read left for later."""
        left = tuple(pair for pair in self.read if _weight(*pair) > largest)
        if not left:
            return self
        read = tuple(pair for pair in self.read if _weight(*pair) <= largest)
        return self._replace(read=read, left=(*self.left, *left))

    def quick(self, at_most: int, largest: int) -> Plan | None:
        """What may be done while somebody waits: up to ``at_most`` documents, none of them large.

        Where there is more to do, that is whatever has changed, and what only another recipe makes
        again is left: cut otherwise, it would lose its vectors, and a search embeds nothing.
        ``None`` where too much has changed: half of the changes would help nobody.
        """
        plan = self.without_large(largest)
        if plan.size <= at_most:
            return plan
        changed = tuple(pair for pair in plan.read if not _made_otherwise(*pair))
        if len(changed) + len(plan.gone) > at_most:
            return None
        again = tuple(pair for pair in plan.read if _made_otherwise(*pair))
        return plan._replace(read=changed, left=(*plan.left, *again))

    def first(self, at_most: int, largest: int) -> Plan:
        """As :meth:`quick`, for a build that nobody searches yet: whatever comes first."""
        plan = self.without_large(largest)
        return plan._replace(read=plan.read[:at_most], left=(*plan.left, *plan.read[at_most:]))


def _weight(ref: DocumentRef, old: StoredDocument | None) -> int:
    """How many bytes are to be made something of, if a document did not only seem to grow."""
    size = ref.stamp[0]
    if old is None or not old.resume or not 0 <= old.stamp[0] <= size:
        return size
    return max(size - old.stamp[0], size // _COMPARED)


def _made_otherwise(ref: DocumentRef, old: StoredDocument | None) -> bool:
    """Whether a document is as it was, and only its recipe is another."""
    return old is not None and old.stamp == ref.stamp


def plan_changes(
    stored: Iterable[StoredDocument],
    scans: Sequence[SourceScan],
    *,
    configured: Collection[str] | None = None,
) -> Plan:
    """Compare what the index holds with what the sources found.

    A document that is no longer found is ``gone`` only if its path lies under a root that was
    scanned to its end, and under none that failed. A source that was not scanned at all (its
    plugin is missing, say) hides its documents: they are neither gone nor unchanged. They are gone
    if it is not among those ``configured`` (``None``: every source is).
    """
    known: dict[str, dict[str, StoredDocument]] = {scan.source: {} for scan in scans}
    hidden = 0
    gone: list[StoredDocument] = []
    for document in stored:
        of_source = known.get(document.source)
        if of_source is not None:
            of_source[document.path] = document
        elif configured is None or document.source in configured:
            hidden += 1
        else:
            gone.append(document)

    read: list[tuple[DocumentRef, StoredDocument | None]] = []
    deferred: list[tuple[DocumentRef, StoredDocument | None]] = []
    unchanged = 0
    for scan in scans:
        of_source, recipe = known[scan.source], scan.recipe
        for ref in scan.report.documents:
            old = of_source.pop(ref.path, None)
            if old is not None and old.stamp == ref.stamp and old.recipe == recipe:
                unchanged += 1
            else:
                (deferred if _can_wait(ref, old, scan) else read).append((ref, old))
        for document in of_source.values():
            if _was_looked_for(document.path, scan.report):
                gone.append(document)
            else:
                hidden += 1
    return Plan(
        read=tuple(read),
        gone=tuple(gone),
        unchanged=unchanged,
        hidden=hidden,
        deferred=tuple(deferred),
    )


def _can_wait(ref: DocumentRef, old: StoredDocument | None, scan: SourceScan) -> bool:
    if old is None or old.recipe != scan.recipe or scan.due is None:
        return False
    return not scan.due(ref, old.stamp)


def _was_looked_for(path: str, report: ScanReport) -> bool:
    if any(lies_under(path, failure.root) for failure in report.failed_roots):
        return False
    return any(lies_under(path, root) for root in report.complete_roots)


def lies_under(path: str, root: str) -> bool:
    """Whether a stored path is ``root`` or below it; ``""`` is the root of everything."""
    return not root or path == root or path.startswith(root if root.endswith("/") else root + "/")


def settled_stamp(stamp: Stamp, now_ns: int) -> Stamp:
    """``stamp``, or one that no file has if the file may change again without showing it.

    This is git's racy rule: a file written in the same tick of the file system's clock in which we
    read it can be written once more and keep its times. The tick is a few milliseconds, two
    seconds where times have no fraction. Such a file is simply read again at the next sync. Size
    and inode stay in its stamp (see :func:`is_unsettled`), so that growth can be told.
    """
    size, mtime_ns, ctime_ns, inode = stamp
    coarse = mtime_ns % 1_000_000_000 == 0 and ctime_ns % 1_000_000_000 == 0
    window = _COARSE_WINDOW_NS if coarse else TICK_NS
    return (size, _NO_TIME, _NO_TIME, inode) if max(mtime_ns, ctime_ns) > now_ns - window else stamp


def is_unsettled(stamp: Stamp) -> bool:
    """Whether ``stamp`` is one that no file has: whoever carries it is read at the next sync."""
    return stamp[1] == stamp[2] == _NO_TIME


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
