"""Syncing an index with its sources: scan, choose a build, write, activate; and before searches."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from commonplace.errors import IndexBusyError, IndexCorruptError, UnavailableError, counted
from commonplace.host.answers import checked_report
from commonplace.index.builds import (
    begun_build,
    can_answer,
    choose_target,
    fingerprint_of,
    is_current,
    live_build,
    same_workspace,
)
from commonplace.index.planning import (
    Plan,
    idle_report,
    lies_under,
    plan_changes,
    scan_sources,
    words_on_remaining,
)
from commonplace.model.reports import LATER, Progress, SyncReport
from commonplace.model.tuples import NamedTuple
from commonplace.resilience.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from contextlib import AbstractContextManager

    from commonplace.index.indexing import Indexer
    from commonplace.index.planning import SourceScan
    from commonplace.model.documents import Build, RootFailure, StoredDocument
    from commonplace.model.reports import ProgressCallback
    from commonplace.model.search import Candidate
    from commonplace.protocols.managers import MemoryManager
    from commonplace.protocols.parts import Chunker, EventualStore, HoldsStore, Source, Store
    from commonplace.text.analyse import Analyser


QUICK_BYTES = 1 << 20
"""A larger document, such as the transcript of a long session, is not indexed by a search."""

NO_NOTES = "there are no notes yet: write MEMORY.md or memory/*.md"
"""Where no source says what it looked for."""
_NAMED = 5  # unreadable notes that an answer names: an agent pays for each word
INLINE_DOCUMENTS = 20
"""A search that meets more changed documents than these counts them, and indexes none first."""
_INLINE_SECONDS, _LEASE_SECONDS = 0.2, 30.0


class SyncOptions(NamedTuple):
    """The arguments of :meth:`IndexedMemoryManager.maintain`, but for the embedding."""

    force: bool
    at_most: int | None
    eager: bool
    deadline: Deadline
    progress: ProgressCallback | None
    wait: float


_stamp_by_path = attrgetter("path", "stamp")


class IndexSync(NamedTuple):
    """Syncs the builds of one store with ``sources``; for one thread at a time.

    Documents of sources that are not among those ``configured`` are removed from the index.
    ``identity`` is that of a build made today.
    """

    store: Store
    sources: Mapping[str, Source]
    configured: Collection[str]
    chunker: Chunker
    analyser: Analyser
    identity: str
    clock_ns: Callable[[], int]

    def scan(self, *, eager: bool) -> list[SourceScan]:
        """A scan of every source; unless ``eager``, growing sources decide what is due."""
        scanned = partial(
            scan_sources,
            self.sources.values(),
            chunker_fingerprint=self.chunker.fingerprint,
            analyser=self.analyser,
            known=self._live_documents,
            eager=eager,
        )
        try:
            return scanned()
        except IndexCorruptError:
            # A store sets a damaged index aside when it is next opened, and starts a new one.
            return scanned()

    def fingerprints(self) -> dict[str, str]:
        """The fingerprint that documents have today, by source."""
        return {
            source.id: fingerprint_of(source, self.chunker.fingerprint, self.analyser)
            for source in self.sources.values()
        }

    def pending(self, scans: list[SourceScan], *, look: bool) -> SyncReport:
        """What :meth:`sync` would do, with ``look`` also what it could not read; writes nothing."""
        live = live_build(self.store)
        plan = self._plan(live, scans)
        report = idle_report(plan)
        if live is None or not is_current(live, self.identity):
            beside = self._plan(begun_build(self.store, self.identity), scans)
            report = self._as_live(idle_report(beside), beside, live, scans)
            if live is None or not can_answer(live, self.identity):
                plan = beside
        if not look:
            return report
        from commonplace.index.documents import with_unreadable

        return with_unreadable(report, plan, self.sources, self.chunker)

    def sync(self, scans: list[SourceScan], options: SyncOptions) -> SyncReport:
        """Index what the scans say has changed; see :meth:`IndexedMemoryManager.maintain`."""
        report = self._without_writing(scans, force=options.force, at_most=options.at_most)
        if report is not None:
            return report
        if (progress := options.progress) is not None:
            total = sum(len(scan.report.documents) for scan in scans)
            progress(Progress(label="Looking for notes", completed=total, total=total))
        with self.lease(options):
            report = self._write(scans, options)
        return self.finished(report, options)

    def lease(self, options: SyncOptions) -> AbstractContextManager[object]:
        """The store's lease, waited for as long as the options say, and not after the deadline."""
        # Imported here: a search that finds nothing new to index does not pay for it.
        from commonplace.resilience.lock import waited_for

        return waited_for(
            lambda seconds: self.store.writer(wait=seconds),
            wait=min(options.wait, options.deadline.remaining()),
            progress=options.progress,
        )

    def indexer(self) -> Indexer:
        """What writes documents to a build; the lease is held meanwhile."""
        # Imported here: a search that finds nothing new to index does not pay for it.
        from commonplace.index.documents import DocumentProcessor
        from commonplace.index.indexing import Indexer

        processor = DocumentProcessor(
            self.sources,
            self.chunker,
            self.analyser,
            self.clock_ns,
            appends="append" in self.store.capabilities,
        )
        return Indexer(self.store, processor)

    def finished(self, report: SyncReport, options: SyncOptions) -> SyncReport:
        """``report``, once what was written is found, with what the store says of itself."""
        if "eventual" in self.store.capabilities:
            cast("EventualStore", self.store).refresh(deadline=options.deadline)
        health = self.store.health(counts=False)
        kept = bool(health.location) or "persistent" not in self.store.capabilities
        return report.replace(notices=health.notices, kept=kept)

    def _without_writing(
        self, scans: list[SourceScan], *, force: bool, at_most: int | None
    ) -> SyncReport | None:
        """The report if there is nothing to write, or too much; without taking the lease."""
        live = live_build(self.store)
        current = live is not None and is_current(live, self.identity)
        if at_most is None:
            if force or not current:
                return None
            plan = self._plan(live, scans)
            return None if plan.size else idle_report(plan)
        if current:
            plan = self._readable(self._plan(live, scans), at_most)
            quick = plan.quick(at_most, QUICK_BYTES)
            return idle_report(plan) if quick is None or not quick.size else None
        if live is None or not can_answer(live, self.identity):
            size = sum(len(scan.report.documents) for scan in scans)
            return SyncReport(remaining=size) if size > at_most else None
        plan = self._plan(begun_build(self.store, self.identity), scans)
        if plan.without_large(QUICK_BYTES).size or not plan.size:
            return None
        return self._as_live(idle_report(plan), plan, live, scans)

    def _write(self, scans: list[SourceScan], options: SyncOptions) -> SyncReport:
        live, at_most = live_build(self.store), options.at_most
        now, tidy = self.clock_ns() / 1e9, at_most is None
        target = choose_target(self.store, self.identity, force=options.force, tidy=tidy, now=now)
        # Planned again under the lease: another process may have done the work meanwhile.
        whole = self._plan(target.build, scans)
        if whole.gone or target.beside:
            # It may also have indexed what came after the scan: that is neither gone nor missing.
            scans = self.scan(eager=options.eager)
            whole = self._plan(target.build, scans)
        plan: Plan | None = whole
        if at_most is not None and target.beside:
            plan = whole.without_large(QUICK_BYTES)
        elif at_most is not None:
            plan = (whole := self._readable(whole, at_most)).quick(at_most, QUICK_BYTES)
        if plan is None:  # too much has changed
            return idle_report(whole)
        indexer = self.indexer()
        report = indexer.apply(
            target.build,
            plan,
            scans,
            deadline=options.deadline,
            progress=options.progress,
            before=plan.unchanged if indexer.is_whole(plan, beside=target.beside) else 0,
            at_most=at_most,
            largest=None if at_most is None else QUICK_BYTES,
        )
        if at_most is None:
            indexer.settle(target.build)
        if not target.beside:
            return report.replace(rebuilding=plan.progress(report) if plan.rebuilding else None)
        if report.remaining or (
            live is not None
            and can_answer(live, self.identity)
            and self._would_lose(report, plan, live, scans)
        ):
            # The live build still has what cannot be read just now; keep it.
            return self._as_live(report, plan, live, scans)
        self.store.activate(target.build)
        return report.replace(rebuilt=True)

    def _as_live(
        self, report: SyncReport, plan: Plan, live: Build | None, scans: list[SourceScan]
    ) -> SyncReport:
        """``report`` on a build that is not searched, with the counts of the ``live`` one."""
        if live is None or not can_answer(live, self.identity):
            return report.replace(known=0)
        shown = self._plan(live, scans)
        return report.replace(
            known=shown.known,
            hidden=shown.hidden,
            remaining=max(report.remaining, shown.changed),
            rebuilding=plan.progress(report),
        )

    def _would_lose(
        self, report: SyncReport, plan: Plan, live: Build, scans: list[SourceScan]
    ) -> bool:
        """Whether activating would drop documents that are hidden or unreadable just now."""
        unreadable = {path for path, _ in report.unreadable}
        if unreadable and any(old.path in unreadable for old in self.store.documents(live)):
            return True
        return self._plan(live, scans).hidden > plan.hidden

    def _live_documents(self) -> list[StoredDocument]:
        """Every document of the live build, unless it is of another workspace."""
        live = live_build(self.store)
        if live is None or not same_workspace(live.identity, self.identity):
            return []
        return list(self.store.documents(live))

    def _readable(self, plan: Plan, at_most: int) -> Plan:
        """``plan`` without what a search would leave though no sync can read it."""
        quick = plan.quick(at_most, QUICK_BYTES)
        if quick is None or quick.left:
            plan = self.indexer().readable(plan, at_most, QUICK_BYTES)
        return plan

    def _plan(self, build: Build | None, scans: list[SourceScan]) -> Plan:
        if build is None:
            return plan_changes((), scans)
        if "holds" in self.store.capabilities:
            stamps = {
                (scan.source, scan.fingerprint): dict(map(_stamp_by_path, scan.report.documents))
                for scan in scans
            }
            total = sum(len(scan.report.documents) for scan in scans)
            once = sum(map(len, stamps.values())) == total  # no path comes twice
            if once and cast("HoldsStore", self.store).holds(build, stamps):
                return Plan((), (), total, 0)
        return plan_changes(self.store.documents(build), scans, configured=self.configured)


