"""The seams: every hook a plugin may answer, every protocol a part may implement.

This package is the program's table of contents for plugin authors:

- :mod:`~commonplace.spec.hooks` the hooks, and the marker ``hookimpl``
- :mod:`~commonplace.spec.documents` sources and chunkers
- :mod:`~commonplace.spec.stores` stores, with or without vectors
- :mod:`~commonplace.spec.managers` whole engines
- :mod:`~commonplace.spec.providers` embedding providers
- :mod:`~commonplace.spec.batches` the batch jobs of those that have them
- :mod:`~commonplace.spec.rankers` rankers
- :mod:`~commonplace.spec.contexts` what their factories are handed

A plugin is a module named by an entry point of the group ``commonplace``; the entry point's own
name is ``kind.id`` (``backend.builtin``, ``ranker.mmr``). The module answers, with ``hookimpl``,
the registration hook of each kind it offers, and adds
:class:`~commonplace.model.plugins.Registration` values to the registry it is handed. Hooks are
called once, when the module is loaded, which is when something it offers is first asked for.

Names are imported on first use: a search pays only for the seams it crosses.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from commonplace.spec.batches import (
        BatchJobs,
        BatchLimits,
        BatchLine,
        BatchProvider,
        BatchState,
    )
    from commonplace.spec.contexts import (
        ChunkerContext,
        ManagerContext,
        ManagerHealth,
        RankContext,
        RankerContext,
        SourceContext,
        StoreContext,
    )
    from commonplace.spec.documents import (
        Chunker,
        ConfiguredPath,
        GrowingSource,
        Source,
        WatchedSource,
    )
    from commonplace.spec.hooks import GROUP, Hooks, Registry, hookimpl, hookspec
    from commonplace.spec.managers import MemoryManager
    from commonplace.spec.providers import EmbeddingProvider, Limits, ProviderContext
    from commonplace.spec.rankers import Ranker
    from commonplace.spec.stores import Store, VectorStore

__all__ = [
    "GROUP",
    "BatchJobs",
    "BatchLimits",
    "BatchLine",
    "BatchProvider",
    "BatchState",
    "Chunker",
    "ChunkerContext",
    "ConfiguredPath",
    "EmbeddingProvider",
    "GrowingSource",
    "Hooks",
    "Limits",
    "ManagerContext",
    "ManagerHealth",
    "MemoryManager",
    "ProviderContext",
    "RankContext",
    "Ranker",
    "RankerContext",
    "Registry",
    "Source",
    "SourceContext",
    "Store",
    "StoreContext",
    "VectorStore",
    "WatchedSource",
    "hookimpl",
    "hookspec",
]

_HOMES = {
    "BatchJobs": "batches",
    "BatchLimits": "batches",
    "BatchLine": "batches",
    "BatchProvider": "batches",
    "BatchState": "batches",
    "Chunker": "documents",
    "ChunkerContext": "contexts",
    "ConfiguredPath": "documents",
    "EmbeddingProvider": "providers",
    "GROUP": "hooks",
    "Hooks": "hooks",
    "Limits": "providers",
    "GrowingSource": "documents",
    "ManagerContext": "contexts",
    "ManagerHealth": "contexts",
    "MemoryManager": "managers",
    "ProviderContext": "providers",
    "RankContext": "contexts",
    "Ranker": "rankers",
    "RankerContext": "contexts",
    "Registry": "hooks",
    "Source": "documents",
    "SourceContext": "contexts",
    "Store": "stores",
    "StoreContext": "contexts",
    "VectorStore": "stores",
    "WatchedSource": "documents",
    "hookimpl": "hooks",
    "hookspec": "hooks",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
