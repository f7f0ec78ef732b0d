"""Putting an engine together: which plugins serve, from settings and what is installed."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from commonplace.config.settings import may_have_provider
from commonplace.errors import PluginConflictError, PluginUnavailableError
from commonplace.fallback.backend import Backend
from commonplace.host.answers import foreign_label
from commonplace.host.registry import RegistryEntry
from commonplace.model.plugins import STORE_ABILITIES
from commonplace.protocols.contexts import Arms, ChunkerContext, ManagerContext, StoreContext
from commonplace.search.search import make_searcher
from commonplace.sources import make_source, make_sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from commonplace.config.settings import Settings
    from commonplace.embedding.choice import EmbeddingChooser
    from commonplace.embedding.service import EmbeddingService
    from commonplace.fallback.manager import FallbackMemoryManager
    from commonplace.host.host import PluginHost
    from commonplace.index.builds import Cut
    from commonplace.model.documents import WatchedPath
    from commonplace.model.plugins import Mount
    from commonplace.model.reports import SyncListener, UploadListener
    from commonplace.model.search import Query
    from commonplace.protocols.managers import MemoryManager
    from commonplace.protocols.parts import Chunker, WatchedSource
    from commonplace.search.citations import Readable
    from commonplace.search.search import Searcher
    from commonplace.sync.service import SyncService
    from commonplace.text.analyse import Analyser
    from commonplace.tools.plugins import PluginTools

    Backends = Backend | FallbackMemoryManager
    """The only backend, or a chain of them."""


_CHARACTERS_PER_TOKEN = 4


class Assembly:
    """What the engines of one memory are put together from, and how.

    ``sources`` are the configured ones, ``notices`` name those that are missing. ``clock``
    gives epoch seconds. Raises as :func:`~commonplace.sources.make_sources` does.
    """

    def __init__(
        self,
        host: PluginHost,
        settings: Settings,
        *,
        env: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.time,
        on_sync: SyncListener | None = None,
        on_upload: UploadListener | None = None,
    ) -> None:
        self._host = host
        self._settings = settings
        self._env = env
        self._clock = clock
        self._on_sync = on_sync
        self._on_upload = on_upload
        self.sources, self.notices = make_sources(host, settings)
        self._analyser = _analyser_of(settings)

    def searcher(self) -> Searcher:
        """The steps of a search of the sources, with the configured rankers."""
        return make_searcher(
            self._host,
            self._settings,
            analyser=self._analyser,
            sources=self.sources,
            mounts=self.mounts,
            notices=self.notices,
            permit=self._check_upload,
            clock=self._clock,
        )

    def readable(self) -> Readable:
        """What may be read: notes, files of the backends' mounts, documents of the sources."""
        from commonplace.search.citations import readable_of

        return readable_of(self._settings, mounts=self.mounts, sources=self.sources)

    def embedding(self) -> EmbeddingChooser:
        """What chooses the provider of embeddings when it is first asked."""
        from commonplace.embedding.choice import EmbeddingChooser

        return EmbeddingChooser(
            self._host,
            self._settings,
            env=self._env,
            clock=self._clock,
            on_upload=self._on_upload,
        )

    def backends(
        self, *, embedding: Callable[[], EmbeddingService | None], background_limit: int = 0
    ) -> Backends:
        """The configured backend, or the chain of them; each is made when it is first asked.

        Up to ``background_limit`` texts may be embedded in the background.

        Raises the :class:`~commonplace.errors.CallerError` of two plugins that claim one backend.
        """
        host, settings = self._host, self._settings
        permits = tuple(self._permits())
        arms = Arms(
            keyword=settings.search.query.hybrid.enabled,
            vector=may_have_provider(settings, self._env),
            background_limit=background_limit,
        )

        def backend(id_: str, **guards: Any) -> Backend:
            make = partial(self.manager, id_, embedding=embedding, arms=arms)
            label = foreign_label(host, "backend", id_)
            changed = partial(_changed, host)
            return Backend(id_, make, label=label, changed=changed, clock=self._clock, **guards)

        if len(settings.backends) == 1:
            (only,) = settings.backends
            return backend(only, permits=permits)

        from commonplace.fallback.manager import FallbackMemoryManager, shared_breakers
        from commonplace.resilience.bounded_call import Worker

        return FallbackMemoryManager(
            [
                backend(
                    id_,
                    breakers=shared_breakers(settings, id_),
                    worker=Worker(foreign_label(host, "backend", id_) or id_),
                )
                for id_ in settings.backends
            ],
            permits=permits,
            standby=settings.fallback.standby,
            embed_standby=settings.fallback.embed_standby,
            clock=self._clock,
        )

    def manager(
        self,
        backend: str,
        *,
        embedding: Callable[[], EmbeddingService | None],
        arms: Arms,
    ) -> MemoryManager:
        """The engine of one backend, over its store or its own.

        Raises :class:`~commonplace.errors.PluginUnavailableError` where it cannot be used here.
        """
        offered = self._host.backend(backend)
        registration = offered.registration
        if offered.own:
            probe = registration.probe()
        else:
            from commonplace.host.backends import answer_of

            probe = answer_of(registration.probe, f"backend {backend!r} of {offered.plugin}")
        if not probe.available:
            raise PluginUnavailableError(probe.reason, hint=probe.hint)
        if offered.role == "manager":
            manager: MemoryManager = registration.factory(self._manager_context(backend))
            return manager

        from commonplace.index.builds import Cut, SharedChunking
        from commonplace.index.manager import IndexedMemoryManager
        from commonplace.index.planning import MissingSource

        settings = self._settings
        chunking = settings.search.chunking
        own = Cut(chunking.strategy, chunking.tokens, chunking.overlap)
        make_chunker = partial(self._chunker, own=own)
        chunker = make_chunker(own)  # before the store, which nothing would close if this fails
        config = settings.section_values.get(f"memory.{backend}")
        given = StoreContext(settings.index_path, settings.agent, config, settings.cache_dir)
        store = registration.factory(given)
        try:
            _check_abilities(backend, frozenset(store.capabilities), registration.capabilities)
        except BaseException:
            store.close()
            raise
        here = {source.id for source in self.sources}
        missing = (MissingSource(id_) for id_ in settings.search.sources if id_ not in here)
        return IndexedMemoryManager(
            store=store,
            sources=[*self.sources, *missing],
            chunker=chunker,
            chunking=SharedChunking(f"{settings.index_path}.chunking", own, make_chunker),
            analyser=self._analyser,
            workspace=os.path.realpath(settings.workspace),
            embedding=embedding,
            arms=arms,
        )

    def sync_service(
        self,
        *,
        backends: Callable[[], Backends],
        embedding: Callable[[], EmbeddingService | None],
    ) -> SyncService:
        """What syncs the index of ``backends``; each report has the notices."""
        from commonplace.health.state_files import tidy
        from commonplace.sync.service import SyncService, sync_backend

        sync = partial(
            sync_backend,
            backends,
            self._host,
            partial(tidy, self._settings, self._clock),
            notices=self.notices,
        )
        return SyncService(
            self._settings.search.sync,
            sync,
            embeds=partial(self._embeds, embedding),
            listener=self._on_sync,
            clock=self._clock,
            shown_as=f"{self._settings.index_path}.watch",
        )

    def mounts(self) -> tuple[Mount, ...]:
        """The folders that the backends have names for; none of one that fails to say it."""
        found: list[Mount] = []
        for backend, offered in self._offered():
            if isinstance(offered, RegistryEntry) and offered.registration.mounts is not None:
                from commonplace.host.backends import mounts_given

                context = self._manager_context(backend)
                found += mounts_given(offered.registration.mounts, context, backend)
        return tuple(found)

    def watch(self, service: SyncService, *, poll: bool) -> None:
        """Let ``service`` watch all that changes; see :meth:`commonplace.Memory.watch`."""
        from commonplace.sync.watcher import Watcher

        watcher = partial(Watcher, self._watched_paths, force_polling=poll)
        unwatched = any("watched" not in source.capabilities for source in self.sources)
        service.watch(watcher, unwatched=unwatched)

    def plugin_tools(self, embedding: Callable[[], EmbeddingChooser]) -> PluginTools:
        """The tools that plugins add for agents."""
        from commonplace.tools.plugins import PluginTools

        return PluginTools(self._host, self._settings, embedding)

    def _watched_paths(self) -> tuple[WatchedPath, ...]:
        """Where changes of documents show, as far as sources and the chain's backends can tell."""
        from commonplace.host.failures import logger
        from commonplace.model.documents import WatchedPath

        found: list[WatchedPath] = []
        for source in self.sources:
            if "watched" not in source.capabilities:
                continue
            try:
                found += cast("WatchedSource", source).watched()
            except BaseException as error:  # noqa: BLE001 - a plugin's; the others are watched all the same
                from commonplace.resilience.bounded_call import failure_of

                why = failure_of(error)
                logger().warning("source %s cannot say what to watch: %s", source.id, why)
        found += (WatchedPath(mount.location) for mount in self.mounts() if mount.stored is None)
        return tuple(found)

    def _check_upload(self, ranker: str, server: str, texts: int, key: str) -> None:
        """What rankers call, by their id, before they send texts to another machine."""
        from commonplace.embedding.consent import check_ranker

        check_ranker(
            self._settings,
            ranker,
            server,
            texts,
            key,
            clock=self._clock,
            listener=self._on_upload,
        )

    def _embeds(self, embedding: Callable[[], EmbeddingService | None]) -> bool:
        """Whether anything may be embedded, by a provider or by an engine of its own."""
        for _, offered in self._offered():
            if isinstance(offered, RegistryEntry) and offered.role == "manager":
                return True
        return embedding() is not None

    def _offered(self) -> Iterator[tuple[str, RegistryEntry | PluginUnavailableError]]:
        """Each backend of the chain with what is registered, or why it is not available."""
        for backend in self._settings.backends:
            try:
                yield backend, self._host.backend(backend)
            except PluginUnavailableError as error:
                yield backend, error

    def _permits(self) -> Iterator[Callable[[Query], None]]:
        """What raises where a chat may not search, of each backend that has such rules."""
        settings = self._settings
        for backend, offered in self._offered():
            section = f"memory.{backend}"
            if not isinstance(offered, RegistryEntry):
                if settings.sections.get(section):
                    from commonplace.host.backends import refuse_chats

                    yield partial(refuse_chats, section, str(offered))
            elif offered.registration.permits is not None:
                from commonplace.host.backends import check_permit

                values = settings.section_values.get(section)
                yield partial(check_permit, offered.registration.permits, values, backend)

    def _manager_context(self, backend: str) -> ManagerContext:
        settings = self._settings
        return ManagerContext(
            workspace=settings.workspace,
            agent=settings.agent,
            state_dir=settings.state_dir,
            sources=self.sources,
            config=settings.section_values.get(f"memory.{backend}"),
            extra_paths=settings.search.extra_paths,
            make_source=partial(make_source, self._host, settings),
            notes=settings.search.notes.rules,
        )

    def _chunker(self, cut: Cut, *, own: Cut) -> Chunker:
        """The chunker for ``cut``; only the ``own`` one of these settings may be missing."""
        host, strategy = self._host, cut.strategy
        context = ChunkerContext(
            size=cut.tokens * _CHARACTERS_PER_TOKEN,
            overlap=cut.overlap * _CHARACTERS_PER_TOKEN,
            config=self._settings.plugin_config(strategy),
        )
        with suppress(PluginConflictError, PluginUnavailableError):  # reported by the first sync
            if host.is_builtin("chunker", strategy):
                return host.chunker(strategy).factory(context)
        from commonplace.host.sources import guarded_chunker

        return guarded_chunker(host, strategy, context, required=cut != own)


