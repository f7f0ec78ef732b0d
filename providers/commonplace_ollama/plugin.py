"""Offers the provider ``ollama``, which is never chosen unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Credentials, hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import EmbeddingProvider, ProviderContext, ProviderRegistrar


@hookimpl
def commonplace_register_providers(register: ProviderRegistrar) -> None:
    """Add it."""
    register.provider(
        "ollama",
        _ollama,
        summary="an Ollama server, on this machine unless remote.baseUrl says otherwise",
        credentials=Credentials(
            env=("OLLAMA_API_KEY",),
            config=("ollama",),
            keyring="ollama",
            optional=True,
            address="OLLAMA_HOST",
        ),
    )


def _ollama(context: ProviderContext) -> EmbeddingProvider:
    from commonplace_ollama.provider import OllamaProvider

    return OllamaProvider(context)
