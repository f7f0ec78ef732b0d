"""What has changed between the files and the index, by scanning sources and comparing stamps."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from commonplace.errors import UnavailableError, counted
from commonplace.files.roots import file_stamp
from commonplace.host.answers import scanned
from commonplace.index.builds import fingerprint_of, is_current
from commonplace.model.reports import SyncReport
from commonplace.model.tuples import NamedTuple, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from commonplace.model.documents import (
        Build,
        DocumentRef,
        RootFailure,
        ScanReport,
        Stamp,
        StoredDocument,
    )
    from commonplace.protocols.parts import GrowingSource, LookupStore, Source, Store
    from commonplace.text.analyse import Analyser

    Pair = tuple[DocumentRef, StoredDocument | None]


TICK_NS = 20_000_000
"""Longer than the tick of any common kernel's file times (1 to 10 ms)."""

_COARSE_WINDOW_NS = 2_000_000_000
_CHANGES_HAVE_TIMES = os.name != "nt"  # there, ctime is when the file was made
_NO_TIME = -1

_COMPARED = 64
"""Comparing 64 bytes takes at most as long as cutting and analysing one."""


class SourceScan(NamedTuple):
    """A source's scan, with the fingerprint that its documents have today.

    ``due`` tells whether a document that has grown since a stamp is read now; without it, each is.
    """

    source: str
    report: ScanReport
    fingerprint: str
    due: Callable[[DocumentRef, Stamp], bool] | None = None


class Compared(Record):
    """What a sync left that compared all documents: what a sync of a few paths starts from.

    ``documents`` and ``hidden`` count those of the ``build``, which was the only one;
    ``fingerprints`` are by source.
    """

    build: Build
    fingerprints: dict[str, str]
    documents: int
    hidden: int
    absent_roots: tuple[RootFailure, ...]
    skipped_symlinks: int

    def holds_after(self, report: SyncReport) -> bool:
        """Whether this is still right after a sync that compared all and indexed some."""
        complete = not (report.unreadable or report.failed_roots)
        return complete and report.absent_roots == self.absent_roots


def scan_of(source: Source, report: ScanReport, fingerprint: str, *, eager: bool) -> SourceScan:
    """``report`` as a scan of ``source``; unless ``eager``, a growing one says what is due."""
    growing = "growing" in source.capabilities and not eager
    due = cast("GrowingSource", source).due if growing else None
    return SourceScan(source.id, report, fingerprint, due)


class MissingSource(NamedTuple):
    """A source that is configured but not available, since its plugin is missing, say."""

    id: str


class Plan(NamedTuple):
    """What a sync has to do; each pair is a document as found and as stored (``None``: new).

    ``read`` may have changed; ``gone`` were deleted; ``unchanged`` and ``hidden`` are counts of
    documents that stay, the latter because their files could not be looked for. ``left`` may have
    changed too, and wait for a sync that has more time; ``deferred`` have grown too little to be
    read unless a caller requests it. ``unreadable`` were found to be that, each with its reason.
    """

    read: tuple[Pair, ...]
    gone: tuple[StoredDocument, ...]
    unchanged: int
    hidden: int
    left: tuple[Pair, ...] = ()
    deferred: tuple[Pair, ...] = ()
    unreadable: tuple[tuple[Pair, str], ...] = ()

    @property
    def size(self) -> int:
        """How many documents need work."""
        return len(self.read) + len(self.gone)

    @property
    def known(self) -> int:
        """How many documents of the scanned sources the index holds, changed ones included."""
        lost = (pair for pair, _ in self.unreadable)
        changed = sum(old is not None for _, old in (*self.read, *self.left, *self.deferred, *lost))
        return self.unchanged + len(self.gone) + changed

    @property
    def named_unreadable(self) -> tuple[tuple[str, str], ...]:
        """(path, reason) of what was found to be unreadable."""
        return tuple((ref.path, reason) for (ref, _), reason in self.unreadable)

    @property
    def changed(self) -> int:
        """How many documents have changed, not counting those with only another fingerprint."""
        pairs = (*self.read, *self.left)
        return len(self.gone) + sum(not is_same_file(*pair) for pair in pairs)

    @property
    def rebuilding(self) -> tuple[int, int] | None:
        """(done, of) documents, if some are only indexed again because of their fingerprint."""
        if not any(is_same_file(*pair) for pair in (*self.read, *self.left)):
            return None
        return self.unchanged, self.unchanged + len(self.read) + len(self.left)

    def progress(self, report: SyncReport) -> tuple[int, int] | None:
        """(done, of) documents after the ``report`` on this; ``None`` once all are done."""
        size = self.unchanged + len(self.read) + len(self.left)
        return (size - report.remaining, size) if report.remaining else None

    def without_large(self, largest: int) -> Plan:
        """The plan with documents of more than ``largest`` bytes to read moved to ``left``."""
        left = tuple(pair for pair in self.read if _weight(*pair) > largest)
        read = tuple(pair for pair in self.read if _weight(*pair) <= largest)
        return self._replace(read=read, left=(*self.left, *left)) if left else self

    def quick(self, at_most: int, largest: int) -> Plan | None:
        """What can be done during a search: up to ``at_most`` documents, none of them large.

        If there is more to do, only changed documents are read. Those with only another
        fingerprint are left: their new chunks would have no vectors, as a search embeds nothing.
        ``None`` if too many have changed: indexing half of them would not make the answer right.
        """
        plan = self.without_large(largest)
        if plan.size <= at_most:
            return plan
        changed = tuple(pair for pair in plan.read if not is_same_file(*pair))
        if len(changed) + len(plan.gone) > at_most:
            return None
        same = tuple(pair for pair in plan.read if is_same_file(*pair))
        return plan._replace(read=changed, left=(*plan.left, *same))


