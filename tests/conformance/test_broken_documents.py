from __future__ import annotations

import unicodedata
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import evolve
from tests.conformance.mutants import caught, complete

from commonplace.errors import IndexUnavailableError
from commonplace.index.simple_store import Contents
from commonplace.model.chunks import DeleteDocument, PutDocument, TouchDocument
from commonplace.model.documents import Lookup
from commonplace.testing import make_put
from commonplace.testing.store.documents import DocumentLaws
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from commonplace.model.chunks import Change
    from commonplace.model.documents import Build, StoredDocument


class Rewriting(InMemoryStore):
    """Makes something else of the changes it is given."""

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        super().put_documents(build, [new for old in changes for new in self.rewrite(old, build)])

    def rewrite(self, change: Change, build: Build) -> list[Change]:
        raise NotImplementedError

    def old(self, change: Change, build: Build) -> PutDocument | None:
        entry = self._held(build).contents.documents.get((change.source, change.path))
        return entry.document if entry else None


class LosesDeletes(Rewriting):
    def rewrite(self, change: Change, build: Build) -> list[Change]:
        return [] if isinstance(change, DeleteDocument) else [change]


class LosesTouches(Rewriting):
    def rewrite(self, change: Change, build: Build) -> list[Change]:
        return [] if isinstance(change, TouchDocument) else [change]


class IndexesTheTouchedAnew(Rewriting):
    def rewrite(self, change: Change, build: Build) -> list[Change]:
        old = self.old(change, build)
        if isinstance(change, TouchDocument) and old:
            return [evolve(old, stamp=change.stamp)]
        return [change]


class InventsTheTouched(Rewriting):
    def rewrite(self, change: Change, build: Build) -> list[Change]:
        if isinstance(change, TouchDocument) and not self.old(change, build):
            return [make_put(change.path, source=change.source, stamp=change.stamp)]
        return [change]


class LosesTheTagsOfTheTouched(InMemoryStore):
    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        super().put_documents(build, changes)
        touched = {(one.source, one.path) for one in changes if isinstance(one, TouchDocument)}
        held = self._held(build)
        documents = dict(held.contents.documents)
        for key in touched & documents.keys():
            put = evolve(documents[key].document, tags=())
            rows = tuple(row._replace(document=put) for row in documents[key].rows)
            documents[key] = documents[key]._replace(document=put, rows=rows)
        self._swap(self._snapshot() | {build.id: held._replace(contents=Contents(documents))})


class MindsTheUnknown(Rewriting):
    def rewrite(self, change: Change, build: Build) -> list[Change]:
        if isinstance(change, DeleteDocument) and not self.old(change, build):
            raise IndexUnavailableError("there is no such document")
        return [change]


class KnowsOneNormalisation(Rewriting):
    def rewrite(self, change: Change, build: Build) -> list[Change]:
        return [evolve(change, path=unicodedata.normalize("NFC", change.path))]


class KnowsNoCase(Rewriting):
    def rewrite(self, change: Change, build: Build) -> list[Change]:
        return [evolve(change, path=change.path.lower())]


class KnowsNoSources(Rewriting):
    def rewrite(self, change: Change, build: Build) -> list[Change]:
        others = {source for source, _ in self._held(build).contents.documents} - {change.source}
        return [*(DeleteDocument(source, change.path) for source in others), change]


class KeepsOldChunks(Rewriting):
    def rewrite(self, change: Change, build: Build) -> list[Change]:
        old = self.old(change, build)
        if isinstance(change, PutDocument) and old:
            return [evolve(change, chunks=change.chunks + old.chunks)]
        return [change]


class NarrowsStamps(Rewriting):
    def rewrite(self, change: Change, build: Build) -> list[Change]:
        if isinstance(change, DeleteDocument):
            return [change]
        return [evolve(change, stamp=" ".join(change.stamp.split()[:4]) or "?")]


class ForgetsRecipes(InMemoryStore):
    def documents(self, build: Build | None = None) -> Iterable[StoredDocument]:
        return [document._replace(fingerprint="") for document in super().documents(build)]


class AppliesOneByOne(InMemoryStore):
    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        for change in changes:
            super().put_documents(build, [change])


class HidesFailures(InMemoryStore):
    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        with suppress(TypeError, OSError):
            super().put_documents(build, changes)


