from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import CallerError, IndexUnavailableError
from commonplace.testing import live_build, make_put, publish, search
from commonplace.testing.base import words
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.model.documents import Build


@pytest.mark.parametrize(
    "write",
    [
        lambda store, _: store.open_build("next"),
        lambda store, build: store.activate(build),
        lambda store, build: store.drop(build),
        lambda store, build: store.put_documents(build, []),
    ],
    ids=["open_build", "activate", "drop", "put_documents"],
)
def test_writing_without_the_lease_is_the_callers_error(
    write: Callable[[InMemoryStore, Build], object],
) -> None:
    store = InMemoryStore()
    build = publish(store)
    with pytest.raises(CallerError, match="lease"):
        write(store, build)
    with ThreadPoolExecutor(1) as pool, store.writer(wait=0), pytest.raises(CallerError):
        pool.submit(write, store, build).result()


def test_a_build_that_is_gone_takes_nothing() -> None:
    store = InMemoryStore()
    old = publish(store, make_put("a.md", "ant"), identity="old")
    publish(store, identity="new")
    with store.writer(wait=0), pytest.raises(IndexUnavailableError, match="old"):
        store.put_documents(old, [make_put("b.md", "ant")])
    with pytest.raises(IndexUnavailableError, match="old"):
        store.documents(old)


def test_dropping_twice_is_fine() -> None:
    store = InMemoryStore()
    build = publish(store)
    with store.writer(wait=0):
        store.drop(build)
        store.drop(build)
    assert store.builds() == ()


def test_a_very_long_wait_is_a_wait() -> None:
    store = InMemoryStore()
    with store.writer(wait=float("inf")):
        assert store.open_build("first").state == "filling"


def test_two_stores_share_nothing() -> None:
    one, other = InMemoryStore(), InMemoryStore()
    publish(one, make_put("a.md", "ant"))
    publish(other)
    assert search(other, words("ant")) == []
    assert live_build(one).state == "live"


def test_it_says_that_it_forgets() -> None:
    assert any("memory only" in notice for notice in InMemoryStore().health().notices)
