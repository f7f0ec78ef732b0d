"""The rankers of a usual search: fusion of the scores that arms give a hit, and recency."""

from __future__ import annotations

from math import atanh, sqrt, tanh
from typing import TYPE_CHECKING

from commonplace.plugin import NamedTuple, asks_for_earliest, with_step, words_of_now

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from commonplace.plugin import ArmScore, Candidate, ChunkId, RankContext


BM25_HALF = 8.0
"""The BM25 score that maps to 0.5: about what two rare words give in a few hundred notes."""

BM25_LEAST = 0.5
"""Added to every match: in a handful of notes all words are common, and BM25 gives them nothing."""


def unit_score(arm_score: ArmScore, *, compat: bool = False) -> float:
    """A raw score of any kind as 0..1, more is better.

    ``bm25`` saturates, s / (s + 8) with s half a point above the raw score: the best hit of a bad
    list stays low, whatever else is in the list. The original's map, s / (s + 1) of the raw score,
    serves ``compat``. A store that counts gives the evidence of its scores, which is taken instead:
    it means the same in any workspace. Under both, evidence without a raw score is taken as it is.
    ``cosine`` loses its negative half.
    ``rank`` and ``opaque`` scores count by rank alone, 1 / rank, unless they are 0..1 already.
    """
    if arm_score.kind == "bm25":
        if arm_score.raw <= 0:
            return arm_score.evidence or 0.0
        if arm_score.evidence is not None and not compat:
            return arm_score.evidence
        score, half = (arm_score.raw, 1.0) if compat else (arm_score.raw + BM25_LEAST, BM25_HALF)
        return score / (score + half)
    if arm_score.kind == "cosine" or (arm_score.kind == "opaque" and 0 <= arm_score.raw <= 1):
        return min(1.0, max(0.0, arm_score.raw))
    return 1.0 / arm_score.rank


class Single:
    """Takes each hit's best arm."""

    id = "single"
    stage: Literal["fuse"] = "fuse"
    needs: frozenset[str] = frozenset()

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Map and keep; where there are several arms, the better score counts."""
        compat = context.profile == "compat"
        return [_whole(hit, self.id, "", compat=compat) for hit in hits]


class Weighted:
    """score = vector weight x cosine + text weight x keyword score; an absent side counts 0.

    The weights sum to 1. Where arms of only one kind answered, the best score is taken whole:
    weights compare kinds, and there is nothing to compare. So is that of a hit that has no vector
    yet, of which no cosine is known. Arms that are neither count as text.
    """

    id = "weighted"
    stage: Literal["fuse"] = "fuse"
    needs: frozenset[str] = frozenset()

    def __init__(self, vector_weight: float = 0.7, text_weight: float = 0.3) -> None:
        total = vector_weight + text_weight
        if vector_weight < 0 or text_weight < 0 or total <= 0:
            raise ValueError("weights are at least 0, and one of them is more")
        self._vector = vector_weight / total
        self._text = text_weight / total

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Fuse; the step's note shows both sides."""
        compat = context.profile == "compat"
        if len(context.kinds or context.arms) < 2:
            return [_whole(hit, self.id, "one arm", compat=compat) for hit in hits]
        unembedded = () if compat else context.unembedded
        return [
            _whole(hit, self.id, "not embedded yet")
            if hit.chunk.id in unembedded
            else self._fused(hit, compat=compat)
            for hit in hits
        ]

    def _fused(self, hit: Candidate, *, compat: bool) -> Candidate:
        vectors, texts = [], []
        for arm_score in hit.explain.arms:
            if arm_score.kind != "cosine":
                texts.append((unit_score(arm_score, compat=compat), arm_score.arm))
            else:
                # In the original a negative cosine counts against what the words say.
                score = max(-1.0, min(1.0, arm_score.raw)) if compat else unit_score(arm_score)
                vectors.append((score, arm_score.arm))
        vector, by_vector = max(vectors, default=(0.0, ""))
        text, by_text = max(texts, default=(0.0, ""))
        score = max(0.0, self._vector * vector + self._text * text)
        note = f"{self._vector:.2g} x {vector:.3f} + {self._text:.2g} x {text:.3f}"
        parts = ((by_vector, self._vector * vector), (by_text, self._text * text))
        return with_step(hit, self.id, score, note, tuple(part for part in parts if part[0]))


class Trust(NamedTuple):
    """What evidence e of keywords weighs beside vectors: ``weight`` x e / (1 + ``damping`` x e)."""

    weight: float
    damping: float = 0.0


