"""The groups of a status: the states of the parts that a search is made of."""

from __future__ import annotations

from commonplace.model.tuples import Record


class VectorState(Record):
    """How vectors are searched: ``ready``, ``unavailable``, ``disabled`` or ``unknown``.

    ``library`` is loaded (in ``version``, from ``path``) or not, for ``load_error``; ``plan`` says
    what is used. ``dims`` is the length of the vectors in the index, 0 without any.
    """

    enabled: bool
    state: str
    library: str = ""
    loaded: bool = False
    version: str = ""
    path: str = ""
    load_error: str = ""
    plan: str = ""
    dims: int = 0


class KeywordState(Record):
    """Search by keywords: ``ready`` or ``unavailable``, because of ``reason``."""

    enabled: bool
    state: str
    reason: str = ""


class CacheState(Record):
    """The embedding cache: ``ready``, ``unavailable``, ``disabled`` or ``unused`` (no provider).

    ``max_entries`` bounds ``entries``, ``None`` is no bound.
    """

    enabled: bool
    state: str
    entries: int = 0
    max_entries: int | None = None
    reason: str = ""


class BatchesState(Record):
    """Batch jobs of the provider: ``ready``, ``unavailable``, ``disabled`` or ``unused``.

    After ``failures`` as many as ``limit`` they are left alone, because of ``reason``.
    """

    enabled: bool
    state: str
    failures: int = 0
    limit: int = 0
    wait: bool = True
    concurrency: int = 0
    poll_interval_ms: int = 0
    timeout_ms: int = 0
    reason: str = ""


class EmbeddingState(Record):
    """The embedding provider: ``id`` is the active one, ``requested`` the one of the settings.

    ``state`` is that of a :class:`~commonplace.ProviderState`, or ``unused`` without any provider;
    ``reason`` says why it is not ``ready``, ``since`` when that began (epoch seconds).
    """

    id: str | None
    requested: str
    state: str
    model: str | None = None
    reason: str = ""
    since: float | None = None


class StatusGroups(Record):
    """The states of the parts that a search is made of."""

    vector: VectorState
    fts: KeywordState
    cache: CacheState
    batch: BatchesState
    provider: EmbeddingState
