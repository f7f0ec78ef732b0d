"""One search: the words typed become a request; the answer is ranked and made into hits."""

from __future__ import annotations

from functools import partial
from time import time
from typing import TYPE_CHECKING

from commonplace.config.defaults import RANKERS
from commonplace.config.settings import chain_of
from commonplace.host.answers import make_rankers
from commonplace.model.search import (
    ArmFacts,
    Candidate,
    Query,
    QueryNote,
    SearchResult,
    Where,
)
from commonplace.model.tuples import NamedTuple
from commonplace.protocols.contexts import MOST_HITS, FurtherHits, RankContext, RankerContext
from commonplace.resilience.deadline import NEVER
from commonplace.search.choosing import Folding, neighbours
from commonplace.search.presenting import hits_of, none_of, unknown_notes, unknown_sources
from commonplace.search.ranking import (
    Ranked,
    Threshold,
    candidates_of,
    failures_of,
    left_out,
    passing,
    run_rankers,
    unembedded,
)
from commonplace.text.query import parse_query, shown_filters
from commonplace.text.questions import may_be_foreign, words_beside
from commonplace.text.stems import may_be_joined
from commonplace.text.time_hints import may_name_days
from commonplace.text.tokens import has_unspaced

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from datetime import date

    from commonplace.config.search import SearchSettings
    from commonplace.config.settings import Settings
    from commonplace.host.host import PluginHost
    from commonplace.index.syncing import Freshness
    from commonplace.model.plugins import Mount
    from commonplace.model.search import Arm, UnknownWord
    from commonplace.protocols.contexts import AskAgain
    from commonplace.protocols.managers import Ranker
    from commonplace.protocols.parts import Source
    from commonplace.resilience.deadline import Deadline
    from commonplace.search.shared import Searched
    from commonplace.text.analyse import Analyser

    Absent = Callable[[Where, Deadline, str], Sequence[str]]
    Asked = tuple[Query, tuple[Arm, ...], tuple[str, ...]]  # the query asked, its lists, notes
SEARCH_SECONDS = 30.0  # how long a search may take, apart from building a first index


class Request(NamedTuple):
    """What is searched for: up to ``limit`` hits, ranked from up to ``wide`` candidates an arm.

    ``phrases`` were quoted, ``excluded`` must not be there, and ``sources`` are those asked for.
    ``texts`` are those whose words are searched for; ``notes`` say what was not understood.
    """

    query: Query
    where: Where
    limit: int
    wide: int
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    sources: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def passed_by(self, answer: Answer) -> tuple[str, ...]:
        """What each hit passed; quotes that no note has side by side were asked for without."""
        phrases = self.phrases if answer.query.keyword.must else ()
        return shown_filters(self.where, phrases, self.excluded)


class Answer(NamedTuple):
    """The ranked lists of the backend that answered ``query``, and notes for the user.

    ``unknown`` are words that no note has; ``more`` asks the same backend with other terms.
    """

    query: Query
    arms: tuple[Arm, ...] = ()
    notes: tuple[str, ...] = ()
    unknown: tuple[UnknownWord, ...] = ()
    more: AskAgain | None = None


