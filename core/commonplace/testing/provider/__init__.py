"""The laws of embedding providers, by subject; ``EmbeddingProviderConformance`` is all of them."""

from __future__ import annotations

from commonplace.testing.provider.embedding import EmbeddingLaws
from commonplace.testing.provider.failing import FailureLaws
from commonplace.testing.provider.identity import IdentityLaws

__all__ = ["EmbeddingProviderConformance"]


class EmbeddingProviderConformance(EmbeddingLaws, IdentityLaws, FailureLaws):
    """All that an embedding provider promises: subclass it, name the class ``Test...``.

    ``make_provider(context)`` makes the provider; a registration's factory will do. Where it needs
    a server or a model, ``context()`` tells of one on this machine: no law asks for the network.
    ``variants()`` and ``failures()`` may add settings that change vectors, and settings that cannot
    work. ``settings`` are Hypothesis's, for providers that are slow or to be tested harder.
    """
