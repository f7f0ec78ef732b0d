"""Offers the store, the ranker and the provider; whatever is heavy waits in the factories."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from commonplace.plugin import Probe, hookimpl
from commonplace_example_milvus.pinned import PinnedSettings
from commonplace_example_milvus.settings import MilvusSettings

if TYPE_CHECKING:
    from commonplace.plugin import (
        BackendRegistrar,
        EmbeddingProvider,
        ProviderContext,
        ProviderRegistrar,
        Ranker,
        RankerContext,
        RankerRegistrar,
        Store,
        StoreContext,
    )


@hookimpl
def commonplace_register_backends(register: BackendRegistrar) -> None:
    """Offer the store; a backend is chosen by its name in ``memory.backend``."""
    register.store(
        "milvus",
        make_store,
        summary="chunks, keyword index and vectors in Milvus, embedded or a server",
        config=MilvusSettings,
        capabilities=frozenset({"keyword", "phrases", "vectors", "persistent"}),
        probe=_probe,
    )


@hookimpl
def commonplace_register_rankers(register: RankerRegistrar) -> None:
    """Offer the ranker; it runs where ``ranking.chain`` names it."""
    register.ranker(
        "pinned",
        make_ranker,
        summary="pieces that carry a mark such as #pinned before others",
        config=PinnedSettings,
    )


@hookimpl
def commonplace_register_providers(register: ProviderRegistrar) -> None:
    """Offer the provider; without a priority it is never chosen unasked."""
    register.provider(
        "ngrams",
        make_provider,
        summary="vectors of the letters of words: forgives spelling, knows no meaning",
    )


def make_store(context: StoreContext) -> Store:
    """The store at ``memory.milvus.uri``."""
    from commonplace_example_milvus.opening import open_store

    return open_store(context)


def _probe() -> Probe:
    if find_spec("pymilvus") is None:
        return Probe(
            available=False,
            reason="pymilvus is not installed",
            hint="pip install commonplace-example-milvus",
        )
    return Probe(available=True)


def make_ranker(context: RankerContext) -> Ranker:
    """The ranker; without a section in the configuration its settings are the defaults."""
    from commonplace_example_milvus.pinned import Pinned

    return Pinned(context.config or PinnedSettings())


def make_provider(context: ProviderContext) -> EmbeddingProvider:
    """The provider, with vectors as long as ``outputDimensionality`` says."""
    from commonplace_example_milvus.ngrams import NGrams

    return NGrams(context.dims)
