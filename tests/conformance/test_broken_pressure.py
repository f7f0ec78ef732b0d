from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any

from attrs import evolve
from tests.conformance.mutants import caught, complete

from commonplace.errors import DeadlineExceededError
from commonplace.index.simple_store import Contents, SimpleStore, StoredBuild
from commonplace.model.chunks import DeleteDocument, PutDocument, TouchDocument
from commonplace.model.search import Found, KeywordMatches, Nearest
from commonplace.protocols.contexts import StoreContext
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.testing.store.pressure import PressureLaws, SizeLaws
from commonplace_inmemory.store import InMemoryStore
from commonplace_sqlite.plugin import make_store

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from commonplace.model.chunks import Change
    from commonplace.model.documents import Build, StoredDocument
    from commonplace.model.search import ChunkId
    from commonplace.protocols.parts import Store


class AnswersTheLastQuestion(InMemoryStore):
    def keyword(self, query: Any, **more: Any) -> KeywordMatches:
        self.query = query
        self._live()
        return super().keyword(self.query, **more)


class FiltersAsTheLastOne(InMemoryStore):
    def keyword(self, query: Any, **more: Any) -> KeywordMatches:
        self.more = more
        list(self._live().rows())
        return super().keyword(query, **self.more)


class SharesItsAnswer(InMemoryStore):
    def keyword(self, query: Any, **more: Any) -> KeywordMatches:
        self.answer = super().keyword(query, **more)
        return KeywordMatches(tuple(Found(*hit) for hit in self.answer.found))


class LooksForTheLastVector(InMemoryStore):
    def nearest(self, space: str, vector: bytes, **more: Any) -> Nearest:
        self.asked = space, vector
        self._live()
        return super().nearest(*self.asked, **more)


class TakesAHundredChanges(InMemoryStore):
    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        super().put_documents(build, changes[:100])


class TakesAHundredDeletes(InMemoryStore):
    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        gone = [change for change in changes if isinstance(change, DeleteDocument)][128:]
        super().put_documents(build, [change for change in changes if change not in gone])


class NamesAPageOfDocuments(InMemoryStore):
    def documents(self, build: Build | None = None) -> Iterable[StoredDocument]:
        return islice(super().documents(build), 256)


class FindsAPage(InMemoryStore):
    def keyword(self, query: Any, *, limit: int, **more: Any) -> KeywordMatches:
        return super().keyword(query, limit=min(limit, 1_000), **more)


class Changing(InMemoryStore):
    """Puts another document than it was given."""

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        super().put_documents(
            build, [self.put(one) if isinstance(one, PutDocument) else one for one in changes]
        )

    def put(self, put: PutDocument) -> PutDocument:
        raise NotImplementedError


class KeepsAThousandChunks(Changing):
    def put(self, put: PutDocument) -> PutDocument:
        return evolve(put, chunks=put.chunks[:1_024])


class CutsWhereToGoOn(Changing):
    def put(self, put: PutDocument) -> PutDocument:
        return evolve(put, resume=put.resume[:65_536])


class CutsTexts(Changing):
    def put(self, put: PutDocument) -> PutDocument:
        cut = [c._replace(chunk=c.chunk._replace(text=c.chunk.text[:65_536])) for c in put.chunks]
        return evolve(put, chunks=tuple(cut))


class CutsHeadings(Changing):
    def put(self, put: PutDocument) -> PutDocument:
        cut = [
            c._replace(chunk=c.chunk._replace(heading=tuple(h[:32_768] for h in c.chunk.heading)))
            for c in put.chunks
        ]
        return evolve(put, chunks=tuple(cut))


class CutsWords(Changing):
    def put(self, put: PutDocument) -> PutDocument:
        cut = [c._replace(terms=c.terms._replace(body=c.terms.body[:32_768])) for c in put.chunks]
        return evolve(put, chunks=tuple(cut))


class Filtering(InMemoryStore):
    """Filters by something else than it was asked."""

    def keyword(self, query: Any, *, where: Any, **more: Any) -> KeywordMatches:
        return super().keyword(query, where=where._replace(**self.other(where)), **more)

    def other(self, where: Any) -> dict[str, Any]:
        raise NotImplementedError


class LooksAtFewGlobs(Filtering):
    def other(self, where: Any) -> dict[str, Any]:
        return {"paths": where.paths[:64]}


class LooksAtTwoGlobs(Filtering):
    def other(self, where: Any) -> dict[str, Any]:
        return {"paths": where.paths[:2]}


class ShutsOutFewGlobs(Filtering):
    def other(self, where: Any) -> dict[str, Any]:
        return {"not_paths": where.not_paths[:100]}


class LooksAtFewSources(Filtering):
    def other(self, where: Any) -> dict[str, Any]:
        some = where.sources and frozenset(sorted(where.sources, reverse=True)[:250])
        return {"sources": some}


class LooksAtFewTags(Filtering):
    def other(self, where: Any) -> dict[str, Any]:
        return {"tags": where.tags[1:][:50] or where.tags}


