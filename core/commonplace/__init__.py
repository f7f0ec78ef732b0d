"""commonplace: the memory of AI agents, kept in plain Markdown files.

>>> from commonplace import Memory
>>> with Memory.open(workspace="~/notes") as memory:  # doctest: +SKIP
...     for hit in memory.search("which port does the staging server use?").hits:
...         print(hit.citation, hit.snippet)

Names are imported on first use, so that ``import commonplace`` costs nothing.
"""

from __future__ import annotations

from commonplace._version import __version__
from commonplace.lazy import lazy_exports

_NAMES, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "aio": "AsyncMemory",
        "config.settings": "Settings",
        "errors": (
            "CallerError CommonplaceError ConfigError DeadlineExceededError DeclinedError "
            "IndexBusyError IndexCorruptError IndexNewerError IndexReadOnlyError "
            "IndexUnavailableError MemoryDisabledError NoteNotFoundError PathNotAllowedError "
            "PluginConflictError PluginUnavailableError ProviderError ProviderErrorKind "
            "ScopeDeniedError UnavailableError WorkspaceError"
        ),
        "host.host": "PluginHost",
        "memory": "Memory",
        "model.documents": "RootFailure",
        "model.plugins": "ConfigProblem",
        "model.reports": (
            "BackendState Embedding NoteText Progress ProgressCallback ProviderState Reason "
            "Status SyncEvent SyncListener SyncOutcome SyncReport SyncState WatchMode"
        ),
        "model.search": "ArmFacts ArmKind ArmScore Explanation Fallback Hit SearchResult Step",
        "model.store": "Finding Fix SpaceInfo",
    },
)
__all__ = ["__version__", *_NAMES]  # noqa: PLE0604  # all of them are strings
