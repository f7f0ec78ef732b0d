"""The status of a memory, collected from its parts."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from commonplace.embedding.cache import cache_key
from commonplace.embedding.service import ActiveProvider, active_provider, provider_states
from commonplace.embedding.vectors import checked, dims_of
from commonplace.errors import (
    CommonplaceError,
    MemoryClosedError,
    ProviderError,
    UnavailableError,
    counted,
)
from commonplace.model.documents import Finding, Fix, StoreHealth
from commonplace.model.reports import Status, SyncReport, WatchingProcess
from commonplace.model.search import Fallback
from commonplace.model.tuples import NamedTuple
from commonplace.protocols.contexts import ManagerHealth
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.config.settings import Settings
    from commonplace.embedding.choice import Choice
    from commonplace.embedding.guarded import GuardedProvider
    from commonplace.embedding.service import EmbeddingService
    from commonplace.fallback.backend import Backend
    from commonplace.fallback.manager import FallbackMemoryManager
    from commonplace.host.reports import PluginInfo
    from commonplace.model.documents import SpaceInfo
    from commonplace.model.reports import BackendState, LeftOut, ProviderState, SyncState


_ASKED_SECONDS = 10.0
_MOST_LINES = 10


def status_of(
    settings: Settings,
    backends: Callable[[], Backend | FallbackMemoryManager],
    *,
    choice: Callable[[], Choice],
    notices: tuple[str, ...],
    plugins: tuple[PluginInfo, ...],
    deep: bool,
    sync_state: SyncState | None = None,
    clock: Callable[[], float] = time.time,
) -> Status:
    """The status of every part; a part that fails is described, none is raised.

    ``backends`` opens them, which may fail. ``choice`` selects the embedding
    provider and is called only if an index keeps vectors. ``clock`` gives epoch seconds.
    """
    warnings = [*notices, *(info.failure for info in plugins if info.error)]
    found = _Found()
    try:
        opened = backends()
    except MemoryClosedError:
        raise
    except CommonplaceError as error:
        warnings.append(str(error))
    else:
        found = _status_of_backends(opened, deep=deep, warnings=warnings)
    pending, health = found.pending, found.health
    known = health.store is not None
    store = health.store or StoreHealth(settings.index_path, 0, 0)
    warnings += [*_pending_warnings(pending), *store.notices]
    provider, service = ActiveProvider(), None
    providers: tuple[ProviderState, ...] = ()
    # First, as what answers now is no longer failing.
    asked = tuple(_all_asked(choice().service)) if deep else ()
    if known:
        service = choice().service
        provider, providers = _embedding(choice(), store, health.spaces, warnings)
    from commonplace.health.groups import groups_of

    findings = [*health.findings, *asked]
    if deep:
        findings += _deep_findings(settings, choice().service, health, providers, clock())
    search = settings.search
    backend = found.active or settings.backends[0]
    mode = "hybrid" if search.query.hybrid.enabled else "vector"
    return Status(
        agent=settings.agent,
        workspace=settings.workspace,
        backend=backend,
        available=health.available,
        requested_provider=search.provider,
        provider=provider.provider,
        model=provider.model,
        search_mode=mode if provider.answers else "keyword",
        sources=search.sources,
        extra_paths=tuple(extra.path for extra in search.extra_paths),
        files=store.documents if known else None,
        chunks=store.chunks if known else None,
        source_counts=_counts(store),
        db_path=store.location,
        db_bytes=_size_of(store) if known else None,
        stale=pending.remaining,
        deferred=pending.deferred,
        writable=store.writable if known else None,
        config_files=settings.config_files,
        failed_roots=pending.failed_roots,
        unreadable=pending.unreadable,
        skipped_symlinks=pending.skipped_symlinks,
        fallback=_fallback(found.states, backend) or provider.fallback,
        notices=tuple(dict.fromkeys(warnings)),
        problems=store.problems,
        providers=providers,
        spaces=health.spaces or (),
        links=found.states,
        sync_state=sync_state,
        findings=tuple(findings),
        information=health.information,
        left_out=left_out_of(settings) if "memory" in search.sources else None,
        watchers=_watchers(settings.index_path),
        groups=groups_of(settings, health, service, provider, providers),
    )


def _watchers(index_path: str) -> tuple[WatchingProcess, ...]:
    """The other processes that watch; this one's own state is known better."""
    from commonplace.resilience.lock import present

    return tuple(
        WatchingProcess(pid=holder.pid, since=holder.since, program=holder.program)
        for holder in present(f"{index_path}.watch")
        if holder.pid != os.getpid()
    )


