"""One search from the words typed to the hits shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.model.search import ArmFacts, Query, SearchResult
from commonplace.model.tuples import NamedTuple
from commonplace.protocols.contexts import RankContext
from commonplace.resilience.deadline import Deadline
from commonplace.search.ranking import candidates_of, rank
from commonplace.search.snippets import above, hits_of
from commonplace.text.query import parse_query

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from commonplace.config import SearchSettings
    from commonplace.fallback.turn import Turn
    from commonplace.model.search import Arm, Hit, Where
    from commonplace.protocols.rankers import Ranker
    from commonplace.text.analyse import Analyser

__all__ = ["Found", "Searcher"]

_CANDIDATES_AT_MOST = 200
_SECONDS = 30.0


class Found(NamedTuple):
    """What a search found, through which arms, and words for the user about it."""

    hits: tuple[Hit, ...]
    arms: tuple[Arm, ...]
    notes: tuple[str, ...] = ()

    def vector_arm(self) -> Arm | None:
        """The arm that a query's embedding was made for, or should have been, if there is one."""
        return next((arm for arm in self.arms if arm.provider or arm.fallback), None)

    def result(self, turn: Turn) -> SearchResult:
        """The same for who asked, with who answered in that turn."""
        arm = self.vector_arm()
        return SearchResult(
            hits=self.hits,
            backend=turn.backend,
            provider=arm.provider if arm else None,
            model=arm.model if arm else None,
            fallback=turn.fallback or (arm.fallback if arm else None),
            stale=turn.freshness.stale,
            notes=(*self.notes, *turn.freshness.notes),
            arms=tuple(
                ArmFacts(arm.name, len(arm.found), arm.exact, arm.plan, arm.note)
                for arm in self.arms
            ),
        )


class Searcher:
    """Analyses a query once, asks the engines, ranks and presents what they answer."""

    def __init__(
        self,
        settings: SearchSettings,
        analyser: Analyser,
        rankers: Sequence[Ranker],
        sources: Sequence[str],
    ) -> None:
        self._settings = settings
        self._analyser = analyser
        self._rankers = rankers
        self._sources = sources

    def search(
        self,
        turn: Turn,
        text: str,
        *,
        limit: int,
        min_score: float | None,
        sources: Sequence[str] | None,
        session_key: str = "",
        now: float,
    ) -> Found:
        """The hits, best first, and the arms they came from; nothing below a hidden root."""
        parsed = parse_query(text)
        query = Query(
            text=text,
            keyword=self._analyser.query(parsed),
            words=" ".join(parsed.words),
            session_key=session_key,
        )
        if not query.keyword.should:
            return Found((), (), ("the query has no words to search for",))
        where = _narrowed(parsed.where, sources)
        wide = min(_CANDIDATES_AT_MOST, limit * self._settings.query.hybrid.candidate_multiplier)
        deadline = Deadline.after(_SECONDS)
        arms = turn.search(query, where=where, limit=max(limit, wide), deadline=deadline)
        answered = {found.chunk.source for arm in arms for found in arm.found}
        notes = (*self._unknown_sources(answered, parsed.where.sources, sources), *_notes(arms))
        if query.keyword.must and not any(arm.found for arm in arms if arm.kind != "cosine"):
            # Questions quote things too: what no note holds word for word is no reason for silence.
            query = query._replace(keyword=query.keyword._replace(must=()))
            arms = turn.search(query, where=where, limit=max(limit, wide), deadline=deadline)
            if parsed.phrases and any(arm.found for arm in arms):
                notes += ("no note has the quoted words side by side; shown is what comes near",)
        profile = self._settings.ranking.profile
        ranked = rank(
            candidates_of(arms),
            self._rankers,
            RankContext(
                query=query,
                now=now,
                limit=limit,
                profile=profile,
                arms=tuple(arm.name for arm in arms if not arm.note),
                vectors=next((arm.vectors for arm in arms if arm.vectors), None),
            ),
        )
        hides = turn.freshness.hides
        passed = above(
            [hit for hit in ranked if not hides(hit.chunk.source, hit.chunk.path)],
            configured=self._settings.query.min_score,
            asked=min_score,
            compat=profile == "compat",
            text_weight=self._settings.query.hybrid.text_weight,
        )
        hits = hits_of(passed, query.keyword, self._analyser, limit=limit)
        return Found(hits, arms, notes)

    def _unknown_sources(
        self, answered: Collection[str], *asked: Collection[str] | None
    ) -> Iterator[str]:
        """Words on each source that is asked for and not there: why nothing came of it."""
        wanted = {source for sources in asked for source in sources or ()}
        # An engine may have sources of its own.
        for source in sorted(wanted.difference(self._sources, answered)):
            yield f"there is no source {source!r} here, only {', '.join(self._sources) or 'none'}"


def _notes(arms: Sequence[Arm]) -> Iterator[str]:
    return (arm.note for arm in arms if arm.note)


def _narrowed(where: Where, sources: Sequence[str] | None) -> Where:
    """``where``, and of its sources only those the call asks for."""
    if sources is None:
        return where
    asked = frozenset(sources)
    return where._replace(sources=asked if where.sources is None else where.sources & asked)
