"""The recipe: how documents of a source become chunks, as one comparable string."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commonplace.protocols.sources import Source
    from commonplace.text.analyse import Analyser

__all__ = [
    "anew_since",
    "build_identity",
    "made_anew",
    "plain_identity",
    "recipe_of",
    "same_tokenizer",
    "same_workspace",
]

_WORKSPACE = " workspace="
_ANEW = "anew="


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


def made_anew(identity: str, at: int) -> str:
    """``identity`` for a build that was asked for at ``at`` (epoch seconds), though none was due.

    The mark stays with the build: whoever is asked again, after a kill, knows it for the one that
    was begun then, and goes on with it.
    """
    head, mark, rest = identity.partition(_WORKSPACE)
    return f"{head} {_ANEW}{at}{mark}{rest}"


def anew_since(identity: str) -> int | None:
    """When the build was asked for, by its mark; ``None`` where it has none."""
    words = identity.partition(_WORKSPACE)[0].split(" ")
    marks = [word.removeprefix(_ANEW) for word in words if word.startswith(_ANEW)]
    return int(marks[0]) if marks and marks[0].isdecimal() else None


def plain_identity(identity: str) -> str:
    """``identity`` without the mark of :func:`made_anew`."""
    head, mark, rest = identity.partition(_WORKSPACE)
    words = (word for word in head.split(" ") if not word.startswith(_ANEW))
    return " ".join(words) + mark + rest


def same_workspace(one: str, other: str) -> bool:
    """Whether two identities are of one workspace."""
    return one.partition(_WORKSPACE)[2] == other.partition(_WORKSPACE)[2]


def same_tokenizer(one: str, other: str) -> bool:
    """Whether terms are cut alike in two builds, so that a query made for one fits the other."""
    return _tokenizer(one) == _tokenizer(other) != ""


def _tokenizer(identity: str) -> str:
    words = identity.partition(_WORKSPACE)[0].split(" ")
    return next((word for word in words if word.startswith("tokenizer=")), "")
