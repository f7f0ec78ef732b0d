from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.index.manager import keyword_arm
from commonplace.index.rescoring import neighbour_share, with_finite_scores
from commonplace.model.search import Found, KeywordQuery, Where
from commonplace.resilience.deadline import NEVER
from commonplace.testing import make_put, publish
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from commonplace.model.search import KeywordMatches


def test_an_arm_has_the_chunks_that_the_store_found() -> None:
    store = InMemoryStore()
    publish(store, make_put("a.md", "ant"), make_put("b.md", "bee"))
    query = KeywordQuery(should=("ant",))
    arm = keyword_arm(store, query, where=Where(), limit=5, deadline=NEVER)
    assert [item.chunk.path for item in arm.found] == ["a.md"]


def test_an_empty_query_is_not_asked() -> None:
    store = InMemoryStore()
    store.close()
    arm = keyword_arm(store, KeywordQuery(), where=Where(), limit=5, deadline=NEVER)
    assert arm.found == ()


def test_the_one_hit_that_is_asked_for_is_the_best_of_the_second_step() -> None:
    store = InMemoryStore()
    apart = [make_put(f"a{number}.md", "ant x bee") for number in range(9)]
    publish(store, *apart, make_put("beside.md", "x ant bee"))
    query = KeywordQuery(should=("ant", "bee"), neighbours=(("ant", "bee"),))
    (first,) = keyword_arm(store, query, where=Where(), limit=1, deadline=NEVER).found
    assert first.chunk.path == "beside.md"


def test_words_side_by_side_are_preferred() -> None:
    store = InMemoryStore()
    publish(store, make_put("apart.md", "ant x bee"), make_put("beside.md", "x ant bee"))
    query = KeywordQuery(should=("ant", "bee"), neighbours=(("ant", "bee"),))
    plain = store.keyword(query, where=Where(), limit=5, deadline=NEVER).found
    found = keyword_arm(store, query, where=Where(), limit=5, deadline=NEVER).found
    assert [item.chunk.path for item in plain] == ["apart.md", "beside.md"]
    assert [item.chunk.path for item in found] == ["beside.md", "apart.md"]
    assert found[0].score > 1.3 * found[1].score
    assert ["0.5 x 1.00 words side by side" in item.note for item in found] == [True, False]


def test_a_line_with_the_kind_of_answer_that_is_asked_for_is_preferred() -> None:
    store = InMemoryStore()
    publish(store, make_put("a.md", "the ant came home"), make_put("b.md", "the ant for 12 EUR"))
    query = KeywordQuery(should=("ant",))
    for answer, paths, shares in (
        ("", ["a.md", "b.md"], [False, False]),
        ("amount", ["b.md", "a.md"], [True, False]),
    ):
        asked = query._replace(answer=answer)
        found = keyword_arm(store, asked, where=Where(), limit=5, deadline=NEVER).found
        assert [item.chunk.path for item in found] == paths
        assert ["1 x 0.30 answer" in item.note for item in found] == shares


def test_who_someone_is_is_said_where_a_line_begins_with_the_name() -> None:
    store = InMemoryStore()
    publish(store, make_put("a.md", "with ant"), make_put("b.md", "ant is all of it"))
    query = KeywordQuery(should=("ant",))
    for answer, paths in (("", ["a.md", "b.md"]), ("subject", ["b.md", "a.md"])):
        asked = query._replace(answer=answer)
        found = keyword_arm(store, asked, where=Where(), limit=5, deadline=NEVER).found
        assert [item.chunk.path for item in found] == paths
        assert ["1 x 1.50 answer" in item.note for item in found] == [bool(answer), False]


def test_the_share_of_neighbours_is_counted_in_pairs() -> None:
    pairs = [" ant bee ", " bee cat "]
    assert neighbour_share("ant bee dog cat", pairs) == 0.5
    assert neighbour_share("ant bee cat", pairs) == 1.0
    assert neighbour_share("elephant beech", pairs) == 0.0


class WildStore(InMemoryStore):
    """Scores its hits with ``wild`` numbers, in turns."""

    wild: tuple[float, ...] = ()

    def keyword(self, query: KeywordQuery, **options: Any) -> KeywordMatches:
        matches = super().keyword(query, **options)
        scores = self.wild * len(matches.found)
        found = [
            item._replace(score=score, evidence=score)
            for item, score in zip(matches.found, scores, strict=False)
        ]
        return matches._replace(found=tuple(found))


WILD = (math.inf, math.nan, -math.inf, 1e308, 0.7, -1e308)


@given(st.permutations(WILD))
def test_no_score_of_a_store_becomes_infinite_or_nan(wild: list[float]) -> None:
    store = WildStore()
    store.wild = tuple(wild)
    publish(store, *(make_put(f"{number}.md", "ant bee") for number in range(len(wild))))
    query = KeywordQuery(should=("ant", "bee"), neighbours=(("ant", "bee"),))
    arm = keyword_arm(store, query, where=Where(), limit=9, deadline=NEVER)
    assert len(arm.found) == len(wild)
    assert [math.isfinite(item.score) for item in arm.found] == [True] * len(wild)
    assert all(item.evidence is None or 0 <= item.evidence <= 1 for item in arm.found)
    assert arm.found[0].score == pytest.approx(0.7 * 1.5)


def test_what_has_no_usable_score_comes_last_and_stays() -> None:
    store = InMemoryStore()
    publish(store, make_put("a.md", "ant"))
    query = KeywordQuery(should=("ant",))
    (hit,) = store.keyword(query, where=Where(), limit=5, deadline=NEVER).found
    found = [Found(hit.chunk, math.nan, math.nan), Found(hit.chunk, 0.5, 0.2)]
    assert with_finite_scores(found) == (Found(hit.chunk, 0.5, 0.2), Found(hit.chunk, 0.0))
    assert with_finite_scores(found[1:]) == tuple(found[1:])
