"""Syncing an index with its sources: scan, choose a build, write, activate."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from commonplace.errors import IndexBusyError, IndexCorruptError, UnavailableError
from commonplace.index.builds import (
    answers,
    begun_build,
    choose_target,
    is_current,
    live_build,
    recipe_of,
)
from commonplace.index.planning import lies_under, plan_changes, scan_sources
from commonplace.model.reports import Progress, SyncReport
from commonplace.model.tuples import NamedTuple
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.resilience.lock import waited_for

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from types import CodeType

    from commonplace.index.builds import Target
    from commonplace.index.planning import Plan, SourceScan
    from commonplace.model.documents import RootFailure
    from commonplace.model.reports import ProgressCallback
    from commonplace.model.store import Build, StoredDocument
    from commonplace.protocols.managers import MemoryManager
    from commonplace.protocols.sources import Chunker, Source
    from commonplace.protocols.stores import Store
    from commonplace.text.analyse import Analyser

__all__ = [
    "Freshness",
    "Maintenance",
    "freshen",
    "maintain_unasked",
]


_MANY = 100
"""New documents that are taken for the rest of a first index: work that somebody watches."""

_QUICK_BYTES = 1 << 20
"""Size above which a document, such as the transcript of a long session, is not indexed quickly."""


class Maintenance:
    """Keeps the builds of one store up to ``sources``; for one thread at a time.

    What the index holds of sources that are not among those ``configured`` is forgotten.
    ``identity`` is what a build of today would have.
    """

    def __init__(
        self,
        *,
        store: Store,
        sources: Mapping[str, Source],
        configured: Collection[str],
        chunker: Chunker,
        analyser: Analyser,
        identity: str,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._store = store
        self._sources = sources
        self._configured = configured
        self._chunker = chunker
        self._analyser = analyser
        self._identity = identity
        self._clock_ns = clock_ns

    def scan(self, *, eager: bool) -> list[SourceScan]:
        """A scan of every source; unless it is ``eager``, some say what can wait."""
        scan = partial(
            scan_sources,
            self._sources.values(),
            chunker_fingerprint=self._chunker.fingerprint,
            analyser=self._analyser,
            known=self._known,
            eager=eager,
        )
        try:
            return scan()
        except IndexCorruptError:
            # A store sets a damaged index aside when it next opens it. Nothing is lost by that:
            # everything in it can be made again.
            return scan()

    def recipes(self) -> dict[str, str]:
        """What documents would be made by today, by their source."""
        return {
            source.id: recipe_of(source, self._chunker.fingerprint, self._analyser)
            for source in self._sources.values()
        }

    def pending(self, scans: list[SourceScan]) -> SyncReport:
        """What :meth:`bring_up` would find to do; nothing is written."""
        live = live_build(self._store)
        if live is not None and is_current(live, self._identity):
            return _looked(self._plan(live, scans))
        begun = begun_build(self._store, self._identity)
        plan = self._plan(begun, scans) if begun else plan_changes((), scans)
        return self._beside(_looked(plan), plan, live, scans)

    def bring_up(
        self,
        scans: list[SourceScan],
        *,
        force: bool,
        at_most: int | None,
        eager: bool,
        deadline: Deadline,
        progress: ProgressCallback | None,
        wait: float,
    ) -> SyncReport:
        """Index what the scans say has changed; see :meth:`IndexedMemoryManager.maintain`."""
        report = self._look(scans, force=force, at_most=at_most)
        if report is not None:
            return report
        if progress is not None:
            total = sum(len(scan.report.documents) for scan in scans)
            progress(Progress("Looking for notes", total, total))
        with waited_for(
            lambda seconds: self._store.writer(wait=seconds), wait=wait, progress=progress
        ):
            report = self._write(
                scans,
                force=force,
                at_most=at_most,
                eager=eager,
                deadline=deadline,
                progress=progress,
            )
        health = self._store.health()
        kept = bool(health.location) or "persistent" not in self._store.capabilities
        return report._replace(notices=health.notices, kept=kept)

    def _look(
        self, scans: list[SourceScan], *, force: bool, at_most: int | None
    ) -> SyncReport | None:
        """The report if there is nothing to write, or too much; without taking the lease."""
        live = live_build(self._store)
        if at_most is None:
            if force or live is None or not is_current(live, self._identity):
                return None
            plan = self._plan(live, scans)
            return None if plan.size else _looked(plan)
        if live is None or not answers(live, self._identity):
            size = sum(len(scan.report.documents) for scan in scans)
            return SyncReport(remaining=size) if size > at_most else None
        if not is_current(live, self._identity):
            begun = begun_build(self._store, self._identity)
            plan = self._plan(begun, scans) if begun else plan_changes((), scans)
            if plan.first(at_most, _QUICK_BYTES).size or not plan.size:
                return None
            return self._beside(_looked(plan), plan, live, scans)
        plan = self._plan(live, scans)
        quick = plan.quick(at_most, _QUICK_BYTES)
        return _looked(plan) if quick is None or not quick.size else None

    def _write(
        self,
        scans: list[SourceScan],
        *,
        force: bool,
        at_most: int | None,
        eager: bool,
        deadline: Deadline,
        progress: ProgressCallback | None,
    ) -> SyncReport:
        # Imported here: a search that finds nothing new to index does not pay for it.
        from commonplace.index.indexing import Indexer

        live = live_build(self._store)
        target = choose_target(
            self._store,
            self._identity,
            force=force,
            tidy=at_most is None,
            now=self._clock_ns() / 1e9,
        )
        # Planned again under the lease: another process may have done the work meanwhile.
        whole = self._plan(target.build, scans)
        if whole.gone or target.beside:
            # It may also have indexed what came after the scan: that is neither gone nor left out.
            scans = self.scan(eager=eager)
            whole = self._plan(target.build, scans)
        plan = _part(whole, target, at_most)
        if plan is None:
            return _looked(whole)
        indexer = Indexer(
            store=self._store,
            sources=self._sources,
            chunker=self._chunker,
            analyser=self._analyser,
            clock_ns=self._clock_ns,
        )
        before = plan.unchanged if _is_of_all(plan, target) else 0
        report = indexer.apply(
            target.build,
            plan,
            scans,
            deadline=deadline,
            progress=progress,
            before=before,
            largest=None if at_most is None else _QUICK_BYTES,
        )
        if at_most is None:
            indexer.settle(target.build)
        if not target.beside:
            return report._replace(anew=_made(plan, report) if plan.remade else None)
        if report.remaining or (
            live is not None
            and answers(live, self._identity)
            and (report.unreadable or self._would_lose(plan, live, scans))
        ):
            # The live build still answers for what cannot be read just now; keep it.
            return self._beside(report, plan, live, scans)
        self._store.activate(target.build)
        return report._replace(rebuilt=True)

    def _beside(
        self, report: SyncReport, plan: Plan, live: Build | None, scans: list[SourceScan]
    ) -> SyncReport:
        """``report`` on a build that is not searched, as it stands for the ``live`` one."""
        if live is None or not answers(live, self._identity):
            return report._replace(known=0)
        shown = self._plan(live, scans)
        return report._replace(
            known=shown.known,
            hidden=shown.hidden,
            remaining=max(report.remaining, shown.changed),
            anew=_made(plan, report),
        )

    def _would_lose(self, plan: Plan, live: Build, scans: list[SourceScan]) -> bool:
        """Whether activating would drop documents that are hidden, not deleted, just now."""
        return self._plan(live, scans).hidden > plan.hidden

    def _known(self) -> list[StoredDocument]:
        """Every document of the live build."""
        live = live_build(self._store)
        return list(self._store.documents(live)) if live else []

    def _plan(self, build: Build, scans: list[SourceScan]) -> Plan:
        return plan_changes(self._store.documents(build), scans, configured=self._configured)


def _part(plan: Plan, target: Target, at_most: int | None) -> Plan | None:
    """What of ``plan`` is done now; ``None`` where that would be too much."""
    if at_most is None:
        return plan
    part = plan.first if target.beside else plan.quick
    return part(at_most, _QUICK_BYTES)


def _is_of_all(plan: Plan, target: Target) -> bool:
    """Whether ``plan`` is (the rest of) making a whole index, as far as can be told."""
    if target.beside or plan.remade is not None:
        return True
    return len(plan.read) > _MANY and all(old is None for _, old in plan.read)


def _made(plan: Plan, report: SyncReport) -> tuple[int, int] | None:
    """(made, of) documents after the ``report`` on ``plan``; ``None`` once all are made."""
    size = plan.unchanged + len(plan.read) + len(plan.left)
    return (size - report.remaining, size) if report.remaining else None


def _looked(plan: Plan) -> SyncReport:
    return SyncReport(
        unchanged=plan.unchanged,
        remaining=plan.size + len(plan.left),
        known=plan.known,
        hidden=plan.hidden,
        deferred=len(plan.deferred),
        anew=plan.remade,
    )


_INLINE_DOCUMENTS = 20
_INLINE_SECONDS = 0.2

_TAKES_ANY = 8
"""The flag of code with a parameter ``**``, as ``inspect.CO_VARKEYWORDS`` has it."""


class Freshness(NamedTuple):
    """How many documents the index does not know yet, and words about it for the user.

    ``hidden`` are the roots that could not be looked at: what the index has below them stays there,
    and is not shown.
    """

    stale: int = 0
    notes: tuple[str, ...] = ()
    hidden: tuple[RootFailure, ...] = ()

    def hides(self, source: str, path: str) -> bool:
        """Whether a document lies below a root that could not be looked at."""
        return any(
            root.source in ("", source) and lies_under(path, root.root) for root in self.hidden
        )


def freshen(
    manager: MemoryManager, progress: ProgressCallback | None = None, *, later: str = ""
) -> Freshness:
    """Bring the index up to the files if that is quick, or if there is no index yet.

    Up to 20 changed documents are indexed within about 200 ms. More are counted and left: a search
    never waits for them. An index that knows nothing is built whole, since it could answer nothing.
    A conversation that has grown by little is left to grow more. Nothing is embedded: that costs
    time and perhaps money, and waits for a sync that was asked for.
    A failure to write is said, and the search goes on with what is there; where nothing is there,
    the :class:`~commonplace.errors.UnavailableError` is raised. ``later`` are words on what becomes
    of that which is left.
    """
    try:
        report = maintain_unasked(
            manager,
            at_most=_INLINE_DOCUMENTS,
            embed=False,
            deadline=Deadline.after(_INLINE_SECONDS),
            wait=0,
        )
        told = () if report.known else report.notices  # once: when all of the index is new
        if report.remaining and not report.known:
            report = maintain_unasked(manager, embed=False, deadline=NEVER, progress=progress)
            told = report.notices or told
    except UnavailableError as error:
        report = manager.pending()
        if isinstance(error, IndexBusyError) and report.remaining and not report.known:
            # Another process is building the first index just now: wait for it, within bounds.
            report = maintain_unasked(manager, embed=False, deadline=NEVER, progress=progress)
            told = report.notices
        elif report.remaining:
            if not (report.known or report.hidden):
                raise
            return Freshness(report.remaining, _words(report, str(error)), report.failed_roots)
        else:
            told = ()
    return Freshness(report.remaining, (*told, *_words(report, later)), report.failed_roots)


def maintain_unasked(manager: MemoryManager, **options: Any) -> SyncReport:
    """As ``manager.maintain(eager=False, **options)``; one that knows no ``eager`` does all."""
    code = getattr(manager.maintain, "__code__", None)
    if code is None or code.co_flags & _TAKES_ANY or "eager" in _parameters(code):
        options["eager"] = False
    report: SyncReport = manager.maintain(**options)
    return report


def _parameters(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _words(report: SyncReport, hindrance: str) -> tuple[str, ...]:
    if not (
        report.unchanged
        or report.updated
        or report.added
        or report.remaining
        or report.hidden
        or report.deferred
    ):
        return ("there are no notes yet: write MEMORY.md or memory/*.md",)
    notes = [f"{failed.root or 'notes'}: {failed.reason}" for failed in report.failed_roots]
    notes += [f"{path} could not be read: {reason}" for path, reason in report.unreadable]
    if report.remaining and report.anew is not None:
        made, size = report.anew
        notes.append(
            f"the index is being made anew: {made} of {size} notes are done, and it answers as it "
            f"was until then: {hindrance or '`commonplace index` finishes it'}"
        )
    elif report.remaining:
        # It may well be among the hits, as it was when it was indexed.
        changed = (
            "1 changed note may not be in this answer as it is now"
            if report.remaining == 1
            else f"{report.remaining} changed notes may not be in this answer as they are now"
        )
        notes.append(f"{changed}: {hindrance or 'run `commonplace index`'}")
    return tuple(notes)
