"""The seam of rankers: one step each between the arms of an engine and the hits shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.model.search import Candidate
    from commonplace.protocols.contexts import RankContext

__all__ = ["Ranker"]


class Ranker(Protocol):
    """One step of ranking: a pure function of hits and context.

    ``fuse`` turns the arms' raw scores into one score in 0..1; ``adjust`` changes scores;
    ``select`` changes order or drops. A ranker never invents a hit. ``needs`` names what it cannot
    do without (``vectors``, ``dates``): where that is missing it is skipped, and hits say so.
    """

    @property
    def id(self) -> str:
        """Stands in explanations."""
        ...

    @property
    def stage(self) -> Literal["fuse", "adjust", "select"]:
        """When it runs."""
        ...

    @property
    def needs(self) -> frozenset[str]:
        """What it cannot do without."""
        ...

    def rank(self, hits: Sequence[Candidate], context: RankContext) -> Sequence[Candidate]:
        """New candidates, each with a :class:`~commonplace.model.search.Step` added."""
        ...
