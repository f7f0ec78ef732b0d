"""The memory manager over any store: chunker, analyser, embedding; searched and synced."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, cast

from commonplace.errors import (
    IndexBusyError,
    IndexCorruptError,
    IndexUnavailableError,
    UnavailableError,
    reason_of,
)
from commonplace.index.builds import answers, build_identity, live_build
from commonplace.index.keyword import keyword_arm
from commonplace.index.planning import MissingSource, with_scans
from commonplace.index.syncing import Maintenance
from commonplace.model.tuples import NamedTuple
from commonplace.protocols.contexts import ManagerHealth
from commonplace.resilience.deadline import LOOK_SECONDS, NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commonplace.embedding.service import EmbeddingService
    from commonplace.model.findings import Finding
    from commonplace.model.reports import ProgressCallback, SyncReport
    from commonplace.model.search import Arm, Query, Where
    from commonplace.model.store import StoreHealth
    from commonplace.protocols.sources import Chunker, Source
    from commonplace.protocols.stores import Store, VectorStore
    from commonplace.resilience.deadline import Deadline
    from commonplace.text.analyse import Analyser

__all__ = ["Arms", "IndexedMemoryManager"]

_PATIENCE_SECONDS = 30.0


class Arms(NamedTuple):
    """Which arms a search has whenever it can.

    Without ``keyword``, that one stands in for vectors only; without ``vector``, nobody is asked to
    embed a query before anything has been embedded, nor is it said that nothing is.
    """

    keyword: bool = True
    vector: bool = False


_USUAL_ARMS = Arms()


class IndexedMemoryManager:
    """A :class:`~commonplace.plugin.MemoryManager` over any :class:`~commonplace.plugin.Store`.

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
        arms: Arms = _USUAL_ARMS,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._store = store
        self._sources = {
            source.id: source for source in sources if not isinstance(source, MissingSource)
        }
        self._analyser = analyser
        self._identity = build_identity(analyser, workspace)
        self._upkeep = Maintenance(
            store=store,
            sources=self._sources,
            configured=frozenset(source.id for source in sources),
            chunker=chunker,
            analyser=analyser,
            identity=self._identity,
            clock_ns=clock_ns,
        )
        self._embedding = embedding
        self._wanted = arms
        self._clock_ns = clock_ns
        self._syncing = threading.Lock()
        self._filling = threading.Lock()

    def search(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Arm, ...]:
        """The arm ``keyword``, and ``vector`` where anything is embedded and someone embeds."""
        live = live_build(self._store)
        if live is not None and not answers(live, self._identity):
            raise IndexUnavailableError(
                "the index was made for another workspace or tokenizer",
                hint="run `commonplace index`",
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
        if self._wanted.keyword:
            # First, for it is quick, and whoever embeds may take all the time there is.
            arms.append(self._keyword(query, where, limit, deadline))
        vectors = self._vectors()
        if vectors is not None and (
            self._wanted.vector or any(info.covered for info in vectors.spaces())
        ):
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
        scans = self._upkeep.scan(eager=False)
        return with_scans(self._upkeep.pending(scans), scans)

    def maintain(
        self,
        *,
        force: bool = False,
        at_most: int | None = None,
        embed: bool = True,
        eager: bool = True,
        deadline: Deadline,
        progress: ProgressCallback | None = None,
        wait: float = 30.0,
    ) -> SyncReport:
        """Index what has changed; a rebuild is filled beside the live build, then activated.

        Text is searchable before anything is embedded; vectors then attach request by request.
        """
        started = time.monotonic()
        with _held(self._syncing, deadline):
            scans = self._upkeep.scan(eager=eager or force)
            bring_up = partial(
                self._upkeep.bring_up,
                scans,
                force=force,
                at_most=at_most,
                eager=eager or force,
                deadline=deadline,
                progress=progress,
                wait=wait,
            )
            try:
                report = bring_up()
            except IndexCorruptError:
                report = bring_up()  # as in a scan, the index is made again
        if embed:
            # Apart: embedding may take long, and a search that meets a new note is not to wait.
            with _held(self._filling, deadline):
                report = self._embed(
                    report, anew=force, deadline=deadline, progress=progress, wait=wait
                )
        return with_scans(report, scans)._replace(seconds=time.monotonic() - started)

    def health(self, *, deep: bool = False) -> ManagerHealth:
        """The store's health, or why it has none."""
        try:
            vectors = self._vectors()
            store = self._store.health(deep=deep)
            return ManagerHealth(
                available=True,
                store=store,
                spaces=vectors.spaces() if vectors is not None else None,
                findings=self._inspected(store) if deep else (),
                drop_space=self._drop_space if vectors is not None else None,
            )
        except UnavailableError as error:
            return ManagerHealth(available=False, reason=reason_of(error))

    def _inspected(self, store: StoreHealth) -> tuple[Finding, ...]:
        from commonplace.index.checks import Inspection

        # What is made beside keeps its vectors; what begins empty gets them as after any loss.
        rebuild = partial(self.maintain, force=True, embed=False, deadline=NEVER)
        inspection = Inspection(
            self._store,
            store,
            identity=self._identity,
            recipes=self._upkeep.recipes(),
            maintain=partial(self.maintain, deadline=NEVER),
            rebuild=rebuild,
            now=self._clock_ns() / 1e9,
        )
        return tuple(inspection.findings())

    def _drop_space(self, space: str) -> None:
        vectors = self._vectors()
        if vectors is not None:
            with vectors.writer(wait=_PATIENCE_SECONDS):
                vectors.drop_space(space)

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
        vectors, live = self._vectors(), live_build(self._store)
        service = self._embedding() if vectors is not None and live is not None else None
        if vectors is None or live is None or service is None:
            return report
        from commonplace.embedding.filling import fill_vectors
        from commonplace.index.checks import place_of

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


@contextmanager
def _held(lock: threading.Lock, deadline: Deadline) -> Iterator[None]:
    """Hold ``lock``, which another thread may, too; waits until ``deadline`` at most."""
    look = LOOK_SECONDS if deadline.cancellable else threading.TIMEOUT_MAX
    while not lock.acquire(timeout=min(deadline.remaining(), look)):
        if deadline.expired:
            holder = "another thread of this process"
            raise IndexBusyError(f"{holder} is writing the index", holder=holder)
    try:
        yield
    finally:
        lock.release()
