"""A provider of two numbers a text, and a store that it fills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.embedding.filling import fill_vectors
from commonplace.embedding.guarded import GuardedProvider
from commonplace.embedding.service import EmbeddingService
from commonplace.errors import ProviderError
from commonplace.protocols.providers import Limits
from commonplace.resilience.breaker import CircuitBreaker
from commonplace.resilience.deadline import NEVER
from commonplace.testing import live_build

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.embedding.cache import EmbeddingCache
    from commonplace.model.reports import Embedding
    from commonplace.model.search import Fallback
    from commonplace.resilience.deadline import Deadline
    from commonplace.resilience.lock import Lease
    from commonplace_inmemory.store import InMemoryStore


class Provider:
    """Its vectors tell who made them and from what: (place + 1, length of the text).

    ``extra`` numbers make all of them longer, and those of ``odd`` texts are longer by one. It
    refuses requests with ``bad`` texts, and all while it is ``ill`` or once ``sick_after`` requests
    were answered.
    """

    capabilities: frozenset[str] = frozenset()
    concurrency = 1
    model = "m"

    def __init__(self, place: int, limits: Limits | None = None) -> None:
        self.place = place
        self.limits = limits or Limits()
        self.extra = 0
        self.bad: frozenset[str] = frozenset()
        self.odd: frozenset[str] = frozenset()
        self.ill = False
        self.sick_after: int | None = None
        self.requests: list[list[str]] = []

    @property
    def sent(self) -> list[str]:
        return [text for request in self.requests for text in request]

    def fingerprint(self) -> str:
        return f"maker {self.place}"

    def embed(
        self, texts: Sequence[str], *, purpose: str, deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        if self.ill or (self.sick_after is not None and len(self.requests) >= self.sick_after):
            raise ProviderError(f"{self.place} is ill", provider="p", kind="auth")
        self.requests.append(list(texts))
        if not self.bad.isdisjoint(texts):
            raise ProviderError("not that", provider="p", kind="bad_request")
        rest = [1.0] * self.extra
        made = [[self.place + 1.0, float(len(text)), *rest] for text in texts]
        return [[*v, 1.0] if t in self.odd else v for t, v in zip(texts, made, strict=True)]

    def close(self) -> None:
        pass


def service_of(
    *providers: Provider,
    cache: EmbeddingCache | None = None,
    clock: Callable[[], float] = lambda: 0.0,
    absent: Fallback | None = None,
    turn: Lease | None = None,
) -> EmbeddingService:
    """A service of ``providers``, each with the id ``p<place>`` and breakers by ``clock``."""

    def link(provider: Provider) -> GuardedProvider:
        first, second = (CircuitBreaker(clock=clock, monotonic=clock) for _ in range(2))
        return GuardedProvider(f"p{provider.place}", provider, first, indexing=second)

    return EmbeddingService([link(one) for one in providers], cache, absent=absent, turn=turn)


def filled(
    service: EmbeddingService, store: InMemoryStore, *, deadline: Deadline = NEVER, **options: Any
) -> Embedding:
    """Fill the live build of ``store``."""
    return fill_vectors(service, store, live_build(store), deadline=deadline, **options)
