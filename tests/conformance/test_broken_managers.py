from __future__ import annotations

import os
import re
import threading
import unicodedata
from itertools import count, permutations
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from tests.conformance.test_broken_filters import FIELDS, without

from commonplace.errors import IndexBusyError, UnavailableError
from commonplace.files.roots import day_of
from commonplace.index.manager import IndexedMemoryManager
from commonplace.model.documents import Document, ScanReport
from commonplace.model.reports import SyncReport
from commonplace.model.search import Found
from commonplace.protocols.contexts import ManagerHealth, StoreContext
from commonplace.resilience.deadline import NEVER
from commonplace.testing import MemoryManagerConformance, make_put
from commonplace.testing.manager_laws import CAPABILITIES
from commonplace.testing.strategies import passes
from commonplace.text.analyse import make_analyser
from commonplace_chunkers.lines import LinesChunker
from commonplace_inmemory.store import InMemoryStore
from commonplace_sqlite.plugin import make_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.model.documents import DocumentRef
    from commonplace.model.search import Arm, Query, StoredChunk, Where
    from commonplace.protocols.contexts import ManagerContext
    from commonplace.protocols.parts import Source, Store
    from commonplace.resilience.deadline import Deadline


class Sound(IndexedMemoryManager):
    """What is broken below: it keeps every law as it is."""

    capabilities: ClassVar[frozenset[str]] = CAPABILITIES - {"persistent"}

    def __init__(self, context: ManagerContext) -> None:
        super().__init__(
            store=self.store_of(context),
            sources=[self.source_of(source) for source in context.sources],
            chunker=LinesChunker(1600, 100),
            analyser=make_analyser(),
            workspace=context.workspace,
        )
        self.context = context

    def store_of(self, context: ManagerContext) -> Store:
        return InMemoryStore()

    def source_of(self, source: Source) -> Source:
        return source

    def search(
        self, query: Query, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Arm, ...]:
        query, where = self.asked(query, where)
        arms = super().search(query, where=where, limit=limit, deadline=deadline)
        return tuple(arm._replace(found=self.twisted(arm.found)) for arm in arms)

    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        return query, where

    def twisted(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        return tuple(Found(self.chunk(item.chunk), item.score) for item in found)

    def chunk(self, chunk: StoredChunk) -> StoredChunk:
        return chunk


class Through:
    """A source that passes another's answers on."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.id, self.version = source.id, source.version
        self.capabilities: frozenset[str] = frozenset()

    def scan(self) -> ScanReport:
        return self.source.scan()

    def read(self, ref: DocumentRef) -> Document | None:
        return self.source.read(ref)


class FindsTheFirstNoteOnly(Sound):
    def twisted(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        return tuple(item for item in found if item.chunk.path == found[0].chunk.path)


class StopsAfterARebuild(Sound):
    forced = False

    def maintain(self, **asked: Any) -> SyncReport:
        if self.forced and not asked.get("force"):
            return self.pending()
        self.forced = asked.get("force", False)
        return super().maintain(**asked)


class ReadsOnce(Sound):
    def source_of(self, source: Source) -> Source:
        class Caching(Through):
            def __init__(self, source: Source) -> None:
                super().__init__(source)
                self.seen: dict[str, Document | None] = {}

            def read(self, ref: DocumentRef) -> Document | None:
                if ref.path not in self.seen:
                    self.seen[ref.path] = super().read(ref)
                return self.seen[ref.path]

        return Caching(source)


class NeverForgets(Sound):
    def source_of(self, source: Source) -> Source:
        class Unsure(Through):
            def scan(self) -> ScanReport:
                return super().scan()._replace(complete_roots=())

        return Unsure(source)


class CallsByTheFirstName(Sound):
    def __init__(self, context: ManagerContext) -> None:
        super().__init__(context)
        self.names: dict[str, str] = {}

    def maintain(self, **asked: Any) -> SyncReport:
        report = super().maintain(**asked)
        for document in self._store.documents():
            self.names.setdefault(document.digest, document.path)
        return report

    def chunk(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(path=next(iter(self.names.values()), chunk.path))


class TakesEqualTextsForOne(Sound):
    def twisted(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        return tuple({item.chunk.text: item for item in found}.values())


class TakesUnmountedForDeleted(Sound):
    def source_of(self, source: Source) -> Source:
        class Sure(Through):
            def scan(self) -> ScanReport:
                return ScanReport(super().scan().documents, complete_roots=("",))

        return Sure(source)


class ComposesNames(Sound):
    def chunk(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(path=unicodedata.normalize("NFC", chunk.path))


class FailsForNul(Sound):
    def source_of(self, source: Source) -> Source:
        class Picky(Through):
            def read(self, ref: DocumentRef) -> Document | None:
                document = super().read(ref)
                if document is not None and "\0" in document.text:
                    raise ValueError("embedded null character")
                return document

        return Picky(source)


class NamesArmsAlike(Sound):
    def search(self, *asked: Any, **more: Any) -> tuple[Arm, ...]:
        return super().search(*asked, **more) * 2


class TurnsTheOrder(Sound):
    def twisted(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        return found[::-1]


class ForgetsTheLimit(Sound):
    def search(self, *asked: Any, **more: Any) -> tuple[Arm, ...]:
        return super().search(*asked, **{**more, "limit": 200})


class RepeatsAChunk(Sound):
    def twisted(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        return found + found[-1:]


class NamesAnotherSource(Sound):
    def chunk(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(source="notes")


class CountsLinesFrom0(Sound):
    def chunk(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(start_line=chunk.start_line - 1, end_line=chunk.end_line - 1)


class SaysTheWholeNote(Sound):
    def chunk(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(start_line=1, end_line=max(chunk.end_line, 5))


class MakesUpIds(Sound):
    def __init__(self, context: ManagerContext) -> None:
        super().__init__(context)
        self.ids = count()

    def chunk(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(id=next(self.ids))


class FailsForNothing(Sound):
    def twisted(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        if not found:
            raise UnavailableError("nothing was found")
        return found


class ReadsQueriesAsPatterns(Sound):
    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        re.compile(query.text)
        return query, where


class FailsForLongQueries(Sound):
    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        if len(query.text) > 1000:
            raise UnavailableError("the query is too long")
        return query, where


class KnowsNoThai(Sound):
    capabilities = Sound.capabilities - {"thai"}

    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        if re.search("[\u0e00-\u0e7f]", query.text):
            query = query._replace(keyword=query.keyword._replace(should=()))
        return query, where


class IgnoresPaths(Sound):
    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        return query, where._replace(paths=())


class LeavesTheLastDayOut(Sound):
    def twisted(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        return tuple(item for item in found if item.chunk.day != self.before or not self.before)

    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        self.before = where.before
        return query, where


class IgnoresTags(Sound):
    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        return query, where._replace(tags=())


class ReadsNoFrontMatter(Sound):
    def source_of(self, source: Source) -> Source:
        class ByName(Through):
            def read(self, ref: DocumentRef) -> Document | None:
                document = super().read(ref)
                return document and document._replace(day=day_of(ref.path))

        return ByName(source)


class IgnoresSources(Sound):
    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        return query, where._replace(sources=None)


class FiltersAfterRanking(Sound):
    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        self.where = where
        return query, where._replace(paths=())

    def twisted(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        where = self.where._replace(sources=None, after=None, before=None)
        return tuple(item for item in found if passes(make_put(item.chunk.path), where))


class KnowsNoPaths(IgnoresPaths):
    capabilities = Sound.capabilities - {"paths"}


class IgnoresPhrases(Sound):
    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        return query._replace(keyword=query.keyword._replace(must=())), where


class KnowsNoPhrases(IgnoresPhrases):
    capabilities = Sound.capabilities - {"phrases"}


class IgnoresExclusions(Sound):
    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        return query._replace(keyword=query.keyword._replace(must_not=())), where


class CountsNothing(Sound):
    def maintain(self, **asked: Any) -> SyncReport:
        super().maintain(**asked)
        return SyncReport()


class WorksWhileLooking(Sound):
    def pending(self, *, look: bool = False) -> SyncReport:
        report = super().pending(look=look)
        if report.known:
            super().maintain(deadline=NEVER)
        return report


class IgnoresAtMost(Sound):
    def maintain(self, **asked: Any) -> SyncReport:
        return super().maintain(**{**asked, "at_most": None})


class SaysDoneWhenLate(Sound):
    def maintain(self, **asked: Any) -> SyncReport:
        report = super().maintain(**asked)
        return report.replace(remaining=0)


class WorksWhenLate(Sound):
    def maintain(self, **asked: Any) -> SyncReport:
        return super().maintain(**{**asked, "deadline": NEVER})


class DropsBeforeItRebuilds(Sound):
    def maintain(self, **asked: Any) -> SyncReport:
        if asked.get("force"):
            with self._store.writer(wait=1):
                for build in self._store.builds():
                    self._store.drop(build)
        return super().maintain(**asked)


class CountsTooFar(Sound):
    def maintain(self, **asked: Any) -> SyncReport:
        if (report := asked.get("progress")) is not None:
            asked["progress"] = lambda step: report(step._replace(completed=step.total + 1))
        return super().maintain(**asked)


class LeavesAMark(Sound):
    def maintain(self, **asked: Any) -> SyncReport:
        with open(os.path.join(self.context.workspace, ".indexed"), "w", encoding="utf-8"):
            return super().maintain(**asked)


class SaysItLasts(Sound):
    capabilities = CAPABILITIES


class LocksItselfOut(Sound):
    capabilities = CAPABILITIES

    def __init__(self, context: ManagerContext) -> None:
        self.lock = f"{context.state_dir}/lock"
        if os.path.exists(self.lock):
            raise IndexBusyError("another process is at work")
        super().__init__(context)

    def store_of(self, context: ManagerContext) -> Store:
        return make_store(StoreContext(path=f"{context.state_dir}/index.sqlite"))

    def maintain(self, **asked: Any) -> SyncReport:
        os.makedirs(self.context.state_dir, exist_ok=True)
        with open(self.lock, "w", encoding="utf-8"):
            pass
        try:
            return super().maintain(**asked)
        finally:
            os.unlink(self.lock)


class FindsNothingWhenLate(Sound):
    def search(self, *asked: Any, **more: Any) -> tuple[Arm, ...]:
        return () if more["deadline"].expired else super().search(*asked, **more)


class KnowsOneThread(Sound):
    def search(self, *asked: Any, **more: Any) -> tuple[Arm, ...]:
        if threading.current_thread() is not threading.main_thread():
            return ()
        return super().search(*asked, **more)


class RaisesWhenUnwell(Sound):
    def health(self, *, deep: bool = False) -> ManagerHealth:
        return ManagerHealth(available=True, store=self._store.health(deep=deep))


class FindsNothingOnceClosed(Sound):
    closed = False

    def search(self, *asked: Any, **more: Any) -> tuple[Arm, ...]:
        return () if self.closed else super().search(*asked, **more)

    def close(self) -> None:
        self.closed = True
        super().close()


class ClosesOnce(Sound):
    closed = False

    def close(self) -> None:
        if self.closed:
            raise UnavailableError("closed already")
        self.closed = True
        super().close()


class AnswersTheLastQuestion(Sound):
    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        self.question = query, where
        threading.get_ident()
        return self.question


class CutsAsTheLastOne(Sound):
    searches = 0
    turn = threading.Condition()

    def search(self, query: Query, *, limit: int, **more: Any) -> tuple[Arm, ...]:
        self.searches += 1
        before, self.limit = self.searches, limit
        arms = super().search(query, limit=limit, **more)
        with self.turn:  # until another thread has asked, if there is one
            self.turn.wait_for(lambda: self.searches > before, timeout=0.05)
        return tuple(arm._replace(found=arm.found[: self.limit]) for arm in arms)


class TrustsAll(Sound):
    def chunk(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(trust="memory")


class TrustsNone(Sound):
    def chunk(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(trust="external")


class TrustsAsTheFirst(Sound):
    def twisted(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        return tuple(i._replace(chunk=i.chunk._replace(trust=found[0].chunk.trust)) for i in found)


class TakesAPathForADocument(Sound):
    def twisted(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        return tuple({item.chunk.path: item for item in found}.values())


class IgnoresUnwantedSources(Sound):
    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        return query, where._replace(not_sources=frozenset())


class IgnoresUnwantedPaths(Sound):
    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        return query, where._replace(not_paths=())


class IgnoresUnwantedTags(Sound):
    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        return query, where._replace(not_tags=())


class IgnoresUnwantedTagsOfSources(Sound):
    given, ignored = "sources", "not_tags"

    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        return query, without(where, self.ignored, self.given)


class LooksAtThreeGlobs(Sound):
    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        return query, where._replace(paths=where.paths[:3])


class LooksAtAHundredGlobs(Sound):
    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        return query, where._replace(paths=where.paths[:100])


class FindsAHundred(Sound):
    def search(self, *asked: Any, limit: int, **more: Any) -> tuple[Arm, ...]:
        return super().search(*asked, limit=min(limit, 100), **more)


class KnowsAHundredNotes(Sound):
    def source_of(self, source: Source) -> Source:
        class First(Through):
            def scan(self) -> ScanReport:
                report = super().scan()
                return report._replace(documents=report.documents[:100])

        return First(source)


class Reading(Through):
    """Reads in another way than the source does."""

    def read(self, ref: DocumentRef) -> Document | None:
        try:
            return super().read(ref)
        except OSError:
            return self.failed(ref)

    def failed(self, ref: DocumentRef) -> Document | None:
        raise NotImplementedError


class ReadsTheBeginning(Sound):
    def source_of(self, source: Source) -> Source:
        class Short(Through):
            def read(self, ref: DocumentRef) -> Document | None:
                document = super().read(ref)
                return document and document._replace(text=document.text[:65_536])

        return Short(source)


class TakesUnreadableForEmpty(Sound):
    def source_of(self, source: Source) -> Source:
        class Empty(Reading):
            def failed(self, ref: DocumentRef) -> Document | None:
                return Document(ref, "", "0" * 64)

        return Empty(source)


class TakesUnreadableForGone(Sound):
    def source_of(self, source: Source) -> Source:
        class Gone(Reading):
            def failed(self, ref: DocumentRef) -> Document | None:
                return None

        return Gone(source)


class StopsAtTheUnreadable(Sound):
    def source_of(self, source: Source) -> Source:
        class Stops(Reading):
            def failed(self, ref: DocumentRef) -> Document | None:
                raise UnavailableError(f"{ref.path} cannot be read")

        return Stops(source)


class SaysNothingOfUnreadable(Sound):
    def maintain(self, **asked: Any) -> SyncReport:
        return super().maintain(**asked).replace(unreadable=())


class TakesHalfForAll(Sound):
    def source_of(self, source: Source) -> Source:
        class Sure(Through):
            def scan(self) -> ScanReport:
                return super().scan()._replace(failed_roots=())

        return Sure(source)


class TakesHalfForNothing(Sound):
    def source_of(self, source: Source) -> Source:
        class Unsure(Through):
            def scan(self) -> ScanReport:
                report = super().scan()
                return report._replace(complete_roots=()) if report.failed_roots else report

        return Unsure(source)


class SeesTimeAlone(Sound):
    def search(self, *asked: Any, deadline: Deadline, **more: Any) -> tuple[Arm, ...]:
        if deadline.expired and not deadline.cancelled:
            raise UnavailableError("too late")
        return super().search(*asked, deadline=NEVER, **more)


class FindsNothingWhenCancelled(Sound):
    def search(self, *asked: Any, deadline: Deadline, **more: Any) -> tuple[Arm, ...]:
        deadline.check("the search")
        try:
            return super().search(*asked, deadline=deadline, **more)
        except UnavailableError:
            arms = super().search(*asked, deadline=NEVER, **more)
            return tuple(arm._replace(found=()) for arm in arms)


class LeavesAFileOpen(Sound):
    def asked(self, query: Query, where: Where) -> tuple[Query, Where]:
        self.files = [*getattr(self, "files", ()), os.open(os.devnull, os.O_RDONLY)]
        return query, where

    def close(self) -> None:
        for file in getattr(self, "files", ()):
            os.close(file)
        self.files = []
        super().close()


class ScoresByHash(Sound):
    def twisted(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        scored = [i._replace(score=i.score * (1 + hash(i.chunk.path) % 97 / 1e3)) for i in found]
        return tuple(sorted(scored, key=lambda item: -item.score))


BROKEN: list[tuple[type[Sound], str]] = [
    (StopsAfterARebuild, "test_any_history_leaves_what_the_files_hold"),
    (FindsTheFirstNoteOnly, "test_a_note_is_found_once_it_is_indexed"),
    (ReadsOnce, "test_a_changed_note_is_found_by_its_new_words"),
    (NeverForgets, "test_a_deleted_note_is_forgotten"),
    (CallsByTheFirstName, "test_a_moved_note_is_found_at_its_new_place"),
    (TakesEqualTextsForOne, "test_two_notes_of_one_text_are_both_found"),
    (TakesUnmountedForDeleted, "test_an_unmounted_workspace_forgets_nothing"),
    (ComposesNames, "test_hostile_names_are_kept_to_the_letter"),
    (FailsForNul, "test_odd_texts_do_no_harm"),
    (NamesArmsAlike, "test_each_arm_says_what_it_is"),
    (TurnsTheOrder, "test_scores_are_of_their_kind_and_best_first"),
    (ForgetsTheLimit, "test_a_limit_only_cuts_off"),
    (RepeatsAChunk, "test_no_chunk_comes_twice"),
    (NamesAnotherSource, "test_a_chunk_knows_its_note"),
    (CountsLinesFrom0, "test_lines_are_those_of_the_file"),
    (SaysTheWholeNote, "test_lines_are_those_of_the_file"),
    (MakesUpIds, "test_the_same_question_gets_the_same_answer"),
    (FailsForNothing, "test_what_is_not_there_is_not_found"),
    (ReadsQueriesAsPatterns, "test_any_query_is_answered_or_refused"),
    (FailsForLongQueries, "test_a_long_query_is_answered_or_refused"),
    (KnowsNoThai, "test_undeclared_scripts_are_declined"),
    (IgnoresPaths, "test_paths_restrict"),
    (LeavesTheLastDayOut, "test_dates_restrict"),
    (IgnoresTags, "test_tags_restrict"),
    (ReadsNoFrontMatter, "test_front_matter_tells_the_day_where_the_name_does_not"),
    (IgnoresSources, "test_sources_restrict"),
    (FiltersAfterRanking, "test_a_filter_looks_past_better_matches"),
    (KnowsNoPaths, "test_undeclared_filters_are_declined"),
    (IgnoresPhrases, "test_phrases_stand_side_by_side"),
    (IgnoresExclusions, "test_excluded_words_are_not_there"),
    (KnowsNoPhrases, "test_undeclared_operators_are_declined"),
    (CountsNothing, "test_a_report_counts_what_was_done"),
    (WorksWhileLooking, "test_pending_counts_and_does_nothing"),
    (IgnoresAtMost, "test_more_changes_than_at_most_are_left"),
    (SaysDoneWhenLate, "test_a_deadline_leaves_the_rest_for_later"),
    (WorksWhenLate, "test_a_deadline_leaves_the_rest_for_later"),
    (DropsBeforeItRebuilds, "test_a_full_rebuild_keeps_the_answers"),
    (CountsTooFar, "test_progress_is_reported_in_order"),
    (LeavesAMark, "test_notes_are_never_written"),
    (SaysItLasts, "test_what_is_indexed_is_there_for_the_next"),
    (LocksItselfOut, "test_a_kill_at_any_moment_costs_nothing_but_work"),
    (FindsNothingWhenLate, "test_a_search_without_time_is_an_error"),
    (KnowsOneThread, "test_threads_get_the_same_answers"),
    (RaisesWhenUnwell, "test_health_is_reported_at_any_time"),
    (FindsNothingOnceClosed, "test_a_closed_manager_does_not_answer"),
    (ClosesOnce, "test_closing_twice_is_fine"),
    (AnswersTheLastQuestion, "test_each_thread_gets_its_own_answer"),
    (CutsAsTheLastOne, "test_each_thread_gets_its_own_answer"),
    (TrustsAll, "test_each_source_keeps_its_own_trust"),
    (TrustsNone, "test_a_chunk_knows_its_note"),
    (TrustsAsTheFirst, "test_each_source_keeps_its_own_trust"),
    (TakesAPathForADocument, "test_each_source_keeps_its_own_trust"),
    (IgnoresUnwantedSources, "test_each_source_keeps_its_own_trust"),
    (IgnoresUnwantedPaths, "test_paths_restrict"),
    (IgnoresUnwantedTags, "test_tags_restrict"),
    (IgnoresUnwantedTagsOfSources, "test_filters_that_are_set_together_must_all_be_passed"),
    (LooksAtThreeGlobs, "test_paths_restrict"),
    (LooksAtAHundredGlobs, "test_paths_restrict"),
    (FindsAHundred, "test_many_notes_are_all_found"),
    (KnowsAHundredNotes, "test_many_notes_are_all_found"),
    (ReadsTheBeginning, "test_a_long_note_is_found_to_its_end"),
    (TakesUnreadableForEmpty, "test_a_note_that_cannot_be_read_keeps_its_old_words"),
    (TakesUnreadableForGone, "test_a_note_that_cannot_be_read_keeps_its_old_words"),
    (StopsAtTheUnreadable, "test_a_note_that_cannot_be_read_keeps_its_old_words"),
    (SaysNothingOfUnreadable, "test_a_note_that_cannot_be_read_keeps_its_old_words"),
    (TakesHalfForAll, "test_a_folder_that_cannot_be_seen_hides_its_notes"),
    (TakesHalfForNothing, "test_a_folder_that_cannot_be_seen_hides_its_notes"),
    (SeesTimeAlone, "test_a_search_without_time_is_an_error"),
    (FindsNothingWhenCancelled, "test_a_search_that_is_cancelled_gives_all_or_an_error"),
    (LeavesAFileOpen, "test_no_file_is_left_open"),
    (ScoresByHash, "test_another_process_gives_the_same_answers"),
]


class Bench(MemoryManagerConformance):
    def __init__(self, broken: type[Sound]) -> None:
        self.broken = broken
        # The same for every manager of a class.
        vars(self)["capabilities"] = broken.capabilities

    def open_manager(self, context: ManagerContext) -> Sound:
        return self.broken(context)


@pytest.mark.parametrize(("broken", "law"), BROKEN, ids=[broken.__name__ for broken, _ in BROKEN])
def test_the_law_catches(broken: type[Sound], law: str, judge: Callable[..., str]) -> None:
    assert judge(Bench(broken), law, lambda: broken.__name__) == "broken"


def test_no_filter_may_be_ignored_for_another(judge: Callable[..., str]) -> None:
    law = "test_filters_that_are_set_together_must_all_be_passed"
    for given, ignored in permutations(FIELDS, 2):
        names = {"given": given, "ignored": ignored}
        broken = type("Broken", (IgnoresUnwantedTagsOfSources,), names)
        assert judge(Bench(broken), law, str) == "broken", names


@pytest.mark.parametrize("law", sorted({law for _, law in BROKEN}))
def test_what_is_broken_here_was_sound_before(law: str, judge: Callable[..., str]) -> None:
    lasting = type("Lasting", (LocksItselfOut,), {"maintain": Sound.maintain})
    verdicts = {judge(Bench(sound), law, lambda: "", 8) for sound in (Sound, lasting)}
    assert verdicts <= {"kept", "skipped"}


def test_every_law_can_fail(all_laws: Callable[[type], set[str]]) -> None:
    assert {law for _, law in BROKEN} == all_laws(MemoryManagerConformance)