TRUST = {"unknown": Trust(4.0), "proven": Trust(4.0, 2.0), "weak": Trust(8.0)}
"""How good the vectors of a model are for these notes, beside keywords."""

MOST_WEIGHT = 100.0

_VECTOR_FLAT = 5
_KEYWORD_FLAT = 20
_UNWEIGHED = 0.5
_VECTOR_SHARE = 0.8


class Evidence:
    """score = s / (1 + s); s = 6 / (5 + vector rank) + c e / (1 + b e) x 21 / (20 + keyword rank).

    e (0..1) is the absolute evidence of a keyword hit: how much of the query its words cover, the
    ``coverage`` that a store's counts give. Without it e = 0.5 x the share of the query's words
    that the text has x sqrt(BM25 / best BM25). Ranks count from 1, and a list that lacks a hit adds
    0. c and b say how far vectors are trusted, see :data:`TRUST`. The best hit of a bad keyword
    list stays low, which no fusion by ranks alone can know; and cosines, which no two models scale
    alike, count by their order.

    Where arms of only one kind answered, their order and scores are kept; so is the score of a hit
    that has no vector yet. Where not both BM25 and cosines did, the score is the sum of the best
    6 / (5 + rank) by cosine x 0.8 and by another arm x 0.2; without cosines the mean over all arms.
    """

    id = "evidence"
    stage: Literal["fuse"] = "fuse"
    needs: frozenset[str] = frozenset()

    def __init__(self, trust: Trust = TRUST["unknown"]) -> None:
        if not all(0 <= number <= MOST_WEIGHT for number in trust):
            raise ValueError(f"trust is made of numbers from 0 to {MOST_WEIGHT:g}")
        self._trust = trust

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Fuse; the step's note shows each term."""
        compat = context.profile == "compat"
        if len(context.kinds or context.arms) < 2:
            return [_whole(hit, self.id, "one arm", compat=compat) for hit in hits]
        if not {"bm25", "cosine"} <= context.kinds:
            return [self._by_rank(hit, context) for hit in hits]
        keyword = context.query.keyword
        words = frozenset(keyword.should) - keyword.beside or frozenset(keyword.should)
        raws = (
            arm_score.raw
            for hit in hits
            for arm_score in hit.explain.arms
            if arm_score.kind == "bm25"
        )
        best = max(raws, default=0.0)
        return [
            _whole(hit, self.id, "not embedded yet", compat=compat)
            if hit.chunk.id in context.unembedded
            else self._fused(hit, words, best)
            for hit in hits
        ]

    def _fused(self, hit: Candidate, words: frozenset[str], best: float) -> Candidate:
        vectors, texts = [], []
        for arm_score in hit.explain.arms:
            if arm_score.kind == "cosine":
                near = (_VECTOR_FLAT + 1) / (_VECTOR_FLAT + arm_score.rank)
                vectors.append(
                    (near, f"{arm_score.arm} {_nth(arm_score.rank)} {near:.3f}", arm_score.arm)
                )
            else:
                texts.append(self._text(arm_score, _evidence_of(arm_score, hit, words, best)))
        terms = [max(terms) for terms in (vectors, texts) if terms]
        total = sum(number for number, _, _ in terms)
        parts = tuple((arm, number / (1 + total)) for number, _, arm in terms)
        note = " + ".join(note for _, note, _ in terms)
        return with_step(hit, self.id, total / (1 + total), note, parts)

    def _text(self, arm_score: ArmScore, evidence: float) -> tuple[float, str, str]:
        weight, damping = self._trust
        by_rank = (_KEYWORD_FLAT + 1) / (_KEYWORD_FLAT + arm_score.rank)
        note = f"{arm_score.arm} {_nth(arm_score.rank)} {weight:g} x {evidence:.3f}"
        if damping:
            note += f" / (1 + {damping:g} x {evidence:.3f})"
        if arm_score.rank > 1:
            note += f" x {by_rank:.3f}"
        return weight * evidence / (1 + damping * evidence) * by_rank, note, arm_score.arm

    def _by_rank(self, hit: Candidate, context: RankContext) -> Candidate:
        arms = hit.explain.arms
        if "cosine" in context.kinds:
            sides = [[a for a in arms if (a.kind == "cosine") == near] for near in (True, False)]
            best = [min(side, key=lambda arm_score: arm_score.rank) for side in sides if side]
            shares = [_VECTOR_SHARE if a.kind == "cosine" else 1 - _VECTOR_SHARE for a in best]
        else:
            best, shares = list(arms), [1 / max(len(context.arms), len(arms))] * len(arms)
        first, weighted = _VECTOR_FLAT + 1, list(zip(shares, best, strict=True))
        parts = tuple((a.arm, share * first / (_VECTOR_FLAT + a.rank)) for share, a in weighted)
        note = " + ".join(
            f"{share:.2g} x {first}/({_VECTOR_FLAT}+{a.rank}) {a.arm}" for share, a in weighted
        )
        return with_step(hit, self.id, min(1.0, sum(part for _, part in parts)), note, parts)


