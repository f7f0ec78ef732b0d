"""The condition of a memory, gathered from its parts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from commonplace.embedding.service import (
    ActiveProvider,
    active_provider,
    cache_key,
    provider_states,
    refused_texts,
)
from commonplace.errors import CommonplaceError
from commonplace.model.findings import Finding, Fix
from commonplace.model.reports import Status, SyncReport
from commonplace.model.search import Fallback

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.config import Settings
    from commonplace.embedding.choice import Choice
    from commonplace.embedding.service import EmbeddingService
    from commonplace.fallback.backend import Backend
    from commonplace.fallback.manager import FallbackMemoryManager
    from commonplace.model.plugin_info import PluginInfo
    from commonplace.model.reports import BackendState, ProviderState, UpkeepState
    from commonplace.model.store import SpaceInfo, StoreHealth

__all__ = ["status_of"]


def status_of(
    settings: Settings,
    backends: Backend | FallbackMemoryManager | CommonplaceError,
    *,
    choice: Callable[[], Choice],
    notices: tuple[str, ...],
    plugins: tuple[PluginInfo, ...],
    deep: bool,
    upkeep: UpkeepState | None = None,
    clock: Callable[[], float] = time.time,
) -> Status:
    """Ask every part; one that fails is described instead of raising.

    ``backends`` is the error where they could not be made. ``choice`` says who
    embeds, and is asked only where an index keeps vectors.
    """
    words = list(notices)
    words += [info.failure for info in plugins if info.error]
    store: StoreHealth | None = None
    spaces: tuple[SpaceInfo, ...] | None = None
    pending = SyncReport(remaining=-1)
    available = False
    backend = settings.backends[0]
    links: tuple[BackendState, ...] = ()
    findings: list[Finding] = []
    information: tuple[str, ...] = ()
    drop_space: Callable[[str], None] | None = None
    if isinstance(backends, CommonplaceError):
        words.append(str(backends))
    else:
        found = backends.status(deep=deep)
        links, health = found.states, found.health
        backend = found.active.id if found.active is not None else backend
        available, store, spaces = health.available, health.store, health.spaces
        findings += health.findings
        information, drop_space = health.information, health.drop_space
        words += [health.reason] if health.reason else []
        words += health.notices
        words += found.sync_failures
        try:
            if found.active is not None:
                pending = found.active.pending()
        except CommonplaceError as error:
            words.append(f"the notes could not be compared with the index: {error}")
    if pending.rebuilding is not None:
        made, size = pending.rebuilding
        words.append(
            f"rebuilding the index ({made} of {size} notes); results come from the previous index: "
            "`commonplace index` finishes it"
        )
    words += [f"{absent.root}: {absent.reason}" for absent in pending.absent_roots]
    if store is not None:
        words += store.notices
    search = settings.search
    who = ActiveProvider()
    providers: tuple[ProviderState, ...] = ()
    if store is not None:
        who, providers, more = _embedding(choice(), store, spaces)
        words += more
    if deep:
        from commonplace.health.state_files import look_after

        service = choice().service
        if service is not None and spaces and drop_space is not None:
            findings.append(_unused_spaces(service, spaces, providers, drop_space))
        findings += look_after(
            settings.state_dir,
            settings.cache_dir,
            cache=service.cache if service is not None else None,
            now=clock(),
        )
    mode = "hybrid" if search.query.hybrid.enabled else "vector"
    return Status(
        agent=settings.agent,
        workspace=settings.workspace,
        backend=backend,
        available=available,
        requested_provider=search.provider,
        provider=who.provider,
        model=who.model,
        search_mode=mode if who.answers else "keyword",
        sources=search.sources,
        extra_paths=tuple(extra.path for extra in search.extra_paths),
        files=store.documents if store else 0,
        chunks=store.chunks if store else 0,
        source_counts=_counts(store) if store else (),
        db_path=store.location if store else settings.index_path,
        db_bytes=store.size if store else 0,
        stale=pending.remaining,
        deferred=pending.deferred,
        writable=store.writable if store else False,
        config_files=settings.config_files,
        failed_roots=pending.failed_roots,
        skipped_symlinks=pending.skipped_symlinks,
        fallback=_fallback(links, backend) or who.fallback,
        notices=tuple(dict.fromkeys(words)),
        problems=store.problems if store else (),
        providers=providers,
        spaces=spaces or (),
        links=links,
        upkeep=upkeep,
        findings=tuple(findings),
        information=information,
    )


def _fallback(links: tuple[BackendState, ...], serving: str) -> Fallback | None:
    """That another serves than the first of the chain, and why."""
    if not links or links[0].id == serving:
        return None
    return Fallback(links[0].id, links[0].reason, links[0].since or 0.0)


def _embedding(
    choice: Choice, store: StoreHealth, spaces: tuple[SpaceInfo, ...] | None
) -> tuple[ActiveProvider, tuple[ProviderState, ...], list[str]]:
    """Who embeds, every provider, and words about what is not as it should be."""
    words = list(choice.notices)
    service = choice.service
    if service is None:
        return ActiveProvider(), (), words
    states = provider_states(service, spaces or (), store.chunks)
    if spaces is None:
        words.append("the index keeps no vectors: search is by keyword")
        return ActiveProvider(), states, words
    if service.cache is not None and service.cache.trouble:
        words.append(service.cache.trouble)
    words += _batch_jobs(service)
    words += refused_texts(service)
    covered = {state.role: state.covered for state in states}
    if covered.get("fallback") and not covered.get("primary") and service.absent is None:
        first, second = states[0].id, states[-1].id
        words.append(
            f"the notes are embedded with {second}, in place of {first}: "
            f"`commonplace index --force` embeds them with {first}"
        )
    return active_provider(service, spaces), states, words


def _unused_spaces(
    service: EmbeddingService,
    spaces: tuple[SpaceInfo, ...],
    providers: tuple[ProviderState, ...],
    drop: Callable[[str], None],
) -> Finding:
    """Spaces that no provider of today fills or answers from: they cost room, and once money."""
    used = {provider.space for provider in providers}
    used |= {space.space for _, space, _ in service.candidates(spaces) if space is not None}
    unused = [info for info in spaces if info.space not in used]
    if not unused:
        return Finding("ok", "spaces", f"{len(spaces)}, all in use")
    size = sum(4 * info.dims * info.covered for info in unused) / 1e6
    names = ", ".join(info.space for info in unused)

    def run() -> str:
        for info in unused:
            drop(info.space)
        return f"dropped the embeddings of {names}"

    fix = Fix(f"drop {len(unused)} unused embedding spaces", run, on_request=True)
    return Finding("ok", "spaces", f"unused: {names}, about {size:.1f} MB", fix)


def _batch_jobs(service: EmbeddingService) -> list[str]:
    words = []
    for link in service.providers:
        try:
            batching = link.batching()
            key = cache_key(link.fingerprint(), "document")
        except CommonplaceError:
            continue  # its state says why it cannot work
        if batching is not None:
            words += batching.notices(key)
    return words


def _counts(store: StoreHealth) -> tuple[tuple[str, int, int], ...]:
    chunks = dict(store.chunks_by_source)
    return tuple(
        (source, files, chunks.get(source, 0)) for source, files in store.documents_by_source
    )
