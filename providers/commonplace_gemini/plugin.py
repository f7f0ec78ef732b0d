"""Offers the provider ``gemini``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.plugin import Credentials, hookimpl

if TYPE_CHECKING:
    from commonplace.plugin import EmbeddingProvider, ProviderContext, ProviderRegistrar


@hookimpl
def commonplace_register_providers(register: ProviderRegistrar) -> None:
    """Add it."""
    register.provider(
        "gemini",
        _gemini,
        summary="Google's Gemini API: gemini-embedding-001 and gemini-embedding-2",
        priority=30,
        credentials=Credentials(
            env=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            config=("google", "gemini"),
            keyring="gemini",
            note="a Gemini CLI sign-in is none",
            hosts=("generativelanguage.googleapis.com",),
        ),
    )


def _gemini(context: ProviderContext) -> EmbeddingProvider:
    from commonplace_gemini.provider import GeminiProvider

    return GeminiProvider(context)
