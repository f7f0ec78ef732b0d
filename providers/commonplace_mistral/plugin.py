"""Offers the provider ``mistral``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Credentials, Registration, hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import EmbeddingProvider, ProviderContext, Registry


@hookimpl
def commonplace_register_providers(registry: Registry) -> None:
    """Add it."""
    registry.add(
        Registration(
            id="mistral",
            summary="Mistral's mistral-embed and codestral-embed",
            factory=_mistral,
            priority=50,
            credentials=Credentials(
                env=("MISTRAL_API_KEY",), config=("mistral",), keyring="mistral"
            ),
        )
    )


def _mistral(context: ProviderContext) -> EmbeddingProvider:
    from commonplace_mistral.provider import MistralProvider

    return MistralProvider(context)
