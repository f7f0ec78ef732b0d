"""Offers the provider ``mistral``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Credentials, hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import EmbeddingProvider, ProviderContext, ProviderRegistrar


@hookimpl
def commonplace_register_providers(register: ProviderRegistrar) -> None:
    """Add it."""
    register.provider(
        "mistral",
        _mistral,
        summary="Mistral's mistral-embed and codestral-embed",
        priority=50,
        credentials=Credentials(
            env=("MISTRAL_API_KEY",),
            config=("mistral",),
            keyring="mistral",
            hosts=("api.mistral.ai",),
        ),
    )


def _mistral(context: ProviderContext) -> EmbeddingProvider:
    from commonplace_mistral.provider import MistralProvider

    return MistralProvider(context)
