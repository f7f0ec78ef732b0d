from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace.errors import IndexUnavailableError
from commonplace.index.simple_store import SimpleStore
from commonplace.testing import make_put, publish, search, write
from commonplace.testing.base import held, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.index.simple_store import Held


class Kept(SimpleStore):
    """Keeps its contents in a variable, and fails to save when it is full."""

    def __init__(self) -> None:
        super().__init__(location="here")
        self.kept: Mapping[int, Held] = {}
        self.released = 0
        self.full = False

    def load(self) -> Mapping[int, Held]:
        return self.kept

    def save(self, builds: Mapping[int, Held]) -> None:
        if self.full:
            raise IndexUnavailableError("no space left")
        self.kept = builds

    def release(self) -> None:
        self.released += 1


def test_what_cannot_be_saved_changes_nothing() -> None:
    store = Kept()
    publish(store, make_put("a.md", "ant"))
    store.full = True
    with pytest.raises(IndexUnavailableError, match="no space left"):
        write(store, make_put("b.md", "ant"))
    assert set(held(store)) == {("memory", "a.md")}
    assert len(search(store, words("ant"))) == 1


def test_ids_are_not_given_twice_by_default() -> None:
    assert len({Kept().new_id() for _ in range(1_000)}) == 1_000


def test_a_store_is_released_once() -> None:
    store = Kept()
    store.close()
    store.close()
    assert store.released == 1
    with pytest.raises(IndexUnavailableError, match="closed"):
        store.builds()


def test_health_shows_the_location() -> None:
    assert Kept().health().location == "here"


def test_a_store_without_load_and_save_is_refused_at_first_use() -> None:
    store = SimpleStore()
    with pytest.raises(NotImplementedError):
        store.builds()
    with pytest.raises(NotImplementedError):
        store.save({})
