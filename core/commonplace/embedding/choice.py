"""Choosing who makes embeddings: the configured provider, its fallback, or nobody."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from attrs import frozen

from commonplace.embedding.ledger import SpaceLedger
from commonplace.embedding.link import told
from commonplace.embedding.making import LinkMaker, context_of
from commonplace.embedding.refused import RefusedTexts
from commonplace.embedding.service import KEYWORDS, EmbeddingService
from commonplace.errors import CommonplaceError, PluginUnavailableError, UnavailableError
from commonplace.model.plugins import Probe
from commonplace.model.search import Fallback

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.config import Settings
    from commonplace.embedding.cache import EmbeddingCache
    from commonplace.embedding.link import ProviderLink
    from commonplace.host.host import PluginHost
    from commonplace.model.plugins import Registration
    from commonplace.protocols.providers import EmbeddingProvider

__all__ = ["Choice", "choose"]

_NOBODY = ("none", "")


@frozen(eq=False)
class Choice:
    """Who serves, and one-line words on every provider that was asked for and cannot."""

    service: EmbeddingService | None
    notices: tuple[str, ...] = ()


def choose(
    host: PluginHost,
    settings: Settings,
    env: Mapping[str, str],
    *,
    clock: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
) -> Choice:
    """The configured provider and fallback; with ``auto`` the first that is ready, by priority.

    Costs no network and loads no model. A provider that cannot be made is left out with a word:
    memory then answers by keyword. ``clock`` gives epoch seconds, ``monotonic`` measures breakers.
    """
    search = settings.search
    notices: list[str] = []
    if search.provider in _NOBODY:
        return Choice(None)
    if search.provider == "auto":
        ids = _automatic(host, settings, env, notices)
    else:
        ids = [search.provider]
    if ids and search.fallback not in (*_NOBODY, *ids):
        ids = [*ids, search.fallback]
    making = LinkMaker(host, settings, env, clock, monotonic)
    links: list[ProviderLink] = []
    absent: Fallback | None = None
    for place, id_ in enumerate(ids):
        try:
            links.append(making.link(id_, primary=not place))
        except CommonplaceError as error:
            notices.append(told(error))
            if not place:
                absent = Fallback(id_, notices[-1], clock(), KEYWORDS)
    if not links and absent is None:
        return Choice(None, tuple(notices))
    ledger = SpaceLedger(os.path.join(settings.state_dir, "memory", "spaces.json"))
    service = EmbeddingService(
        links,
        _cache(settings),
        absent=absent,
        former=lambda spaces: making.former(ids[0], spaces, ledger),
        ledger=ledger,
        refused=RefusedTexts(
            os.path.join(settings.state_dir, "memory", "refused.json"), settings.index_path
        ),
        clock=clock,
    )
    return Choice(service, tuple(notices))


def _automatic(
    host: PluginHost, settings: Settings, env: Mapping[str, str], notices: list[str]
) -> list[str]:
    offered: list[tuple[int, str, Registration[EmbeddingProvider]]] = []
    for id_ in host.ids("provider"):
        try:
            registration = host.provider(id_)
        except PluginUnavailableError as error:
            notices.append(told(error))
            continue
        if registration.priority is not None:
            offered.append((registration.priority, id_, registration))
    for _, id_, registration in sorted(offered, key=lambda item: item[:2]):
        try:
            context = context_of(settings, env, registration, primary=True)
        except UnavailableError as error:
            notices.append(told(error))
            continue
        if registration.ready is None:
            ready = Probe(available=context.api_key is not None)
        else:
            ready = registration.ready(context)
        if ready.available:
            return [id_]
        if ready.hint:  # somebody means it to be taken
            notices.append(f"{id_}: {ready.reason}. Fix: {ready.hint}")
    return []


def _cache(settings: Settings) -> EmbeddingCache | None:
    from commonplace.embedding.cache import EmbeddingCache

    cache = settings.search.cache
    if not cache.enabled:
        return None
    path = os.path.join(settings.state_dir, "memory", "embeddings.sqlite")
    return EmbeddingCache(path, max_entries=cache.max_entries)