class Freshness(NamedTuple):
    """How many documents the index does not know yet, and notes about it for the user.

    ``hidden`` are the roots that could not be looked at: what the index has below them stays there,
    and is not shown. ``naming`` are those of the notes that name files or folders.
    """

    stale: int = 0
    notes: tuple[str, ...] = ()
    hidden: tuple[RootFailure, ...] = ()
    naming: tuple[str, ...] = ()

    def shows(self, hit: Candidate) -> bool:
        """Whether ``hit`` lies below no root that could not be looked at."""
        roots = (root.root for root in self.hidden if root.source in ("", hit.chunk.source))
        return not any(lies_under(hit.chunk.path, root) for root in roots)


def freshen(
    manager: MemoryManager,
    progress: ProgressCallback | None = None,
    *,
    later: str = "",
    until: Deadline = NEVER,
    paths: Collection[str] | None = None,
    within: Deadline = NEVER,
) -> Freshness:
    """Update the index before a search if that is quick, or if it is empty.

    Up to 20 changed documents are indexed within about 200 ms, or half of the time ``within``,
    waits for another writer included. More are counted and left; an empty index is built whole, or
    as far as possible by ``until``. Growing documents that are not due are left. Nothing is
    embedded: that costs time and perhaps money. ``later`` tells the user what happens to what is
    left. Only ``paths`` are looked at, where no others can have changed.

    If the index cannot be written, a note says so and the search continues with what is there; the
    :class:`~commonplace.errors.UnavailableError` is raised if the index is empty.
    """

    def maintain_whole() -> SyncReport:
        wait = min(_LEASE_SECONDS, until.remaining())
        return maintain_unasked(manager, embed=False, deadline=until, progress=progress, wait=wait)

    try:
        report = maintain_unasked(
            manager,
            paths=paths,
            at_most=INLINE_DOCUMENTS,
            embed=False,
            deadline=Deadline.after(_INLINE_SECONDS),
            wait=min(_INLINE_SECONDS, within.remaining() / 2),
        )
        notices = () if report.known else report.notices  # once: when all of the index is new
        if report.remaining and not report.known:
            report = maintain_whole()
            notices = report.notices or notices
    except UnavailableError as error:
        report = checked_report(manager.pending())
        notices = ()
        if isinstance(error, IndexBusyError) and report.remaining and not report.known:
            # Another process is building the first index just now: wait for it, within bounds.
            report = maintain_whole()
            notices = report.notices
        elif report.remaining:
            if not (report.known or report.hidden):
                raise
            later = str(error)
    notes = *notices, *_notes(report, later)
    return Freshness(report.remaining, notes, report.failed_roots, _naming(report))


