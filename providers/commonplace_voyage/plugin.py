"""Offers the provider ``voyage``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Credentials, Registration, hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import EmbeddingProvider, ProviderContext, Registry

__all__ = ["commonplace_register_providers"]


@hookimpl
def commonplace_register_providers(registry: Registry) -> None:
    """Add it."""
    registry.add(
        Registration(
            id="voyage",
            summary="Voyage AI, by its own keys and those of MongoDB Atlas",
            factory=_voyage,
            priority=40,
            credentials=Credentials(env=("VOYAGE_API_KEY",), config=("voyage",), keyring="voyage"),
        )
    )


def _voyage(context: ProviderContext) -> EmbeddingProvider:
    from commonplace_voyage.provider import VoyageProvider

    return VoyageProvider(context)
