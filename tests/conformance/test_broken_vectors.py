from __future__ import annotations

from itertools import islice
from operator import mul
from typing import TYPE_CHECKING, Any

from tests.conformance.mutants import caught, complete
from tests.conformance.test_broken_filters import FiltersAfterTheLimit, IgnoresAFilterForAnother

from commonplace.embedding.vectors import floats, unit
from commonplace.index.simple_store import Contents
from commonplace.model.search import Where
from commonplace.resilience.deadline import NEVER
from commonplace.testing.base import ids
from commonplace.testing.store.vectors import NearestLaws, VectorLaws
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from commonplace.model.chunks import Change
    from commonplace.model.documents import Build, SpaceInfo
    from commonplace.model.search import ChunkId, Nearest
    from commonplace.protocols.parts import Store
    from commonplace.resilience.deadline import Deadline


class NamesEveryChunk(InMemoryStore):
    def missing_vectors(self, build: Build, space: str) -> Iterable[tuple[str, str]]:
        missing = dict(super().missing_vectors(build, space))
        rows = self._held(build).contents.rows()
        digests = [row.analysed.digest for row in rows]
        return [(digest, missing[digest]) for digest in digests if digest in missing]


class NamesWhatOtherSpacesLack(InMemoryStore):
    def missing_vectors(self, build: Build, space: str) -> Iterable[tuple[str, str]]:
        held: set[str] = set().union(*self._vectors.values())
        return [item for item in super().missing_vectors(build, space) if item[0] not in held]


class EmbedsWithoutHeadings(InMemoryStore):
    def missing_vectors(self, build: Build, space: str) -> Iterable[tuple[str, str]]:
        missing = dict(super().missing_vectors(build, space))
        texts = {
            r.analysed.digest: r.analysed.chunk.text for r in self._held(build).contents.rows()
        }
        return [(digest, texts[digest]) for digest in missing]


class CountsVectors(InMemoryStore):
    def spaces(self) -> tuple[SpaceInfo, ...]:
        held = self._vectors
        return tuple(info._replace(covered=len(held[info.space])) for info in super().spaces())


