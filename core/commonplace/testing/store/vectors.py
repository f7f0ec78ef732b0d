"""Laws about vectors: which are kept and for how long, and which chunks are nearest."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import strategies as st

from commonplace.errors import CallerError, DeadlineExceededError
from commonplace.model.chunks import DeleteDocument, embedding_text
from commonplace.model.search import Where
from commonplace.resilience.deadline import Deadline
from commonplace.testing.base import (
    ALL,
    DIMS,
    EVERYWHERE,
    WAIT,
    attach,
    digests,
    fill,
    filtered_puts,
    filters_together,
    ids,
    live_build,
    make_chunk,
    make_put,
    make_vector,
    nearest,
    places,
    publish,
    write,
)
from commonplace.testing.laws import law
from commonplace.testing.store.lifetime import StoreLaws
from commonplace.testing.strategies import (
    PATHS,
    TESTED_SOURCES,
    TOLERANCE,
    corpora,
    dated_order,
    dated_puts,
    nearest_places,
    unit_vectors,
    wheres,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.model.chunks import PutDocument
    from commonplace.model.documents import Build
    from commonplace.model.search import Nearest
    from commonplace.protocols.parts import VectorStore
    from commonplace.testing.base import Corpus, Place


_EAST, _NORTH, _WEST = make_vector(1, 0, 0), make_vector(0, 1, 0), make_vector(-1, 0, 0)
_A, _B = make_chunk("ant"), make_chunk("bee", line=2)
_BAD = {
    "too short": make_vector(1, 0),
    "too long": make_vector(1, 0, 0, 0),
    "cut": _EAST[:-1],
    "empty": b"",
    "not a number": struct.pack("<3f", 1.0, float("nan"), 0.0),
    "infinite": struct.pack("<3f", float("inf"), 0.0, 0.0),
}


def _long(length: float) -> bytes:
    """A vector to the north, of another length."""
    return struct.pack("<3f", 0.0, length, 0.0)


def _embedded(store: VectorStore, vectors: Mapping[str, bytes], *puts: PutDocument) -> Build:
    """A live build of ``puts``, with ``vectors`` by digest in the space ``space``."""
    build = publish(store, *puts)
    attach(store, build, "space", vectors)
    return build


class VectorLaws(StoreLaws):
    """``spaces``, ``missing_vectors``, ``put_vectors`` and ``drop_space``."""

    @law("vectors", corpus=corpora(), share=st.integers(0, 3))
    def test_missing_vectors_are_named_once(
        self, store: VectorStore, corpus: Corpus, share: int
    ) -> None:
        """Each digest without a vector comes once, with the ``embedding_text`` of its chunk."""
        build = publish(store, *corpus)
        held = digests(corpus)[:share]
        attach(store, build, "space", dict.fromkeys(held, _EAST))
        texts = {c.digest: embedding_text(c.chunk) for put in corpus for c in put.chunks}
        missing = list(store.missing_vectors(build, "space"))
        assert sorted(missing) == sorted((d, texts[d]) for d in set(texts) - set(held))
        assert {digest for digest, _ in store.missing_vectors(build, "other")} == set(texts)

    @law("vectors")
    def test_the_text_to_embed_has_its_headings(self, store: VectorStore) -> None:
        """The headings a chunk stands under are part of what is embedded."""
        chunk = make_chunk("ant", heading=("Zoo", "Small"))
        build = publish(store, make_put("a.md", chunk))
        assert list(store.missing_vectors(build, "space")) == [
            (chunk.digest, embedding_text(chunk.chunk))
        ]

    @law("vectors")
    def test_coverage_counts_chunks(self, store: VectorStore) -> None:
        """``spaces`` counts the live build's chunks that have a vector, not the vectors."""
        build = _embedded(
            store, {_A.digest: _EAST}, make_put("a.md", _A, _B), make_put("b.md", "ant", "cat")
        )
        assert store.spaces() == (("space", DIMS, 2, 4),)
        attach(store, build, "space", {_B.digest: _EAST})
        attach(store, build, "other", {_B.digest: make_vector(1, 1)}, dims=2)
        assert sorted(store.spaces()) == [("other", 2, 1, 4), ("space", DIMS, 3, 4)]

    @law("vectors")
    def test_unknown_digests_are_left_out(self, store: VectorStore) -> None:
        """A vector for a text that is not in the build is not stored, and is no error."""
        build = _embedded(store, {_A.digest: _EAST, _B.digest: _NORTH}, make_put("a.md", _A))
        write(store, make_put("b.md", _B))
        assert [digest for digest, _ in store.missing_vectors(build, "space")] == [_B.digest]
        assert len(nearest(store, _EAST).found) == 1

    @law("vectors")
    def test_a_vector_put_again_replaces_the_old_one(self, store: VectorStore) -> None:
        """The last one counts."""
        build = _embedded(store, {_A.digest: _EAST}, make_put("a.md", _A))
        for vector, score in ((_EAST, 1), (_WEST, -1)):
            attach(store, build, "space", {_A.digest: vector})
            assert _scores(store, _EAST) == [pytest.approx(score, abs=TOLERANCE)]
            found = ids(nearest(store, _EAST).found)
            assert dict(store.vectors("space", found)) == dict.fromkeys(found, vector)

    @law("vectors", bad=st.sampled_from(sorted(_BAD)))
    def test_what_is_no_vector_is_refused(self, store: VectorStore, bad: str) -> None:
        """Another length or a number not finite is a ``ValueError``; nothing is kept or found."""
        build = publish(store, make_put("a.md", _A, _B))
        with pytest.raises(ValueError, match=r"."):
            attach(store, build, "space", {_A.digest: _EAST, _B.digest: _BAD[bad]})
        assert len(list(store.missing_vectors(build, "space"))) == 2
        attach(store, build, "space", {_A.digest: _EAST})
        with pytest.raises(ValueError, match=r"."):
            nearest(store, _BAD[bad])

    @law("vectors", length=st.sampled_from((0.0, 1e-30, 0.5, 0.99, 1.01, 2.0, 1e30)))
    def test_a_vector_that_is_not_of_unit_length_is_refused(
        self, store: VectorStore, length: float
    ) -> None:
        """A ``ValueError``, nothing of the batch stored; what float32 hardly tells from 1 is 1."""
        build = publish(store, make_put("a.md", _A, _B))
        with pytest.raises(ValueError, match=r"."):
            attach(store, build, "space", {_A.digest: _EAST, _B.digest: _long(length)})
        assert len(list(store.missing_vectors(build, "space"))) == 2
        attach(store, build, "space", {_A.digest: _EAST, _B.digest: _long(1 + 1e-5)})
        assert _scores(store, _NORTH) == [pytest.approx(1, abs=1e-4), pytest.approx(0, abs=1e-4)]

    @law("vectors")
    def test_a_space_has_one_number_of_dimensions(self, store: VectorStore) -> None:
        """Vectors of other dimensions than the space holds are a ``ValueError``."""
        build = _embedded(store, {_A.digest: _EAST}, make_put("a.md", _A, _B))
        with pytest.raises(ValueError, match=r"."):
            attach(store, build, "space", {_B.digest: make_vector(1, 1)}, dims=2)
        assert store.spaces() == (("space", DIMS, 1, 2),)

    @law("vectors")
    def test_a_dropped_space_is_gone(self, store: VectorStore) -> None:
        """Nothing is left of it, others stay, its name is free; dropping again is no error."""
        build = _embedded(store, {_A.digest: _EAST}, make_put("a.md", _A))
        attach(store, build, "other", {_A.digest: _EAST})
        for _ in range(2):
            with store.writer(wait=WAIT):
                store.drop_space("space")
            assert store.spaces() == (("other", DIMS, 1, 1),)
            assert nearest(store, _EAST).found == ()
        assert len(nearest(store, _EAST, space="other").found) == 1
        attach(store, build, "space", {_A.digest: make_vector(1, 0)}, dims=2)
        assert len(nearest(store, make_vector(1, 0)).found) == 1

    @law("vectors")
    def test_a_vector_goes_with_the_last_chunk_of_its_text(self, store: VectorStore) -> None:
        """While one document has the text its vector stays; when the last goes, so does it."""
        build = _embedded(store, {_A.digest: _EAST}, make_put("a.md", _A), make_put("b.md", _A))
        write(store, DeleteDocument("memory", "a.md"))
        assert places(nearest(store, _EAST).found) == [("memory", "b.md", 1)]
        write(store, make_put("b.md", _B))
        assert nearest(store, _EAST).found == ()
        write(store, make_put("c.md", _A))
        missing = {digest for digest, _ in store.missing_vectors(build, "space")}
        assert missing == {_A.digest, _B.digest}

    @law("vectors")
    def test_a_vector_stays_with_its_text(self, store: VectorStore) -> None:
        """A text that is put again, moved, or put into another document needs no new vector."""
        build = _embedded(store, {_A.digest: _EAST, _B.digest: _NORTH}, make_put("a.md", _A, _B))
        write(store, make_put("a.md", _A, make_chunk("new", line=2), make_chunk("bee", line=3)))
        assert len(list(store.missing_vectors(build, "space"))) == 1
        assert _lines(nearest(store, _EAST)) == [1, 3]
        write(store, DeleteDocument("memory", "a.md"), make_put("z.md", _A))
        assert places(nearest(store, _EAST).found) == [("memory", "z.md", 1)]

    @law("vectors")
    def test_a_new_build_takes_over_vectors(self, store: VectorStore) -> None:
        """A rebuilt index has the vectors of the texts that are the same, once it is live."""
        live = publish(store, make_put("a.md", _A, _B))
        attach(store, live, "space", {_A.digest: _EAST, _B.digest: _NORTH})
        with store.writer(wait=WAIT):
            build = fill(store, make_put("b.md", _A, "new"))
            missing = [text for _, text in store.missing_vectors(build, "space")]
            store.activate(build)
        assert missing == ["new"]
        assert places(nearest(store, _EAST).found) == [("memory", "b.md", 1)]
        assert store.spaces() == (("space", DIMS, 1, 2),)
        write(store, make_put("a.md", _B))
        assert len(list(store.missing_vectors(live_build(store), "space"))) == 2

    @law("vectors")
    def test_vectors_are_written_under_the_lease(self, store: VectorStore) -> None:
        """Without it to write is a ``CallerError``."""
        build = publish(store, make_put("a.md", _A))
        with pytest.raises(CallerError):
            store.put_vectors(build, "space", DIMS, {_A.digest: _EAST})
        with pytest.raises(CallerError):
            store.drop_space("space")

    @law("vectors", "persistent", corpus=corpora())
    def test_vectors_are_there_after_reopening(self, store: VectorStore, corpus: Corpus) -> None:
        """A store that is closed and opened again gives the same answers."""
        build = publish(store, *corpus)
        turn = (_EAST, _NORTH, _WEST)
        attach(store, build, "space", {d: turn[i % 3] for i, d in enumerate(digests(corpus))})
        before = _everything(store)
        store.close()
        with self.opened_again() as other:
            assert _everything(cast("VectorStore", other)) == before


