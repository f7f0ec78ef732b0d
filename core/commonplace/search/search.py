"""One search: the words typed become a request; the answer is ranked and made into hits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from commonplace.config.defaults import RANKERS, SWITCHED_RANKERS
from commonplace.model.search import (
    ArmFacts,
    ArmScore,
    Candidate,
    Explanation,
    Query,
    SearchResult,
    Step,
)
from commonplace.model.tuples import NamedTuple
from commonplace.protocols.contexts import RankContext, RankerContext
from commonplace.search.snippets import above, hits_of
from commonplace.text.query import parse_query

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from commonplace.config.search import SearchSettings
    from commonplace.config.settings import Settings
    from commonplace.host.host import PluginHost
    from commonplace.index.syncing import Freshness
    from commonplace.model.search import Arm, ChunkId, Fallback, Where
    from commonplace.protocols.managers import Ranker
    from commonplace.protocols.parts import Source
    from commonplace.text.analyse import Analyser


SEARCH_SECONDS = 30.0
"""How long a search may take, apart from building a first index."""

_CANDIDATES_AT_MOST = 200


class Request(NamedTuple):
    """What is searched for: up to ``limit`` hits, ranked from up to ``wide`` candidates an arm.

    ``phrases`` says that words were quoted, and ``sources`` names those asked for.
    """

    query: Query
    where: Where
    limit: int
    wide: int
    phrases: bool = False
    sources: frozenset[str] = frozenset()


class Answer(NamedTuple):
    """The ranked lists of the backend that answered ``query``, and notes for the user."""

    query: Query
    arms: tuple[Arm, ...] = ()
    notes: tuple[str, ...] = ()


class Searched(Protocol):
    """A search under way: :class:`~commonplace.fallback.backend.BackendSearch` or of a chain."""

    backend: str
    fallback: Fallback | None
    freshness: Freshness

    def update(self) -> None:
        """Update the index, where that is quick or there is none yet."""
        ...

    def ask(self, query: Query, *, where: Where, limit: int) -> tuple[Arm, ...]:
        """Return the ranked lists of the backend that can answer."""
        ...


class Searcher:
    """The steps of a search: :meth:`request`, :meth:`ask`, :meth:`rank` and :meth:`present`."""

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
        self._profile = settings.ranking.profile

    def request(
        self,
        text: str,
        *,
        limit: int,
        sources: Collection[str] | None = None,
        session_key: str = "",
    ) -> Request:
        """Parse and analyse a query as it was typed."""
        parsed = parse_query(text)
        where, typed = parsed.where, parsed.where.sources
        if sources is not None:
            asked = frozenset(sources)
            where = where._replace(sources=asked if typed is None else typed & asked)
        query = Query(
            text=text,
            keyword=self._analyser.query(parsed),
            words=" ".join(parsed.words),
            session_key=session_key,
        )
        wide = min(_CANDIDATES_AT_MOST, limit * self._settings.query.hybrid.candidate_multiplier)
        return Request(
            query,
            where,
            limit,
            max(limit, wide),
            phrases=bool(parsed.phrases),
            sources=frozenset(sources or ()) | (typed or frozenset()),
        )

    def ask(self, search: Searched, request: Request) -> Answer:
        """Ask the backend; once more without the quotes where no note has the quoted words.

        A query without words is not asked.
        """
        query, where = request.query, request.where
        if not query.keyword.should:
            return Answer(query, notes=("the query has no words to search for",))
        arms = search.ask(query, where=where, limit=request.wide)
        notes = (*self._unknown_sources(arms, request), *(arm.note for arm in arms if arm.note))
        if query.keyword.must and not any(arm.found for arm in arms if arm.kind != "cosine"):
            # Questions quote things too: what no note holds word for word is no reason for silence.
            query = query._replace(keyword=query.keyword._replace(must=()))
            arms = search.ask(query, where=where, limit=request.wide)
            if request.phrases and any(arm.found for arm in arms):
                notes += ("no note has the quoted words side by side; shown is what comes near",)
        return Answer(query, arms, notes)

    def rank(self, answer: Answer, request: Request, *, now: float) -> list[Candidate]:
        """Rank the candidates of all arms; ``now`` is in epoch seconds."""
        context = RankContext(
            query=answer.query,
            now=now,
            limit=request.limit,
            profile=self._profile,
            arms=tuple(arm.name for arm in answer.arms if not arm.note),
            vectors=next((arm.vectors for arm in answer.arms if arm.vectors), None),
        )
        return rank(candidates_of(answer.arms), self._rankers, context)

    def present(
        self,
        ranked: Sequence[Candidate],
        answer: Answer,
        request: Request,
        search: Searched,
        *,
        min_score: float | None,
    ) -> SearchResult:
        """Cut, cite and mark the hits; nothing below a folder that could not be read is shown."""
        hides = search.freshness.hides
        passed = above(
            [hit for hit in ranked if not hides(hit.chunk.source, hit.chunk.path)],
            configured=self._settings.query.min_score,
            asked=min_score,
            compat=self._profile == "compat",
            text_weight=self._settings.query.hybrid.text_weight,
        )
        # The arm that the query was embedded for, or should have been.
        vector = next((arm for arm in answer.arms if arm.provider or arm.fallback), None)
        return SearchResult(
            hits=hits_of(passed, answer.query.keyword, self._analyser, limit=request.limit),
            backend=search.backend,
            provider=vector.provider if vector else None,
            model=vector.model if vector else None,
            fallback=search.fallback or (vector.fallback if vector else None),
            stale=search.freshness.stale,
            notes=(*answer.notes, *search.freshness.notes),
            arms=tuple(
                ArmFacts(
                    name=arm.name,
                    found=len(arm.found),
                    exact=arm.exact,
                    plan=arm.plan,
                    note=arm.note,
                )
                for arm in answer.arms
            ),
        )

    def _unknown_sources(self, arms: Sequence[Arm], request: Request) -> Iterator[str]:
        """A note on each source that is asked for and not there: why nothing came of it."""
        if not request.sources:
            return
        # A backend may have sources of its own.
        answered = {found.chunk.source for arm in arms for found in arm.found}
        for source in sorted(request.sources.difference(self._sources, answered)):
            yield f"there is no source {source!r} here, only {', '.join(self._sources) or 'none'}"


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


def make_searcher(
    host: PluginHost, settings: Settings, analyser: Analyser, sources: Sequence[Source]
) -> Searcher:
    """The steps of a search of ``sources`` as they are configured.

    Raises :class:`~commonplace.errors.PluginUnavailableError` as :func:`make_rankers` does.
    """
    ids = [source.id for source in sources]
    return Searcher(settings.search, analyser, make_rankers(host, settings), ids)


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
    for stage in ("fuse", "adjust", "select"):
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
