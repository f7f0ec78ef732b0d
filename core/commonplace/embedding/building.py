"""Builds providers from settings, with their keys, their breakers and their batch jobs."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, cast

from attrs import evolve, frozen

from commonplace.embedding.access import access_of, context_of, missing_key
from commonplace.embedding.consent import UploadGate, record_path
from commonplace.embedding.guarded import CheckedProvider, GuardedProvider
from commonplace.embedding.keys import RotatingKeys
from commonplace.embedding.spaces import context_as_recorded, fingerprint_of, recorded_settings
from commonplace.errors import CommonplaceError, PluginUnavailableError, UnavailableError
from commonplace.host.backends import probed
from commonplace.resilience.breaker import BreakerFile, CircuitBreaker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commonplace.config.settings import Settings
    from commonplace.embedding.access import Access
    from commonplace.embedding.batch.jobs import Batching
    from commonplace.embedding.spaces import SpaceLedger
    from commonplace.errors import ProviderError
    from commonplace.host.host import PluginHost
    from commonplace.model.documents import SpaceInfo
    from commonplace.model.plugins import Registration
    from commonplace.model.reports import UploadListener
    from commonplace.protocols.providers import (
        BatchProvider,
        EmbeddingProvider,
        ProviderContext,
        RemoteProvider,
    )


@frozen
class ProviderBuilder:
    """Builds providers, all with the same settings and clocks."""

    _host: PluginHost
    _settings: Settings
    _env: Mapping[str, str]
    _clock: Callable[[], float]
    _monotonic: Callable[[], float]
    _on_upload: UploadListener | None = None

    def build(self, id_: str, *, primary: bool) -> GuardedProvider:
        """One provider. Raises :class:`~commonplace.errors.CommonplaceError` if it cannot work."""
        registration = self._host.provider(id_)
        probe = probed(self._host, "provider", id_, registration.probe)
        if not probe.available:
            raise PluginUnavailableError(f"{id_}: {probe.reason}", hint=probe.hint)
        access = access_of(self._settings, self._env, registration, primary=primary)
        needed = registration.credentials
        if needed and not needed.optional and not access.keys and not access.base_url:
            message, hint = missing_key(id_, needed, access)
            raise UnavailableError(message, hint=hint)
        context = context_of(self._settings, registration, access, primary=primary)
        return self._guarded(id_, registration, context, access)

    def former(
        self, id_: str, spaces: Sequence[SpaceInfo], ledger: SpaceLedger
    ) -> GuardedProvider | None:
        """Provider ``id_`` with the model that made one of ``spaces`` under earlier settings.

        Only if its fingerprint is still the same: another address, or another provider, is not
        asked although it once was.
        """
        recorded = ledger.entries()
        for info in spaces:
            fingerprint = fingerprint_of(info.space)
            entry = recorded.get(fingerprint)
            if entry is None or entry.get("provider") != id_:
                continue
            try:
                registration = self._host.provider(id_)
                access = access_of(self._settings, self._env, registration, primary=True)
                today = context_of(self._settings, registration, access, primary=True)
                context = context_as_recorded(today, entry)
                provider = self._guarded(id_, registration, context, access)
            except CommonplaceError:
                continue
            with suppress(UnavailableError):
                if provider.fingerprint() == fingerprint:
                    return provider
            provider.close()
        return None

    def _guarded(
        self,
        id_: str,
        registration: Registration[EmbeddingProvider],
        context: ProviderContext,
        access: Access,
    ) -> GuardedProvider:
        label = f"provider {id_!r} of {self._host.label('provider', id_)}"
        secrets = (*(key.value for key in access.keys), *access.headers.values())
        # Built now: a setting that the provider refuses is reported before the first search.
        try:
            built = _built(registration, context, access)
        except CommonplaceError:
            raise
        except BaseException as error:
            from commonplace.embedding.http.errors import SEE_TRACEBACK, show_traceback

            show_traceback(error, secrets)
            # Without its message, which may hold a key.
            raise PluginUnavailableError(
                f"{label} failed: it could not be built: {type(error).__name__}",
                hint=SEE_TRACEBACK,
            ) from error
        trusted = self._host.is_builtin("provider", id_)
        provider = CheckedProvider(
            built,
            label,
            trusted=trusted,
            install=partial(self._how_to_install, id_),
            secrets=secrets,
        )
        capabilities = provider.capabilities
        batch = self._settings.search.remote.batch
        batches = batch.enabled and "batches" in capabilities
        digest = _digest(built, provider, context)
        return GuardedProvider(
            id_,
            provider,
            self._breaker(id_, "queries", digest),
            # Documents are embedded when a sync asks for it, and the user wants an attempt then.
            indexing=self._breaker(id_, "documents", digest, patient=False),
            concurrency=batch.concurrency if batch.enabled else 4,
            query_seconds=self._settings.search.query.embedding_seconds,
            batching=(lambda heard: self._batching(id_, provider, heard)) if batches else None,
            changed=self._changed,
            settings=recorded_settings(id_, context),
            gate=self._gate(id_, provider, access) if "remote" in capabilities else None,
        )

    def _how_to_install(self, id_: str, error: ModuleNotFoundError) -> str:
        from commonplace.host.reports import missing_library

        return missing_library(self._host.plugins(), f"provider.{id_}", error)

    def _gate(self, id_: str, provider: EmbeddingProvider, access: Access) -> UploadGate:
        return UploadGate(
            record_path(self._settings.state_dir),
            id_,
            cast("RemoteProvider", provider).host,
            key=access.key_origin,
            named=access.named,
            policy=self._settings.search.remote.consent,
            listener=self._on_upload,
            clock=self._clock,
        )

    def _breaker(self, id_: str, work: str, mark: str, *, patient: bool = True) -> CircuitBreaker:
        name = "".join(sign if sign.isalnum() or sign in "-_" else "_" for sign in id_)
        path = os.path.join(self._settings.state_dir, "memory", "breakers", f"{name}.{work}")
        return CircuitBreaker(
            clock=self._clock,
            monotonic=self._monotonic,
            keeper=BreakerFile(path, mark=mark, patient=patient),
        )

    def _batching(
        self, id_: str, provider: EmbeddingProvider, heard: Callable[[ProviderError | None], None]
    ) -> Batching:
        from commonplace.embedding.batch.jobs import Batching, JobStore

        store = JobStore(os.path.join(self._settings.state_dir, "memory", "batches"))
        settings = self._settings.search.remote.batch
        jobs = cast("BatchProvider", provider).batches()
        secrets: tuple[str, ...] = getattr(provider, "secrets", ())
        return Batching(id_, jobs, settings, store, heard=heard, secrets=secrets)

    def _changed(self, id_: str, reason: str | None) -> None:
        events = self._host.events
        if events is None:
            return
        if reason is None:
            events.recovered(id_)
        else:
            events.degraded(id_, reason)


def _built(
    registration: Registration[EmbeddingProvider], context: ProviderContext, access: Access
) -> EmbeddingProvider:
    """The provider with the context's key; with several keys, one that rotates them."""
    first = registration.factory(context)
    others = [
        registration.factory(evolve(context, api_key=key.value, key_origin=key.origin))
        for key in access.keys[1:]
    ]
    return RotatingKeys([first, *others]) if others else first


def _digest(built: EmbeddingProvider, provider: CheckedProvider, context: ProviderContext) -> str:
    """Four hex digits that change with the provider's settings and code: that may fix a failure.

    So few that they give no help in guessing a key. Where tracebacks are wanted, no failure of
    another process counts.
    """
    import hashlib

    try:
        fingerprint = provider.fingerprint()
    except UnavailableError:
        fingerprint = ""
    parts = (fingerprint, context.base_url, context.api_key, sorted(context.headers.items()))
    code = _code_changed(built), os.getpid() if os.environ.get("COMMONPLACE_DEBUG") else 0
    return hashlib.sha256(repr((*parts, code)).encode("utf-8", "replace")).hexdigest()[:4]


def _code_changed(built: object) -> float:
    """When the file with the class of ``built`` was changed (epoch seconds); 0 if not known."""
    provider = built.first if isinstance(built, RotatingKeys) else built
    module = sys.modules.get(type(provider).__module__)
    try:
        return os.stat(getattr(module, "__file__", None) or "").st_mtime
    except OSError:
        return 0.0
