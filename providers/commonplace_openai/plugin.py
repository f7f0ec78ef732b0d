"""Offers the provider ``openai``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Credentials, Probe, hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import EmbeddingProvider, ProviderContext, ProviderRegistrar


@hookimpl
def commonplace_register_providers(register: ProviderRegistrar) -> None:
    """Add it."""
    register.provider(
        "openai",
        _openai,
        summary="OpenAI, or by remote.baseUrl any server with the same API",
        priority=20,
        ready=_ready,
        credentials=Credentials(
            env=("OPENAI_API_KEY",),
            config=("openai",),
            keyring="openai",
            note="a ChatGPT or Codex sign-in is none",
            hosts=("api.openai.com",),
            address="OPENAI_BASE_URL",
        ),
    )


def _ready(context: ProviderContext) -> Probe:
    # A configured address is meant to be used, and many such servers need no key.
    if context.api_key or context.base_url:
        return Probe(available=True)
    return Probe(available=False, reason="no API key found")


def _openai(context: ProviderContext) -> EmbeddingProvider:
    from commonplace_openai.provider import OpenAIProvider

    return OpenAIProvider(context)
