"""commonplace: the memory of AI agents, kept in plain Markdown files.

>>> from commonplace import Memory
>>> with Memory.open(workspace="~/notes") as memory:  # doctest: +SKIP
...     for hit in memory.search("which port does the staging server use?").hits:
...         print(hit.citation, hit.snippet)

Names are imported on first use, so that ``import commonplace`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from commonplace._version import __version__

if TYPE_CHECKING:
    from commonplace.aio import AsyncMemory
    from commonplace.errors import (
        CallerError,
        CommonplaceError,
        ConfigError,
        DeclinedError,
        NoteNotFoundError,
        PathNotAllowedError,
        UnavailableError,
        WorkspaceError,
    )
    from commonplace.memory import Memory
    from commonplace.model.reports import NoteText, Status, SyncEvent, SyncReport, SyncState
    from commonplace.model.search import Hit, SearchResult

__all__ = [
    "AsyncMemory",
    "CallerError",
    "CommonplaceError",
    "ConfigError",
    "DeclinedError",
    "Hit",
    "Memory",
    "NoteNotFoundError",
    "NoteText",
    "PathNotAllowedError",
    "SearchResult",
    "Status",
    "SyncEvent",
    "SyncReport",
    "SyncState",
    "UnavailableError",
    "WorkspaceError",
    "__version__",
]

_HOME = {
    "AsyncMemory": "aio",
    "Memory": "memory",
    "NoteText": "model.reports",
    "Status": "model.reports",
    "SyncReport": "model.reports",
    "Hit": "model.search",
    "SearchResult": "model.search",
    "SyncEvent": "model.reports",
    "SyncState": "model.reports",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'commonplace' has no attribute {name!r}")
    value = getattr(import_module(f"commonplace.{_HOME.get(name, 'errors')}"), name)
    globals()[name] = value
    return value
