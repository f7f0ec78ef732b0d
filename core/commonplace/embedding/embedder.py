"""One provider as plugins use it: cached, guarded, and asked for consent before the first text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.embedding.cache import text_digest
from commonplace.embedding.service import cache_key
from commonplace.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commonplace.config.search import RemoteSettings
    from commonplace.embedding.cache import EmbeddingCache
    from commonplace.embedding.choice import EmbeddingChooser
    from commonplace.embedding.guarded import GuardedProvider
    from commonplace.protocols.tools import Embedder, OwnProvider
    from commonplace.resilience.deadline import Deadline


class ProviderEmbedder:
    """See :class:`commonplace.protocols.tools.Embedder`."""

    def __init__(self, provider: GuardedProvider, cache: EmbeddingCache | None) -> None:
        self._provider = provider
        self._cache = cache
        self.id = provider.id

    @property
    def model(self) -> str:
        """The model, as it is shown."""
        return self._provider.model

    def fingerprint(self) -> str:
        """What decides a vector."""
        return self._provider.fingerprint()

    def query(self, text: str, *, deadline: Deadline) -> bytes:
        """The vector of a question: the one in the cache, or a new one."""
        key, digest = cache_key(self.fingerprint(), "query"), text_digest(text)
        if (known := self._known(key, [digest]).get(digest)) is not None:
            return known
        provider = self._provider

        def ask(deadline: Deadline) -> bytes:
            with provider.guarded("query"):
                vector = provider.runner().one(text, purpose="query", deadline=deadline)
            self._keep(key, {digest: vector})
            return vector

        return provider.waited(ask, deadline)

    def documents(self, texts: Sequence[str], *, deadline: Deadline) -> list[bytes | None]:
        """The vectors of texts to keep; only those that are not in the cache are sent."""
        key = cache_key(self.fingerprint(), "document")
        digests = [text_digest(text) for text in texts]
        known = self._known(key, digests)
        missing = {d: t for d, t in zip(digests, texts, strict=True) if d not in known}
        if missing:
            provider = self._provider
            if provider.gate is not None:
                provider.gate.check(len(missing))
            order = list(missing)
            with provider.guarded("document"):
                asked = provider.runner().many(list(missing.values()), dims=None, deadline=deadline)
                for found in asked:
                    pairs = zip(found.indices, found.vectors, strict=True)
                    new = {order[index]: vector for index, vector in pairs}
                    self._keep(key, new)
                    known |= new
        return [known.get(digest) for digest in digests]

    def _known(self, key: str, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        return self._cache.get(key, digests) if self._cache is not None else {}

    def _keep(self, key: str, vectors: Mapping[bytes, bytes]) -> None:
        if self._cache is not None:
            self._cache.put(key, vectors)


class EmbedderMaker:
    """Makes embedders for plugins: of the settings for notes by ``notes``, or of their own.

    ``remote`` has the consent that the user gave for all of them. Choosers of plugins' own settings
    are kept until :meth:`close`.
    """

    def __init__(self, notes: EmbeddingChooser, remote: RemoteSettings) -> None:
        self._notes = notes
        self._remote = remote
        self._own: dict[OwnProvider, EmbeddingChooser] = {}

    def __call__(self, own: OwnProvider | None) -> Embedder | None:
        """The embedder; ``None`` without a provider.

        Raises :class:`~commonplace.errors.UnavailableError` where a provider is named that cannot
        be used.
        """
        service = (self._notes if own is None else self._chooser(own)).service()
        if service is None:
            return None
        if service.primary is None:
            reason = service.absent.reason if service.absent is not None else "it is not there"
            raise UnavailableError(f"the embedding provider cannot be used: {reason}")
        return ProviderEmbedder(service.primary, service.cache)

    def close(self) -> None:
        """Close what was made of plugins' own settings; closing twice is fine."""
        own, self._own = self._own, {}
        for chooser in own.values():
            chooser.close()

    def _chooser(self, own: OwnProvider) -> EmbeddingChooser:
        if own not in self._own:
            # Taken whole: neither a key nor a header of the notes' settings goes along.
            self._own[own] = self._notes.with_search(
                provider=own.id,
                model=own.model,
                fallback="none",
                output_dimensionality=own.dims,
                remote=self._remote.evolve(base_url=own.base_url, api_key=own.api_key, headers={}),
            )
        return self._own[own]