def _evidence_of(arm_score: ArmScore, hit: Candidate, words: frozenset[str], best: float) -> float:
    if arm_score.coverage is not None:
        return min(1.0, max(0.0, arm_score.coverage))
    covered = words.intersection((hit.chunk.body or hit.chunk.text.lower()).split())
    share = len(covered) / len(words) if words else 0.0
    # An arm of no BM25 gives ranks alone.
    height = max(0.0, arm_score.raw) / best if arm_score.kind == "bm25" and best > 0 else 1.0
    return _UNWEIGHED * share * sqrt(min(1.0, height))


def _nth(rank: int) -> str:
    ending = "th" if 10 < rank % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"


def _whole(hit: Candidate, ranker: str, note: str, *, compat: bool = False) -> Candidate:
    """``hit`` with the best score that an arm gave it."""
    best, by = max([(unit_score(arm, compat=compat), arm.arm) for arm in hit.explain.arms])
    if compat:
        arm_score = next(arm for arm in hit.explain.arms if arm.arm == by)
        if arm_score.kind == "bm25" and arm_score.raw > 0:
            note = f"{note}: {arm_score.raw:.3f} / ({arm_score.raw:.3f} + 1)"
    return with_step(hit, ranker, best, note, ((by, best),) if best else ())


_DAY = 86_400.0

_NOW_HALF_LIFE = 365.0
_SERIES = 0.75
_ALMOST_1 = 1 - 1e-15


