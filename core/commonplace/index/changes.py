"""What has changed between the files and the index, found by comparing stamps alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from commonplace.model.documents import DocumentRef, ScanReport, Stamp
    from commonplace.model.store import StoredDocument

__all__ = [
    "TICK_NS",
    "UNSETTLED",
    "MissingSource",
    "Plan",
    "SourceScan",
    "lies_under",
    "plan_changes",
    "settled_stamp",
]

UNSETTLED: Stamp = (-1, -1, -1, -1)
"""A stamp no file has: whoever carries it is read again at the next sync."""

TICK_NS = 20_000_000
"""Longer than the tick of any common kernel's file times (1 to 10 ms)."""

_COARSE_WINDOW_NS = 2_000_000_000


class SourceScan(NamedTuple):
    """A source's scan, with the recipe its documents would be made by today."""

    source: str
    report: ScanReport
    recipe: str


class MissingSource(NamedTuple):
    """Stands for a source that is configured and not here, as its plugin is missing, say."""

    id: str


class Plan(NamedTuple):
    """``read`` may have changed; ``gone`` are certainly no longer there; the rest is as it was.

    ``left`` may have changed too, and wait for a sync that has more time.
    """

    read: tuple[tuple[DocumentRef, StoredDocument | None], ...]
    gone: tuple[StoredDocument, ...]
    unchanged: int
    hidden: int
    left: tuple[tuple[DocumentRef, StoredDocument | None], ...] = ()

    @property
    def size(self) -> int:
        """How many documents need work."""
        return len(self.read) + len(self.gone)

    @property
    def known(self) -> int:
        """How many documents of the scanned sources the index holds, changed ones included."""
        changed = sum(old is not None for _, old in (*self.read, *self.left))
        return self.unchanged + len(self.gone) + changed

    def without_large(self, largest: int) -> Plan:
        """The same, with documents of more than ``largest`` bytes left for later."""
        left = tuple(pair for pair in self.read if pair[0].stamp[0] > largest)
        if not left:
            return self
        read = tuple(pair for pair in self.read if pair[0].stamp[0] <= largest)
        return self._replace(read=read, left=(*self.left, *left))


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
    unchanged = 0
    for scan in scans:
        of_source, recipe = known[scan.source], scan.recipe
        for ref in scan.report.documents:
            old = of_source.pop(ref.path, None)
            if old is not None and old.stamp == ref.stamp and old.recipe == recipe:
                unchanged += 1
            else:
                read.append((ref, old))
        for document in of_source.values():
            if _was_looked_for(document.path, scan.report):
                gone.append(document)
            else:
                hidden += 1
    return Plan(read=tuple(read), gone=tuple(gone), unchanged=unchanged, hidden=hidden)


def _was_looked_for(path: str, report: ScanReport) -> bool:
    if any(lies_under(path, failure.root) for failure in report.failed_roots):
        return False
    return any(lies_under(path, root) for root in report.complete_roots)


def lies_under(path: str, root: str) -> bool:
    """Whether a stored path is ``root`` or below it; ``""`` is the root of everything."""
    return not root or path == root or path.startswith(root if root.endswith("/") else root + "/")


def settled_stamp(stamp: Stamp, now_ns: int) -> Stamp:
    """``stamp``, or :data:`UNSETTLED` if the file may change again without the stamp showing it.

    This is git's racy rule: a file written in the same tick of the file system's clock in which we
    read it can be written once more and keep its times. The tick is a few milliseconds, two
    seconds where times have no fraction. Such a file is simply read again at the next sync.
    """
    _, mtime_ns, ctime_ns, _ = stamp
    coarse = mtime_ns % 1_000_000_000 == 0 and ctime_ns % 1_000_000_000 == 0
    window = _COARSE_WINDOW_NS if coarse else TICK_NS
    return UNSETTLED if max(mtime_ns, ctime_ns) > now_ns - window else stamp
