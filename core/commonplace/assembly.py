"""Putting an engine together: which plugins serve, from settings and what is installed."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from commonplace.config.defaults import SOURCES, TRANSCRIPTS
from commonplace.errors import (
    ConfigError,
    PluginConflictError,
    PluginUnavailableError,
    reason_of,
)
from commonplace.fallback.backend import Backend
from commonplace.host.border import foreign_label
from commonplace.host.registry import RegistryEntry
from commonplace.model.plugins import STORE_ABILITIES
from commonplace.protocols.contexts import (
    Arms,
    ChunkerContext,
    ManagerContext,
    SourceContext,
    StoreContext,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commonplace.config.settings import Settings
    from commonplace.embedding.service import EmbeddingService
    from commonplace.fallback.manager import FallbackMemoryManager
    from commonplace.host.host import PluginHost
    from commonplace.index.builds import Cut
    from commonplace.model.documents import WatchedPath
    from commonplace.model.plugins import Mount
    from commonplace.model.reports import SyncListener, UploadListener
    from commonplace.model.search import Query
    from commonplace.protocols.managers import MemoryManager
    from commonplace.protocols.parts import Chunker, Source, WatchedSource
    from commonplace.sync.service import SyncService
    from commonplace.text.analyse import Analyser


_CHARACTERS_PER_TOKEN = 4


def analyser_of(settings: Settings) -> Analyser:
    """Ours, or under the profile ``compat`` that of the tokenizer the configuration names."""
    from commonplace.text.analyse import make_analyser

    compat = settings.search.ranking.profile == "compat"
    return make_analyser(settings.search.store.fts_tokenizer if compat else "standard")


def make_sources(
    host: PluginHost, settings: Settings
) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """The configured sources, and a notice for each that no plugin offers, or that several do.

    A missing source hides its documents instead of ending the search: they stay in the index.
    Raises :class:`~commonplace.errors.ConfigError` where no plugin has ever heard of any of them.
    """
    sources: list[Source] = []
    notices: list[str] = []
    unknown: list[PluginUnavailableError] = []
    for id_ in settings.search.sources:
        try:
            sources.append(_make_source(host, settings, id_))
        except PluginUnavailableError as error:
            notices.append(f"source {id_!r} is not searched: {reason_of(error)}")
            if _is_unknown(host, id_):
                unknown.append(error)
        except PluginConflictError as error:
            notices.append(f"source {id_!r} is not searched: {reason_of(error)}")
        except ConfigError:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own failure
            from commonplace.resilience.bounded_call import failure_of

            why = f"{host.label('source', id_)} failed: {failure_of(error)}"
            notices.append(f"source {id_!r} is not searched: {why}")
    if unknown and len(unknown) == len(settings.search.sources):
        # All that is indexed would be gone: no source that is configured has any of it.
        hints = dict.fromkeys(error.hint for error in unknown)
        words = f"memorySearch.sources: {'; '.join(map(str, unknown))}"
        raise ConfigError(words, hint="; ".join(hints))
    return tuple(sources), tuple(notices)


def _is_unknown(host: PluginHost, source: str) -> bool:
    """Whether no plugin, not even one that is off or fails, has a source of this name."""
    if source in (*SOURCES, TRANSCRIPTS) or host.switched_off("source", source):
        return False
    return bool(host.absence("source", source))


def _make_source(host: PluginHost, settings: Settings, id_: str) -> Source:
    source = host.source(id_).factory(
        SourceContext(
            workspace=settings.workspace,
            agent=settings.agent,
            extra_paths=settings.search.extra_paths,
            state_dirs=() if settings.alone else settings.openclaw_dirs,
            config=settings.plugin_config(id_),
            notes=settings.search.notes.rules,
            secret_patterns=settings.search.redact.patterns,
        )
    )
    label = foreign_label(host, "source", id_)
    if not label:
        return source
    from commonplace.host.guarded import GuardedSource

    return GuardedSource(source, label)


def permit_of(
    settings: Settings, clock: Callable[[], float], on_upload: UploadListener | None
) -> Callable[[str, str, int, str], None]:
    """What rankers call, by their id, before they send texts to another machine."""

    def permit(ranker: str, server: str, texts: int, key: str) -> None:
        from commonplace.embedding.consent import check_ranker

        check_ranker(settings, ranker, server, texts, key, clock=clock, listener=on_upload)

    return permit


def make_backends(
    host: PluginHost,
    settings: Settings,
    sources: Sequence[Source],
    analyser: Analyser,
    embedding: Callable[[], EmbeddingService | None],
    *,
    vectors_expected: bool = False,
    background_limit: int = 0,
    clock: Callable[[], float],
) -> Backend | FallbackMemoryManager:
    """The configured backend, or the chain of them; each is made when it is first asked.

    With ``vectors_expected`` a search mentions that nothing is embedded. Up to
    ``background_limit`` texts are embedded in the background.

    Raises the :class:`~commonplace.errors.CallerError` of two plugins that claim one backend.
    """
    permits = tuple(_permits(host, settings))
    arms = Arms(
        keyword=settings.search.query.hybrid.enabled,
        vector=vectors_expected,
        background_limit=background_limit,
    )

    def backend(id_: str, **guards: Any) -> Backend:
        make = partial(make_manager, host, settings, id_, sources, analyser, embedding, arms)
        label = foreign_label(host, "backend", id_)
        changed = partial(_changed, host)
        return Backend(id_, make, label=label, changed=changed, clock=clock, **guards)

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
        clock=clock,
    )


def mounts_of(host: PluginHost, settings: Settings, sources: Sequence[Source]) -> tuple[Mount, ...]:
    """The folders that the chain's backends have names for; none of one that fails to say it."""
    found: list[Mount] = []
    for backend, offered in _offered(host, settings):
        if isinstance(offered, RegistryEntry) and offered.registration.mounts is not None:
            from commonplace.host.guarded import mounts_given

            context = _manager_context(host, settings, backend, sources)
            found += mounts_given(offered.registration.mounts, context, backend)
    return tuple(found)


