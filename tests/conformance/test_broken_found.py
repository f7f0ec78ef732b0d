from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tests.conformance.mutants import caught, complete
from tests.conformance.test_broken_filters import FiltersAfterTheLimit, IgnoresAFilterForAnother

from commonplace.errors import IndexUnavailableError
from commonplace.model.search import Found, KeywordMatches
from commonplace.testing.store import FoundLaws
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.model.chunks import Change
    from commonplace.model.documents import Build
    from commonplace.model.search import ChunkId, KeywordQuery, Nearest, StoredChunk, Where
    from commonplace.resilience.deadline import Deadline


class Answering(InMemoryStore):
    """Answers with other chunks than it has found."""

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        found = super().keyword(query, where=where, limit=limit, deadline=deadline).found
        return KeywordMatches(self.others(found))

    def others(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        return tuple(hit._replace(chunk=self.other(hit.chunk)) for hit in found)

    def other(self, chunk: StoredChunk) -> StoredChunk:
        raise NotImplementedError


class StripsTexts(Answering):
    def other(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(text=chunk.text.strip())


class ReadsLineEndsAlike(Answering):
    def other(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(text=chunk.text.replace("\r", "\n"))


class JoinsHeadings(Answering):
    def other(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(heading=tuple(" > ".join(chunk.heading).split(" > ")))


class DropsEmptyHeadings(Answering):
    def other(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(heading=tuple(filter(None, chunk.heading)))


class ForgetsTheTrust(Answering):
    def other(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(trust="memory")


class GivesTextForBody(Answering):
    def other(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(body=chunk.text)


class FetchesInItsOwnOrder(Answering):
    def others(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        chunks = sorted((hit.chunk for hit in found), key=lambda chunk: chunk.id)
        return tuple(hit._replace(chunk=chunk) for hit, chunk in zip(found, chunks, strict=True))


class FetchesAThousand(Answering):
    def others(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        return found[:999]


class MissesTheGone(Answering):
    """Still finds what is gone, and then has no chunk for it."""

    gone = False

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        before = sum(1 for _ in self._held(build).contents.rows())
        super().put_documents(build, changes)
        self.gone = before > sum(1 for _ in self._held(build).contents.rows())

    def others(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        if self.gone:
            raise IndexUnavailableError("a chunk is gone")
        return found


class FetchesAfterwards(Answering):
    """Ranks now and reads the chunks later: what is replaced in between is left out."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting = threading.Event()
        self._changed = threading.Event()

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        searched = threading.current_thread() is not threading.main_thread()
        if searched:
            self._waiting.wait(0.2)
        super().put_documents(build, changes)
        self._changed.set()

    def others(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        self._changed.clear()
        self._waiting.set()
        self._changed.wait(0.2)
        known = {row.id for row in self._live().rows()}
        return tuple(hit for hit in found if hit.chunk.id in known)


class FindsOtherChunksByVectors(InMemoryStore):
    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        answer = super().nearest(space, vector, where=where, limit=limit, deadline=deadline)
        bare = (hit._replace(chunk=hit.chunk._replace(body="")) for hit in answer.found)
        return answer._replace(found=tuple(bare))


class NumbersAnew(InMemoryStore):
    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        old = self._held(build).contents.documents.values()
        super().put_documents(build, [*(entry.document for entry in old), *changes])


class NamesChunksByPlace(Answering):
    def other(self, chunk: StoredChunk) -> StoredChunk:
        names: dict[ChunkId, str] = {
            row.id: f"{row.document.path}#{row.place}" for row in self._live().rows()
        }
        return chunk._replace(id=names[chunk.id])


class ListsNeighbouringDays(InMemoryStore):
    def of_days(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Found, ...]:
        every = query._replace(days=(("0000-01-01", "9999-12-31"),))
        return super().of_days(every, where=where, limit=limit, deadline=deadline)


class ListsTheOldestFirst(InMemoryStore):
    def of_days(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Found, ...]:
        every = super().of_days(query, where=where, limit=1_000_000, deadline=deadline)
        return tuple(sorted(every, key=lambda hit: hit.chunk.day or ""))[:limit]


class ListsTheFirstDays(InMemoryStore):
    def of_days(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Found, ...]:
        query = query._replace(days=query.days[:1])
        return super().of_days(query, where=where, limit=limit, deadline=deadline)


class ListsAllForNone(InMemoryStore):
    def of_days(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> tuple[Found, ...]:
        return super().of_days(query, where=where, limit=limit or 1_000_000, deadline=deadline)


BROKEN: list[tuple[type[InMemoryStore], str]] = [
    (StripsTexts, "test_a_chunk_comes_back_as_it_was_put"),
    (ReadsLineEndsAlike, "test_a_chunk_comes_back_as_it_was_put"),
    (JoinsHeadings, "test_a_chunk_comes_back_as_it_was_put"),
    (DropsEmptyHeadings, "test_a_chunk_comes_back_as_it_was_put"),
    (ForgetsTheTrust, "test_a_chunk_knows_its_document_and_its_words"),
    (GivesTextForBody, "test_a_chunk_knows_its_document_and_its_words"),
    (FetchesInItsOwnOrder, "test_each_score_comes_with_its_own_chunk"),
    (FetchesAThousand, "test_hundreds_of_chunks_can_be_found_at_once"),
    (MissesTheGone, "test_chunks_that_are_gone_are_left_out"),
    (ListsNeighbouringDays, "test_the_chunks_of_some_days_are_listed"),
    (ListsTheFirstDays, "test_the_chunks_of_some_days_are_listed"),
    (ListsAllForNone, "test_the_chunks_of_some_days_are_listed"),
    (ListsTheOldestFirst, "test_the_chunks_of_some_days_are_listed"),
    (IgnoresAFilterForAnother, "test_the_chunks_of_days_pass_all_filters_that_are_set_together"),
    (FiltersAfterTheLimit, "test_the_chunks_of_days_pass_all_filters_that_are_set_together"),
    (FetchesAfterwards, "test_scores_and_chunks_are_of_one_moment"),
    (FindsOtherChunksByVectors, "test_a_chunk_is_the_same_however_it_is_found"),
    (NumbersAnew, "test_ids_stay_while_their_document_does"),
    (NamesChunksByPlace, "test_an_id_never_names_another_chunk"),
]


test_the_law_catches = caught(BROKEN)
test_every_law_can_fail = complete(BROKEN, FoundLaws)