def _analyser_of(settings: Settings) -> Analyser:
    """Ours, or under the profile ``compat`` that of the tokenizer the configuration names."""
    if settings.search.ranking.profile == "compat":
        from commonplace.text.analyse import make_analyser

        return make_analyser(settings.search.store.fts_tokenizer)
    from commonplace.text.standard import StandardAnalyser

    return StandardAnalyser()


def _changed(host: PluginHost, backend: str, reason: str | None) -> None:
    """Log that a backend fails or works again, once each, and call the hooks for it."""
    from commonplace.host.failures import logger

    events = host.events
    if reason is None:
        logger().info("backend %s works again", backend)
        if events is not None:
            events.recovered(backend)
    else:
        logger().warning("backend %s fails: %s", backend, reason)
        if events is not None:
            events.degraded(backend, reason)


def _check_abilities(backend: str, abilities: frozenset[str], registered: frozenset[str]) -> None:
    """Log what a store declares that no store has, and what its registration says otherwise."""
    unknown = abilities - STORE_ABILITIES
    differing = registered ^ abilities if registered else frozenset[str]()
    for words, problem in ((unknown, "is unknown"), (differing, "is not registered as declared")):
        if words:
            from commonplace.host.failures import log_once

            names = ", ".join(sorted(words))
            log_once(f"{problem} {backend}", f"store {backend!r}: the capability {names} {problem}")
