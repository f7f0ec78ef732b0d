"""Offers the in-memory store to the host, under the id ``inmemory``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import hookimpl
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from commonplace.plugin import BackendRegistrar, Store, StoreContext


def make_store(context: StoreContext) -> Store:
    """An empty store that lives as long as the process; ``context.path`` is not used."""
    del context
    return InMemoryStore()


@hookimpl
def commonplace_register_backends(register: BackendRegistrar) -> None:
    """Offer the store; it is never chosen automatically, for it forgets."""
    register.store(
        "inmemory",
        make_store,
        summary="chunks, keyword index and vectors in memory, gone when the process ends",
        capabilities=InMemoryStore.capabilities,
    )
