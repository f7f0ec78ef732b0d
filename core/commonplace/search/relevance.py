"""Reordering by a judge that reads query and text together, such as a cross-encoder."""

from __future__ import annotations

from math import exp, isfinite
from typing import TYPE_CHECKING, Protocol

from commonplace.errors import UnavailableError
from commonplace.model.chunks import embedding_text
from commonplace.search.search import with_step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from commonplace.model.search import Candidate
    from commonplace.protocols.contexts import RankContext

_MOST_LOGIT = 700.0  # beyond it exp overflows


class RelevanceJudge(Protocol):
    """Whatever scores texts by a query: a server, a model on this machine."""

    def judge(self, query: str, texts: Sequence[str]) -> Mapping[int, float]:
        """Scores of ``texts`` by their positions, of any range: higher is more relevant.

        It may leave out texts that it cannot judge. Raises
        :class:`~commonplace.errors.UnavailableError` where it cannot answer now.
        """
        ...


class RelevanceRanker:
    """Puts the first ``candidates`` hits into the order that ``judge`` gives them.

    They are ordered by weight x relevance + (1 - weight) x their share of the best score; the
    others stay behind them. A note gives a hit's number among these: some of them may be left out
    of the search later, as their cosine is too low or they fold. Relevances are the judge's scores
    where all are in 0..1, else 1 / (1 + e^-score). Scores of hits stay. Where the judge fails, the
    order stays, and a note of the search says why: the host skips a ranker that raises.

    Raises ``ValueError`` for fewer than one candidate or a weight outside 0..1.
    """

    stage: Literal["select"] = "select"
    needs: frozenset[str] = frozenset()

    def __init__(
        self, name: str, judge: RelevanceJudge, *, candidates: int = 20, weight: float = 1.0
    ) -> None:
        if candidates < 1 or not 0 <= weight <= 1:
            raise ValueError("at least one candidate is ranked, and a weight is 0 to 1")
        self.id = name
        self._judge = judge
        self._candidates = candidates
        self._weight = weight

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> list[Candidate]:
        """Ask, and reorder. Raises :class:`~commonplace.errors.UnavailableError`."""
        head, tail = list(hits[: self._candidates]), hits[self._candidates :]
        if len(head) < 2:
            return [with_step(hit, self.id, hit.score, "nothing to reorder") for hit in hits]
        query = context.query.words or context.query.text
        scores = self._judge.judge(query, [embedding_text(hit.chunk) for hit in head])
        relevances = _relevances(scores, len(head))
        best = max(hit.score for hit in head) or 1.0
        keys = [
            self._weight * relevances.get(at, 0.0) + (1 - self._weight) * hit.score / best
            for at, hit in enumerate(head)
        ]
        ranked = []
        for place, at in enumerate(sorted(range(len(head)), key=lambda at: -keys[at]), 1):
            judged = f"relevance {relevances[at]:.3f}" if at in relevances else "not judged"
            note = f"number {place} of {len(head)} candidates ({at + 1} before), {judged}"
            ranked.append(with_step(head[at], self.id, head[at].score, note))
        return ranked + [with_step(hit, self.id, hit.score, "not judged") for hit in tail]


def _relevances(scores: Mapping[int, float], count: int) -> Mapping[int, float]:
    if not scores or not all(0 <= at < count and isfinite(s) for at, s in scores.items()):
        raise UnavailableError("its judgement is not one score for each text it was given")
    if all(0 <= score <= 1 for score in scores.values()):
        return scores
    return {at: 1 / (1 + exp(min(_MOST_LOGIT, -score))) for at, score in scores.items()}
