"""Putting an engine together: which plugins serve, from settings and what is installed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from commonplace.errors import PluginUnavailableError, UnavailableError
from commonplace.spec import ChunkerContext, ManagerContext, SourceContext, StoreContext

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.config import Settings
    from commonplace.embedding.service import EmbeddingService
    from commonplace.host.host import PluginHost
    from commonplace.spec import MemoryManager, Source
    from commonplace.text.analyse import Analyser

__all__ = ["Engine", "analyser_of", "make_engine", "make_sources", "section_class"]

_CHARACTERS_PER_TOKEN = 4


class Engine(NamedTuple):
    """The manager that serves, the backend id it was made from, and the links passed over."""

    backend: str
    manager: MemoryManager
    passed: tuple[tuple[str, str], ...] = ()


def analyser_of(settings: Settings) -> Analyser:
    """Ours, or under the profile ``compat`` the tokenizer the configuration names."""
    from commonplace.text.analyse import make_analyser

    compat = settings.search.ranking.profile == "compat"
    return make_analyser(settings.search.store.fts_tokenizer if compat else "standard")


def section_class(host: PluginHost, section: str) -> type | None:
    """The class that a plugin's section of the configuration is read into.

    ``memory.<id>`` belongs to the backend of that id, ``plugins.entries.<id>.config`` to the
    source, chunker, provider, ranker or command of that id. ``None`` where nobody has a class.
    """
    kind, _, id_ = section.partition(".")
    if kind == "memory":
        return _config_of(host.backend, id_)
    id_ = section.removeprefix("plugins.entries.").removesuffix(".config")
    lookups = (host.source, host.chunker, host.provider, host.ranker, host.command)
    return next((found for lookup in lookups if (found := _config_of(lookup, id_))), None)


def _config_of(lookup: Callable[[str], Any], id_: str) -> type | None:
    try:
        offered = lookup(id_)
    except PluginUnavailableError:
        return None  # told where it is asked for
    config: type | None = getattr(offered, "registration", offered).config
    return config


def make_sources(
    host: PluginHost, settings: Settings
) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """The configured sources, and a notice for each that nobody offers.

    A missing source hides its documents instead of ending the search: they stay in the index.
    """
    sources: list[Source] = []
    notices: list[str] = []
    context = SourceContext(
        workspace=settings.workspace,
        agent=settings.agent,
        extra_paths=settings.search.extra_paths,
        state_dirs=settings.openclaw_dirs,
    )
    for id_ in settings.search.sources:
        try:
            sources.append(host.source(id_).factory(context))
        except PluginUnavailableError as error:
            notices.append(f"source {id_!r} is not searched: {error}")
    return tuple(sources), tuple(notices)


def make_engine(
    host: PluginHost,
    settings: Settings,
    sources: Sequence[Source],
    analyser: Analyser,
    embedding: Callable[[], EmbeddingService | None],
) -> Engine:
    """The first link of the configured chain that can work here.

    Raises the first link's :class:`~commonplace.errors.UnavailableError` where none can.
    """
    passed: list[tuple[str, str]] = []
    first: UnavailableError | None = None
    for backend in settings.backends:
        try:
            manager = _make_manager(host, settings, backend, sources, analyser, embedding)
        except UnavailableError as error:
            first = first or error
            passed.append((backend, str(error)))
        else:
            return Engine(backend, manager, tuple(passed))
    assert first is not None, "a chain has at least one link"
    raise first


def _make_manager(
    host: PluginHost,
    settings: Settings,
    backend: str,
    sources: Sequence[Source],
    analyser: Analyser,
    embedding: Callable[[], EmbeddingService | None],
) -> MemoryManager:
    offered = host.backend(backend)
    registration = offered.registration
    probe = registration.probe()
    if not probe.available:
        raise PluginUnavailableError(probe.reason, mend=probe.mend)
    config = settings.section_values.get(f"memory.{backend}")
    if offered.kind == "manager":
        manager: MemoryManager = registration.factory(
            ManagerContext(
                workspace=settings.workspace,
                agent=settings.agent,
                state_dir=settings.state_dir,
                sources=tuple(sources),
                config=config,
            )
        )
        return manager

    from commonplace.index.manager import IndexedMemoryManager

    chunking = settings.search.chunking
    chunker = host.chunker(chunking.strategy).factory(
        ChunkerContext(
            size=chunking.tokens * _CHARACTERS_PER_TOKEN,
            overlap=chunking.overlap * _CHARACTERS_PER_TOKEN,
        )
    )
    store = registration.factory(
        StoreContext(
            path=settings.index_path,
            agent=settings.agent,
            tokenizer=analyser.tokenizer,
            config=config,
            vectors=settings.search.store.vector_enabled,
            vector_extension=settings.search.store.vector_extension_path,
        )
    )
    return IndexedMemoryManager(
        store=store,
        sources=sources,
        chunker=chunker,
        analyser=analyser,
        workspace=os.path.realpath(settings.workspace),
        embedding=embedding,
        hybrid=settings.search.query.hybrid.enabled,
    )
