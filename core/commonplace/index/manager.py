"""The memory manager over any store: chunker, analyser, embedding; searched and synced."""

from __future__ import annotations

import time
from _thread import TIMEOUT_MAX, allocate_lock, get_ident  # threading takes a ms to import
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from commonplace.errors import (
    IndexBusyError,
    IndexCorruptError,
    IndexUnavailableError,
    UnavailableError,
    reason_of,
)
from commonplace.index.builds import as_declared, build_identity, can_answer, live_build
from commonplace.index.planning import MissingSource, compared_by, with_scans
from commonplace.index.rescoring import (
    LEAST_CANDIDATES,
    Information,
    rescored,
    with_finite_scores,
    with_word_order,
)
from commonplace.index.syncing import IndexSync, SyncOptions
from commonplace.model.search import Arm
from commonplace.protocols.contexts import USUAL_ARMS, Arms, ManagerHealth
from commonplace.resilience.deadline import NEVER, POLL_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from commonplace.embedding.service import EmbeddingService
    from commonplace.index.builds import SharedChunking
    from commonplace.index.planning import Compared
    from commonplace.model.documents import Build, Finding, StoreHealth
    from commonplace.model.reports import ProgressCallback, SyncReport
    from commonplace.model.search import KeywordQuery, Query, Where
    from commonplace.protocols.parts import (
        Chunker,
        CountingStore,
        Source,
        Store,
        VectorStore,
        VocabularyStore,
    )
    from commonplace.resilience.deadline import Deadline
    from commonplace.text.analyse import Analyser


_LEASE_SECONDS = 30.0


