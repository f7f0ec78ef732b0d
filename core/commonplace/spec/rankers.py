"""The seam of rankers: one step each between the arms of an engine and the hits shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from commonplace.model.search import Candidate, ChunkId, Query

__all__ = ["RankContext", "Ranker", "RankerContext"]


class RankerContext(NamedTuple):
    """What a ranker's factory is given: the keys of ``query.hybrid``, and its own section."""

    vector_weight: float = 0.7
    text_weight: float = 0.3
    half_life_days: float = 30.0
    mmr_lambda: float = 0.7
    config: Any = None


class RankContext(NamedTuple):
    """What a ranker may know besides the hits.

    ``now`` is epoch seconds. ``profile`` is ``default`` or ``compat``. ``arms`` are the names of
    the arms that answered. ``vectors`` maps chunk ids to unit vectors as bytes, or is
    ``None`` where there are none.
    """

    query: Query
    now: float
    limit: int
    profile: str = "default"
    arms: tuple[str, ...] = ()
    vectors: Callable[[Collection[ChunkId]], Mapping[ChunkId, Any]] | None = None


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
