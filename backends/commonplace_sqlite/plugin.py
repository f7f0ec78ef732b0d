"""Offers the SQLite store to the host, under the id ``builtin``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Group, hookimpl, setting
from commonplace_sqlite.store import SqliteStore

if TYPE_CHECKING:
    from commonplace.plugin import BackendRegistrar, Store, StoreContext


class VectorSettings(Group):
    """``store.vector``."""

    enabled: bool = setting("Use the vector extension of SQLite.", default=True)
    extension_path: str | None = setting(
        "Vector extension to load.", default=None, path=True, shown="the installed one"
    )


class SqliteSettings(Group):
    """The settings of this store; what a search finds must not depend on them."""

    vector: VectorSettings = setting("Vector extension.", default=VectorSettings())


def make_store(context: StoreContext) -> Store:
    """A store on the file ``context.path``, opened at first use and created by a write."""
    vector = (context.config or SqliteSettings()).vector
    return SqliteStore(
        context.path,
        vectors=vector.enabled,
        vector_extension=vector.extension_path,
    )


@hookimpl
def commonplace_register_backends(register: BackendRegistrar) -> None:
    """Register the store."""
    register.store(
        "builtin",
        make_store,
        summary="chunks, keyword index and vectors in one SQLite file",
        config=SqliteSettings,
        capabilities=SqliteStore.capabilities,
    )