def left_out_of(settings: Settings) -> LeftOut:
    """What of the workspace is not searched; lists up to 20,000 files and folders."""
    from commonplace.files.left_out import left_out

    search = settings.search
    return left_out(settings.workspace, search.extra_paths, search.notes.rules)


class _Found(NamedTuple):
    """What the backends report: the id of the active one, the state of each, and its health.

    ``pending`` counts what is not indexed yet, -1 if unknown.
    """

    health: ManagerHealth = ManagerHealth(available=False)
    active: str = ""
    states: tuple[BackendState, ...] = ()
    pending: SyncReport = SyncReport(remaining=-1)


def _status_of_backends(
    backends: Backend | FallbackMemoryManager, *, deep: bool, warnings: list[str]
) -> _Found:
    status = backends.status(deep=deep)
    health = status.health
    warnings += [health.reason] if health.reason else []
    warnings += [*health.notices, *status.sync_failures]
    if status.active is None:
        return _Found(health, "", status.states)
    pending = _Found().pending
    try:
        pending = status.active.pending(look=True)
    except CommonplaceError as error:
        warnings.append(f"the notes could not be compared with the index: {error}")
    return _Found(health, status.active.id, status.states, pending)


def _pending_warnings(pending: SyncReport) -> list[str]:
    # A workspace that is empty, and of which nothing is known, is new.
    absent_roots = [one for one in pending.absent_roots if one.root]
    warnings = [f"{absent.root}: {absent.reason}" for absent in absent_roots]
    warnings += [pending.cut] if pending.cut else []
    if pending.rebuilding is not None:
        done, total = pending.rebuilding
        warnings.insert(
            0,
            f"rebuilding the index ({done} of {counted(total, 'note')}); "
            "results come from the previous index: `commonplace index` finishes it",
        )
    return warnings


def _deep_findings(
    settings: Settings,
    service: EmbeddingService | None,
    health: ManagerHealth,
    providers: tuple[ProviderState, ...],
    now: float,
) -> Iterator[Finding]:
    """The findings on unused embeddings and state files; ``now`` in epoch seconds."""
    from commonplace.health.state_files import check_state_files

    if service is not None and health.spaces and health.drop_space is not None:
        yield _unused_spaces(service, health.spaces, providers, health.drop_space)
    cache = service.cache if service is not None else None
    yield from check_state_files(settings.state_dir, settings.cache_dir, cache=cache, now=now)


def _fallback(states: tuple[BackendState, ...], active: str) -> Fallback | None:
    """Why the first backend of the chain is not the active one."""
    if not states or states[0].id == active:
        return None
    return Fallback(part=states[0].id, reason=states[0].reason, since=states[0].since or 0.0)


def _embedding(
    choice: Choice,
    store: StoreHealth,
    spaces: tuple[SpaceInfo, ...] | None,
    warnings: list[str],
) -> tuple[ActiveProvider, tuple[ProviderState, ...]]:
    """The active provider and the state of all; adds to ``warnings``."""
    warnings += choice.notices
    service = choice.service
    if service is None:
        return ActiveProvider(), ()
    states = provider_states(service, spaces or (), store.chunks)
    if spaces is None:
        warnings.append("the index keeps no vectors: search is by keyword")
        return ActiveProvider(), states
    if service.cache is not None and service.cache.trouble:
        warnings.append(service.cache.trouble)
    warnings += _batch_jobs(service)
    warnings += refused_texts(service)
    covered = {state.role: state.covered for state in states}
    if covered.get("fallback") and not covered.get("primary") and service.absent is None:
        first, second = states[0].id, states[-1].id
        warnings.append(
            f"the notes are embedded with {second}, in place of {first}: "
            f"`commonplace index --force` embeds them with {first}"
        )
    active = active_provider(service, spaces)
    if service.primary and service.standby and covered.get("primary") and not active.answers:
        first, second = states[0].id, states[-1].id
        warnings.append(
            f"keywords alone answer while {first} fails: it has embedded the notes, and {second}"
            f" has not. To change over, set provider to {second}: `commonplace index` embeds them"
        )
    return active, states