def plan_changes(
    stored: Iterable[StoredDocument],
    scans: Sequence[SourceScan],
    *,
    configured: Collection[str] | None = None,
) -> Plan:
    """Compare what the index holds with what the sources found.

    A document that is no longer found is ``gone`` only if its path lies under a root that was
    scanned completely, and under no root that failed. Documents of a source that was not scanned
    are ``hidden``; they are ``gone`` if it is not among those ``configured`` (``None``: all are).
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

    read: list[Pair] = []
    deferred: list[Pair] = []
    unchanged = 0
    for scan in scans:
        of_source, fingerprint = known[scan.source], scan.fingerprint
        for ref in scan.report.documents:
            old = of_source.pop(ref.path, None)
            if old is not None and old.stamp == ref.stamp and old.fingerprint == fingerprint:
                unchanged += 1
            else:
                (deferred if _can_wait(ref, old, scan) else read).append((ref, old))
        for document in of_source.values():
            if _is_deleted(document.path, scan.report):
                gone.append(document)
            else:
                hidden += 1
    return Plan(tuple(read), tuple(gone), unchanged, hidden, deferred=tuple(deferred))


def scan_sources(
    sources: Iterable[Source],
    *,
    chunker_fingerprint: str,
    analyser: Analyser,
    known: Callable[[], Iterable[StoredDocument]],
    eager: bool = True,
) -> list[SourceScan]:
    """A scan of every source.

    An absent root counts as failed if the index holds documents below it: they are hidden, not
    deleted. ``known`` gives the documents of the index; it is called only if a root is absent.
    Unless ``eager``, growing sources decide which documents are due.
    """
    scans = [
        scan_of(
            source,
            _with_source(scanned(source), source.id),
            fingerprint_of(source, chunker_fingerprint, analyser),
            eager=eager,
        )
        for source in sources
    ]
    if not any(scan.report.absent_roots for scan in scans):
        return scans
    documents = list(known())
    return [
        scan._replace(report=_with_lost_roots(scan.report, scan.source, documents))
        for scan in scans
    ]


def documents_of(sources: Iterable[Source]) -> tuple[DocumentRef, ...]:
    """What ``sources`` find, by path.

    Raises :class:`~commonplace.errors.UnavailableError` if there is none and a root could not be
    scanned.
    """
    reports = [scanned(source) for source in sources]
    refs = (ref for report in reports for ref in report.documents)
    documents = tuple(sorted(refs, key=lambda ref: ref.path))
    failed = [failure for report in reports for failure in report.failed_roots]
    if failed and not documents:
        reasons = "; ".join(failure.words("notes") for failure in failed)
        raise UnavailableError(f"no document can be listed: {reasons}")
    return documents


def idle_report(plan: Plan) -> SyncReport:
    """The report of a sync that did nothing of ``plan``."""
    return SyncReport(
        unchanged=plan.unchanged,
        remaining=plan.size + len(plan.left),
        known=plan.known,
        hidden=plan.hidden,
        deferred=len(plan.deferred),
        rebuilding=plan.rebuilding,
        unreadable=plan.named_unreadable,
    )


def with_scans(report: SyncReport, scans: Sequence[SourceScan]) -> SyncReport:
    """``report``, with what the scans could not read."""
    return report.replace(
        failed_roots=tuple(failure for scan in scans for failure in scan.report.failed_roots),
        absent_roots=tuple(absent for scan in scans for absent in scan.report.absent_roots),
        skipped_symlinks=sum(scan.report.skipped_symlinks for scan in scans),
        empty=tuple(line for scan in scans for line in scan.report.empty),
    )


def compared_by(
    report: SyncReport, fingerprints: dict[str, str], store: Store, identity: str
) -> Compared | None:
    """What a sync left that compared all documents; ``None`` if it left anything undone.

    So it is where the store cannot look up single documents, and where it holds another build.
    """
    undone = report.remaining or report.unreadable or report.failed_roots
    if undone or "lookup" not in store.capabilities:
        return None
    builds = store.builds()
    if len(builds) != 1 or not is_current(builds[0], identity):
        return None
    return Compared(
        build=builds[0],
        fingerprints=fingerprints,
        documents=cast("LookupStore", store).lookup(builds[0], ()).total,
        hidden=report.hidden,
        absent_roots=report.absent_roots,
        skipped_symlinks=report.skipped_symlinks,
    )


def lies_under(path: str, root: str) -> bool:
    """Whether a stored path is ``root`` or below it; ``""`` is the root of everything."""
    return not root or path == root or path.startswith(root if root.endswith("/") else root + "/")


def settled_stamp(stamp: Stamp, now_ns: int) -> Stamp:
    """``stamp``, without its times (-1) if the file could change again and keep them.

    The stamp of what is not a file stays as it is. This is git's racy rule: a file written in the
    tick of the file system's clock in which it was read can be written once more and keep its
    times. The tick is a few milliseconds, two seconds where times have no fraction. Such a file is
    read again at the next sync. Size and inode stay in the stamp (see :func:`is_unsettled`), so
    that growth can be detected. A time of the last write that is still to come was set by hand: a
    later write shows in the time of the change.
    """
    file = file_stamp(stamp)
    if file is None:
        return stamp
    coarse = file.mtime_ns % 1_000_000_000 == 0 and file.ctime_ns % 1_000_000_000 == 0
    window = _COARSE_WINDOW_NS if coarse else TICK_NS
    by_hand = _CHANGES_HAVE_TIMES and file.mtime_ns > now_ns
    if max(0 if by_hand else file.mtime_ns, file.ctime_ns) <= now_ns - window:
        return stamp
    return file._replace(mtime_ns=_NO_TIME, ctime_ns=_NO_TIME).text


def is_unsettled(stamp: Stamp) -> bool:
    """Whether ``stamp`` is of a file and has no times: its document is read at the next sync."""
    file = file_stamp(stamp)
    return file is not None and file.mtime_ns == file.ctime_ns == _NO_TIME


def size_of(stamp: Stamp) -> int:
    """How many bytes the file of ``stamp`` has; 0 where it is not a file."""
    file = file_stamp(stamp)
    return file.size if file is not None else 0


def is_same_file(ref: DocumentRef, old: StoredDocument | None) -> bool:
    """Whether the file is unchanged, and only its fingerprint differs."""
    return old is not None and old.stamp == ref.stamp


def _weight(ref: DocumentRef, old: StoredDocument | None) -> int:
    """How many bytes there are to index, if a document that seems to have grown has."""
    size = size_of(ref.stamp)
    before = size_of(old.stamp) if old is not None and old.resume else -1
    if not 0 <= before <= size:
        return size
    return max(size - before, size // _COMPARED)


def _can_wait(ref: DocumentRef, old: StoredDocument | None, scan: SourceScan) -> bool:
    if old is None or old.fingerprint != scan.fingerprint or scan.due is None:
        return False
    return not scan.due(ref, old.stamp)


def _is_deleted(path: str, report: ScanReport) -> bool:
    if any(lies_under(path, failure.root) for failure in report.failed_roots):
        return False
    return any(lies_under(path, root) for root in report.complete_roots)


def _with_source(report: ScanReport, source: str) -> ScanReport:
    if not (report.failed_roots or report.absent_roots):
        return report
    return report._replace(
        failed_roots=tuple(root._replace(source=source) for root in report.failed_roots),
        absent_roots=tuple(root._replace(source=source) for root in report.absent_roots),
    )


def _with_lost_roots(
    report: ScanReport, source: str, known: Iterable[StoredDocument]
) -> ScanReport:
    """``report``, whose absent roots have failed if documents below them are ``known``."""
    paths = [document.path for document in known if document.source == source]
    lost: list[RootFailure] = []
    absent: list[RootFailure] = []
    for root in report.absent_roots:
        (lost if any(lies_under(path, root.root) for path in paths) else absent).append(root)
    return report._replace(failed_roots=(*report.failed_roots, *lost), absent_roots=tuple(absent))


def words_on_remaining(report: SyncReport) -> str:
    """What it means for an answer that documents remain to be indexed."""
    changed = report.known - report.unchanged - report.updated - report.removed - report.deferred
    new = report.remaining - max(0, changed)  # of which the index has nothing at all
    has = report.known + report.added - report.removed
    if new > has:
        are = "is" if new == 1 else "are"
        return f"{new} of {counted(has + new, 'note')} {are} not indexed yet"
    # It may well be among the hits, as it was when it was indexed.
    are = "it is" if report.remaining == 1 else "they are"
    return f"{counted(report.remaining, 'changed note')} may not be in this answer as {are} now"
