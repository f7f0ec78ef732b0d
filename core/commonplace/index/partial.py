"""A sync of a few reported paths: compares these alone with the index, after a whole comparison.

It is right only where nothing else can have changed since: the build that was compared then is
still the only one, has as many documents, and would have the same fingerprints today. In every
other case there is no partial sync, and all documents are compared as usual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from commonplace.host.border import is_scan
from commonplace.host.failures import log_once
from commonplace.index.planning import idle_report, plan_changes, scan_of
from commonplace.index.syncing import QUICK_BYTES
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

    from commonplace.index.planning import Compared, Plan, SourceScan
    from commonplace.index.syncing import IndexSync, SyncOptions
    from commonplace.model.documents import ScanReport
    from commonplace.model.reports import SyncReport
    from commonplace.protocols.parts import LookupStore, PartialSource


class PartialSync(NamedTuple):
    """Syncs what is at ``paths``, where nothing else has changed since ``compared``."""

    sync: IndexSync
    paths: Collection[str]
    compared: Compared

    def run(self, options: SyncOptions) -> tuple[SyncReport, Compared | None] | None:
        """The report, and what the next partial sync starts from; ``None``: compare all.

        The counts of the report are of the whole index. ``None`` is returned before anything is
        written. During a search large documents are left, as they are where all are compared.
        """
        planned = self._plan(options)
        if planned is None:
            return None
        plan, scans = planned
        if not plan.size:
            return self._report(plan, idle_report(plan)), self.compared
        with self.sync.lease(options):
            # Planned again under the lease: another process may have done the work meanwhile.
            planned = self._plan(options)
            if planned is None:
                return None
            plan, scans = planned
            indexer = self.sync.indexer()
            report = indexer.apply(
                self.compared.build,
                plan,
                scans,
                deadline=options.deadline,
                progress=options.progress,
                largest=None if options.at_most is None else QUICK_BYTES,
            )
            indexer.settle(self.compared.build)
            compared = None
            # What a search leaves is reported again, to the next sync.
            complete = options.at_most is not None or not report.remaining
            if complete and not report.unreadable:
                total = self._store.lookup(self.compared.build, ()).total
                compared = self.compared.replace(documents=total)
        return self._report(plan, self.sync.finished(report, options)), compared

    @property
    def _store(self) -> LookupStore:
        return cast("LookupStore", self.sync.store)

    def _report(self, plan: Plan, report: SyncReport) -> SyncReport:
        """``report``, with what was not looked at again."""
        return report.replace(
            hidden=self.compared.hidden,
            absent_roots=self.compared.absent_roots,
            skipped_symlinks=self.compared.skipped_symlinks,
            deferred=len(plan.deferred),
        )

    def _plan(self, options: SyncOptions) -> tuple[Plan, list[SourceScan]] | None:
        """What is done now of what has changed at the paths, and their scans.

        ``None`` where more than these may have changed, or too much has for a search.
        """
        build = self.compared.build
        if self._store.builds() != (build,):
            return None
        if self.sync.fingerprints() != self.compared.fingerprints:
            return None
        scans = self._scan(eager=options.eager)
        if scans is None:
            return None
        keys = [(scan.source, path) for scan in scans for path in scan.report.complete_roots]
        found = self._store.lookup(build, keys)
        if found.total != self.compared.documents:
            return None
        plan = plan_changes(found.documents, scans)
        others = found.total - len(found.documents) - self.compared.hidden
        plan = plan._replace(unchanged=plan.unchanged + others, hidden=self.compared.hidden)
        if options.at_most is None:
            return plan, scans
        quick = plan.quick(options.at_most, QUICK_BYTES)
        return None if quick is None else (quick, scans)

    def _scan(self, *, eager: bool) -> list[SourceScan] | None:
        """What the sources that are watched have at the paths; the others have their interval."""
        scans = []
        for source in self.sync.sources.values():
            if "watched" not in source.capabilities:
                continue
            if "partial" not in source.capabilities:
                return None
            report = scanned_paths(cast("PartialSource", source), self.paths)
            if report is None or report.failed_roots or report.absent_roots:
                return None
            fingerprint = self.compared.fingerprints[source.id]
            scans.append(scan_of(source, report, fingerprint, eager=eager))
        return scans


def scanned_paths(source: PartialSource, paths: Collection[str]) -> ScanReport | None:
    """What ``source`` finds at ``paths``; ``None`` where it cannot tell, or fails."""
    try:
        report: object = source.scan_paths(paths)
    except BaseException as error:  # noqa: BLE001 - a scan follows, which reports its failure
        from commonplace.resilience.bounded_call import failure_of  # imports threading

        note = f"the source {source.id!r} failed to scan single paths: {failure_of(error)}"
        log_once(f"paths of {source.id}", note)
        return None
    return report if is_scan(report) else None
