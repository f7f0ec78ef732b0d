"""One provider as plugins use it: cached, guarded, and asked for consent before the first text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.embedding.cache import cache_key, text_digest
from commonplace.embedding.vectors import dims_of, sound
from commonplace.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from commonplace.config.search import RemoteSettings
    from commonplace.embedding.cache import EmbeddingCache
    from commonplace.embedding.choice import EmbeddingChooser
    from commonplace.embedding.guarded import GuardedProvider
    from commonplace.embedding.spaces import SpaceLedger
    from commonplace.protocols.managers import Embedder, OwnProvider
    from commonplace.resilience.deadline import Deadline


class ProviderEmbedder:
    """See :class:`commonplace.protocols.managers.Embedder`."""

    def __init__(
        self,
        provider: GuardedProvider,
        cache: EmbeddingCache | None,
        ledger: SpaceLedger | None = None,
    ) -> None:
        self._provider = provider
        self._cache = cache
        self._ledger = ledger
        self.id = provider.id
        self.dims = ledger.length(provider.fingerprint()) if ledger is not None else None

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

        def ask(deadline: Deadline, pauses: Deadline) -> bytes:
            vector = provider.query(text, deadline=deadline, pauses=pauses)
            if vector and self._cache is not None:
                self._cache.put(key, {digest: vector})
            return vector

        vector = provider.waited(ask, deadline)
        if not vector:
            raise UnavailableError(f"{self.id} returned a zero vector for the query")
        return vector

    def documents(self, texts: Sequence[str], *, deadline: Deadline) -> list[bytes | None]:
        """The vectors of texts to keep; only those that are not in the cache are sent."""
        key = cache_key(self.fingerprint(), "document")
        wanted = {text_digest(text): text for text in texts}
        known = self._known(key, wanted)
        new = self._embedded(key, wanted, wanted.keys() - known.keys(), deadline)
        if new and any(dims_of(vector) != self.dims for vector in known.values()):
            # The server has changed the length: what was cached cannot be compared any more.
            left = known.keys()
            known = self._known(key, left)
            new |= self._embedded(key, wanted, left - known.keys(), deadline, dims=self.dims)
        return [(known | new).get(text_digest(text)) for text in texts]

    def _embedded(
        self,
        key: str,
        wanted: Mapping[bytes, str],
        missing: Collection[bytes],
        deadline: Deadline,
        dims: int | None = None,
    ) -> dict[bytes, bytes]:
        """New vectors of those of ``wanted`` that are ``missing``; without refused ones."""
        order = [digest for digest in wanted if digest in missing]
        vectors: dict[bytes, bytes] = {}
        if not order:
            return vectors
        provider = self._provider
        if provider.gate is not None:
            provider.gate.check(len(order))
        texts = [wanted[digest] for digest in order]
        with provider.guarded("document"):
            runner = provider.runner()
            for part in runner.many(texts, dims=dims, expected=self.dims, deadline=deadline):
                pairs = zip(part.indices, part.vectors, strict=True)
                self._keep(key, {order[index]: vector for index, vector in pairs}, vectors)
        return vectors

    def _keep(self, key: str, new: dict[bytes, bytes], vectors: dict[bytes, bytes]) -> None:
        """Add ``new`` vectors of documents to ``vectors`` and the cache, and note their length."""
        if not new:
            return
        vectors |= new
        self.dims = dims_of(next(iter(new.values())))
        if self._ledger is not None:
            self._ledger.note_length(self.fingerprint(), self.dims)
        if self._cache is not None:
            self._cache.put(key, new)

    def _known(self, key: str, digests: Collection[bytes]) -> dict[bytes, bytes]:
        """Cached vectors of one length: that of the last new ones, if it is known."""
        if self._cache is None:
            return {}
        return sound(self._cache.get(key, digests, dims=self.dims), self.dims)


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
        return ProviderEmbedder(service.primary, service.cache, service.ledger)

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
