"""Adjustments of fused scores: decay, the bonus of ``compat``, importance, and spread."""

from __future__ import annotations

import re
from math import exp, log
from typing import TYPE_CHECKING

from commonplace.plugin import with_step
from commonplace_ranking.fusion import days_since_epoch, unit_score

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from commonplace.plugin import Candidate, RankContext, StoredChunk


FLOOR = 0.5
"""An old note keeps half its score: an exact identifier in it stays findable."""

_DAY = 86_400.0


def decay_factor(age_days: float, half_life_days: float) -> float:
    """exp(-ln 2 / half-life x age), 0 to 1; 1 for what lies in the future."""
    return exp(-log(2) / half_life_days * max(0.0, age_days))


class TemporalDecay:
    """Multiplies the score of a dated chunk by its decay, never below the floor.

    The date is that of the document's path. Evergreen notes have none, and do not decay. Under the
    profile ``compat`` the floor is 0, and only what keywords have searched decays, as in the
    original.
    """

    id = "temporal_decay"
    stage: Literal["adjust"] = "adjust"
    needs: frozenset[str] = frozenset({"dates"})

    def __init__(self, half_life_days: float = 30.0) -> None:
        if half_life_days <= 0:
            raise ValueError("a half-life is more than 0 days")
        self._half_life = half_life_days

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Apply the decay."""
        if context.profile == "compat" and "bm25" not in context.kinds:
            return [with_step(hit, self.id, hit.score, "only beside keywords") for hit in hits]
        floor = 0.0 if context.profile == "compat" else FLOOR
        return [self._aged(hit, context.now, floor) for hit in hits]

    def _aged(self, hit: Candidate, now: float, floor: float) -> Candidate:
        day = hit.chunk.day
        if day is None:
            return with_step(hit, self.id, hit.score, "no date")
        age = now / _DAY - days_since_epoch(day)
        factor = max(floor, decay_factor(age, self._half_life))
        return with_step(
            hit, self.id, hit.score * factor, f"x {factor:.3f}, {max(0, int(age))} days"
        )


_TOKEN = re.compile(r"\w+")


class LexicalBoost:
    """Part of the profile ``compat``."""

    id = "lexical_boost"
    stage: Literal["adjust"] = "adjust"
    needs: frozenset[str] = frozenset()

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Apply :func:`boosted` to each hit; only where keywords searched alone.

        What was found by several words, each asked singly, has the best score that one gives it.
        """
        if context.kinds != {"bm25"}:
            note = "only where keywords search alone"
            return [with_step(hit, self.id, hit.score, note) for hit in hits]
        return [with_step(hit, self.id, _best(hit, context)) for hit in hits]


def _best(hit: Candidate, context: RankContext) -> float:
    whole, chunk = context.query.words or context.query.text, hit.chunk
    scores = [
        (min(hit.score, unit_score(arm_score, compat=True)), arm_score.arm.partition(":")[2])
        for arm_score in hit.explain.arms
        if ":" in arm_score.arm
    ]
    return max(
        boosted(score, set(_TOKEN.findall(words.lower())), chunk.text, chunk.path)
        for score, words in scores or [(hit.score, whole)]
    )


def boosted(score: float, query_tokens: set[str], text: str, path: str) -> float:
    """The original's score of a keyword hit when there is no provider, 0..1.

    min(1, score + 0.45 x share of query tokens in the text + 0.2 x share of text tokens in the
    query + 0.18 for each query token in the path + min(length / 160, 0.18)).
    """
    if not query_tokens:
        return score
    text_tokens = set(_TOKEN.findall(text.lower()))
    common = len(query_tokens & text_tokens)
    low_path = path.lower()
    return min(
        1.0,
        score
        + 0.45 * common / len(query_tokens)
        + (0.2 * common / len(text_tokens) if text_tokens else 0.0)
        + 0.18 * sum(token in low_path for token in query_tokens)
        + min(len(text) / 160, 0.18),
    )


