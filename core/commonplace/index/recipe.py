"""The recipe: how documents of a source become chunks, as one comparable string."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.spec import Source
    from commonplace.text.analyse import Analyser

__all__ = ["build_identity", "recipe_of", "same_workspace"]


def recipe_of(source: Source, chunker_fingerprint: str, analyser: Analyser) -> str:
    """The recipe that today's parts would give a document of ``source``.

    Kept readable instead of hashed: it is short, and a person who looks into the index learns why
    a document is about to be made again.
    """
    return f"{source.id}-{source.version} {chunker_fingerprint} {analyser.id}"


def build_identity(analyser: Analyser, workspace: str) -> str:
    """What a whole build depends on, and no single document can change by itself.

    The workspace is part of it: stored paths are relative to it, so that another folder's documents
    would pass for this one's if a configured index is used for both.
    """
    return f"keyword-1 tokenizer={analyser.tokenizer or 'analysed'} workspace={workspace}"


def same_workspace(one: str, other: str) -> bool:
    """Whether two identities are of one workspace."""
    return one.partition(" workspace=")[2] == other.partition(" workspace=")[2]