class Recency:
    """Lowers the score of a dated chunk a little with its age; undated ones keep theirs.

    score x (1 - weight x (1 - 0.5 ^ (age / half-life))): never less than ``1 - weight`` of it, so
    that an exact identifier in an old note stays ahead of what merely is new. Where keywords alone
    answered, and not by ranks, it lowers what their scores were before they were squeezed below 1,
    tanh(factor x artanh(score)): what covers the whole query and what covers most of it both come
    near to 1, and a tenth less of that would turn them over.

    Where the query asks for what holds now, age counts for more: the factor is one of the score
    itself, and the same with ``now`` for the weight and a year for the half-life a second one. It
    tells the notes of an archive of years apart, the first those of a month. Where it asks for the
    present ("current"), the newest of several notes about the same (``series.py``) loses nothing,
    the others by the order of their days, too, the oldest 3/4 x ``now``. Where it asks for what was
    first, the age counts from the oldest hit on: the newer lose.
    """

    id = "recency"
    stage: Literal["adjust"] = "adjust"
    needs: frozenset[str] = frozenset({"dates"})

    def __init__(self, weight: float = 0.1, half_life_days: float = 30.0, now: float = 0.4) -> None:
        if not (0 <= weight <= 1 and 0 <= now <= 1) or half_life_days <= 0:
            raise ValueError("a weight is 0 to 1, and a half-life more than 0 days")
        self._usual, self._present = (weight, half_life_days), (now, _NOW_HALF_LIFE)
        self._series = _SERIES * now
        # The day, and what a chunk of each other day gets on it.
        self._known: tuple[int, dict[str | None, _Prior]] = (-1, {})

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Apply the prior, unless the query names days; notes of the future count as today's."""
        query = context.query
        if query.keyword.days:
            note = "no prior: the query names a time"
            return [with_step(hit, self.id, hit.score, note) for hit in hits]
        text = query.words or query.text
        present = self._usual[0] > 0 and bool(words_of_now(text))
        earliest = not present and asks_for_earliest(text)
        steps = hits[0].explain.steps if hits else ()
        by_rank = any(step.ranker == ReciprocalRank.id for step in steps)
        squeezed = context.kinds == {"bm25"} and not by_rank
        today = int(context.now // _DAY)
        if earliest:
            return self._oldest_first(hits, today, squeezed=squeezed)
        known_on, priors = self._known  # as one: threads share it
        if known_on != today:
            priors = {None: _Prior(1.0, 1.0, "no date")}
            self._known = today, priors
        ages: dict[ChunkId, float] = {}
        if present and self._series and query.keyword.timed:
            from commonplace_ranking.series import ages_in_series, asks_for_a_state

            ages = ages_in_series(hits) if asks_for_a_state(query) else {}
        aged = []
        for hit in hits:
            day = hit.chunk.day
            if (prior := priors.get(day)) is None:
                prior = priors[day] = self._prior(day or "", today)
            note, age = prior.note, ages.get(hit.chunk.id)
            if age == 0:  # it holds, however old it is
                score, note = hit.score, "no prior: the newest of those about the same"
            elif present and day:
                place = 1 - self._series * (age or 0.0)
                score = hit.score * prior.usual * prior.now * place
                note += f", x {prior.now:.3f} as the query asks for now"
                if age:
                    note += f", x {place:.3f} by its day among those about the same"
            else:
                score, squeeze_note = _lowered(hit.score, prior.usual, squeezed=squeezed)
                note += squeeze_note
            aged.append(with_step(hit, self.id, score, note))
        return aged

    def _oldest_first(
        self, hits: Sequence[Candidate], today: int, *, squeezed: bool
    ) -> list[Candidate]:
        days = [min(today, days_since_epoch(day)) for hit in hits if (day := hit.chunk.day)]
        oldest = min(days, default=today)
        weight, half_life = self._usual
        aged = []
        for hit in hits:
            factor, note = 1.0, "no date"
            if hit.chunk.day:
                younger = min(today, days_since_epoch(hit.chunk.day)) - oldest
                factor = 1 - weight * (1 - 0.5 ** (younger / half_life))
                note = f"x {factor:.3f}, {younger} days after the oldest, which is asked for"
            score, squeeze_note = _lowered(hit.score, factor, squeezed=squeezed)
            aged.append(with_step(hit, self.id, score, note + squeeze_note))
        return aged

    def _prior(self, day: str, today: int) -> _Prior:
        age = max(0, today - days_since_epoch(day))
        usual, now = (
            1 - weight * (1 - 0.5 ** (age / half_life))
            for weight, half_life in (self._usual, self._present)
        )
        return _Prior(usual, now, f"x {usual:.3f} for an age of {age} days")


def _lowered(score: float, factor: float, *, squeezed: bool) -> tuple[float, str]:
    """``score`` times ``factor``, or what it was before it was ``squeezed``; and a note on that."""
    if squeezed and factor < 1 and 0 < score <= 1:
        lowered = tanh(factor * atanh(min(score, _ALMOST_1)))
        return lowered, ", applied before the score is kept below 1"
    return score * factor, ""


class _Prior(NamedTuple):
    usual: float
    now: float
    note: str


def days_since_epoch(day: str) -> int:
    """The number of an ISO date, 0 for 1970-01-01 (by hand: importing datetime costs a search)."""
    year, month, date = map(int, day.split("-"))
    year -= month < 3  # a year ends with February
    leap_days = year // 4 - year // 100 + year // 400
    return 365 * year + leap_days + (153 * ((month + 9) % 12) + 2) // 5 + date - 719_469


K = 60
"""The usual constant (Cormack, Clarke and Büttcher 2009): it flattens the first places."""


class ReciprocalRank:
    """score = sum over arms of 1 / (60 + rank), divided by what a hit first in every arm gets.

    Of a hit that has no vector yet only the arms count that could have it.
    """

    id = "rrf"
    stage: Literal["fuse"] = "fuse"
    needs: frozenset[str] = frozenset()

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Fuse, to scores above 0 and up to 1."""
        arms = max(1, len(context.arms))
        best = arms / (K + 1)
        of_words = max(1, arms - 1) / (K + 1)
        fused = []
        for hit in hits:
            most = of_words if hit.chunk.id in context.unembedded else best
            arm_scores = hit.explain.arms
            score = min(1.0, sum(1 / (K + one.rank) for one in arm_scores) / most)
            note = " + ".join(f"1/({K}+{one.rank}) {one.arm}" for one in arm_scores)
            parts = tuple((one.arm, 1 / (K + one.rank) / most) for one in arm_scores)
            fused.append(with_step(hit, self.id, score, note, parts))
        return fused