def maintain_unasked(
    manager: MemoryManager, *, paths: Collection[str] | None = None, **options: Any
) -> SyncReport:
    """``manager.maintain(**options)``, with ``eager=False`` and ``paths`` if it declares these."""
    if "eager" in manager.capabilities:
        options["eager"] = False
    if paths is not None and "paths" in manager.capabilities:
        options["paths"] = paths
    return checked_report(manager.maintain(**options))


def nothing_found(report: SyncReport) -> tuple[str, ...]:
    """That there are no notes; no line where one is known, left for later, or not readable."""
    indexed = report.added + report.updated + report.unchanged + report.hidden
    known = indexed or report.known > report.removed
    if any((known, report.remaining, report.deferred, report.unreadable, report.failed_roots)):
        return ()
    return report.empty or (NO_NOTES,)


def _notes(report: SyncReport, hindrance: str) -> tuple[str, ...]:
    if nothing := nothing_found(report):
        return nothing
    notes = [*filter(None, [report.cut]), *_naming(report)]
    if (more := len(report.unreadable) - _NAMED) > 0:
        notes.append(f"{more} more could not be read: `commonplace index` names all")
    if report.remaining and report.rebuilding is not None:
        done, size = report.rebuilding
        notes.append(
            f"rebuilding the index ({done} of {counted(size, 'note')}); results come from the "
            f"previous index: {hindrance or '`commonplace index` finishes it'}"
        )
    elif report.remaining:
        notes.append(f"{words_on_remaining(report)}: {hindrance or LATER}")
    return tuple(notes)


def _naming(report: SyncReport) -> tuple[str, ...]:
    hidden = "what is indexed of it is not shown"
    named = [f"{failed.words('notes')}; {hidden}" for failed in report.failed_roots]
    named += [f"{path!r} could not be read: {why}" for path, why in report.unreadable[:_NAMED]]
    return tuple(named)
