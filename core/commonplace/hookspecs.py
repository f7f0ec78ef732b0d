"""Every hook a plugin may implement, in the order in which a memory calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from commonplace.host.registrars import (
        BackendRegistrar,
        ChunkerRegistrar,
        CommandRegistrar,
        ProviderRegistrar,
        RankerRegistrar,
        SourceRegistrar,
    )
    from commonplace.model.reports import SyncReport
    from commonplace.model.search import SearchResult


GROUP = "commonplace"
"""The entry-point group, and the name of the pluggy project."""

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


class Hooks:
    """Every hook.

    The hooks ``commonplace_register_...`` are called once per plugin, when a part of their kind
    is first requested from it; every plugin is called alone, so that order does not matter, and
    all registrations count. An exception makes the plugin's parts of that kind unavailable, and no
    other plugin's. A registrar's methods raise ``PluginConflictError``, ``TypeError`` and
    ``ValueError``, which hooks let pass.
    """

    @hookspec
    def commonplace_register_backends(self, register: BackendRegistrar) -> None:
        """Register stores and whole engines. Called when a backend of this plugin is first used.

        ``register.store(id, factory)``: ``(StoreContext) -> Store``.
        ``register.manager(id, factory)``: ``(ManagerContext) -> MemoryManager``.
        """

    @hookspec
    def commonplace_register_sources(self, register: SourceRegistrar) -> None:
        """Register sources of documents. Called when a source of this plugin is first used.

        ``register.source(id, factory)``: ``(SourceContext) -> Source``.
        """

    @hookspec
    def commonplace_register_chunkers(self, register: ChunkerRegistrar) -> None:
        """Register chunkers. Called when the first store opens whose notes this plugin cuts.

        ``register.chunker(id, factory)``: ``(ChunkerContext) -> Chunker``.
        """

    @hookspec
    def commonplace_register_providers(self, register: ProviderRegistrar) -> None:
        """Register embedding providers. Called when one is chosen, or all are compared for that.

        ``register.provider(id, factory)``: ``(ProviderContext) -> EmbeddingProvider``.
        """

    @hookspec
    def commonplace_register_rankers(self, register: RankerRegistrar) -> None:
        """Register rankers. Called by the first search whose chain names one of this plugin.

        ``register.ranker(id, factory)``: ``(RankerContext) -> Ranker``.
        """

    @hookspec
    def commonplace_register_commands(self, register: CommandRegistrar) -> None:
        """Register commands of the command line. Called when the command or the help is used.

        ``register.command(id, factory)``: ``() -> Command``.
        """

    @hookspec(firstresult=True)
    def commonplace_rewrite_query(self, query: str) -> str | None:
        """Return another query to search for, or ``None`` to leave it to the next plugin.

        Called once per search, before the query is parsed, on the searching thread, in pluggy's
        order: ``tryfirst``, then plugins as they were last added, then ``trylast``. The first
        answer that is not ``None`` counts; results are not merged. Whatever is raised, and an
        answer that is not a string, is logged, counted and passed over.
        """

    @hookspec
    def commonplace_synced(self, report: SyncReport) -> None:
        """After a sync.

        Events are delivered after the answer, one after the other, on a thread of their own, in
        pluggy's order. Results are ignored. Whatever is raised is logged and counted for the
        plugin; the other plugins still hear the event. At most 256 events wait, further ones are
        dropped and counted.
        """

    @hookspec
    def commonplace_searched(self, query: str, result: SearchResult) -> None:
        """After a search; delivered like ``commonplace_synced``.

        ``query`` is the text as it was typed.
        """

    @hookspec
    def commonplace_degraded(self, part: str, reason: str) -> None:
        """A part stopped working and another stands in for it; delivered as above."""

    @hookspec
    def commonplace_recovered(self, part: str) -> None:
        """A degraded part works again; delivered as above."""
