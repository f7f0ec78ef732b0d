"""The groups of a status: vector and keyword search, embedding cache, batch jobs, provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.errors import CommonplaceError, counted
from commonplace.model.groups import (
    BatchesState,
    CacheState,
    EmbeddingState,
    KeywordState,
    StatusGroups,
    VectorState,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.config.settings import Settings
    from commonplace.embedding.service import ActiveProvider, EmbeddingService
    from commonplace.model.reports import ProviderState, Status
    from commonplace.protocols.contexts import ManagerHealth


def groups_of(
    settings: Settings,
    health: ManagerHealth,
    service: EmbeddingService | None,
    active: ActiveProvider,
    providers: Sequence[ProviderState],
) -> StatusGroups:
    """The states, from what the active backend and the embedding ``service`` report.

    ``providers`` are the states of those that ``service`` has, the primary first.
    """
    keyword = KeywordState(
        enabled=settings.search.query.hybrid.enabled,
        state="ready" if health.available else "unavailable",
        reason="" if health.available else health.reason,
    )
    return StatusGroups(
        vector=_vector(health),
        fts=keyword,
        cache=_cache(settings, service),
        batch=_batch(settings, service),
        provider=_provider(settings, active, providers),
    )


def _vector(health: ManagerHealth) -> VectorState:
    spaces = health.spaces or ()
    dims = max(spaces, key=lambda space: space.covered).dims if spaces else 0
    support = health.store.vectors if health.store is not None else None
    if not health.available or (health.store is not None and health.spaces is None):
        state = "unavailable"
    else:
        state = "ready" if health.store is not None else "unknown"
    if support is None:
        return VectorState(enabled=state != "unavailable", state=state, dims=dims)
    return VectorState(
        enabled=support.enabled,
        state=state,
        library=support.library,
        loaded=support.loaded,
        version=support.version,
        path=support.path,
        load_error=support.reason,
        plan=support.plan,
        dims=dims,
    )


def _cache(settings: Settings, service: EmbeddingService | None) -> CacheState:
    own = settings.search.cache
    if not own.enabled:
        return CacheState(enabled=False, state="disabled", max_entries=own.max_entries)
    if service is None or service.cache is None:
        return CacheState(enabled=True, state="unused", max_entries=own.max_entries)
    entries = service.cache.count()
    return CacheState(
        enabled=True,
        state="unavailable" if service.cache.trouble else "ready",
        entries=entries,
        max_entries=own.max_entries,
        reason=service.cache.trouble,
    )


def _batch(settings: Settings, service: EmbeddingService | None) -> BatchesState:
    own = settings.search.remote.batch
    state, failures, limit, reason = ("unused" if own.enabled else "disabled"), 0, 0, ""
    for provider in service.providers if service is not None and own.enabled else ():
        try:
            batching = provider.batching()
        except CommonplaceError as error:
            state, reason = "unavailable", str(error)
            continue
        if batching is not None:
            state = "unavailable" if batching.off else "ready"
            failures, limit, reason = batching.failures, batching.most_failures, batching.off
            break
    return BatchesState(
        enabled=own.enabled,
        state=state,
        failures=failures,
        limit=limit,
        wait=own.wait,
        concurrency=own.concurrency,
        poll_interval_ms=own.poll_interval_ms,
        timeout_ms=own.timeout_minutes * 60_000,
        reason=reason,
    )


def _provider(
    settings: Settings, active: ActiveProvider, providers: Sequence[ProviderState]
) -> EmbeddingState:
    requested = settings.search.provider
    known = next((one for one in providers if one.id == active.provider), None)
    known = known or next(iter(providers), None)
    return EmbeddingState(
        id=active.provider,
        requested=requested,
        state=known.state if known is not None else "unused",
        model=active.model,
        reason=known.reason if known is not None else "",
        since=known.since if known is not None else None,
    )


def contents_words(status: Status) -> str:
    """How much is indexed, for people; "unknown" where the backend does not say."""
    if status.files is None or status.chunks is None:
        return "unknown"
    return f"{counted(status.files, 'note')}, {counted(status.chunks, 'chunk')}"


def vector_words(vector: VectorState) -> str:
    """Whether the library is loaded, or why not, and what is used: one line for people."""
    if vector.loaded:
        words = f"{vector.library} {vector.version} loaded"
    else:
        why = vector.load_error if vector.enabled else "switched off"
        words = f"{vector.library} not loaded ({why})"
    return f"{words}; searched by {vector.plan}"