def refused_texts(service: EmbeddingService) -> list[str]:
    """A line on each text that a provider will not embed, at most ten for each provider."""
    lines: list[str] = []
    if (memory := service.refused) is None:
        return lines
    for provider in service.providers:
        try:
            refused = memory.of(provider.fingerprint())
        except UnavailableError:
            continue
        reasons = [f"{text.path} is not embedded: {text.reason}" for text in refused.values()]
        lines += reasons[:_MOST_LINES]
        if len(reasons) > _MOST_LINES:
            more = len(reasons) - _MOST_LINES
            lines.append(f"{more} more texts are not embedded with {provider.id}")
    return lines


def _all_asked(service: EmbeddingService | None) -> Iterator[Finding]:
    """The findings on all providers that are on the network."""
    for provider in service.providers if service is not None else ():
        if "remote" in provider.provider.capabilities:
            yield from _asked(provider)


def _asked(provider: GuardedProvider) -> Iterator[Finding]:
    """Whether a provider on the network answers: one text, one request, timed."""
    from commonplace.embedding.requests import part_of, provider_errors

    name = f"provider {provider.id}"
    if provider.gate is not None and not provider.gate.is_open():
        text = f"not asked: nothing has been sent to {provider.gate.host} so far"
        yield Finding("ok", name, provider.refusal or text)
        return
    began = time.perf_counter()
    try:
        seconds = min(_ASKED_SECONDS, provider.provider.limits.query_seconds)
        deadline = Deadline.after(seconds)
        secrets: tuple[str, ...] = getattr(provider.provider, "secrets", ())
        with provider_errors(provider.id, part_of(provider.provider), secrets):
            vectors = provider.provider.embed(["memory"], purpose="query", deadline=deadline)
            (vector,) = checked(vectors, count=1, dims=None, provider=provider.id)
    except CommonplaceError as error:
        keyless = isinstance(error, ProviderError) and error.kind == "auth" and error.status is None
        if not keyless:  # else its state has the reason
            yield Finding("warning", name, str(error), Fix(error.hint) if error.hint else None)
        return
    took = time.perf_counter() - began
    provider.answered("query")
    text = f"{provider.model} answers in {took:.2f} s with {dims_of(vector)} dimensions"
    yield Finding("ok", name, text)


def _unused_spaces(
    service: EmbeddingService,
    spaces: tuple[SpaceInfo, ...],
    providers: tuple[ProviderState, ...],
    drop: Callable[[str], None],
) -> Finding:
    """Embedding spaces that no configured provider uses; embedding them again may cost money."""
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
    return Finding("warning", "spaces", f"unused: {names}, about {size:.1f} MB", fix)


def _batch_jobs(service: EmbeddingService) -> list[str]:
    notices: list[str] = []
    for provider in service.providers:
        try:
            batching = provider.batching()
            key = cache_key(provider.fingerprint(), "document")
        except CommonplaceError:
            continue  # the state of the provider has the reason
        if batching is not None:
            notices += batching.notices(key)
    return notices


def _counts(store: StoreHealth) -> tuple[tuple[str, int, int], ...]:
    chunks = dict(store.chunks_by_source)
    return tuple(
        (source, files, chunks.get(source, 0)) for source, files in store.documents_by_source
    )


def _size_of(store: StoreHealth) -> int | None:
    """The bytes of the index on disk, or of its file where the store says none; ``None``: unknown.

    An index in memory has none.
    """
    if store.size or not store.location:
        return store.size
    try:
        return os.stat(store.location).st_size if os.path.isfile(store.location) else None
    except OSError:
        return None
