from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace.errors import IndexUnavailableError
from commonplace.testing.store.fetching import FetchLaws
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.model.chunks import Change
    from commonplace.model.search import ChunkId, KeywordQuery, StoredChunk, Where
    from commonplace.model.store import Build
    from commonplace.resilience.deadline import Deadline


class Fetching(InMemoryStore):
    """Gives other chunks than it has."""

    def fetch(self, ids: Sequence[ChunkId]) -> list[StoredChunk]:
        return [self.other(chunk) for chunk in super().fetch(ids)]

    def other(self, chunk: StoredChunk) -> StoredChunk:
        raise NotImplementedError


class StripsTexts(Fetching):
    def other(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(text=chunk.text.strip())


class ReadsLineEndsAlike(Fetching):
    def other(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(text=chunk.text.replace("\r", "\n"))


class JoinsHeadings(Fetching):
    def other(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(heading=tuple(" > ".join(chunk.heading).split(" > ")))


class DropsEmptyHeadings(Fetching):
    def other(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(heading=tuple(filter(None, chunk.heading)))


class ForgetsTheTrust(Fetching):
    def other(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(trust="memory")


class GivesTextForBody(Fetching):
    def other(self, chunk: StoredChunk) -> StoredChunk:
        return chunk._replace(body=chunk.text)


class FetchesInItsOwnOrder(InMemoryStore):
    def fetch(self, ids: Sequence[ChunkId]) -> list[StoredChunk]:
        return sorted(super().fetch(ids), key=lambda chunk: chunk.id)


class FetchesAThousand(InMemoryStore):
    def fetch(self, ids: Sequence[ChunkId]) -> list[StoredChunk]:
        return super().fetch(ids[:999])


class MissesTheGone(InMemoryStore):
    def fetch(self, ids: Sequence[ChunkId]) -> list[StoredChunk]:
        found = super().fetch(ids)
        if len(found) < len(ids):
            raise IndexUnavailableError("a chunk is gone")
        return found


class NumbersAnew(InMemoryStore):
    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        old = self._held(build).index.documents.values()
        super().put_documents(build, [*(entry.document for entry in old), *changes])


class NamesChunksByPlace(InMemoryStore):
    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> list[tuple[ChunkId, float]]:
        found = super().keyword(query, where=where, limit=limit, deadline=deadline)
        names = {id_: name for name, id_ in self._names().items()}
        return [(names[id_], score) for id_, score in found]

    def fetch(self, ids: Sequence[ChunkId]) -> list[StoredChunk]:
        names = self._names()
        return super().fetch([names[id_] for id_ in ids if id_ in names])

    def _names(self) -> dict[ChunkId, ChunkId]:
        return {f"{row.document.path}#{row.place}": row.id for row in self._live().rows()}


BROKEN: list[tuple[type[InMemoryStore], str]] = [
    (StripsTexts, "test_a_chunk_comes_back_as_it_was_put"),
    (ReadsLineEndsAlike, "test_a_chunk_comes_back_as_it_was_put"),
    (JoinsHeadings, "test_a_chunk_comes_back_as_it_was_put"),
    (DropsEmptyHeadings, "test_a_chunk_comes_back_as_it_was_put"),
    (ForgetsTheTrust, "test_a_chunk_knows_its_document_and_its_words"),
    (GivesTextForBody, "test_a_chunk_knows_its_document_and_its_words"),
    (FetchesInItsOwnOrder, "test_chunks_come_in_the_order_asked_for"),
    (FetchesAThousand, "test_hundreds_of_chunks_can_be_fetched_at_once"),
    (MissesTheGone, "test_chunks_that_are_gone_are_left_out"),
    (NumbersAnew, "test_ids_stay_while_their_document_does"),
    (NamesChunksByPlace, "test_an_id_never_names_another_chunk"),
]


@pytest.mark.parametrize(("broken", "law"), BROKEN, ids=[broken.__name__ for broken, _ in BROKEN])
def test_the_law_catches(
    broken: type[InMemoryStore],
    law: str,
    verdict: Callable[[Callable[[str], InMemoryStore], str], str],
) -> None:
    assert verdict(lambda _: broken(), law) == "broken"


def test_every_law_can_fail(laws: Callable[[type], set[str]]) -> None:
    assert {law for _, law in BROKEN} == laws(FetchLaws)
