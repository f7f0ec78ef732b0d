from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve
from tests.conformance.mutants import caught, complete

from commonplace.model.chunks import AppendDocument, PutDocument, TouchDocument
from commonplace.testing import make_put
from commonplace.testing.store.documents import AppendLaws
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from commonplace.model.chunks import Change
    from commonplace.model.documents import Build, StoredDocument
    from commonplace.model.search import KeywordMatches


class Appending(InMemoryStore):
    """Changes what it is given to append."""

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        for change in changes:  # a sound store would apply all or none
            new = self.appended(change, build) if isinstance(change, AppendDocument) else [change]
            super().put_documents(build, new)

    def appended(self, change: AppendDocument, build: Build) -> list[Change]:
        raise NotImplementedError

    def old(self, change: AppendDocument, build: Build) -> PutDocument | None:
        entry = self._held(build).contents.documents.get((change.source, change.path))
        return entry.document if entry else None


class KeepsAllThereIs(Appending):
    def appended(self, change: AppendDocument, build: Build) -> list[Change]:
        old = self.old(change, build)
        return [evolve(change, keep=len(old.chunks) if old else 0)]


class KeepsNothing(Appending):
    def appended(self, change: AppendDocument, build: Build) -> list[Change]:
        return [evolve(change, keep=0)]


class IndexesTheGrownAnew(Appending):
    def appended(self, change: AppendDocument, build: Build) -> list[Change]:
        old = self.old(change, build)
        if old is None or not 0 <= change.keep <= len(old.chunks):
            raise ValueError("there is nothing to go on with")
        return [
            evolve(
                old,
                digest=change.digest,
                stamp=change.stamp,
                day=change.day,
                chunks=old.chunks[: change.keep] + change.chunks,
                resume=change.resume,
            )
        ]


class ForgetsWhereToGoOn(InMemoryStore):
    def documents(self, build: Build | None = None) -> Iterable[StoredDocument]:
        return [document._replace(resume="") for document in super().documents(build)]


class ForgetsItWithATouch(InMemoryStore):
    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        super().put_documents(build, changes)
        for change in changes:
            entry = self._held(build).contents.documents.get((change.source, change.path))
            if isinstance(change, TouchDocument) and entry:
                touched = evolve(entry.document, stamp=change.stamp, resume="")
                super().put_documents(build, [touched])


class InventsTheGrown(Appending):
    def appended(self, change: AppendDocument, build: Build) -> list[Change]:
        if self.old(change, build) is None:
            return [make_put(change.path, *change.chunks, source=change.source)]
        return [change]


class KeepsWhatItCan(Appending):
    def appended(self, change: AppendDocument, build: Build) -> list[Change]:
        old = self.old(change, build)
        return [evolve(change, keep=min(change.keep, len(old.chunks)))] if old else []


class KeepsTheDay(Appending):
    def appended(self, change: AppendDocument, build: Build) -> list[Change]:
        old = self.old(change, build)
        return [evolve(change, day=old.day)] if old else [change]


class ForgetsTheVectors(Appending):
    def appended(self, change: AppendDocument, build: Build) -> list[Change]:
        for info in self.spaces():
            self.drop_space(info.space)
        return [change]


class TurnsItsCounts(InMemoryStore):
    def keyword(self, query: Any, **more: Any) -> KeywordMatches:
        matches = super().keyword(query, **more)
        return matches._replace(terms=matches.terms[::-1])


BROKEN: list[tuple[type[InMemoryStore], str]] = [
    (KeepsAllThereIs, "test_what_is_appended_is_as_if_put_whole"),
    (KeepsNothing, "test_what_is_appended_is_as_if_put_whole"),
    (IndexesTheGrownAnew, "test_what_was_before_is_not_made_again"),
    (ForgetsWhereToGoOn, "test_where_to_go_on_is_remembered"),
    (ForgetsItWithATouch, "test_where_to_go_on_is_remembered"),
    (InventsTheGrown, "test_what_is_not_there_cannot_be_gone_on_with"),
    (KeepsWhatItCan, "test_what_is_not_there_cannot_be_gone_on_with"),
    (KeepsTheDay, "test_a_document_that_grew_has_its_new_day"),
    (ForgetsTheVectors, "test_what_is_kept_keeps_its_vectors"),
    (TurnsItsCounts, "test_the_tokens_of_each_chunk_are_counted"),
]


test_the_law_catches = caught(BROKEN)
test_every_law_can_fail = complete(BROKEN, AppendLaws)
