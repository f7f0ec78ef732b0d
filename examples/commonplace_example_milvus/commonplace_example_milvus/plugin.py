"""Offers the store, the ranker and the provider; whatever is heavy waits in the factories."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from commonplace.plugin import PluginUnavailableError, Probe, Registration, hookimpl
from commonplace_example_milvus.pinned import PinnedSettings
from commonplace_example_milvus.settings import MilvusSettings

if TYPE_CHECKING:
    from commonplace.plugin import (
        EmbeddingProvider,
        ProviderContext,
        Ranker,
        RankerContext,
        Registry,
        Store,
        StoreContext,
    )

__all__ = [
    "commonplace_register_providers",
    "commonplace_register_rankers",
    "commonplace_register_stores",
    "make_provider",
    "make_ranker",
    "make_store",
]


@hookimpl
def commonplace_register_stores(registry: Registry) -> None:
    """Offer the store; a backend is chosen by its name in ``memory.backend``."""
    registry.add(
        Registration(
            id="milvus",
            summary="chunks, keyword index and vectors in Milvus, embedded or a server",
            factory=make_store,
            config=MilvusSettings,
            capabilities=frozenset({"keyword", "phrases", "vectors", "persistent"}),
            probe=_probe,
        )
    )


@hookimpl
def commonplace_register_rankers(registry: Registry) -> None:
    """Offer the ranker; it runs where ``ranking.chain`` names it."""
    registry.add(
        Registration(
            id="pinned",
            summary="pieces that carry a mark such as #pinned before others",
            factory=make_ranker,
            config=PinnedSettings,
        )
    )


@hookimpl
def commonplace_register_providers(registry: Registry) -> None:
    """Offer the provider; without a priority it is never chosen unasked."""
    registry.add(
        Registration(
            id="ngrams",
            summary="vectors of the letters of words: forgives spelling, knows no meaning",
            factory=make_provider,
        )
    )


def make_store(context: StoreContext) -> Store:
    """The store at ``memory.milvus.uri``.

    Raises :class:`~commonplace.errors.PluginUnavailableError` where ``context.tokenizer`` is set:
    the store keeps analysed terms and would find nothing in raw text.
    """
    if context.tokenizer is not None:
        raise PluginUnavailableError(
            f"the store on Milvus has no tokenizer {context.tokenizer!r}",
            hint='leave ranking.profile at "default", or use the builtin backend',
        )
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
