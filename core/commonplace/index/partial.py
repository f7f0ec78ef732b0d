"""A sync of a few reported paths: compares these alone with the index, after a whole comparison.

It is right only where nothing else can have changed since: the build that was compared then is
still the only one, as long as it was, and would be made alike today. In every other case there is
no partial sync, and all documents are compared as usual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from commonplace.host.border import scanned_paths
from commonplace.index.planning import plan_changes, scan_of
from commonplace.model.reports import SyncReport
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

    from commonplace.index.planning import Compared, Plan, SourceScan
    from commonplace.index.syncing import IndexSync, SyncOptions
    from commonplace.protocols.parts import LookupStore, PartialSource


class PartialSync(NamedTuple):
    """Syncs what is at ``paths``, where nothing else has changed since ``compared``."""

    sync: IndexSync
    paths: Collection[str]
    compared: Compared

    def run(self, options: SyncOptions) -> tuple[SyncReport, Compared | None] | None:
        """The report, and what the next partial sync starts from; ``None``: compare all.

        The counts of the report are of the whole index. ``None`` is returned before anything is
        written.
        """
        planned = self._plan(eager=options.eager)
        if planned is None:
            return None
        plan, scans = planned
        if not plan.size:
            return self._report(plan, SyncReport(unchanged=plan.unchanged, known=plan.known)), (
                self.compared
            )
        with self.sync.lease(options):
            # Planned again under the lease: another process may have done the work meanwhile.
            planned = self._plan(eager=options.eager)
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
            )
            indexer.settle(self.compared.build)
            compared = None
            if not (report.remaining or report.unreadable):
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

    def _plan(self, *, eager: bool) -> tuple[Plan, list[SourceScan]] | None:
        """What has changed at the paths, and their scans; ``None`` where more may have."""
        build = self.compared.build
        if self._store.builds() != (build,):
            return None
        if self.sync.fingerprints() != self.compared.fingerprints:
            return None
        scans = self._scan(eager=eager)
        if scans is None:
            return None
        keys = [(scan.source, path) for scan in scans for path in scan.report.complete_roots]
        found = self._store.lookup(build, keys)
        if found.total != self.compared.documents:
            return None
        plan = plan_changes(found.documents, scans)
        others = found.total - len(found.documents) - self.compared.hidden
        return plan._replace(unchanged=plan.unchanged + others, hidden=self.compared.hidden), scans

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
