"""Maximal marginal relevance: hits that say something new before hits that repeat."""

from __future__ import annotations

import math
import re
import sys
from operator import mul
from typing import TYPE_CHECKING, Any

from commonplace.plugin import NamedTuple, with_step
from commonplace_ranking.reordering import position_note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal

    from commonplace.plugin import Candidate, RankContext


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
        return Likeness("vectors", _cosines([known[hit.chunk.id] for hit in hits]))
    words = [frozenset(_WORD.findall(hit.chunk.body or hit.chunk.text.lower())) for hit in hits]
    return Likeness("words", lambda i, j: jaccard(words[i], words[j]))


def _cosines(packed: Sequence[bytes]) -> Callable[[int, int], float]:
    """The cosine of two of these unit vectors by their places, 0 for negative ones.

    By numpy where it is loaded: 30 vectors of 768 numbers have 435 pairs, of 20 µs each without.
    Rounded, so that the way of computing decides no order.
    """
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and len(set(map(len, packed))) == 1:
        matrix = numpy.frombuffer(b"".join(packed), "<f4").reshape(len(packed), -1)
        matrix = matrix.astype("f8")
        products: list[list[float]] = numpy.clip((matrix @ matrix.T).round(9), 0.0, None).tolist()
        return lambda i, j: products[i][j]
    from commonplace.plugin import floats

    # Lists: their numbers are objects already, which an array creates again each time.
    vectors = [floats(vector).tolist() for vector in packed]
    product: Callable[[list[float], list[float]], float] = getattr(math, "sumprod", _sumprod)
    return lambda i, j: max(0.0, round(product(vectors[i], vectors[j]), 9))


def _sumprod(one: list[float], other: list[float]) -> float:  # as of Python 3.12
    product: float = sum(map(mul, one, other))
    return product


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


class Mmr:
    """Picks, again and again, the hit with the largest λ x relevance - (1 - λ) x likeness.

    Relevance is the score stretched to 0..1 over the hits; likeness that to the most similar hit
    picked already: cosine where all hits that are compared have a vector, else Jaccard of their
    words, in any script; each hit says which. Ties go to the higher score, then to the earlier
    hit. Order changes, scores do not (Carbonell and Goldstein 1998).
    """

    id = "mmr"
    stage: Literal["select"] = "select"
    needs: frozenset[str] = frozenset()

    def __init__(self, lambda_: float = 0.7) -> None:
        if not 0 <= lambda_ <= 1:
            raise ValueError("lambda is between 0 and 1")
        self._lambda = lambda_

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Reorder; the hits beyond three times the limit keep their places behind.

        Under the profile ``compat`` all are reordered, and only where keywords and vectors both
        searched, as in the original.
        """
        compat = context.profile == "compat"
        if compat and not {"bm25", "cosine"} <= context.kinds:
            note = "only where keywords and vectors search"
            return [with_step(hit, self.id, hit.score, note) for hit in hits]
        depth = len(hits) if compat else 3 * context.limit
        head, tail = list(hits[:depth]), list(hits[depth:])
        if len(head) < 2 or self._lambda == 1:
            return [with_step(hit, self.id, hit.score, "order kept") for hit in hits]
        by, alike = likeness_of(head, context)
        low, high = min(hit.score for hit in head), max(hit.score for hit in head)
        spread = high - low
        relevance = [(hit.score - low) / spread if spread else 1.0 for hit in head]
        nearest = [0.0] * len(head)
        left = list(range(len(head)))
        order: list[int] = []
        while left:
            best = max(
                left,
                key=lambda i: (
                    self._lambda * relevance[i] - (1 - self._lambda) * nearest[i],
                    head[i].score,
                    -i,
                ),
            )
            left.remove(best)
            order.append(best)
            for i in left:
                nearest[i] = max(nearest[i], alike(best, i))
        moved = [
            with_step(
                head[i], self.id, head[i].score, f"{position_note(i, place, len(hits))}, by {by}"
            )
            for place, i in enumerate(order)
        ]
        return moved + [with_step(hit, self.id, hit.score, "place kept") for hit in tail]
