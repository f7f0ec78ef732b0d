"""A provider as plugins use it: vectors of one length, refused texts, queries without a meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.embedding.cache import EmbeddingCache
from commonplace.embedding.embedder import ProviderEmbedder
from commonplace.embedding.guarded import GuardedProvider
from commonplace.embedding.spaces import SpaceLedger
from commonplace.embedding.vectors import dims_of
from commonplace.errors import ProviderError, UnavailableError
from commonplace.protocols.providers import Limits
from commonplace.resilience.breaker import CircuitBreaker
from commonplace.resilience.deadline import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


class Provider:
    """Gives vectors of ``dims`` numbers, one more for ``odd`` texts, and zeros for ``empty``."""

    capabilities: frozenset[str] = frozenset()
    concurrency = 1
    model = "m"
    limits = Limits()

    def __init__(self) -> None:
        self.dims = 3
        self.odd: frozenset[str] = frozenset()
        self.empty: frozenset[str] = frozenset()
        self.sent: list[list[str]] = []

    def fingerprint(self) -> str:
        return "maker"

    def embed(self, texts: Sequence[str], **_: Any) -> Sequence[Sequence[float]]:
        self.sent.append(list(texts))
        return [[float(t not in self.empty)] * (self.dims + (t in self.odd)) for t in texts]

    def close(self) -> None:
        pass


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
def embedder(provider: Provider, tmp_path: Path) -> Callable[[], ProviderEmbedder]:
    """Makes embedders of ``provider``, as later uses do: with one cache, ledger and breaker."""
    breaker = CircuitBreaker(clock=lambda: 0.0, monotonic=lambda: 0.0)
    link = GuardedProvider("p", provider, breaker)
    cache, ledger = EmbeddingCache(":memory:"), SpaceLedger(str(tmp_path / "spaces.json"))
    return lambda: ProviderEmbedder(link, cache, ledger)


def lengths(vectors: Sequence[bytes | None]) -> list[int | None]:
    return [None if vector is None else dims_of(vector) for vector in vectors]


def test_cached_vectors_of_a_former_length_are_not_used(
    provider: Provider, embedder: Callable[[], ProviderEmbedder]
) -> None:
    assert embedder().dims is None
    assert lengths(embedder().documents(["one", "two"], deadline=NEVER)) == [3, 3]
    question = embedder().query("who", deadline=NEVER)
    assert embedder().query("who", deadline=NEVER) == question
    assert embedder().dims == 3
    assert provider.sent == [["one", "two"], ["who"]]
    provider.dims = 5
    vectors = embedder().documents(["one", "new", "two"], deadline=NEVER)
    assert lengths(vectors) == [5, 5, 5]
    assert provider.sent[2:] == [["new"], ["memory"], ["one", "two"]]
    assert embedder().dims == 5
    assert lengths(embedder().documents(["two", "new"], deadline=NEVER)) == [5, 5]
    assert len(embedder().query("who", deadline=NEVER)) == 4 * 5
    assert len(provider.sent) == 6
    provider.dims = 3
    assert lengths(embedder().documents(["one"], deadline=NEVER)) == [5], "it is known"


def test_a_text_that_alone_gets_another_length_is_refused(
    provider: Provider, embedder: Callable[[], ProviderEmbedder]
) -> None:
    provider.odd = frozenset({"odd"})
    assert lengths(embedder().documents(["one", "odd", "two"], deadline=NEVER)) == [3, None, 3]
    assert lengths(embedder().documents(["odd", "new", "one"], deadline=NEVER)) == [None, 3, 3]
    assert lengths(embedder().documents(["odd"], deadline=NEVER)) == [None]
    assert embedder().dims == 3


def test_a_query_that_means_nothing_is_no_failure_of_the_provider(
    provider: Provider, embedder: Callable[[], ProviderEmbedder]
) -> None:
    provider.empty = frozenset({"bad"})
    for _ in range(5):
        with pytest.raises(UnavailableError, match="p returned a zero vector") as caught:
            embedder().query("bad", deadline=NEVER)
        assert not isinstance(caught.value, ProviderError)
    assert len(embedder().query("who", deadline=NEVER)) == 4 * 3