class CountsAHundredTokens(InMemoryStore):
    def holders(self, tokens: Collection[str]) -> Mapping[str, int]:
        return dict.fromkeys(tokens, 0) | dict(super().holders(list(tokens)[:100]))


class ComparesTheFirst(InMemoryStore):
    """Looks at a thousand vectors, and says that it has looked at all."""

    def nearest(self, space: str, vector: bytes, *, where: Any, limit: int, **more: Any) -> Nearest:
        every = super().nearest(space, vector, where=where, limit=10**6, **more).found
        if limit > 1_000:
            return Nearest(every, exact=True)
        first = sorted(every, key=lambda hit: int(hit.chunk.id))[:1_000]
        best = sorted(first, key=lambda hit: -hit.score)[:limit]
        return Nearest(tuple(best), exact=True)


class FiltersTheNearest(InMemoryStore):
    def nearest(self, space: str, vector: bytes, *, where: Any, limit: int, **more: Any) -> Nearest:
        near = super().nearest(space, vector, where=where._replace(paths=()), limit=500, **more)
        passing = super().nearest(space, vector, where=where, limit=10**6, **more).found
        if limit > 500 or not where.paths:
            return Nearest(passing[:limit], exact=True)
        return Nearest(tuple(hit for hit in near.found if hit in passing)[:limit], exact=True)


class GivesBackAHundredVectors(InMemoryStore):
    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        return super().vectors(space, list(ids)[:999])


class MissesAPage(InMemoryStore):
    def missing_vectors(self, build: Build, space: str) -> Iterable[tuple[str, str]]:
        return islice(super().missing_vectors(build, space), 1_000)


class Everywhere(InMemoryStore):
    """Does to the live build what is done to the one that fills."""

    kinds: tuple[type, ...] = ()

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        super().put_documents(build, changes)
        for live in self.builds():
            if live.state == "live" and live.id != build.id:
                self.also(live, [change for change in changes if isinstance(change, self.kinds)])

    def also(self, live: Build, changes: Sequence[Change]) -> None:
        super().put_documents(live, changes)


class DeletesEverywhere(Everywhere):
    kinds = (DeleteDocument,)


class TouchesEverywhere(Everywhere):
    kinds = (TouchDocument,)


class DeletesTheRows(Everywhere):
    """The document stays, and is found no more."""

    kinds = (DeleteDocument,)

    def also(self, live: Build, changes: Sequence[Change]) -> None:
        gone = {(change.source, change.path) for change in changes}
        held = self._held(live)
        documents = {
            key: entry._replace(rows=()) if key in gone else entry
            for key, entry in held.contents.documents.items()
        }
        contents = Contents(documents)
        self._swap(self._snapshot() | {live.id: held._replace(contents=contents)})


class KeepsVectorsOfTheNewest(InMemoryStore):
    def save(self, builds: Mapping[int, StoredBuild]) -> None:
        newest = max(builds, default=0)
        super().save({id_: held for id_, held in builds.items() if id_ == newest})
        self._builds = builds


def _uncancelled(deadline: Deadline) -> Deadline:
    """The deadline as of one that knows time alone."""
    return (
        Deadline(0.0, clock=lambda: 1.0) if not deadline.cancelled and deadline.expired else NEVER
    )


class SeesTimeAlone(InMemoryStore):
    def keyword(self, query: Any, *, deadline: Deadline, **more: Any) -> KeywordMatches:
        return super().keyword(query, deadline=_uncancelled(deadline), **more)


class SeesTimeAloneForVectors(InMemoryStore):
    def nearest(self, space: str, vector: bytes, *, deadline: Deadline, **more: Any) -> Nearest:
        return super().nearest(space, vector, deadline=_uncancelled(deadline), **more)


class SeesNoTimeForDays(InMemoryStore):
    def of_days(self, query: Any, *, deadline: Deadline, **more: Any) -> tuple[Found, ...]:
        return super().of_days(query, deadline=NEVER, **more)


