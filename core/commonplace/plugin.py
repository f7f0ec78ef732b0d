"""The one import of plugin authors: hooks, protocols, the values that cross them, and helpers.

Whatever a plugin needs of commonplace is here, in :mod:`commonplace` (the public face) or in
:mod:`commonplace.testing` (the conformance tests). Every other module is private and may change
with any release; a need that these three do not meet is a defect of theirs.

Names are imported on first use: a search pays only for what it uses.
"""

from __future__ import annotations

from commonplace.lazy import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "cli.context": "Command Context",
        "cli.parser": "UsageError positive_int",
        "cli.terminal": "columns count",
        "config.secret": "Secret",
        "config.settings": "Settings",
        "config.values": "Reading WrongValueError",
        "dirs": "expand_user make_private_folder",
        "embedding.batch.files": "FileBatches UploadedBatches downloaded is_same_origin lines_of",
        "embedding.http.client": "Answer RemoteClient",
        "embedding.http.errors": "ErrorInfo kind_of_status message_of redacted",
        "embedding.http.provider": "Endpoint HttpProvider numbers_of",
        "embedding.vectors": "UNIT_SLACK check_units floats unit",
        "errors": (
            "CallerError CommonplaceError ConfigError DeadlineExceededError DeclinedError "
            "IndexBusyError IndexCorruptError IndexNewerError IndexReadOnlyError "
            "IndexUnavailableError MemoryDisabledError NoteNotFoundError PathNotAllowedError "
            "PluginConflictError PluginUnavailableError ProviderError ProviderErrorKind "
            "ScopeDeniedError UnavailableError WorkspaceError reason_of"
        ),
        "files.reading": "decode open_below read_bytes resolve",
        "files.roots": "Root Roots SUFFIX day_of glob_regex is_ignored matcher stamp_of",
        "files.scan": "is_storable scan scan_root",
        "hookspecs": "GROUP Hooks hookimpl",
        "host.host": "PluginHost",
        "host.registrars": (
            "BackendRegistrar ChunkerRegistrar CommandRegistrar ProviderRegistrar "
            "RankerRegistrar SourceRegistrar"
        ),
        "index.bm25": "TermCounts bm25 matches_terms passing term_counts",
        "index.planning": "Plan SourceScan plan_changes settled_stamp",
        "index.simple_store": "Contents Held SimpleStore StoredRow",
        "model.chunks": (
            "AnalysedChunk AppendDocument Change Chunk DeleteDocument PutDocument Terms "
            "TouchDocument embedding_text"
        ),
        "model.documents": (
            "Document DocumentRef RootFailure ScanReport Segment Stamp Trust WatchedPath"
        ),
        "model.plugins": "Credentials Group Mount Probe setting",
        "model.reports": "Embedding Progress ProgressCallback SyncReport",
        "model.search": (
            "Arm ArmScore Candidate ChunkId Explanation Found KeywordMatches KeywordQuery "
            "Nearest Phrase Query StoredChunk Where"
        ),
        "model.store": "Build Finding Fix SpaceInfo StoreHealth StoredDocument",
        "model.tuples": "NamedTuple",
        "protocols.contexts": (
            "ChunkerContext ManagerContext ManagerHealth RankContext RankerContext "
            "SourceContext StoreContext"
        ),
        "protocols.managers": "MemoryManager Ranker",
        "protocols.providers": (
            "BatchJobs BatchLimits BatchLine BatchProvider BatchState EmbeddingProvider "
            "Limits ProviderContext"
        ),
        "protocols.sources": "Chunker ConfiguredPath GrowingSource Source WatchedSource",
        "protocols.stores": "Store VectorStore",
        "resilience.breaker": "CircuitBreaker",
        "resilience.deadline": "Deadline NEVER",
        "resilience.lock": "Holder Lease waited_for",
        "search.search": "rank with_step",
        "search.snippets": "make_snippet",
        "sync.queue": "SyncRequest SyncWorker",
        "text.analyse": "Analyser floor_boundary is_boundary make_analyser",
        "text.query": "parse_query",
        "text.standard": "STOP_WORDS",
    },
)
