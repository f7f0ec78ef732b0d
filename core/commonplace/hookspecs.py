"""Every hook a plugin may answer, in the order in which a memory meets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pluggy

if TYPE_CHECKING:
    from commonplace.model.plugins import Registration
    from commonplace.model.reports import SyncReport
    from commonplace.model.search import SearchResult

__all__ = ["GROUP", "Hooks", "Registry", "hookimpl", "hookspec"]

GROUP = "commonplace"
"""The entry-point group, and the name of the pluggy project."""

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


class Registry(Protocol):
    """Collects what a plugin offers; validates it and names both sides of a conflict."""

    def add(self, registration: Registration[Any]) -> None:
        """Offer one thing.

        Raises :class:`~commonplace.errors.PluginConflictError` if the id is taken, and
        ``TypeError`` or ``ValueError`` for a malformed registration.
        """
        ...


class Hooks:
    """Every hook, in the order in which a memory meets them."""

    @hookspec
    def commonplace_register_stores(self, registry: Registry) -> None:
        """Offer backends that are stores. Factory: ``(StoreContext) -> Store``."""

    @hookspec
    def commonplace_register_managers(self, registry: Registry) -> None:
        """Offer backends that are whole engines. Factory: ``(ManagerContext) -> MemoryManager``."""

    @hookspec
    def commonplace_register_sources(self, registry: Registry) -> None:
        """Offer sources of documents. Factory: ``(SourceContext) -> Source``."""

    @hookspec
    def commonplace_register_chunkers(self, registry: Registry) -> None:
        """Offer chunkers. Factory: ``(ChunkerContext) -> Chunker``."""

    @hookspec
    def commonplace_register_providers(self, registry: Registry) -> None:
        """Offer embedding providers. Factory: ``(ProviderContext) -> EmbeddingProvider``."""

    @hookspec
    def commonplace_register_rankers(self, registry: Registry) -> None:
        """Offer rankers. Factory: ``(RankerContext) -> Ranker``."""

    @hookspec
    def commonplace_register_commands(self, registry: Registry) -> None:
        """Offer commands of the command line. Factory: ``() -> cli.command.Command``."""

    @hookspec
    def commonplace_synced(self, report: SyncReport) -> None:
        """After a sync. Read-only: the answer is given, and a failure here is only counted."""

    @hookspec
    def commonplace_searched(self, query: str, result: SearchResult) -> None:
        """After a search. Read-only, as above."""

    @hookspec
    def commonplace_degraded(self, part: str, reason: str) -> None:
        """A part stopped working and something else answers in its place. Read-only, as above."""

    @hookspec
    def commonplace_recovered(self, part: str) -> None:
        """A degraded part works again. Read-only, as above."""
