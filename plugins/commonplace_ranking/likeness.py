"""How alike hits are, for rankers that compare them: by their vectors, or by their words."""

from __future__ import annotations

import re
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.plugin import Candidate, RankContext

__all__ = ["Likeness", "jaccard", "likeness_of", "original_tokens"]

_WORD = re.compile(r"\w+")
_SNIPPET = 700
# What the original takes for words: of the world's scripts, those of English and East Asia.
_ASCII_WORD = re.compile(r"[a-z0-9_]+")
_EAST_ASIAN = re.compile(
    r"[\u3040-\u309f\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u1100-\u11ff]"
)


class Likeness(NamedTuple):
    """``of(i, j)`` is how alike two hits are, 0..1, by their places; ``by`` says from what."""

    by: str
    of: Callable[[int, int], float]


def likeness_of(hits: Sequence[Candidate], context: RankContext) -> Likeness:
    """By cosine where every one of ``hits`` has a vector, else by words: the two do not mix.

    Under the profile ``compat`` always by words, those of the original.
    """
    if context.profile == "compat":
        tokens = [original_tokens(hit.chunk.text[:_SNIPPET]) for hit in hits]
        return Likeness("words", lambda i, j: _original_jaccard(tokens[i], tokens[j]))
    known = context.vectors([hit.chunk.id for hit in hits]) if context.vectors else {}
    if known and all(hit.chunk.id in known for hit in hits):
        from commonplace.plugin import floats

        # Lists: their numbers are objects already, which an array makes anew each time.
        vectors = [floats(known[hit.chunk.id]).tolist() for hit in hits]
        return Likeness("vectors", lambda i, j: max(0.0, sum(map(mul, vectors[i], vectors[j]))))
    words = [frozenset(_WORD.findall(hit.chunk.body or hit.chunk.text.lower())) for hit in hits]
    return Likeness("words", lambda i, j: jaccard(words[i], words[j]))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of common words, 0..1; two texts without words are not alike."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def original_tokens(text: str) -> frozenset[str]:
    """ASCII words, East Asian characters, and pairs of those that stand side by side."""
    lower = text.lower()
    found = set(_ASCII_WORD.findall(lower))
    before = -2
    for match in _EAST_ASIAN.finditer(lower):
        at = match.start()
        found.add(match[0])
        if at == before + 1:
            found.add(lower[before] + match[0])
        before = at
    return frozenset(found)


def _original_jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return jaccard(one, other) if one or other else 1.0