class IndexedMemoryManager:
    """A :class:`~commonplace.plugin.MemoryManager` over any :class:`~commonplace.plugin.Store`.

    ``sources`` are all that are searched; what the index holds of others is removed. ``chunking``
    says when another chunker than ``chunker`` is used.
    """

    capabilities: ClassVar[frozenset[str]] = frozenset({"eager", "look", "paths"})

    def __init__(  # noqa: PLR0913 - the parts of one engine
        self,
        *,
        store: Store,
        sources: Sequence[Source | MissingSource],
        chunker: Chunker,
        chunking: SharedChunking | None = None,
        analyser: Analyser,
        workspace: str = "",
        embedding: Callable[[], EmbeddingService | None] = lambda: None,
        arms: Arms = USUAL_ARMS,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._store = store
        self._sources = {
            source.id: source for source in sources if not isinstance(source, MissingSource)
        }
        self._analyser = analyser
        self._identity = build_identity(analyser, workspace)
        configured = frozenset(source.id for source in sources)
        self._sync = IndexSync(
            store, self._sources, configured, chunker, analyser, self._identity, clock_ns
        )
        self._compared: Compared | None = None
        self._chunking = chunking
        self._embedding = embedding
        self._wanted_arms = arms
        self._syncing, self._filling = _OwnedLock(), _OwnedLock()

    def search(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Arm, ...]:
        """The arm ``keyword``, and ``vector`` if there are vectors and an embedding provider."""
        live = live_build(self._store)
        if live is not None and not can_answer(live, self._identity):
            raise IndexUnavailableError(
                "the index is of another workspace or tokenizer",
                hint="run `commonplace index`",
            )
        available = frozenset(self._sources)
        if where.sources is not None:
            where = where._replace(sources=where.sources & available)
        arms = self._ask(query, where, limit, deadline)
        if all(found.chunk.source in available for arm in arms for found in arm.found):
            return arms
        # Documents of a source that is switched off or missing stay indexed and are not searched.
        return self._ask(query, where._replace(sources=available), limit, deadline)

    def _ask(self, query: Query, where: Where, limit: int, deadline: Deadline) -> tuple[Arm, ...]:
        ask_keywords = partial(
            keyword_arm,
            self._store,
            where=where,
            limit=limit,
            deadline=deadline,
            chat=query.session_key,
        )
        arms: list[Arm] = []
        if self._wanted_arms.keyword:
            # First: it is quick, and embedding the query may take all the time there is.
            arms.append(ask_keywords(query.keyword))
        vectors = self.vector_store()
        if vectors is not None and (
            self._wanted_arms.vector or any(info.covered for info in vectors.spaces())
        ):
            service = self._embedding()  # chosen only now: a keyword search needs none
            if service is not None:
                from commonplace.index.arms import vector_arm

                arms.append(
                    vector_arm(
                        vectors,
                        service,
                        query,
                        where=where,
                        limit=limit,
                        deadline=deadline,
                        analyser=self._analyser,
                        wanted=self._wanted_arms,
                    )
                )
        if not any(arm.name == "keyword" or arm.found for arm in arms):
            arms.insert(0, ask_keywords(query.keyword))
        if query.keyword.days:
            from commonplace.index.dated import with_days

            asked = self._store, query.keyword, where, limit, deadline
            arms = [with_days(arm, *asked, alone=len(arms) == 1) for arm in arms]
        elif query.keyword.foreseen or query.keyword.again:
            from commonplace.index.upcoming import with_saying

            arms = [with_saying(arm, query.keyword) for arm in arms]
        if not any(arm.found or (arm.kind == "cosine" and not arm.note) for arm in arms):
            arms += _singly(query.keyword, ask_keywords)
        return tuple(arms)

    def pending(self, *, look: bool = False) -> SyncReport:
        """Compare stamps and count; writes nothing, and opens no file unless it is to ``look``."""
        sync, cut = self._sync_in_use(writes=False)
        scans = sync.scan(eager=False)
        try:
            report = sync.pending(scans, look=look)
        except IndexUnavailableError:  # another process has just replaced it
            report = sync.pending(scans, look=look)
        return with_scans(report, scans).replace(cut=cut)

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
        paths: Collection[str] | None = None,
    ) -> SyncReport:
        """Index what has changed; a rebuild is filled beside the live build, then activated.

        With ``paths``, only these are compared where the last sync left nothing undone.
        Text is searchable before it is embedded; vectors are added request by request; those that
        the cache has also without ``embed``.
        """
        started = time.monotonic()
        options = SyncOptions(force, at_most, eager or force, deadline, progress, wait)
        with self._syncing.held(deadline):
            sync, cut = self._sync_in_use(whole=at_most is None, force=force)
            report = self._sync_paths(sync, paths, options) or self._sync_all(sync, options)
        if not embed and (report.added or report.updated) and self._wanted_arms.vector:
            self._embed_from_cache(deadline, wait)
        if embed:
            # Not under the first lock: embedding may take long, and searches must not wait for it.
            with self._filling.held(deadline):
                report = self._embed(report, options)
        return report.replace(seconds=time.monotonic() - started, cut=cut)

    def _sync_all(self, sync: IndexSync, options: SyncOptions) -> SyncReport:
        scans = sync.scan(eager=options.eager)
        before, self._compared = self._compared, None
        try:
            report = sync.sync(scans, options)
        except (IndexCorruptError, IndexUnavailableError):  # it was set aside, or just replaced
            before, report = None, sync.sync(scans, options)
        report = with_scans(report, scans)
        if options.at_most is None:
            fingerprints = sync.fingerprints()
            self._compared = compared_by(report, fingerprints, self._store, self._identity)
        elif before is not None and before.holds_after(report):
            # A search indexes some changes, and undoes nothing.
            documents = before.documents + report.added - report.removed
            self._compared = before.replace(documents=documents)
        return report

    def _sync_paths(
        self, sync: IndexSync, paths: Collection[str] | None, options: SyncOptions
    ) -> SyncReport | None:
        """The report of a sync of ``paths`` alone; ``None`` where all has to be compared."""
        many = paths is not None and options.at_most is not None and len(paths) > options.at_most
        if paths is None or self._compared is None or options.force or many:
            return None
        before, self._compared = self._compared, None
        from commonplace.index.partial import PartialSync

        try:
            done = PartialSync(sync, paths, before).run(options)
        except IndexCorruptError:
            return None
        report, self._compared = done or (None, None)
        return report

    def health(self, *, deep: bool = False) -> ManagerHealth:
        """The store's health, or why it is unavailable."""
        try:
            vectors = self.vector_store()
            store = self._store.health(deep=deep)
            return ManagerHealth(
                available=True,
                store=store,
                spaces=vectors.spaces() if vectors is not None else None,
                findings=self._findings(store) if deep else (),
                drop_space=self._drop_space if vectors is not None else None,
            )
        except UnavailableError as error:
            return ManagerHealth(available=False, reason=reason_of(error))

    def _findings(self, store: StoreHealth) -> tuple[Finding, ...]:
        from commonplace.index.checks import IndexCheck

        fingerprints, now = self._sync_in_use(writes=False)[0].fingerprints, self._sync.clock_ns()
        maintain = partial(self.maintain, deadline=NEVER)
        # A rebuild beside the live build keeps its vectors; an empty index is embedded later.
        rebuild = partial(maintain, force=True, embed=False)
        parts = self._store, store, self._identity, fingerprints, maintain, rebuild
        check = IndexCheck(*parts, now=now / 1e9)
        return tuple(check.findings())

    def _drop_space(self, space: str) -> None:
        vectors = self.vector_store()
        if vectors is not None:
            with vectors.writer(wait=_LEASE_SECONDS):
                vectors.drop_space(space)

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _sync_in_use(self, **options: bool) -> tuple[IndexSync, str]:
        """The sync with the chunker that all who share the index use; and a line if not ours."""
        if self._chunking is None:
            return self._sync, ""
        chunker, cut = self._chunking.choose(**options)
        return self._sync._replace(chunker=chunker), cut

    def vector_store(self) -> VectorStore | None:
        """The store, if it keeps vectors."""
        return cast("VectorStore", self._store) if "vectors" in self._store.capabilities else None

    def _to_embed(self) -> tuple[EmbeddingService, VectorStore, Build] | None:
        """What embeds, and the store and the build that vectors go to; ``None`` without one."""
        vectors, live = self.vector_store(), live_build(self._store)
        if vectors is None or live is None or (service := self._embedding()) is None:
            return None
        return service, vectors, live

    def _embed_from_cache(self, deadline: Deadline, wait: float) -> None:
        """Texts that were ever embedded have their vectors at once, also in a rebuilt index."""
        if (parts := self._to_embed()) is not None:
            from commonplace.embedding.filling import fill_from_cache

            fill_from_cache(*parts, deadline=deadline, wait=min(wait, deadline.remaining()))

    def _embed(self, report: SyncReport, options: SyncOptions) -> SyncReport:
        if (parts := self._to_embed()) is None:
            return report
        from commonplace.embedding.filling import fill_vectors
        from commonplace.index.checks import citation_of

        done = fill_vectors(
            *parts,
            rebuild=options.force,
            deadline=options.deadline,
            progress=options.progress,
            wait=options.wait,
            locate=partial(citation_of, self._store, self._analyser, deadline=options.deadline),
        )
        return report.replace(embedding=done)


