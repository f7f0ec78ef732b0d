"""Choosing who makes embeddings: the configured provider, its fallback, or nobody."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from attrs import frozen

from commonplace.breaker import CircuitBreaker
from commonplace.embedding.keys import find_key, missing_key
from commonplace.embedding.link import ProviderLink
from commonplace.embedding.service import EmbeddingService
from commonplace.errors import PluginUnavailableError, UnavailableError
from commonplace.spec import ProviderContext

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.config import Settings
    from commonplace.embedding.batching import Batching
    from commonplace.embedding.cache import EmbeddingCache
    from commonplace.host.host import PluginHost
    from commonplace.model.plugins import Registration
    from commonplace.spec import EmbeddingProvider

__all__ = ["Choice", "choose"]

_NOBODY = ("none", "")


@frozen(eq=False)
class Choice:
    """Who serves, and one-line words on every provider that was asked for and cannot."""

    service: EmbeddingService | None
    notices: tuple[str, ...] = ()


def choose(host: PluginHost, settings: Settings, env: Mapping[str, str]) -> Choice:
    """The configured provider and fallback; with ``auto`` the first that is ready, by priority.

    Costs no network and loads no model. A provider that cannot be made is left out with a word:
    memory then answers by keyword.
    """
    search = settings.search
    notices: list[str] = []
    if search.provider in _NOBODY:
        return Choice(None)
    links: list[ProviderLink] = []
    if search.provider == "auto":
        ids = _automatic(host, settings, env, notices)
    else:
        ids = [search.provider]
    if ids and search.fallback not in (*_NOBODY, *ids):
        ids = [*ids, search.fallback]
    for place, id_ in enumerate(ids):
        try:
            links.append(_link(host, settings, env, id_, primary=not place))
        except UnavailableError as error:
            notices.append(f"{error}. To mend it: {error.mend}" if error.mend else str(error))
    if not links:
        return Choice(None, tuple(notices))
    return Choice(EmbeddingService(links, _cache(settings)), tuple(notices))


def _automatic(
    host: PluginHost, settings: Settings, env: Mapping[str, str], notices: list[str]
) -> list[str]:
    offered: list[tuple[int, str, Registration[EmbeddingProvider]]] = []
    for id_ in host.ids("provider"):
        try:
            registration = host.provider(id_)
        except PluginUnavailableError as error:
            notices.append(str(error))
            continue
        if registration.priority is not None:
            offered.append((registration.priority, id_, registration))
    for _, id_, registration in sorted(offered, key=lambda item: item[:2]):
        try:
            context = _context(settings, env, registration, primary=True)
        except UnavailableError as error:
            notices.append(str(error))
            continue
        if registration.ready is not None:
            ready = registration.ready(context).available
        else:
            ready = context.api_key is not None
        if ready:
            return [id_]
    return []


def _link(
    host: PluginHost, settings: Settings, env: Mapping[str, str], id_: str, *, primary: bool
) -> ProviderLink:
    registration = host.provider(id_)
    probe = registration.probe()
    if not probe.available:
        raise PluginUnavailableError(f"{id_}: {probe.reason}", mend=probe.mend)
    context = _context(settings, env, registration, primary=primary)
    credentials = registration.credentials
    if credentials and not credentials.optional and not context.api_key and not context.base_url:
        message, mend = missing_key(id_, credentials)
        raise UnavailableError(message, mend=mend)
    # Made now: a setting that the provider refuses is told before the first search needs it.
    provider = registration.factory(context)
    batch = settings.search.remote.batch
    return ProviderLink(
        id_,
        lambda: provider,
        CircuitBreaker(),
        concurrency=batch.concurrency if batch.enabled else 4,
        batching=(lambda made: _batching(id_, made, settings)) if batch.enabled else None,
    )


def _batching(id_: str, provider: EmbeddingProvider, settings: Settings) -> Batching | None:
    from commonplace.embedding.batching import Batching
    from commonplace.embedding.batching_jobs import JobStore
    from commonplace.spec.batches import BatchProvider

    if not isinstance(provider, BatchProvider):
        return None
    folder = os.path.join(settings.state_dir, "memory", "batches")
    return Batching(id_, provider.batches(), settings.search.remote.batch, JobStore(folder))


def _context(
    settings: Settings,
    env: Mapping[str, str],
    registration: Registration[EmbeddingProvider],
    *,
    primary: bool,
) -> ProviderContext:
    search = settings.search
    remote, local = search.remote, search.local
    credentials = registration.credentials
    # The section `remote` speaks of the provider that was asked for; a fallback has its own key.
    key = (
        find_key(credentials, settings, env, own_remote=primary)
        if credentials is not None
        else None
    )
    return ProviderContext(
        model=search.model if primary and search.provider != "auto" else "",
        dims=search.output_dimensionality if primary else None,
        base_url=remote.base_url if primary else None,
        api_key=key,
        headers={name: value.reveal(env) for name, value in remote.headers.items()}
        if primary
        else {},
        options={
            "input_type": search.input_type,
            "query_input_type": search.query_input_type,
            "document_input_type": search.document_input_type,
            "model_path": local.model_path,
            "model_cache_dir": local.model_cache_dir,
        },
        state_dir=settings.state_dir,
        cache_dir=settings.cache_dir,
    )


def _cache(settings: Settings) -> EmbeddingCache | None:
    from commonplace.embedding.cache import EmbeddingCache

    cache = settings.search.cache
    if not cache.enabled:
        return None
    path = os.path.join(settings.state_dir, "memory", "embeddings.sqlite")
    return EmbeddingCache(path, max_entries=cache.max_entries)