class Searcher:
    """The steps of a search: ``request``, ``ask``, ``rank``, ``choose`` and ``present``."""

    def __init__(
        self,
        settings: SearchSettings,
        analyser: Analyser,
        rankers: Sequence[Ranker],
        sources: Sequence[str],
        clock: Callable[[], float] = time,
        notes: Sequence[str] = (),
        workspace: str = "",
        absent: Absent = lambda *_: (),
    ) -> None:
        self._workspace, self._absent = workspace, absent
        self._settings, self._profile = settings, settings.ranking.profile
        self._analyser, self._rankers, self._notes = analyser, rankers, notes
        self._sources, self._clock = sources, clock

    def request(
        self,
        text: str,
        limit: int | None = None,
        *,
        sources: Collection[str] | None = None,
        session_key: str = "",
    ) -> Request:
        """Parse and analyse a query as it was typed; ``limit`` is by default the configured one."""
        limit = limit or self._settings.query.max_results
        parsed = parse_query(text, self._today, self._workspace)
        where, typed = parsed.where, parsed.where.sources
        if sources is not None:
            requested = frozenset(sources)
            where = where._replace(sources=requested if typed is None else typed & requested)
        if self._profile == "default" and may_name_days(parsed.text):
            from commonplace.text.asked_times import read_times

            keyword, texts = read_times(parsed, self._analyser, self._today)
        else:
            keyword, texts = self._analyser.query(parsed), (*parsed.words, *parsed.phrases)
            if self._profile != "default":
                keyword = keyword._replace(plain=True)
        query = Query(parsed.text, keyword, " ".join(parsed.words), session_key)
        wide = min(MOST_HITS, limit * self._settings.query.hybrid.candidate_multiplier)
        return Request(
            query,
            where,
            limit,
            max(limit, wide),
            phrases=parsed.phrases,
            excluded=parsed.excluded,
            texts=texts,
            notes=parsed.notes,
            sources=frozenset(sources or ()) | (typed or frozenset()),
        )

    def _today(self) -> date:
        from commonplace.text.dates import today_at

        return today_at(self._clock(), self._settings.query.time_zone or "")

    def ask(self, search: Searched, request: Request) -> Answer:
        """Ask the backend, but not without words; again where its answer shows a need.

        Without quotes that no note has; with compounds, other letters, and other words.
        """
        query, where = request.query, request.where
        if not (query.keyword.should or query.keyword.listed):
            from commonplace.search.query_notes import nothing_to_search_for

            nothing = nothing_to_search_for(query.text, query.keyword, where)
            return Answer(query, notes=(*request.notes, nothing))
        arms = search.ask(query, where=where, limit=request.wide)
        query, arms, near = self._without_quotes(query, arms, search, request)
        query, arms, failed = self._with_other_forms(query, arms, search, request)
        notes = [*request.notes, *failed, *unknown_sources(arms, request.sources, self._sources)]
        notes += [*[arm.note for arm in arms if arm.note], *near]
        unknown: tuple[UnknownWord, ...] = ()
        if lacking := next((arm for arm in arms if arm.unknown - query.keyword.beside), None):
            from commonplace.search.unknown import UnknownWords

            ask_again = partial(search.ask_again, where=where)
            words = UnknownWords(query, lacking, request.texts, self._analyser, ask_again)
            query, arms, unknown, failed = words.ask_with_replacements(arms, request.wide)
            no_need = words_beside(query.words)
            unknown = tuple(word for word in unknown if word.word.lower() not in no_need)
            notes += [note for note in failed if note not in notes]
        notes += [arm.incomplete for arm in arms if arm.incomplete]
        if not any(arm.kind == "cosine" and arm.found for arm in arms):  # which knows no words
            # Words are counted in all chunks, whatever the filters.
            notes += unknown_notes(unknown, none_of(search.freshness))
        more = partial(search.ask_again, limit=MOST_HITS)
        return Answer(query, arms, tuple(notes), unknown, more)

    def _without_quotes(
        self, query: Query, arms: tuple[Arm, ...], search: Searched, request: Request
    ) -> Asked:
        """Ask without what must be there, where hardly any note has it; see ``asking_again.py``."""
        if not query.keyword.must or not (request.phrases or self._profile != "compat"):
            return query, arms, ()
        from commonplace.search.asking_again import without_quotes

        filtered = request.where != Where() or bool(query.keyword.must_not)
        no_note = none_of(search.freshness, filtered=filtered)
        ask = partial(search.ask, where=request.where, limit=request.wide)
        return without_quotes(query, arms, ask, no_note, quoted=request.phrases)

    def _with_other_forms(
        self, query: Query, arms: tuple[Arm, ...], search: Searched, request: Request
    ) -> Asked:
        """Ask with the query's words in other letters, or with compounds of them, too."""
        plain, should, texts = query.keyword.plain, query.keyword.should, request.texts
        unspaced = any(map(has_unspaced, texts))  # English joins nothing
        if plain or not (unspaced or (may_be_foreign(texts) and may_be_joined(should))):
            return query, arms, ()
        if unspaced:
            from commonplace.search.asking_again import with_spellings as again
        else:
            from commonplace.search.compounds import with_compounds as again
        ask = partial(search.ask_again, where=request.where, limit=request.wide)
        return again(query, arms, texts, self._analyser, ask)

    def rank(
        self, answer: Answer, request: Request, *, now: float, deadline: Deadline = NEVER
    ) -> Ranked:
        """Rank the candidates of all arms; ``now`` is in epoch seconds."""
        hits = candidates_of(answer.arms, request.passed_by(answer))
        answered = [arm for arm in answer.arms if not arm.note]
        lacking, notes = unembedded(hits, answered)
        context = RankContext(
            query=answer.query,
            now=now,
            limit=request.limit,
            profile=self._profile,
            arms=tuple(arm.name for arm in answered),
            vectors=next((arm.vectors for arm in answer.arms if arm.vectors), None),
            kinds=frozenset(arm.kind for arm in answered),
            unembedded=lacking,
            deadline=deadline,
            further=_further(answer, request),
        )
        ranked = run_rankers(hits, self._rankers, context)
        return Ranked(ranked, (*notes, *failures_of(ranked)))

    def choose(
        self,
        answer: Answer,
        request: Request,
        freshness: Freshness,
        *,
        min_score: float | None,
        now: float,
        deadline: Deadline = NEVER,
    ) -> Ranked:
        """Rank; leave out what scores too little, fold what says the same, join one passage.

        Nothing below a folder that could not be read is shown.
        """
        rank = partial(self.rank, request=request, now=now, deadline=deadline)
        ranked, notes = rank(answer)
        shown = list(filter(freshness.shows, ranked))
        if freshness.hidden and not shown:
            from commonplace.search.query_notes import check_seen

            check_seen(freshness.hidden, request.where, self._sources, ranked)
        settings, compat = self._settings.query, self._profile == "compat"
        threshold = Threshold(min_score, settings.min_score)
        above = partial(passing, answer.arms, settings.hybrid, threshold, compat=compat)
        passed: Sequence[Candidate] = above(shown)
        notes += left_out(len(shown), passed, threshold)
        if compat:
            return Ranked(passed, notes)

        def more(arms: tuple[Arm, ...]) -> list[Candidate]:
            return above(list(filter(freshness.shows, rank(answer._replace(arms=arms)).candidates)))

        if settings.fold:
            passed, failed = self._folded(passed, answer, request, freshness.shows, more)
            notes += failed
        return Ranked(self._joined(passed, request.limit), notes)

    def _folded(
        self,
        passed: Sequence[Candidate],
        answer: Answer,
        request: Request,
        shows: Callable[[Candidate], bool],
        more: Callable[[tuple[Arm, ...]], Sequence[Candidate]],
    ) -> Ranked:
        """``passed`` with one hit for those that say the same, and notes on what is missing.

        Where newer hits may say the same as those that fold, the backend is asked for them; for
        ``more``, where folding leaves places empty.
        """
        to_join = neighbours(passed[: request.limit]) if self._settings.query.join else 0
        folding = Folding(answer.query.keyword, answer.query.text)
        folding.add(passed, limit=request.limit + to_join)  # others follow those to be joined
        wanted, folded = min(request.limit, len(passed)), folding.folded()
        cut_off = any(len(arm.found) >= request.wide for arm in answer.arms)
        further = _further(answer, request) if cut_off else None
        if further is None or not (folding.since() or len(folded) < wanted):
            return Ranked(folded)
        from commonplace.search.asking_again import add_further

        notes = add_further(folding, further, shows, more, wanted)
        return Ranked(folding.folded(), notes)

    def _joined(self, passed: Sequence[Candidate], limit: int) -> Sequence[Candidate]:
        """The first ``limit`` of ``passed``, where some are one passage; else all of them."""
        if self._settings.query.join and neighbours(passed[:limit]):
            from commonplace.search.joining import joined

            return joined(passed, limit=limit)
        return passed

    def present(
        self, chosen: Ranked, answer: Answer, request: Request, search: Searched, until: Deadline
    ) -> SearchResult:
        """Cut, cite and mark the hits; where there are none, name what no note has of filters."""
        query, hidden = answer.query, search.freshness.hidden
        hits = hits_of(chosen.candidates, query.keyword, self._analyser, limit=request.limit)
        absent = () if hits or hidden else self._absent(request.where, until, query.session_key)
        # The arm that the query was embedded for, or should have been.
        vector = next((arm for arm in answer.arms if arm.provider or arm.fallback), None)
        return SearchResult(
            hits=hits,
            backend=search.backend,
            provider=vector.provider if vector else None,
            model=vector.model if vector else None,
            fallback=search.fallback or (vector.fallback if vector else None),
            stale=search.freshness.stale,
            unknown=answer.unknown,
            notes=(*answer.notes, *self._notes, *chosen.notes, *search.freshness.notes, *absent),
            arms=tuple(
                ArmFacts(name=a.name, found=len(a.found), exact=a.exact, plan=a.plan, note=a.note)
                for a in answer.arms
            ),
        )


