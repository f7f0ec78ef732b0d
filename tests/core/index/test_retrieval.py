from __future__ import annotations

import pytest

from commonplace.index.manager import keyword_arm, neighbour_share
from commonplace.model.search import KeywordQuery, Where
from commonplace.resilience.deadline import NEVER
from commonplace.testing import make_put, publish
from commonplace_inmemory.store import InMemoryStore


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


def test_words_side_by_side_are_preferred() -> None:
    store = InMemoryStore()
    publish(store, make_put("apart.md", "ant x bee"), make_put("beside.md", "x ant bee"))
    query = KeywordQuery(should=("ant", "bee"), neighbours=(("ant", "bee"),))
    plain = store.keyword(query, where=Where(), limit=5, deadline=NEVER).found
    found = keyword_arm(store, query, where=Where(), limit=5, deadline=NEVER).found
    assert [item.chunk.path for item in plain] == ["apart.md", "beside.md"]
    assert [item.chunk.path for item in found] == ["beside.md", "apart.md"]
    assert found[0].score == pytest.approx(1.5 * plain[1].score)


def test_the_share_of_neighbours_is_counted_in_pairs() -> None:
    pairs = [("ant", "bee"), ("bee", "cat")]
    assert neighbour_share("ant bee dog cat", pairs) == 0.5
    assert neighbour_share("ant bee cat", pairs) == 1.0
    assert neighbour_share("elephant beech", pairs) == 0.0
