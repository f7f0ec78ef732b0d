"""Chooses the embedding provider: the configured one with its fallback, the first ready one, none.

Imported by every command, so that whatever only a provider needs is imported when there is one.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from commonplace.errors import CommonplaceError, PluginUnavailableError, UnavailableError
from commonplace.model.plugins import Probe
from commonplace.model.tuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commonplace.config.settings import Settings
    from commonplace.embedding.building import ProviderBuilder
    from commonplace.embedding.cache import EmbeddingCache
    from commonplace.embedding.guarded import GuardedProvider
    from commonplace.embedding.service import EmbeddingService
    from commonplace.host.host import PluginHost
    from commonplace.model.plugins import Registration
    from commonplace.model.reports import UploadListener
    from commonplace.protocols.providers import EmbeddingProvider


_NONE = ("none", "")


class Choice(NamedTuple):
    """The chosen service, and a line on every provider that was asked for and cannot be used."""

    service: EmbeddingService | None
    notices: tuple[str, ...] = ()


class EmbeddingChooser:
    """Calls :func:`choose` once, when a result is first needed: it loads every provider plugin."""

    def __init__(
        self,
        host: PluginHost,
        settings: Settings,
        *,
        env: Mapping[str, str],
        clock: Callable[[], float] = time.time,
        on_upload: UploadListener | None = None,
    ) -> None:
        self._host = host
        self._settings = settings
        self._env = env
        self._clock = clock
        self._on_upload = on_upload
        self._lock = threading.Lock()
        self._choice: Choice | None = None

    def service(self) -> EmbeddingService | None:
        """The embedding service, or ``None`` without a provider."""
        return self.choice().service

    def choice(self) -> Choice:
        """The choice, made by the first call."""
        with self._lock:
            if self._choice is None:
                self._choice = choose(
                    self._host,
                    self._settings,
                    self._env,
                    clock=self._clock,
                    on_upload=self._on_upload,
                )
            return self._choice

    def with_search(self, **changes: object) -> EmbeddingChooser:
        """A chooser that differs in these search settings alone; its caller closes it."""
        search = self._settings.search.evolve(**changes)
        settings = self._settings.evolve(search=search)
        return EmbeddingChooser(
            self._host, settings, env=self._env, clock=self._clock, on_upload=self._on_upload
        )

    def close(self) -> None:
        """Close what was chosen; closing twice is fine."""
        with self._lock:
            choice, self._choice = self._choice, None
        if choice is not None and choice.service is not None:
            choice.service.close()


def choose(
    host: PluginHost,
    settings: Settings,
    env: Mapping[str, str],
    *,
    clock: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
    on_upload: UploadListener | None = None,
) -> Choice:
    """The configured provider and fallback; with ``auto`` the first that is ready, by priority.

    Makes no request and loads no model. A provider that cannot be built is left out with a notice;
    without any, search is by keyword. ``clock`` gives epoch seconds, ``monotonic`` is for breakers.
    ``on_upload`` is asked before texts first go to a server on another machine.
    """
    search = settings.search
    notices: list[str] = []
    if search.provider in _NONE:
        return Choice(None)
    if search.provider == "auto":
        ids = _automatic(host, settings, env, notices)
    else:
        ids = [search.provider]
    if ids and search.fallback not in (*_NONE, *ids):
        ids = [*ids, search.fallback]
    if not ids:
        return Choice(None, tuple(notices))
    from commonplace.embedding.building import ProviderBuilder

    builder = ProviderBuilder(host, settings, env, clock, monotonic, on_upload)
    return _chosen(builder, settings, ids, notices, clock)


def readiness(
    registration: Registration[EmbeddingProvider], settings: Settings, env: Mapping[str, str]
) -> Probe:
    """Whether a provider could embed with these settings; no request is made, no model loaded.

    Raises :class:`~commonplace.errors.UnavailableError` for a reference to a key that is not set.
    """
    from commonplace.embedding.access import access_of, context_of, missing_key

    own = settings.search.provider in ("auto", registration.id)
    credentials = registration.credentials
    access = access_of(settings, env, registration, primary=own)
    if registration.ready is not None:
        answer = registration.ready(context_of(settings, registration, access, primary=own))
        if answer.available or answer.hint or credentials is None:
            return answer
        return answer._replace(hint=missing_key(registration.id, credentials, access)[1])
    if access.keys or credentials is None or credentials.optional:
        return Probe(available=True)
    reason, hint = missing_key(registration.id, credentials, access)
    return Probe(available=False, reason=reason, hint=hint)


def _chosen(
    builder: ProviderBuilder,
    settings: Settings,
    ids: list[str],
    notices: list[str],
    clock: Callable[[], float],
) -> Choice:
    from commonplace.embedding.service import KEYWORDS, EmbeddingService
    from commonplace.embedding.spaces import RefusedTexts, SpaceLedger
    from commonplace.model.search import Fallback
    from commonplace.resilience.lock import Lease

    providers: list[GuardedProvider] = []
    absent: Fallback | None = None
    for position, id_ in enumerate(ids):
        try:
            providers.append(builder.build(id_, primary=not position))
        except CommonplaceError as error:
            notices.append(_words(error))
            if not position:
                absent = Fallback(part=id_, reason=notices[-1], since=clock(), by=KEYWORDS)
    if not providers and absent is None:
        return Choice(None, tuple(notices))
    folder = os.path.join(settings.state_dir, "memory")
    ledger = SpaceLedger(os.path.join(folder, "spaces.json"))
    service = EmbeddingService(
        providers,
        _cache(settings, folder),
        absent=absent,
        former=lambda spaces: builder.former(ids[0], spaces, ledger),
        ledger=ledger,
        refused=RefusedTexts(os.path.join(folder, "refused.json"), settings.index_path),
        turn=Lease(f"{settings.index_path}.embedding.lock"),
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
            notices.append(_words(error))
            continue
        if registration.priority is not None:
            offered.append((registration.priority, id_, registration))
    for _, id_, registration in sorted(offered, key=lambda item: item[:2]):
        try:
            ready = _ready(host, registration, settings, env)
        except UnavailableError as error:
            notices.append(_words(error))
            continue
        if ready.available:
            return [id_]
        if ready.hint:  # the settings ask for it
            notices.append(f"{id_}: {ready.reason}. Fix: {ready.hint}")
    return []


def _ready(
    host: PluginHost,
    registration: Registration[EmbeddingProvider],
    settings: Settings,
    env: Mapping[str, str],
) -> Probe:
    """Whether automatic choice takes this provider."""
    ready = registration.ready
    if ready is None and registration.credentials is None:
        return Probe(available=False)
    from commonplace.embedding.access import access_of, context_of

    access = access_of(settings, env, registration, primary=True)
    if ready is None:
        return Probe(available=bool(access.keys))
    context = context_of(settings, registration, access, primary=True)
    if not access.keys and not access.named:
        from attrs import evolve

        # An address without a key, in a section for chat models, does not ask for embeddings.
        context = evolve(context, base_url=None)
    from commonplace.host.backends import probed

    return probed(host, "provider", registration.id, lambda: ready(context))


def _words(error: CommonplaceError) -> str:
    from commonplace.embedding.http.errors import describe

    return describe(error)


def _cache(settings: Settings, folder: str) -> EmbeddingCache | None:
    cache = settings.search.cache
    if not cache.enabled:
        return None
    from commonplace.embedding.cache import EmbeddingCache

    return EmbeddingCache(os.path.join(folder, "embeddings.sqlite"), max_entries=cache.max_entries)