def watched_paths(
    host: PluginHost, settings: Settings, sources: Sequence[Source]
) -> tuple[WatchedPath, ...]:
    """Where changes of documents show, as far as sources and the chain's backends can tell."""
    from commonplace.host.failures import logger
    from commonplace.model.documents import WatchedPath

    found: list[WatchedPath] = []
    for source in sources:
        if "watched" not in source.capabilities:
            continue
        try:
            found += cast("WatchedSource", source).watched()
        except BaseException as error:  # noqa: BLE001 - a plugin's; the others are watched all the same
            from commonplace.resilience.bounded_call import failure_of

            why = failure_of(error)
            logger().warning("source %s cannot say what to watch: %s", source.id, why)
    mounts = mounts_of(host, settings, sources)
    found += (WatchedPath(mount.location) for mount in mounts if mount.stored is None)
    return tuple(found)


def embeds(
    host: PluginHost, settings: Settings, embedding: Callable[[], EmbeddingService | None]
) -> bool:
    """Whether anything may be embedded, by a provider or by an engine that sees to it itself."""
    for _, offered in _offered(host, settings):
        if isinstance(offered, RegistryEntry) and offered.role == "manager":
            return True
    return embedding() is not None


def make_sync_service(
    host: PluginHost,
    settings: Settings,
    backends: Callable[[], Backend | FallbackMemoryManager],
    embedding: Callable[[], EmbeddingService | None],
    tidy: Callable[[], object],
    *,
    notices: tuple[str, ...],
    listener: SyncListener | None,
    clock: Callable[[], float],
) -> SyncService:
    """What syncs the index of ``backends``; each report has ``notices``.

    ``tidy`` is called before each sync, ``listener`` with the event of each.
    """
    from commonplace.sync.service import SyncService, sync_backend

    return SyncService(
        settings.search.sync,
        partial(sync_backend, backends, host, tidy, notices=notices),
        embeds=partial(embeds, host, settings, embedding),
        listener=listener,
        clock=clock,
        shown_as=f"{settings.index_path}.watch",
    )


def _offered(
    host: PluginHost, settings: Settings
) -> Iterator[tuple[str, RegistryEntry | PluginUnavailableError]]:
    """Each backend of the chain with what is registered, or why it is not available."""
    for backend in settings.backends:
        try:
            yield backend, host.backend(backend)
        except PluginUnavailableError as error:
            yield backend, error


