"""Offers the in-memory store to the host, under the id ``inmemory``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import PluginUnavailableError, hookimpl
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from commonplace.plugin import BackendRegistrar, Store, StoreContext


def make_store(context: StoreContext) -> Store:
    """An empty store that lives as long as the process; ``context.path`` is not used.

    Raises :class:`~commonplace.errors.PluginUnavailableError` where ``context.tokenizer`` is set:
    this store has no tokenizers and would find nothing in raw text.
    """
    if context.tokenizer is not None:
        raise PluginUnavailableError(
            f"the in-memory store has no tokenizer {context.tokenizer!r}: it takes analysed terms",
            hint="leave the tokenizer unset, or use the builtin backend",
        )
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
