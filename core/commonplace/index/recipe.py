"""The recipe: how documents of a source become chunks, as one comparable string."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.spec import Source
    from commonplace.text.analyse import Analyser

__all__ = ["build_identity", "recipe_of"]


def recipe_of(source: Source, chunker_fingerprint: str, analyser: Analyser) -> str:
    """The recipe that today's parts would give a document of ``source``.

    Kept readable instead of hashed: it is short, and a person who looks into the index learns why
    a document is about to be made again.
    """
    return f"{source.id}-{source.version} {chunker_fingerprint} {analyser.id}"


def build_identity(analyser: Analyser) -> str:
    """What a whole build depends on: the one thing no single document can change by itself."""
    return f"keyword-1 tokenizer={analyser.tokenizer or 'analysed'}"