class KeepsUnknownVectors(InMemoryStore):
    """Keeps what it was given, and attaches it when the text comes."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[str, tuple[str, int, dict[str, bytes]]] = {}

    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        super().put_vectors(build, space, dims, vectors)
        self._waiting[space] = space, dims, dict(vectors)

    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        super().put_documents(build, changes)
        for space, dims, vectors in self._waiting.values():
            super().put_vectors(build, space, dims, vectors)


class KeepsTheFirstVector(InMemoryStore):
    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        held = self._vectors.get(space, {})
        super().put_vectors(build, space, dims, {**vectors, **held})


class ComparesAThousandNumbers(InMemoryStore):
    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        answer = super().nearest(space, vector, where=where, limit=1_000_000, deadline=deadline)
        held = self.vectors(space, ids(answer.found))
        cut = {id_: floats(one)[:1_000] for id_, one in held.items()}
        asked = floats(vector)[:1_000]
        found = [
            hit._replace(score=sum(map(mul, asked, cut[hit.chunk.id]))) for hit in answer.found
        ]
        found.sort(key=lambda hit: (-hit.score, int(hit.chunk.id)))
        return answer._replace(found=tuple(found[:limit]))


class RemembersVectors(InMemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self._given: dict[tuple[str, ChunkId], bytes] = {}

    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        given = super().vectors(space, ids)
        return {id_: self._given.setdefault((space, id_), one) for id_, one in given.items()}


class KeepsAHalfOfABadBatch(InMemoryStore):
    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        for digest, vector in vectors.items():
            super().put_vectors(build, space, dims, {digest: vector})


class TakesAnything(InMemoryStore):
    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        held = self._vectors.get(space, {})
        self._lease.check()
        self._keep({**self._vectors, space: {**held, **vectors}})


class BringsToUnitLength(InMemoryStore):
    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        units = {
            digest: unit(numbers) if any(numbers := floats(vector)) else vector
            for digest, vector in vectors.items()
        }
        super().put_vectors(build, space, dims, units)


class MixesDimensions(InMemoryStore):
    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        if {len(vector) for vector in self._vectors.get(space, {}).values()} - {4 * dims}:
            self.drop_space(space)
        super().put_vectors(build, space, dims, vectors)


class DropsNothing(InMemoryStore):
    def drop_space(self, space: str) -> None:
        self._lease.check()


class DropsAllSpaces(InMemoryStore):
    def drop_space(self, space: str) -> None:
        super().drop_space(space)
        self._keep({})


class ForgetsNothing(InMemoryStore):
    def _swap(self, builds: dict[int, Any]) -> None:
        kept = self._vectors
        super()._swap(builds)
        self._vectors = kept


class ForgetsWithTheDocument(InMemoryStore):
    def put_documents(self, build: Build, changes: Sequence[Change]) -> None:
        old = self._held(build).contents.documents
        going = {
            row.analysed.digest
            for change in changes
            if (entry := old.get((change.source, change.path)))
            for row in entry.rows
        }
        super().put_documents(build, changes)
        kept = {row.analysed.digest for row in self._live().rows()} - going
        self._keep(
            {
                space: {digest: vector for digest, vector in held.items() if digest in kept}
                for space, held in self._vectors.items()
            }
        )


class BeginsBuildsWithoutVectors(InMemoryStore):
    def open_build(self, identity: str) -> Build:
        build = super().open_build(identity)
        self._keep({})
        return build


class WritesWithoutTheLease(InMemoryStore):
    def put_vectors(
        self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
    ) -> None:
        with self.writer(wait=1):
            super().put_vectors(build, space, dims, vectors)


class Asks(InMemoryStore):
    """Lets a mutant ask the sound store something else."""

    def ask(self, space: str, vector: bytes, where: Where, limit: int) -> Nearest:
        return super().nearest(space, vector, where=where, limit=limit, deadline=NEVER)


class FiltersAfterwards(Asks):
    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        deadline.check("the search")
        passing = ids(self.ask(space, vector, where, 10_000).found)
        found = self.ask(space, vector, Where(), limit).found
        return self.ask(space, vector, where, 0)._replace(
            found=tuple(hit for hit in found if hit.chunk.id in passing)
        )


class FindsEachVectorOnce(Asks):
    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        deadline.check("the search")
        answer = self.ask(space, vector, where, 10_000)
        digests = {row.id: row.analysed.digest for row in self._live().rows()}
        once = {digests[int(hit.chunk.id)]: hit for hit in reversed(answer.found)}
        found = [hit for hit in answer.found if hit in once.values()]
        return answer._replace(found=tuple(found[:limit]))


class SaysExactWhereItIsNot(Asks):
    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        deadline.check("the search")
        answer = self.ask(space, vector, where, limit + 1)
        return answer._replace(found=tuple(islice(answer.found, len(answer.found) > limit, None)))


class OrdersEqualsByAge(Asks):
    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        deadline.check("the search")
        answer = self.ask(space, vector, where, 10_000)
        found = sorted(answer.found, key=lambda hit: (-hit.score, hit.chunk.id))
        return answer._replace(found=tuple(found[:limit]))


class RaisesForUnknownSpaces(InMemoryStore):
    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        assert self._vectors[space]
        return super().nearest(space, vector, where=where, limit=limit, deadline=deadline)


class HasOneSpace(InMemoryStore):
    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        sizes = {space: len(next(iter(held.values()))) for space, held in self._vectors.items()}
        first = next(space for space, size in sizes.items() if size == len(vector))
        return super().nearest(first, vector, where=where, limit=limit, deadline=deadline)


class SearchesTheFillingBuild(InMemoryStore):
    def _live(self) -> Contents:
        held = list(self._snapshot().values())
        return held[-1].contents if held else Contents()


class GivesBackTheQuerysOwnIds(InMemoryStore):
    def vectors(self, space: str, ids: Collection[ChunkId]) -> Mapping[ChunkId, bytes]:
        return dict.fromkeys(ids, b"") | dict(super().vectors(space, ids))


class TakesItsTime(Asks):
    def nearest(
        self, space: str, vector: bytes, *, where: Where, limit: int, deadline: Deadline
    ) -> Nearest:
        return self.ask(space, vector, where, limit)


class ForgetsVectorsOnClosing(InMemoryStore):
    """Its contents outlive it, its vectors do not."""

    capabilities = InMemoryStore.capabilities | {"persistent"}

    def close(self) -> None:
        self._vectors = {}


BROKEN: list[tuple[type[InMemoryStore], str]] = [
    (NamesEveryChunk, "test_missing_vectors_are_named_once"),
    (NamesWhatOtherSpacesLack, "test_missing_vectors_are_named_once"),
    (EmbedsWithoutHeadings, "test_the_text_to_embed_has_its_headings"),
    (CountsVectors, "test_coverage_counts_chunks"),
    (KeepsUnknownVectors, "test_unknown_digests_are_left_out"),
    (KeepsTheFirstVector, "test_a_vector_put_again_replaces_the_old_one"),
    (RemembersVectors, "test_a_vector_put_again_replaces_the_old_one"),
    (KeepsAHalfOfABadBatch, "test_what_is_no_vector_is_refused"),
    (TakesAnything, "test_what_is_no_vector_is_refused"),
    (BringsToUnitLength, "test_a_vector_that_is_not_of_unit_length_is_refused"),
    (MixesDimensions, "test_a_space_has_one_number_of_dimensions"),
    (DropsNothing, "test_a_dropped_space_is_gone"),
    (DropsAllSpaces, "test_a_dropped_space_is_gone"),
    (ForgetsNothing, "test_a_vector_goes_with_the_last_chunk_of_its_text"),
    (ForgetsWithTheDocument, "test_a_vector_stays_with_its_text"),
    (BeginsBuildsWithoutVectors, "test_a_new_build_takes_over_vectors"),
    (WritesWithoutTheLease, "test_vectors_are_written_under_the_lease"),
    (ForgetsVectorsOnClosing, "test_vectors_are_there_after_reopening"),
    (FiltersAfterwards, "test_a_filter_looks_past_nearer_chunks"),
    (IgnoresAFilterForAnother, "test_the_nearest_pass_all_filters_that_are_set_together"),
    (FiltersAfterTheLimit, "test_the_nearest_pass_all_filters_that_are_set_together"),
    (FindsEachVectorOnce, "test_the_nearest_are_found"),
    (SaysExactWhereItIsNot, "test_the_nearest_are_found"),
    (OrdersEqualsByAge, "test_equally_near_chunks_are_ordered_by_day_source_path_and_place"),
    (RaisesForUnknownSpaces, "test_where_there_is_nothing_nothing_is_found"),
    (ComparesAThousandNumbers, "test_spaces_never_mix"),
    (HasOneSpace, "test_spaces_never_mix"),
    (SearchesTheFillingBuild, "test_vectors_of_a_filling_build_are_invisible"),
    (GivesBackTheQuerysOwnIds, "test_vectors_are_given_back"),
    (TakesItsTime, "test_a_deadline_that_has_passed_ends_the_search"),
]


def _opener(broken: type) -> Callable[[str], Store]:
    if broken is not ForgetsVectorsOnClosing:
        return lambda _: broken()
    stores: dict[str, InMemoryStore] = {}
    return lambda directory: stores.setdefault(directory, broken())


test_the_law_catches = caught(BROKEN, _opener)
test_every_law_can_fail = complete(BROKEN, VectorLaws, NearestLaws)


def test_a_sound_store_keeps_every_law(
    laws: Callable[[type], set[str]], verdict: Callable[..., str]
) -> None:
    verdicts = {
        law: verdict(lambda _: Asks(), law, 40) for law in laws(VectorLaws) | laws(NearestLaws)
    }
    assert verdicts.pop("test_vectors_are_there_after_reopening") == "skipped"
    assert set(verdicts.values()) == {"kept"}