class _OwnedLock:
    """A lock that knows which thread holds it, and refuses that thread at once."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._owner: int | None = None

    @contextmanager
    def held(self, deadline: Deadline) -> Iterator[None]:
        """Hold the lock; waits for another thread until ``deadline`` at most."""
        if self._owner == get_ident():  # only this thread can have put its own id there
            raise IndexBusyError(
                "the index is being written by this very thread",
                holder="this thread",
                hint="ask once the sync is done, not in its callback",
            )
        interval = POLL_SECONDS if deadline.cancellable else TIMEOUT_MAX
        while not self._lock.acquire(timeout=min(deadline.remaining(), interval)):
            if deadline.expired:
                holder = "another thread of this process"
                raise IndexBusyError(f"{holder} is writing the index", holder=holder)
        self._owner = get_ident()
        try:
            yield
        finally:
            self._owner = None
            self._lock.release()


def _singly(query: KeywordQuery, ask_keywords: Callable[[KeywordQuery], Arm]) -> Iterator[Arm]:
    """An arm of each keyword that finds something, where all of them together find nothing."""
    for word, query_of_word in query.singly:
        arm = ask_keywords(query_of_word)
        if arm.found:
            yield arm._replace(name=f"{arm.name}:{word}", unknown=frozenset())


def keyword_arm(
    store: Store,
    query: KeywordQuery,
    *,
    where: Where,
    limit: int,
    deadline: Deadline,
    chat: str = "",
) -> Arm:
    """The best ``limit`` chunks by BM25; the first get a second score, see :mod:`.rescoring`.

    Where a store counts the chunks that hold a token, each hit has its evidence, too; where the
    query is ``alike``, each has all of it. What a ``chat`` may not see is not counted.
    """
    if not query.should:
        return Arm("keyword", "bm25", ())
    matches = store.keyword(
        query, where=where, limit=max(limit, LEAST_CANDIDATES), deadline=deadline
    )
    matches = as_declared(matches, store.capabilities)
    if chat and matches.holders:
        from commonplace.index.arms import counted_for

        matches = counted_for(chat, store, matches, where, deadline)
    usable = with_finite_scores(matches.found)
    counted = not query.plain and len(matches.terms) == len(usable) and usable == matches.found
    score = rescored if counted else with_word_order
    found = score(matches._replace(found=usable), query, limit)
    if query.alike:
        found = [item._replace(score=0.0, evidence=1.0) for item in found]
        return Arm("keyword", "bm25", tuple(found))
    if matches.holders is None:
        return Arm("keyword", "bm25", tuple(found))
    evidence = Information(query, matches.chunks, matches.holders)
    return Arm(
        "keyword",
        "bm25",
        tuple(
            found
            if counted
            else [item._replace(evidence=evidence.of(item.score)) for item in found]
        ),
        unknown=evidence.unknown,
        holders=cast("CountingStore", store).holders,
        tokens_beginning=cast("VocabularyStore", store).tokens_beginning
        if "vocabulary" in store.capabilities
        else None,
    )