class AppliesBackwards(InMemoryStore):
    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        super().put_documents(build, list(changes)[::-1])


class FailsWhenEmpty(InMemoryStore):
    def documents(self, build: Build | None = None) -> Iterable[StoredDocument]:
        if not self.builds():
            raise IndexUnavailableError("nothing has been indexed")
        return super().documents(build)


class LooksUpPathsAlone(InMemoryStore):
    def lookup(self, build: Build, keys: Collection[tuple[str, str]]) -> Lookup:
        paths = {path for _, path in keys}
        every = list(self.documents(build))
        return Lookup(tuple(one for one in every if one.path in paths), len(every))


class CountsWhatItLooksUp(InMemoryStore):
    def lookup(self, build: Build, keys: Collection[tuple[str, str]]) -> Lookup:
        found = super().lookup(build, keys)
        return found._replace(total=len(found.documents))


class KnowsWordsInside(InMemoryStore):
    def tokens_beginning(self, text: str, limit: int) -> Mapping[str, int]:
        tokens = (token for row in self._live().rows() for token in row.counts if text in token)
        return dict(Counter(tokens).most_common(limit))


class CountsWithoutLimit(InMemoryStore):
    def tokens_beginning(self, text: str, limit: int) -> Mapping[str, int]:
        return super().tokens_beginning(text, 100)


class HoldsByNumber(InMemoryStore):
    capabilities = InMemoryStore.capabilities | {"holds"}

    def holds(self, build: Build, documents: Mapping[tuple[str, str], Mapping[str, str]]) -> bool:
        return len(list(self.documents(build))) == sum(map(len, documents.values()))


class HoldsFurtherDocuments(InMemoryStore):
    capabilities = InMemoryStore.capabilities | {"holds"}

    def holds(self, build: Build, documents: Mapping[tuple[str, str], Mapping[str, str]]) -> bool:
        held = {(d.source, d.fingerprint, d.path, d.stamp) for d in self.documents(build)}
        return held >= {
            (*key, path, stamp)
            for key, stamps in documents.items()
            for path, stamp in stamps.items()
        }


BROKEN: list[tuple[type[InMemoryStore], str]] = [
    (LosesDeletes, "test_any_history_leaves_what_a_naive_model_leaves"),
    (AppliesOneByOne, "test_any_history_leaves_what_a_naive_model_leaves"),
    (FailsWhenEmpty, "test_an_empty_store_is_empty"),
    (NarrowsStamps, "test_a_document_is_remembered_exactly"),
    (ForgetsRecipes, "test_a_document_is_remembered_exactly"),
    (AppliesBackwards, "test_changes_of_a_batch_apply_in_their_order"),
    (KnowsOneNormalisation, "test_paths_that_look_alike_are_distinct"),
    (KnowsNoCase, "test_paths_that_look_alike_are_distinct"),
    (KnowsNoSources, "test_one_path_of_two_sources_is_two_documents"),
    (KeepsOldChunks, "test_putting_again_replaces_all_chunks"),
    (LosesDeletes, "test_deleting_leaves_nothing_to_find"),
    (LosesTouches, "test_touching_changes_the_stamp_alone"),
    (LosesTheTagsOfTheTouched, "test_touching_changes_the_stamp_alone"),
    (IndexesTheTouchedAnew, "test_touching_changes_the_stamp_alone"),
    (InventsTheTouched, "test_what_is_not_there_is_neither_deleted_nor_touched"),
    (MindsTheUnknown, "test_what_is_not_there_is_neither_deleted_nor_touched"),
    (AppliesOneByOne, "test_a_batch_that_fails_leaves_everything_as_it_was"),
    (HidesFailures, "test_a_batch_that_fails_leaves_everything_as_it_was"),
    (LooksUpPathsAlone, "test_single_documents_are_looked_up"),
    (CountsWhatItLooksUp, "test_single_documents_are_looked_up"),
    (KnowsWordsInside, "test_tokens_are_found_by_how_they_begin"),
    (CountsWithoutLimit, "test_tokens_are_found_by_how_they_begin"),
    (HoldsByNumber, "test_it_knows_whether_it_holds_just_these"),
    (HoldsFurtherDocuments, "test_it_knows_whether_it_holds_just_these"),
]


test_the_law_catches = caught(BROKEN)
test_every_law_can_fail = complete(BROKEN, DocumentLaws)
