"""A search while another thread replaces what it has just ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace.errors import IndexBusyError
from commonplace.index.keyword import keyword_arm
from commonplace.model.search import KeywordQuery, Where
from commonplace.resilience.deadline import NEVER
from commonplace.testing import make_put, publish
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.model.search import Arm, ChunkId, StoredChunk


class Restless(InMemoryStore):
    """Made anew, ``times`` times, between a ranking and its fetching."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times
        publish(self, make_put("a.md", "ant"))

    def fetch(self, ids: Sequence[ChunkId]) -> list[StoredChunk]:
        if self.times:
            self.times -= 1
            publish(self, make_put("a.md", "ant"), identity=str(self.times))
        return super().fetch(ids)


def asked(store: Restless) -> Arm:
    query = KeywordQuery(should=("ant",))
    return keyword_arm(store, query, where=Where(), limit=5, deadline=NEVER)


@pytest.mark.parametrize("times", [0, 1, 2])
def test_what_is_replaced_meanwhile_is_found_all_the_same(times: int) -> None:
    assert [item.chunk.path for item in asked(Restless(times)).found] == ["a.md"]


def test_what_is_replaced_again_and_again_is_no_empty_answer() -> None:
    with pytest.raises(IndexBusyError):
        asked(Restless(3))