def _scores(store: VectorStore, query: bytes) -> list[float]:
    return [hit.score for hit in nearest(store, query).found]


def _everything(store: VectorStore) -> object:
    found = nearest(store, _EAST).found
    return store.spaces(), found, store.vectors("space", ids(found))


class NearestLaws(StoreLaws):
    """``nearest`` and ``vectors``."""

    @law(
        "vectors",
        corpus=corpora(max_size=12),
        pool=st.lists(unit_vectors(), min_size=1, max_size=8),
        asked=st.lists(
            st.tuples(unit_vectors(), wheres(), st.integers(1, 6) | st.just(ALL)),
            min_size=1,
            max_size=4,
        ),
    )
    def test_the_nearest_are_found(
        self,
        store: VectorStore,
        corpus: Corpus,
        pool: list[bytes],
        asked: list[tuple[bytes, Where, int]],
    ) -> None:
        """``nearest`` finds the chunks whose vectors make the smallest angles with the query.

        Of all that pass the filters and have a vector the best ``limit``, each with its cosine;
        a text that stands in several places is found in each. Best first, equal scores by day,
        source, path and place; equal vectors score the same. An ``exact`` answer misses none.
        """
        build = publish(store, *corpus)
        given = digests(corpus)
        vectors = {d: pool[i % len(pool)] for i, d in enumerate(given) if i % 5 != 4}
        attach(store, build, "space", vectors)
        for query, where, limit in asked:
            answer = nearest(store, query, where, limit)
            _check_answer(answer, nearest_places(corpus, vectors, query, where), limit)

    @law("vectors")
    def test_a_filter_looks_past_nearer_chunks(self, store: VectorStore) -> None:
        """Filters come before the search: what passes is found behind all that is nearer."""
        near = [make_put(f"near/{n}.md", make_chunk(f"ant {n}")) for n in range(30)]
        build = publish(store, *near, make_put("far.md", _B))
        far = {_B.digest: _NORTH}
        attach(store, build, "space", dict.fromkeys(digests(near), _EAST) | far)
        answer = nearest(store, _EAST, Where(paths=("far.md",)), 1)
        assert places(answer.found) == [("memory", "far.md", 2)]

    @law("vectors")
    def test_the_nearest_pass_all_filters_that_are_set_together(self, store: VectorStore) -> None:
        """As for words: any two, any but one, or all."""
        corpus = filtered_puts()
        far, near = digests(corpus)
        vectors = {far: _WEST, near: _NORTH}
        attach(store, publish(store, *corpus), "space", vectors)
        for where in filters_together(self.scale()):
            expected = nearest_places(corpus, vectors, _EAST, where)
            answer = nearest(store, _EAST, where, len(expected))
            assert sorted(places(answer.found)) == sorted(expected), where

    @law("vectors", keys=st.permutations([(s, p) for s in TESTED_SOURCES for p in PATHS]))
    def test_equally_near_chunks_are_ordered_by_day_source_path_and_place(
        self, store: VectorStore, keys: list[tuple[str, str]]
    ) -> None:
        """As for words: newest first, whatever order they came in; a limit keeps the first."""
        puts = dated_puts(keys)
        build = publish(store, *puts)
        attach(store, build, "space", dict.fromkeys(digests(puts), _NORTH))
        answer = nearest(store, _EAST)
        order = [(source, path, line) for source, path in dated_order(keys) for line in (1, 2, 3)]
        assert places(answer.found) == order
        assert nearest(store, _EAST, limit=5).found == answer.found[:5]

    @law("vectors")
    def test_where_there_is_nothing_nothing_is_found(self, store: VectorStore) -> None:
        """No build, an unknown space, no vectors, a filter that none passes: an empty answer."""
        assert nearest(store, _EAST).found == ()
        assert store.spaces() == ()
        build = publish(store, make_put("a.md", _A))
        assert nearest(store, _EAST).found == ()
        attach(store, build, "space", {_A.digest: _EAST})
        assert nearest(store, _EAST, Where(paths=("b.md",))).found == ()
        assert nearest(store, _EAST, Where(sources=frozenset())).found == ()
        assert nearest(store, _EAST, Where(tags=("zoo",))).found == ()
        assert nearest(store, _EAST, space="other").found == ()
        assert nearest(store, _EAST, limit=0).found == ()

    @law("vectors")
    def test_spaces_never_mix(self, store: VectorStore) -> None:
        """Two spaces hold vectors of the same texts, of dimensions of their own."""
        build = _embedded(store, {_A.digest: _EAST, _B.digest: _NORTH}, make_put("a.md", _A, _B))
        attach(store, build, "other", {_A.digest: _NORTH, _B.digest: _EAST})
        attach(store, build, "flat", {_B.digest: make_vector(1, 0)}, dims=2)
        long, back = make_vector(*[1] * 1_499, 100), make_vector(*[1] * 1_499, -100)
        attach(store, build, "long", {_A.digest: back, _B.digest: long}, dims=1_500)
        assert _lines(nearest(store, _EAST)) == [1, 2]
        assert _lines(nearest(store, _EAST, space="other")) == [2, 1]
        assert _lines(nearest(store, long, space="long")) == [2, 1]
        assert _lines(nearest(store, make_vector(1, 0), space="flat")) == [2]
        first, second = ids(nearest(store, _EAST).found)
        assert dict(store.vectors("flat", [first, second])) == {second: make_vector(1, 0)}

    @law("vectors")
    def test_vectors_of_a_filling_build_are_invisible(self, store: VectorStore) -> None:
        """They are kept with it, and found once it is live; dropped, they are gone."""
        publish(store, make_put("a.md", _A))
        build = fill(store, make_put("a.md", _B))
        attach(store, build, "space", {_B.digest: _NORTH})
        assert nearest(store, _NORTH).found == ()
        assert sum(info.covered for info in store.spaces()) == 0
        with store.writer(wait=WAIT):
            store.activate(build)
        assert len(nearest(store, _NORTH).found) == 1
        with store.writer(wait=WAIT):
            store.drop(live_build(store))
        build = publish(store, make_put("a.md", _B))
        assert len(list(store.missing_vectors(build, "space"))) == 1

    @law("vectors")
    def test_vectors_are_given_back(self, store: VectorStore) -> None:
        """``vectors`` gives what was put, for the ids that have a vector; others are left out."""
        build = publish(store, make_put("a.md", _A, _B, make_chunk("ant", line=3)))
        vector = make_vector(1, -2, 3)
        attach(store, build, "space", {_A.digest: vector})
        found = ids(nearest(store, _EAST).found)
        asked = [*found, "nonsense", 10**9]
        assert dict(store.vectors("space", asked)) == dict.fromkeys(found, vector)
        assert len(found) == 2
        assert not store.vectors("other", found)

    @law("vectors")
    def test_a_deadline_that_has_passed_ends_the_search(self, store: VectorStore) -> None:
        """There is no answer too late, but ``DeadlineExceededError``."""
        _embedded(store, {_A.digest: _EAST}, make_put("a.md", _A))
        late = Deadline(0, clock=lambda: 1)
        with pytest.raises(DeadlineExceededError):
            store.nearest("space", _EAST, where=EVERYWHERE, limit=1, deadline=late)


def _lines(answer: Nearest) -> list[int]:
    return [line for _, _, line in places(answer.found)]


def _check_answer(answer: Nearest, expected: Mapping[Place, float], limit: int) -> None:
    stand = places(answer.found)
    scores = [hit.score for hit in answer.found]
    assert len(set(stand)) == len(answer.found), "a chunk stands twice, or is not there"
    assert scores == pytest.approx([expected[place] for place in stand], abs=TOLERANCE)
    assert all(-1 <= score <= 1 for score in scores)
    order = list(expected)
    keys = [(-score, order.index(place)) for score, place in zip(scores, stand, strict=True)]
    assert keys == sorted(keys)
    assert len(answer.found) == min(limit, len(expected))
    if answer.exact and scores:
        left = [score for place, score in expected.items() if place not in stand]
        assert max(left, default=-1.0) <= scores[-1] + TOLERANCE