def _permits(host: PluginHost, settings: Settings) -> Iterator[Callable[[Query], None]]:
    for backend, offered in _offered(host, settings):
        section = f"memory.{backend}"
        if not isinstance(offered, RegistryEntry):
            if settings.sections.get(section):
                from commonplace.host.guarded import refuse_chats

                yield partial(refuse_chats, section, str(offered))
        elif offered.registration.permits is not None:
            from commonplace.host.guarded import check_permit

            values = settings.section_values.get(section)
            yield partial(check_permit, offered.registration.permits, values, backend)


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


def _manager_context(
    host: PluginHost, settings: Settings, backend: str, sources: Sequence[Source]
) -> ManagerContext:
    return ManagerContext(
        workspace=settings.workspace,
        agent=settings.agent,
        state_dir=settings.state_dir,
        sources=tuple(sources),
        config=settings.section_values.get(f"memory.{backend}"),
        extra_paths=settings.search.extra_paths,
        make_source=partial(_make_source, host, settings),
        notes=settings.search.notes.rules,
    )


def _check_abilities(backend: str, abilities: frozenset[str], registered: frozenset[str]) -> None:
    """Log what a store declares that no store has, and what its registration says otherwise."""
    unknown = abilities - STORE_ABILITIES
    differing = registered ^ abilities if registered else frozenset[str]()
    for words, problem in ((unknown, "is unknown"), (differing, "is not registered as declared")):
        if words:
            from commonplace.host.failures import log_once

            names = ", ".join(sorted(words))
            log_once(f"{problem} {backend}", f"store {backend!r}: the capability {names} {problem}")


def make_manager(
    host: PluginHost,
    settings: Settings,
    backend: str,
    sources: Sequence[Source],
    analyser: Analyser,
    embedding: Callable[[], EmbeddingService | None],
    arms: Arms,
) -> MemoryManager:
    """The engine of one backend, over its store or its own.

    Raises :class:`~commonplace.errors.PluginUnavailableError` where it cannot be used here.
    """
    offered = host.backend(backend)
    registration = offered.registration
    if offered.own:
        probe = registration.probe()
    else:
        from commonplace.host.guarded import answer_of

        probe = answer_of(registration.probe, f"backend {backend!r} of {offered.plugin}")
    if not probe.available:
        raise PluginUnavailableError(probe.reason, hint=probe.hint)
    config = settings.section_values.get(f"memory.{backend}")
    if offered.role == "manager":
        context = _manager_context(host, settings, backend, sources)
        manager: MemoryManager = registration.factory(context)
        return manager

    from commonplace.index.builds import Cut, SharedChunking
    from commonplace.index.manager import IndexedMemoryManager
    from commonplace.index.planning import MissingSource

    def make_chunker(cut: Cut) -> Chunker:
        context = ChunkerContext(
            size=cut.tokens * _CHARACTERS_PER_TOKEN,
            overlap=cut.overlap * _CHARACTERS_PER_TOKEN,
            config=settings.plugin_config(cut.strategy),
        )
        with suppress(PluginConflictError, PluginUnavailableError):  # reported by the first sync
            if host.is_builtin("chunker", cut.strategy):
                return host.chunker(cut.strategy).factory(context)
        from commonplace.host.guarded import guarded_chunker

        return guarded_chunker(host, cut.strategy, context, required=cut != own)

    chunking = settings.search.chunking
    own = Cut(chunking.strategy, chunking.tokens, chunking.overlap)
    chunker = make_chunker(own)  # before the store, which nothing would close if this fails
    given = StoreContext(settings.index_path, settings.agent, config, settings.cache_dir)
    store = registration.factory(given)
    _check_abilities(backend, store.capabilities, registration.capabilities)
    here = {source.id for source in sources}
    missing = (MissingSource(id_) for id_ in settings.search.sources if id_ not in here)
    return IndexedMemoryManager(
        store=store,
        sources=[*sources, *missing],
        chunker=chunker,
        chunking=SharedChunking(f"{settings.index_path}.chunking", own, make_chunker),
        analyser=analyser,
        workspace=os.path.realpath(settings.workspace),
        embedding=embedding,
        arms=arms,
    )
