"""Search settings from what was found: defaults that hang on other settings, and their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.config.defaults import CHUNK_SIZES, SOURCES, TRANSCRIPTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.config.search import SearchSettings
    from commonplace.config.shape import Shape

__all__ = ["search_settings"]


def search_settings(
    shape: Shape, found: Mapping[tuple[str, ...], Any]
) -> tuple[SearchSettings, list[str]]:
    """The settings from values by Python names, and words on what has no effect.

    ``shape`` is that of :class:`~commonplace.config.search.SearchSettings`.
    """
    values = dict(found)
    notes = _sources(values)
    _weights(values)
    _chunking(values)
    settings: SearchSettings = shape.build(values)
    notes += [
        f"memorySearch.{key}: bedrock is not supported; it embeds nothing"
        for key, provider in (("provider", settings.provider), ("fallback", settings.fallback))
        if provider == "bedrock"
    ]
    return settings, notes


def _sources(values: dict[tuple[str, ...], Any]) -> list[str]:
    """Bring both halves of the consent to transcripts together; words where one is missing."""
    notes: list[str] = []
    remembers = values.get(("remember_across_conversations",)) is True
    if remembers:
        values["session_memory",] = True
    sources = values.get(("sources",), SOURCES)
    if not values.get(("session_memory",), False):
        if TRANSCRIPTS in sources:
            notes.append(
                f"memorySearch.sources: {TRANSCRIPTS} are not searched: "
                "set experimental.sessionMemory to true as well"
            )
        sources = tuple(source for source in sources if source != TRANSCRIPTS)
    elif TRANSCRIPTS not in sources:
        if remembers:
            sources = (*sources, TRANSCRIPTS)
        else:
            notes.append(
                f"memorySearch.experimental.sessionMemory: {TRANSCRIPTS} are not searched: "
                f'put "{TRANSCRIPTS}" into sources as well'
            )
    values["sources",] = sources or SOURCES
    return notes


def _weights(values: dict[tuple[str, ...], Any]) -> None:
    vector, text = ("query", "hybrid", "vector_weight"), ("query", "hybrid", "text_weight")
    if vector not in values and text not in values:
        return
    weights = values.get(vector, 0.7), values.get(text, 0.3)
    whole = sum(weights)
    values[vector], values[text] = (
        (weights[0] / whole, weights[1] / whole) if whole > 0 else (0.7, 0.3)
    )


def _chunking(values: dict[tuple[str, ...], Any]) -> None:
    tokens, overlap = ("chunking", "tokens"), ("chunking", "overlap")
    strategy = values.get(("chunking", "strategy"), "")
    for name, default in CHUNK_SIZES.get(strategy, {}).items():
        values.setdefault(("chunking", name), default)
    if tokens in values or overlap in values:
        size = values.get(tokens, 200)
        values[overlap] = min(values.get(overlap, 25), size - 1)
