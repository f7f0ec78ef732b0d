"""The condition of a memory, gathered from its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.errors import CommonplaceError
from commonplace.model.reports import Status, SyncReport

if TYPE_CHECKING:
    from commonplace.assembly import Engine
    from commonplace.config import Settings
    from commonplace.model.plugin_info import PluginInfo
    from commonplace.model.search import Fallback
    from commonplace.model.store import StoreHealth

__all__ = ["status_of"]


def status_of(
    settings: Settings,
    engine: Engine | CommonplaceError,
    *,
    fallback: Fallback | None,
    notices: tuple[str, ...],
    plugins: tuple[PluginInfo, ...],
    deep: bool,
) -> Status:
    """Ask every part; one that fails is described instead of raising.

    ``engine`` is the error that kept it from opening where there is none.
    """
    words = list(notices)
    words += [f"plugin {info.name} failed: {info.error}" for info in plugins if info.error]
    store: StoreHealth | None = None
    pending = SyncReport(remaining=-1)
    available = False
    if isinstance(engine, CommonplaceError):
        words.append(str(engine))
    else:
        health = engine.manager.health(deep=deep)
        available, store = health.available, health.store
        words += [health.reason] if health.reason else []
        words += health.notices
        try:
            pending = engine.manager.pending() if available else pending
        except CommonplaceError as error:
            words.append(f"the notes could not be compared with the index: {error}")
    if store is not None:
        words += store.notices
    search = settings.search
    return Status(
        agent=settings.agent,
        workspace=settings.workspace,
        backend=settings.backends[0] if isinstance(engine, CommonplaceError) else engine.backend,
        available=available,
        requested_provider=search.provider,
        provider=None,
        model=None,
        search_mode="keyword",
        sources=search.sources,
        extra_paths=tuple(extra.path for extra in search.extra_paths),
        files=store.documents if store else 0,
        chunks=store.chunks if store else 0,
        source_counts=_counts(store) if store else (),
        db_path=store.location if store else settings.index_path,
        db_bytes=store.size if store else 0,
        stale=pending.remaining,
        writable=store.writable if store else False,
        config_files=settings.config_files,
        failed_roots=pending.failed_roots,
        skipped_symlinks=pending.skipped_symlinks,
        fallback=fallback,
        notices=tuple(words),
        problems=store.problems if store else (),
    )


def _counts(store: StoreHealth) -> tuple[tuple[str, int, int], ...]:
    chunks = dict(store.chunks_by_source)
    return tuple(
        (source, files, chunks.get(source, 0)) for source, files in store.documents_by_source
    )