def _further(answer: Answer, request: Request) -> FurtherHits | None:
    if answer.more is None:
        return None
    united = partial(candidates_of, filters=request.passed_by(answer))
    return FurtherHits(answer.query, request.where, answer.more, united, [])


def make_searcher(
    host: PluginHost,
    settings: Settings,
    *,
    analyser: Analyser,
    sources: Sequence[Source],
    clock: Callable[[], float],
    permit: Callable[[str, str, int, str], None],
    notices: Sequence[str],
    mounts: Callable[[], Iterable[Mount]],
) -> Searcher:
    """The configured search; ``notices`` are on missing sources, rankers call ``permit``."""

    def context_of(id_: str) -> RankerContext:
        config, hybrid = settings.plugin_config(id_), settings.search.query.hybrid
        return RankerContext(hybrid.vector_weight, hybrid.text_weight, config, partial(permit, id_))

    rankers, notes = make_rankers(host, chain_of(settings), RANKERS["default"], context_of)

    def absent(where: Where, until: Deadline, chat: str) -> Sequence[str]:
        from commonplace.model.tools import is_direct  # few searches find nothing

        if until.expired or not is_direct(chat):  # a group may not know what files there are
            return ()
        unsearched = _unsearched(settings)
        if notices or not (where.paths or where.tags):  # notes of a missing source are not seen
            return unsearched
        from commonplace.search.query_notes import nothing_passes

        return (*nothing_passes(where, sources, mounts, until, chat), *unsearched)

    return Searcher(
        settings=settings.search,
        analyser=analyser,
        rankers=rankers,
        sources=[source.id for source in sources],
        clock=clock,
        notes=[*settings.mistakes, *notices, *notes],
        workspace=settings.workspace,
        absent=absent,
    )


def _unsearched(settings: Settings) -> tuple[str, ...]:
    """How many notes of the folder are not searched: what was asked for may stand in them.

    Where none is searched, the source of notes says so.
    """
    from commonplace.files.left_out import left_out as counted_of

    search = settings.search
    found = counted_of(settings.workspace, search.extra_paths, search.notes.rules)
    if not (found.notes and found.searched):
        return ()
    return (QueryNote(found.sentences()[0]),)
