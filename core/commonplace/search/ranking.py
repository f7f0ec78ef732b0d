"""Which rankers run: the chain of a profile, or the one the configuration names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.config.defaults import RANKERS, SWITCHED_RANKERS
from commonplace.model.search import ArmScore, Candidate, Explanation, Step
from commonplace.protocols.contexts import RankerContext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.config import Settings
    from commonplace.host.host import PluginHost
    from commonplace.model.search import Arm, ChunkId
    from commonplace.protocols.contexts import RankContext
    from commonplace.protocols.rankers import Ranker

__all__ = [
    "candidates_of",
    "chain_of",
    "make_rankers",
    "rank",
    "with_step",
]


def chain_of(settings: Settings) -> tuple[str, ...]:
    """The ids of the rankers that run.

    ``ranking.chain`` as it stands, if it is set. Otherwise the profile's (``default`` is ours,
    ``compat`` gives the original's numbers), with the rankers that their settings switch on.
    """
    ranking = settings.search.ranking
    if ranking.chain is not None:
        return ranking.chain
    switched = (id_ for id_ in SWITCHED_RANKERS if settings.plugin_section(id_).get("enabled"))
    return (*RANKERS[ranking.profile], *switched)


def make_rankers(host: PluginHost, settings: Settings) -> list[Ranker]:
    """The rankers of :func:`chain_of`, each with its own section of the configuration.

    Raises :class:`~commonplace.errors.PluginUnavailableError` for an id no plugin registers.
    """
    hybrid = settings.search.query.hybrid
    return [
        host.ranker(id_).factory(
            RankerContext(hybrid.vector_weight, hybrid.text_weight, settings.plugin_config(id_))
        )
        for id_ in chain_of(settings)
    ]


_STAGES = ("fuse", "adjust", "select")


def candidates_of(arms: Sequence[Arm]) -> list[Candidate]:
    """The union of the arms' hits by chunk, each with what every arm said of it.

    In order of first appearance, arm by arm; scores are 0 until a ``fuse`` ranker has run.
    """
    found: dict[ChunkId, Candidate] = {}
    for arm in arms:
        for rank_, item in enumerate(arm.found, 1):
            said = ArmScore(arm=arm.name, kind=arm.kind, raw=item.score, rank=rank_)
            known = found.get(item.chunk.id)
            if known is None:
                found[item.chunk.id] = Candidate(item.chunk, 0.0, Explanation(arms=(said,)))
            else:
                explain = known.explain.replace(arms=(*known.explain.arms, said))
                found[item.chunk.id] = known._replace(explain=explain)
    return list(found.values())


def rank(
    hits: Sequence[Candidate], rankers: Sequence[Ranker], context: RankContext
) -> list[Candidate]:
    """Run ``rankers`` in the order of their stages, and within a stage as they are given.

    A ranker whose need is not met is skipped, and each hit says so. Before ``select`` the hits are
    sorted by score; equal ones by source, path and line, so that the order is always the same.
    """
    ranked = list(hits)
    for stage in _STAGES:
        if stage == "select":
            ranked.sort(key=_by_score)
        for ranker in rankers:
            if ranker.stage != stage:
                continue
            missing = _missing(ranker, context)
            if missing:
                note = f"skipped: needs {', '.join(missing)}"
                ranked = [with_step(hit, ranker.id, hit.score, note) for hit in ranked]
            else:
                ranked = list(ranker.rank(ranked, context))
    return ranked


def with_step(hit: Candidate, ranker: str, score: float, note: str = "") -> Candidate:
    """``hit`` with a new score, and the step that gave it."""
    step = Step(ranker=ranker, before=hit.score, after=score, note=note)
    explain = hit.explain.replace(steps=(*hit.explain.steps, step))
    return hit._replace(score=score, explain=explain)


def _missing(ranker: Ranker, context: RankContext) -> list[str]:
    has = {"dates": True, "vectors": context.vectors is not None}
    return sorted(need for need in ranker.needs if not has.get(need, False))


def _by_score(hit: Candidate) -> tuple[float, str, str, int]:
    return (-hit.score, hit.chunk.source, hit.chunk.path, hit.chunk.start_line)
