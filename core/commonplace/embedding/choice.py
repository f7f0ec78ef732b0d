"""Choosing who makes embeddings: the configured provider, its fallback, or nobody."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING

from attrs import frozen

from commonplace.breaker import CircuitBreaker
from commonplace.breaker_file import BreakerFile
from commonplace.embedding.keys import find_key, missing_key
from commonplace.embedding.ledger import SpaceLedger, as_made, maker_of
from commonplace.embedding.link import Pace, ProviderLink, fingerprint_of
from commonplace.embedding.refused import RefusedTexts
from commonplace.embedding.service import KEYWORDS, EmbeddingService
from commonplace.errors import CommonplaceError, PluginUnavailableError, UnavailableError
from commonplace.model.search import Fallback
from commonplace.spec import ProviderContext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.config import Settings
    from commonplace.embedding.batching import Batching
    from commonplace.embedding.cache import EmbeddingCache
    from commonplace.errors import ProviderError
    from commonplace.host.host import PluginHost
    from commonplace.model.plugins import Registration
    from commonplace.model.store import SpaceInfo
    from commonplace.spec import EmbeddingProvider

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
    making = _Making(host, settings, env, clock, monotonic)
    links: list[ProviderLink] = []
    absent: Fallback | None = None
    for place, id_ in enumerate(ids):
        try:
            links.append(making.link(id_, primary=not place))
        except CommonplaceError as error:
            notices.append(f"{error}. To mend it: {error.mend}" if error.mend else str(error))
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


class _Making:
    """Makes links, all with the same settings and clocks."""

    def __init__(
        self,
        host: PluginHost,
        settings: Settings,
        env: Mapping[str, str],
        clock: Callable[[], float],
        monotonic: Callable[[], float],
    ) -> None:
        self._host = host
        self._settings = settings
        self._env = env
        self._clock = clock
        self._monotonic = monotonic

    def link(self, id_: str, *, primary: bool) -> ProviderLink:
        """One provider; raises :class:`~commonplace.errors.CommonplaceError` if it cannot be."""
        registration = self._host.provider(id_)
        probe = registration.probe()
        if not probe.available:
            raise PluginUnavailableError(f"{id_}: {probe.reason}", mend=probe.mend)
        context = _context(self._settings, self._env, registration, primary=primary)
        credentials = registration.credentials
        if (
            credentials
            and not credentials.optional
            and not context.api_key
            and not context.base_url
        ):
            message, mend = missing_key(id_, credentials)
            raise UnavailableError(message, mend=mend)
        return self._linked(id_, registration, context)

    def former(
        self, id_: str, spaces: Sequence[SpaceInfo], ledger: SpaceLedger
    ) -> ProviderLink | None:
        """Who made one of ``spaces`` when the settings named another model of provider ``id_``.

        Only one whose fingerprint is the very same today: another address, or another provider,
        is not asked although it was once.
        """
        makers = ledger.makers()
        for info in spaces:
            fingerprint = fingerprint_of(info.space)
            maker = makers.get(fingerprint)
            if maker is None or maker.get("provider") != id_:
                continue
            try:
                registration = self._host.provider(id_)
                today = _context(self._settings, self._env, registration, primary=True)
                link = self._linked(id_, registration, as_made(today, maker))
            except CommonplaceError:
                continue
            if link.fingerprint() == fingerprint:
                return link
            link.close()
        return None

    def _linked(
        self, id_: str, registration: Registration[EmbeddingProvider], context: ProviderContext
    ) -> ProviderLink:
        # Made now: a setting that the provider refuses is told before the first search needs it.
        try:
            provider = registration.factory(context)
        except CommonplaceError:
            raise
        except Exception as error:
            # Its words are left out: nobody has looked through them for keys.
            raise PluginUnavailableError(
                f"{id_}: the provider could not be made: {type(error).__name__}"
            ) from error
        batch = self._settings.search.remote.batch
        mark = _mark(provider, context)
        return ProviderLink(
            id_,
            lambda: provider,
            self._breaker(id_, "queries", mark),
            # Documents are embedded when somebody asks for it, and asking is what they want then.
            indexing=self._breaker(id_, "documents", mark, patient=False),
            pace=Pace(
                batch.concurrency if batch.enabled else 4,
                self._settings.search.query.embedding_seconds,
            ),
            batching=partial(_batching, id_, self._settings) if batch.enabled else None,
            changed=self._changed,
            maker=maker_of(id_, context),
        )

    def _breaker(self, id_: str, work: str, mark: str, *, patient: bool = True) -> CircuitBreaker:
        name = "".join(sign if sign.isalnum() or sign in "-_" else "_" for sign in id_)
        path = os.path.join(self._settings.state_dir, "memory", "breakers", f"{name}.{work}")
        return CircuitBreaker(
            clock=self._clock,
            monotonic=self._monotonic,
            keeper=BreakerFile(path, mark=mark, patient=patient),
        )

    def _changed(self, id_: str, reason: str | None) -> None:
        events = self._host.events
        if events is None:
            return
        if reason is None:
            events.recovered(id_)
        else:
            events.degraded(id_, reason)


def _mark(provider: EmbeddingProvider, context: ProviderContext) -> str:
    """Four signs that are others where the provider's settings are: a failure may be mended so.

    Of a digest, and so few that nobody can try keys on them.
    """
    import hashlib

    try:
        fingerprint = provider.fingerprint()
    except UnavailableError:
        fingerprint = ""
    made_of = (fingerprint, context.base_url, context.api_key, sorted(context.headers.items()))
    return hashlib.sha256(repr(made_of).encode("utf-8", "replace")).hexdigest()[:4]


def _batching(
    id_: str,
    settings: Settings,
    provider: EmbeddingProvider,
    heard: Callable[[ProviderError | None], None],
) -> Batching | None:
    from commonplace.embedding.batching import Batching
    from commonplace.embedding.batching_jobs import JobStore
    from commonplace.spec.batches import BatchProvider

    if not isinstance(provider, BatchProvider):
        return None
    folder = os.path.join(settings.state_dir, "memory", "batches")
    return Batching(
        id_, provider.batches(), settings.search.remote.batch, JobStore(folder), heard=heard
    )


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
    options: dict[str, object] = {
        "model_path": local.model_path,
        "model_cache_dir": local.model_cache_dir,
        "threads": local.threads,
    }
    if local.idle_seconds is not None:
        options["idle_seconds"] = local.idle_seconds
    if primary:
        options |= {
            "input_type": search.input_type,
            "query_input_type": search.query_input_type,
            "document_input_type": search.document_input_type,
        }
    return ProviderContext(
        model=search.model if primary and search.provider != "auto" else "",
        dims=search.output_dimensionality if primary else None,
        base_url=remote.base_url if primary else None,
        api_key=key,
        headers={name: value.reveal(env) for name, value in remote.headers.items()}
        if primary
        else {},
        query_prefix=search.query_prefix if primary else None,
        document_prefix=search.document_prefix if primary else None,
        options=options,
        state_dir=settings.state_dir,
        cache_dir=settings.cache_dir,
        config=settings.plugin_config(registration.id),
    )


def _cache(settings: Settings) -> EmbeddingCache | None:
    from commonplace.embedding.cache import EmbeddingCache

    cache = settings.search.cache
    if not cache.enabled:
        return None
    path = os.path.join(settings.state_dir, "memory", "embeddings.sqlite")
    return EmbeddingCache(path, max_entries=cache.max_entries)
