"""Offers the provider ``voyage``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Credentials, hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import EmbeddingProvider, ProviderContext, ProviderRegistrar


@hookimpl
def commonplace_register_providers(register: ProviderRegistrar) -> None:
    """Add it."""
    register.provider(
        "voyage",
        _voyage,
        summary="Voyage AI, by its own keys and those of MongoDB Atlas",
        priority=40,
        credentials=Credentials(
            env=("VOYAGE_API_KEY",),
            config=("voyage",),
            keyring="voyage",
            hosts=("api.voyageai.com", "ai.mongodb.com"),
        ),
    )


def _voyage(context: ProviderContext) -> EmbeddingProvider:
    from commonplace_voyage.provider import VoyageProvider

    return VoyageProvider(context)
