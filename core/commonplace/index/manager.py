"""The engine of chunker, analyser, embedder and store: searched, and kept up to the files."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING, cast

from commonplace.errors import IndexCorruptError, IndexUnavailableError, UnavailableError
from commonplace.index.changes import MissingSource, plan_changes
from commonplace.index.keyword import keyword_arm
from commonplace.index.recipe import build_identity, same_workspace
from commonplace.index.scanning import scan_sources, with_scans
from commonplace.model.reports import Progress, SyncReport
from commonplace.spec import ManagerHealth

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.deadline import Deadline
    from commonplace.embedding.service import EmbeddingService
    from commonplace.index.changes import Plan, SourceScan
    from commonplace.model.reports import ProgressCallback
    from commonplace.model.search import Arm, Query, Where
    from commonplace.model.store import Build, StoredDocument
    from commonplace.spec import Chunker, Source, Store, VectorStore
    from commonplace.text.analyse import Analyser

__all__ = ["IndexedMemoryManager"]

_QUICK_BYTES = 1 << 20
"""Size above which a document, such as the transcript of a long session, is not indexed quickly."""


class IndexedMemoryManager:
    """A :class:`~commonplace.spec.MemoryManager` over any :class:`~commonplace.spec.Store`.

    ``sources`` are all that shall be searched; what the index holds of others is forgotten.
    """

    def __init__(
        self,
        *,
        store: Store,
        sources: Sequence[Source | MissingSource],
        chunker: Chunker,
        analyser: Analyser,
        workspace: str = "",
        embedding: Callable[[], EmbeddingService | None] = lambda: None,
        hybrid: bool = True,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._store = store
        self._sources = {
            source.id: source for source in sources if not isinstance(source, MissingSource)
        }
        self._configured = frozenset(source.id for source in sources)
        self._chunker = chunker
        self._analyser = analyser
        self._identity = build_identity(analyser, workspace)
        self._embedding = embedding
        self._hybrid = hybrid
        self._clock_ns = clock_ns
        self._syncing = threading.Lock()

    def search(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Arm, ...]:
        """The arm ``keyword``, and ``vector`` where anything is embedded and someone embeds."""
        live = _live(self._store)
        if live is not None and live.identity != self._identity:
            raise IndexUnavailableError(
                "the index was made for another workspace or tokenizer",
                mend="run `commonplace index`",
            )
        served = frozenset(self._sources)
        if where.sources is not None:
            where = where._replace(sources=where.sources & served)
        arms = self._arms(query, where, limit, deadline)
        if all(found.chunk.source in served for arm in arms for found in arm.found):
            return arms
        # A source that was switched off, or is not here now: not to be searched, though indexed.
        return self._arms(query, where._replace(sources=served), limit, deadline)

    def _arms(self, query: Query, where: Where, limit: int, deadline: Deadline) -> tuple[Arm, ...]:
        arms: list[Arm] = []
        if self._hybrid:
            # First, for it is quick, and whoever embeds may take all the time there is.
            arms.append(self._keyword(query, where, limit, deadline))
        vectors = self._vectors()
        if vectors is not None and any(info.covered for info in vectors.spaces()):
            service = self._embedding()  # chosen only now: a keyword search need not know who
            if service is not None:
                from commonplace.index.vector import vector_arm

                arms.append(
                    vector_arm(
                        vectors,
                        service,
                        query,
                        where=where,
                        limit=limit,
                        deadline=deadline,
                        analysed=self._analyser.tokenizer is None,
                    )
                )
        if not any(arm.name == "keyword" or arm.found for arm in arms):
            arms.insert(0, self._keyword(query, where, limit, deadline))
        return tuple(arms)

    def pending(self) -> SyncReport:
        """Compare stamps and count; no file is opened, nothing is written."""
        scans = self._scan()
        live = _live(self._store)
        plan = self._plan(live, scans) if live else plan_changes((), scans)
        return with_scans(_looked(plan), scans)

    def maintain(
        self,
        *,
        force: bool = False,
        at_most: int | None = None,
        embed: bool = True,
        deadline: Deadline,
        progress: ProgressCallback | None = None,
        wait: float = 30.0,
    ) -> SyncReport:
        """Index what has changed; a rebuild is filled beside the live build, then activated.

        Text is searchable before anything is embedded; vectors then attach request by request.
        """
        started = time.monotonic()
        with self._syncing:
            scans = self._scan()
            bring_up = partial(
                self._bring_up,
                scans,
                force=force,
                at_most=at_most,
                deadline=deadline,
                progress=progress,
                wait=wait,
            )
            try:
                report = bring_up()
            except IndexCorruptError:
                # A store sets a damaged index aside when it next opens it. Nothing is lost by
                # that: everything in it can be made again.
                report = bring_up()
            if embed:
                report = self._embed(
                    report, anew=force, deadline=deadline, progress=progress, wait=wait
                )
        return with_scans(report, scans)._replace(seconds=time.monotonic() - started)

    def health(self, *, deep: bool = False) -> ManagerHealth:
        """The store's health, or why it has none."""
        try:
            vectors = self._vectors()
            return ManagerHealth(
                available=True,
                store=self._store.health(deep=deep),
                spaces=vectors.spaces() if vectors is not None else None,
            )
        except UnavailableError as error:
            reason = f"{error} ({error.mend})" if error.mend else str(error)
            return ManagerHealth(available=False, reason=reason)

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _keyword(self, query: Query, where: Where, limit: int, deadline: Deadline) -> Arm:
        return keyword_arm(self._store, query.keyword, where=where, limit=limit, deadline=deadline)

    def _vectors(self) -> VectorStore | None:
        return cast("VectorStore", self._store) if "vectors" in self._store.capabilities else None

    def _embed(
        self,
        report: SyncReport,
        *,
        anew: bool,
        deadline: Deadline,
        progress: ProgressCallback | None,
        wait: float,
    ) -> SyncReport:
        vectors, live = self._vectors(), _live(self._store)
        service = self._embedding() if vectors is not None and live is not None else None
        if vectors is None or live is None or service is None:
            return report
        from commonplace.embedding.filling import fill_vectors
        from commonplace.index.locating import place_of

        done = fill_vectors(
            service,
            vectors,
            live,
            anew=anew,
            deadline=deadline,
            progress=progress,
            wait=wait,
            locate=lambda text: place_of(vectors, self._analyser, text, deadline=deadline),
        )
        return report._replace(embedding=done)

    def _scan(self) -> list[SourceScan]:
        scan = partial(
            scan_sources,
            self._sources.values(),
            chunker_fingerprint=self._chunker.fingerprint,
            analyser=self._analyser,
            known=self._known,
        )
        try:
            return scan()
        except IndexCorruptError:
            return scan()  # as in maintain

    def _known(self) -> list[StoredDocument]:
        """Every document of the live build."""
        live = _live(self._store)
        return list(self._store.documents(live)) if live else []

    def _plan(self, build: Build, scans: list[SourceScan]) -> Plan:
        return plan_changes(self._store.documents(build), scans, configured=self._configured)

    def _bring_up(
        self,
        scans: list[SourceScan],
        *,
        force: bool,
        at_most: int | None,
        deadline: Deadline,
        progress: ProgressCallback | None,
        wait: float,
    ) -> SyncReport:
        report = self._look(scans, force=force, at_most=at_most)
        if report is not None:
            return report
        if progress is not None:
            total = sum(len(scan.report.documents) for scan in scans)
            progress(Progress("Looking for notes", total, total))
        with self._store.writer(wait=wait):
            report = self._write(
                scans,
                force=force,
                settle=at_most is None,
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
        live = _live(self._store)
        if force or live is None or live.identity != self._identity:
            if at_most is None:
                return None
            size = sum(len(scan.report.documents) for scan in scans)
            return SyncReport(remaining=size) if size > at_most else None
        plan = self._plan(live, scans)
        if at_most is not None:
            plan = plan.without_large(_QUICK_BYTES)
        if plan.size and (at_most is None or plan.size <= at_most):
            return None
        return _looked(plan)

    def _write(
        self,
        scans: list[SourceScan],
        *,
        force: bool,
        settle: bool,
        deadline: Deadline,
        progress: ProgressCallback | None,
    ) -> SyncReport:
        # Imported here: a search that finds nothing new to index does not pay for it.
        from commonplace.index.indexer import Indexer

        target, rebuilding = self._target(force=force, tidy=settle)
        # Planned again under the lease: another process may have done the work meanwhile.
        plan = self._plan(target, scans)
        if not settle:
            plan = plan.without_large(_QUICK_BYTES)
        indexer = Indexer(
            store=self._store,
            sources=self._sources,
            chunker=self._chunker,
            analyser=self._analyser,
            clock_ns=self._clock_ns,
        )
        report = indexer.apply(target, plan, scans, deadline=deadline, progress=progress)
        if settle:
            indexer.settle(target)
        if not rebuilding:
            return report
        if report.remaining or report.unreadable or self._would_lose(plan, scans):
            # The live build still answers for what cannot be read just now; keep it.
            return report._replace(known=0)
        self._store.activate(target)
        return report._replace(rebuilt=True)

    def _target(self, *, force: bool, tidy: bool) -> tuple[Build, bool]:
        """The build to write to, and whether it must be activated when it is complete."""
        identity = self._identity
        live = _live(self._store)
        if live is None:
            # Nothing to keep answering meanwhile: what is indexed is searchable batch by batch.
            build = self._store.open_build(identity)
            self._store.activate(build)
            return build._replace(state="live"), False
        if live.identity != identity:
            return self._store.open_build(identity), True
        if force or tidy:
            for build in self._store.builds():
                if build.state == "filling":  # left by a rebuild that was interrupted
                    self._store.drop(build)
        return (self._store.open_build(identity), True) if force else (live, False)

    def _would_lose(self, plan: Plan, scans: list[SourceScan]) -> bool:
        """Whether activating would drop documents that are hidden, not deleted, just now."""
        live = _live(self._store)
        if live is not None and not same_workspace(live.identity, self._identity):
            return False  # they were never ours
        return bool(live and self._plan(live, scans).hidden > plan.hidden)


def _live(store: Store) -> Build | None:
    return next((build for build in store.builds() if build.state == "live"), None)


def _looked(plan: Plan) -> SyncReport:
    return SyncReport(
        unchanged=plan.unchanged,
        remaining=plan.size + len(plan.left),
        known=plan.known,
        hidden=plan.hidden,
    )