class CutsShortWhenCancelled(InMemoryStore):
    def keyword(self, query: Any, *, deadline: Deadline, **more: Any) -> KeywordMatches:
        deadline.check("the search")
        every = super().keyword(query, deadline=NEVER, **more)
        if deadline.cancelled:
            return every._replace(found=every.found[: len(every.found) // 2])
        return every


class CutsVectorsShort(InMemoryStore):
    def nearest(self, space: str, vector: bytes, *, deadline: Deadline, **more: Any) -> Nearest:
        deadline.check("the search")
        try:
            return super().nearest(space, vector, deadline=deadline, **more)
        except DeadlineExceededError:
            every = super().nearest(space, vector, deadline=NEVER, **more)
            return every._replace(found=every.found[:9])


class LeavesAFileOpen(InMemoryStore):
    def keyword(self, query: Any, **more: Any) -> KeywordMatches:
        self.files = [*getattr(self, "files", ()), os.open(os.devnull, os.O_RDONLY)]
        return super().keyword(query, **more)

    def release(self) -> None:
        for file in getattr(self, "files", ()):
            os.close(file)


_LEFT: list[int] = []


class LeavesAFileOpenWhenClosed(InMemoryStore):
    def __init__(self) -> None:
        super().__init__()
        _LEFT.append(os.open(os.devnull, os.O_RDONLY))


class ScoresByHash(InMemoryStore):
    def keyword(self, query: Any, *, limit: int, **more: Any) -> KeywordMatches:
        found = [
            hit._replace(score=hit.score * (1 + hash(hit.chunk.path) % 97 / 1e4))
            for hit in super().keyword(query, limit=10**6, **more).found
        ]
        return KeywordMatches(tuple(sorted(found, key=lambda hit: -hit.score)[:limit]))


class JoinsASet(InMemoryStore):
    """Gives the words of a chunk in the order of a set."""

    def keyword(self, query: Any, **more: Any) -> KeywordMatches:
        return KeywordMatches(
            tuple(
                hit._replace(chunk=hit.chunk._replace(body=" ".join(set(hit.chunk.body.split()))))
                for hit in super().keyword(query, **more).found
            )
        )


class NamesByHash(SimpleStore):
    """Chunks of a lasting store whose ids only this process knows."""

    def __init__(self, directory: str) -> None:
        self.store = make_store(StoreContext(path=f"{directory}/index.sqlite"))

    def __getattribute__(self, name: str) -> Any:
        if name in {"store", "keyword", "__class__"}:
            return super().__getattribute__(name)
        return getattr(self.store, name)

    def keyword(self, query: Any, **more: Any) -> KeywordMatches:
        matches = self.store.keyword(query, **more)
        found = [h._replace(chunk=h.chunk._replace(id=hash(h.chunk.path))) for h in matches.found]
        return matches._replace(found=tuple(found))


class Opener:
    """Opens a store of a class; named, so that another process can open it, too."""

    def __init__(self, store: Callable[..., Store]) -> None:
        self.store = store

    def __call__(self, directory: str) -> Store:
        return self.store(directory) if self.store is NamesByHash else self.store()


BROKEN: list[tuple[Any, str]] = [
    (AnswersTheLastQuestion, "test_each_thread_gets_its_own_answer"),
    (FiltersAsTheLastOne, "test_each_thread_gets_its_own_answer"),
    (SharesItsAnswer, "test_each_thread_gets_its_own_answer"),
    (LooksForTheLastVector, "test_each_thread_gets_its_own_answer"),
    (TakesAHundredChanges, "test_a_batch_may_be_large"),
    (TakesAHundredDeletes, "test_a_batch_may_be_large"),
    (NamesAPageOfDocuments, "test_a_batch_may_be_large"),
    (FindsAPage, "test_a_document_may_be_large"),
    (KeepsAThousandChunks, "test_a_document_may_be_large"),
    (CutsWhereToGoOn, "test_a_document_may_be_large"),
    (CutsTexts, "test_a_text_may_be_long"),
    (CutsHeadings, "test_a_text_may_be_long"),
    (CutsWords, "test_a_text_may_be_long"),
    (LooksAtFewGlobs, "test_filters_may_be_many"),
    (LooksAtTwoGlobs, "test_filters_may_be_many"),
    (ShutsOutFewGlobs, "test_filters_may_be_many"),
    (LooksAtFewSources, "test_filters_may_be_many"),
    (LooksAtFewTags, "test_filters_may_be_many"),
    (CountsAHundredTokens, "test_many_tokens_are_counted"),
    (ComparesTheFirst, "test_thousands_of_vectors_are_compared"),
    (FiltersTheNearest, "test_thousands_of_vectors_are_compared"),
    (GivesBackAHundredVectors, "test_thousands_of_vectors_are_compared"),
    (MissesAPage, "test_thousands_of_vectors_are_compared"),
    (DeletesEverywhere, "test_what_is_done_to_a_filling_build_stays_there"),
    (DeletesTheRows, "test_what_is_done_to_a_filling_build_stays_there"),
    (TouchesEverywhere, "test_what_is_done_to_a_filling_build_stays_there"),
    (KeepsVectorsOfTheNewest, "test_what_is_done_to_a_filling_build_stays_there"),
    (SeesTimeAlone, "test_a_cancelled_search_is_an_error"),
    (SeesNoTimeForDays, "test_a_cancelled_search_is_an_error"),
    (CutsShortWhenCancelled, "test_a_search_that_is_cancelled_gives_all_or_an_error"),
    (SeesTimeAloneForVectors, "test_a_cancelled_vector_search_gives_all_or_an_error"),
    (CutsVectorsShort, "test_a_cancelled_vector_search_gives_all_or_an_error"),
    (LeavesAFileOpen, "test_no_file_is_left_open"),
    (LeavesAFileOpenWhenClosed, "test_no_file_is_left_open"),
    (ScoresByHash, "test_another_process_gives_the_same_answers"),
    (JoinsASet, "test_another_process_gives_the_same_answers"),
    (NamesByHash, "test_another_process_reads_what_this_one_wrote"),
]


test_the_law_catches = caught(BROKEN, Opener)
test_every_law_can_fail = complete(BROKEN, SizeLaws, PressureLaws)
