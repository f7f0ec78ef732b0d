"""Making links: providers with their keys, their breakers and their batch jobs, from settings."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from attrs import evolve

from commonplace.embedding.keys import find_keys, missing_key
from commonplace.embedding.ledger import as_made, maker_of
from commonplace.embedding.link import Pace, ProviderLink, fingerprint_of
from commonplace.embedding.rotation import RotatingProvider
from commonplace.errors import CommonplaceError, PluginUnavailableError, UnavailableError
from commonplace.protocols.providers import ProviderContext
from commonplace.resilience.breaker import BreakerFile, CircuitBreaker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.config import Settings
    from commonplace.embedding.batching import Batching
    from commonplace.embedding.ledger import SpaceLedger
    from commonplace.errors import ProviderError
    from commonplace.host.host import PluginHost
    from commonplace.model.plugins import Registration
    from commonplace.model.store import SpaceInfo
    from commonplace.protocols.providers import EmbeddingProvider

__all__ = ["LinkMaker", "context_of"]


class LinkMaker:
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
            raise PluginUnavailableError(f"{id_}: {probe.reason}", hint=probe.hint)
        context = context_of(self._settings, self._env, registration, primary=primary)
        credentials = registration.credentials
        if (
            credentials
            and not credentials.optional
            and not context.api_key
            and not context.base_url
        ):
            message, hint = missing_key(id_, credentials)
            raise UnavailableError(message, hint=hint)
        return self._linked(id_, registration, context, primary=primary)

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
                today = context_of(self._settings, self._env, registration, primary=True)
                made = as_made(today, maker)
                link = self._linked(id_, registration, made, primary=True)
            except CommonplaceError:
                continue
            if link.fingerprint() == fingerprint:
                return link
            link.close()
        return None

    def _linked(
        self,
        id_: str,
        registration: Registration[EmbeddingProvider],
        context: ProviderContext,
        *,
        primary: bool,
    ) -> ProviderLink:
        # Made now: a setting that the provider refuses is told before the first search needs it.
        try:
            provider = self._made(registration, context, primary=primary)
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

    def _made(
        self,
        registration: Registration[EmbeddingProvider],
        context: ProviderContext,
        *,
        primary: bool,
    ) -> EmbeddingProvider:
        """The provider of the context's key, with those of further keys behind it."""
        first = registration.factory(context)
        credentials = registration.credentials
        if credentials is None or context.api_key is None:
            return first
        _, *more = find_keys(credentials, self._settings, self._env, own_remote=primary)
        others = [registration.factory(evolve(context, api_key=key)) for key in more]
        return RotatingProvider([first, *others]) if others else first

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
    from commonplace.protocols.providers import BatchProvider

    if isinstance(provider, RotatingProvider):
        provider = provider.first
    if not isinstance(provider, BatchProvider):
        return None
    folder = os.path.join(settings.state_dir, "memory", "batches")
    return Batching(
        id_, provider.batches(), settings.search.remote.batch, JobStore(folder), heard=heard
    )


def context_of(
    settings: Settings,
    env: Mapping[str, str],
    registration: Registration[EmbeddingProvider],
    *,
    primary: bool,
) -> ProviderContext:
    """What a factory is given for these settings; with the first of several keys.

    Raises :class:`~commonplace.errors.UnavailableError` where a key is referred to and not there.
    """
    search = settings.search
    remote, local = search.remote, search.local
    credentials = registration.credentials
    # The section `remote` speaks of the provider that was asked for; a fallback has its own key.
    keys = find_keys(credentials, settings, env, own_remote=primary) if credentials else ()
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
        # A model is named for the provider that is named, or for the server whose address is.
        model=search.model if primary and (search.provider != "auto" or remote.base_url) else "",
        dims=search.output_dimensionality if primary else None,
        base_url=remote.base_url if primary else None,
        api_key=keys[0] if keys else None,
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