_IMPORTANCE = re.compile(r"<!--[^>]*?\bimportance\s*[:=]\s*(\d{1,3}(?:\.\d{1,6})?)\b[^>]*?-->")
_USUAL = 0.5


def importance_of(text: str) -> float | None:
    """The largest importance (0..1) that comments in ``text`` give, or ``None``.

    ``<!-- importance: 0.8 -->`` is what `commonplace remember --importance` writes. A number above
    1 is out of 10, as in the notes of other agents: 8 is 0.8.
    """
    if "importance" not in text:
        return None
    numbers = [float(value) for value in _IMPORTANCE.findall(text)]
    return max((min(1.0, n / 10 if n > 1 else n) for n in numbers), default=None)


class Importance:
    """Multiplies a score by 1 + weight x (importance - 0.5), where a comment beside it gives one.

    With the usual weight of 0.5 these are the factors of the original, 0.75 + 0.05 x n for n of 10.
    Scores end at 1. What has no importance keeps its score.
    """

    id = "importance"
    stage: Literal["adjust"] = "adjust"
    needs: frozenset[str] = frozenset()

    def __init__(self, weight: float = 0.5) -> None:
        if not 0 <= weight <= 1:
            raise ValueError("a weight is 0 to 1")
        self._weight = weight

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:  # noqa: ARG002
        """Apply it."""
        return [self._weighed(hit) for hit in hits]

    def _weighed(self, hit: Candidate) -> Candidate:
        importance = importance_of(hit.chunk.text)
        if importance is None:
            return with_step(hit, self.id, hit.score, "no importance")
        factor = 1 + self._weight * (importance - _USUAL)
        return raised(hit, self.id, factor, f"importance {importance:g}")


def raised(hit: Candidate, ranker: str, factor: float, note: str) -> Candidate:
    """``hit`` with its score times ``factor``, at most 1; its step says where that is less."""
    score = hit.score * factor
    capped = ", capped at 1" if score > 1 else ""
    return with_step(hit, ranker, min(1.0, score), f"x {factor:.3f}{capped}, {note}")


class Spread:
    """Lowers what follows better passages of its document, so that hits come from several.

    By falling score: ``another`` ^ (passages of its document before it), and times ``next_to`` if
    one of those touches it. Keyword matches of stores that count have this in their second score
    already; it is meant for vectors, and for other engines.
    """

    id = "spread"
    stage: Literal["adjust"] = "adjust"
    needs: frozenset[str] = frozenset()

    def __init__(self, another: float = 0.9, next_to: float = 0.8) -> None:
        if not (0 <= another <= 1 and 0 <= next_to <= 1):
            raise ValueError("a share is 0 to 1")
        self._another = another
        self._next_to = next_to

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:  # noqa: ARG002
        """Apply it; equal scores are walked by path and line."""
        before: dict[tuple[str, str], list[StoredChunk]] = {}
        lowered = list(hits)
        for index in sorted(range(len(hits)), key=lambda index: _by_score(hits[index])):
            chunk = hits[index].chunk
            better = before.setdefault((chunk.source, chunk.path), [])
            lowered[index] = self._lowered(hits[index], better)
            better.append(chunk)
        return lowered

    def _lowered(self, hit: Candidate, better: Sequence[StoredChunk]) -> Candidate:
        if not better:
            return with_step(hit, self.id, hit.score, "first of its document")
        factor, note = self._another ** len(better), f"{len(better)} of its document before it"
        if any(_touch(hit.chunk, other) for other in better):
            factor, note = factor * self._next_to, f"{note}, next to one"
        return with_step(hit, self.id, hit.score * factor, f"x {factor:.3f}, {note}")


def _by_score(hit: Candidate) -> tuple[float, str, str, int, int, str]:
    chunk = hit.chunk
    lines = chunk.start_line, chunk.end_line
    return (-hit.score, chunk.source, chunk.path, *lines, str(chunk.id))


def _touch(chunk: StoredChunk, other: StoredChunk) -> bool:
    """Whether no more than a blank line lies between two chunks of a document."""
    return chunk.start_line <= other.end_line + 2 and other.start_line <= chunk.end_line + 2
