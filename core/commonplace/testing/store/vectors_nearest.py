"""Laws about the nearest chunks: which they are, and in what order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st

from commonplace.errors import DeadlineExceededError
from commonplace.model.search import Where
from commonplace.resilience.deadline import Deadline
from commonplace.testing.builders import make_chunk, make_put
from commonplace.testing.driving import ALL, EVERYWHERE, WAIT, ids, live_build, places, publish
from commonplace.testing.store.law import StoreLaws, law
from commonplace.testing.strategies import PATHS, SOURCES, corpora, wheres
from commonplace.testing.vectors import (
    TOLERANCE,
    attach,
    digests,
    make_vector,
    nearest,
    nearest_places,
    unit_vectors,
    vector_store,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.model.chunks import PutDocument
    from commonplace.model.search import Nearest
    from commonplace.protocols.stores import Store
    from commonplace.testing.driving import Place

__all__ = ["NearestLaws"]

_EAST, _NORTH = make_vector(1, 0, 0), make_vector(0, 1, 0)
_A, _B = make_chunk("ant"), make_chunk("bee", line=2)


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
        store: Store,
        corpus: list[PutDocument],
        pool: list[bytes],
        asked: list[tuple[bytes, Where, int]],
    ) -> None:
        """``nearest`` finds the chunks whose vectors make the smallest angles with the query.

        Of all that pass the filters and have a vector the best ``limit``, each with its cosine;
        a text that stands in several places is found in each. Best first, equal scores by source,
        path and place; equal vectors score the same. An answer that is ``exact`` misses none.
        """
        kept = vector_store(store)
        build = publish(store, *corpus)
        given = digests(corpus)
        vectors = {d: pool[i % len(pool)] for i, d in enumerate(given) if i % 5 != 4}
        attach(kept, build, "space", vectors)
        for query, where, limit in asked:
            answer = nearest(kept, query, where, limit)
            _check_answer(answer, nearest_places(corpus, vectors, query, where), limit)

    @law("vectors")
    def test_a_filter_looks_past_nearer_chunks(self, store: Store) -> None:
        """Filters come before the search: what passes is found behind all that is nearer."""
        kept = vector_store(store)
        near = [make_put(f"near/{n}.md", make_chunk(f"ant {n}")) for n in range(30)]
        build = publish(store, *near, make_put("far.md", _B))
        far = {_B.digest: _NORTH}
        attach(kept, build, "space", dict.fromkeys(digests(near), _EAST) | far)
        answer = nearest(kept, _EAST, Where(paths=("far.md",)), 1)
        assert places(answer.found) == [("memory", "far.md", 2)]

    @law("vectors", keys=st.permutations([(s, p) for s in SOURCES for p in PATHS]))
    def test_equally_near_chunks_are_ordered_by_source_path_and_place(
        self, store: Store, keys: list[tuple[str, str]]
    ) -> None:
        """As for words: by code points, whatever order they came in; a limit keeps the first."""
        kept = vector_store(store)
        puts = [make_put(path, "ant", "bee", "ant", source=source) for source, path in keys]
        build = publish(store, *puts)
        attach(kept, build, "space", dict.fromkeys(digests(puts), _NORTH))
        answer = nearest(kept, _EAST)
        order = [(source, path, line) for source, path in sorted(keys) for line in (1, 2, 3)]
        assert places(answer.found) == order
        assert nearest(kept, _EAST, limit=5).found == answer.found[:5]

    @law("vectors")
    def test_where_there_is_nothing_nothing_is_found(self, store: Store) -> None:
        """No build, an unknown space, no vectors, a filter that none passes: an empty answer."""
        kept = vector_store(store)
        assert nearest(kept, _EAST).found == ()
        assert kept.spaces() == ()
        build = publish(store, make_put("a.md", _A))
        assert nearest(kept, _EAST).found == ()
        attach(kept, build, "space", {_A.digest: _EAST})
        assert nearest(kept, _EAST, Where(paths=("b.md",))).found == ()
        assert nearest(kept, _EAST, Where(sources=frozenset())).found == ()
        assert nearest(kept, _EAST, space="other").found == ()
        assert nearest(kept, _EAST, limit=0).found == ()

    @law("vectors")
    def test_spaces_never_mix(self, store: Store) -> None:
        """Two spaces hold vectors of the same texts, of dimensions of their own."""
        kept = vector_store(store)
        build = publish(store, make_put("a.md", _A, _B))
        attach(kept, build, "space", {_A.digest: _EAST, _B.digest: _NORTH})
        attach(kept, build, "other", {_A.digest: _NORTH, _B.digest: _EAST})
        attach(kept, build, "flat", {_B.digest: make_vector(1, 0)}, dims=2)
        assert _lines(nearest(kept, _EAST)) == [1, 2]
        assert _lines(nearest(kept, _EAST, space="other")) == [2, 1]
        assert _lines(nearest(kept, make_vector(1, 0), space="flat")) == [2]
        first, second = ids(nearest(kept, _EAST).found)
        assert dict(kept.vectors("flat", [first, second])) == {second: make_vector(1, 0)}

    @law("vectors")
    def test_vectors_of_a_filling_build_are_invisible(self, store: Store) -> None:
        """They are kept with it, and found once it is live; dropped, they are gone."""
        kept = vector_store(store)
        publish(store, make_put("a.md", _A))
        with store.writer(wait=WAIT):
            build = store.open_build("new")
            store.put_documents(build, [make_put("a.md", _B)])
        attach(kept, build, "space", {_B.digest: _NORTH})
        assert nearest(kept, _NORTH).found == ()
        assert sum(info.covered for info in kept.spaces()) == 0
        with store.writer(wait=WAIT):
            store.activate(build)
        assert len(nearest(kept, _NORTH).found) == 1
        with store.writer(wait=WAIT):
            store.drop(live_build(store))
        build = publish(store, make_put("a.md", _B))
        assert len(list(kept.missing_vectors(build, "space"))) == 1

    @law("vectors")
    def test_vectors_are_given_back(self, store: Store) -> None:
        """``vectors`` gives what was put, for the ids that have a vector; others are left out."""
        kept = vector_store(store)
        build = publish(store, make_put("a.md", _A, _B, make_chunk("ant", line=3)))
        vector = make_vector(1, -2, 3)
        attach(kept, build, "space", {_A.digest: vector})
        found = ids(nearest(kept, _EAST).found)
        asked = [*found, "nonsense", 10**9]
        assert dict(kept.vectors("space", asked)) == dict.fromkeys(found, vector)
        assert len(found) == 2
        assert not kept.vectors("other", found)

    @law("vectors")
    def test_a_deadline_that_has_passed_ends_the_search(self, store: Store) -> None:
        """There is no answer too late, but ``DeadlineExceededError``."""
        kept = vector_store(store)
        build = publish(store, make_put("a.md", _A))
        attach(kept, build, "space", {_A.digest: _EAST})
        late = Deadline(0, clock=lambda: 1)
        with pytest.raises(DeadlineExceededError):
            kept.nearest("space", _EAST, where=EVERYWHERE, limit=1, deadline=late)


def _lines(answer: Nearest) -> list[int]:
    return [line for _, _, line in places(answer.found)]


def _check_answer(answer: Nearest, expected: Mapping[Place, float], limit: int) -> None:
    stand = places(answer.found)
    scores = [hit.score for hit in answer.found]
    assert len(set(stand)) == len(answer.found), "a chunk stands twice, or is not there"
    assert scores == pytest.approx([expected[place] for place in stand], abs=TOLERANCE)
    assert all(-1 <= score <= 1 for score in scores)
    keys = [(-score, *place) for score, place in zip(scores, stand, strict=True)]
    assert keys == sorted(keys)
    assert len(answer.found) == min(limit, len(expected))
    if answer.exact and scores:
        left = [score for place, score in expected.items() if place not in stand]
        assert max(left, default=-1.0) <= scores[-1] + TOLERANCE
