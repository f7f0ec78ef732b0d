"""Laws about the lease that lets one writer write."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from commonplace.testing.builders import make_put
from commonplace.testing.driving import WAIT, busy, held, publish, search, words
from commonplace.testing.store.law import StoreLaws, law

if TYPE_CHECKING:
    from commonplace.protocols.stores import Store

__all__ = ["LeaseLaws"]


class LeaseLaws(StoreLaws):
    """``writer``."""

    @law()
    def test_a_thread_may_take_its_lease_again(self, store: Store) -> None:
        """The lease is re-entrant, and held until its outermost holder lets go."""
        with ThreadPoolExecutor(1) as pool, store.writer(wait=0):
            with store.writer(wait=0):
                pass
            assert pool.submit(busy, store).result()

    @law()
    def test_one_thread_at_a_time_has_the_lease(self, store: Store) -> None:
        """Another thread gets the lease once it is free.

        Until then it gets ``IndexBusyError``, with ``wait=0`` at once.
        """
        with ThreadPoolExecutor(1) as pool:
            assert not pool.submit(busy, store).result()
            with store.writer(wait=0):
                assert pool.submit(busy, store).result()
            assert not pool.submit(busy, store).result()

    @law()
    def test_an_error_lets_the_lease_go(self, store: Store) -> None:
        """The lease ends with its block, whatever ends that; the error comes through."""
        with pytest.raises(ZeroDivisionError), store.writer(wait=0):
            raise ZeroDivisionError
        with ThreadPoolExecutor(1) as pool:
            assert not pool.submit(busy, store).result()

    @law()
    def test_who_waits_gets_the_lease(self, store: Store) -> None:
        """A writer that is willing to wait gets the lease when the other lets go."""
        asked = threading.Event()

        def wait_and_write() -> None:
            asked.set()
            publish(store, make_put("a.md", "ant"))

        with ThreadPoolExecutor(1) as pool:
            with store.writer(wait=0):
                waiting = pool.submit(wait_and_write)
                assert asked.wait(WAIT)
            waiting.result()
        assert set(held(store)) == {("memory", "a.md")}

    @law()
    def test_reading_needs_no_lease(self, store: Store) -> None:
        """While one thread writes, another reads."""

        def read() -> int:
            store.health()
            store.builds()
            if "keyword" in store.capabilities:
                search(store, words("ant"))
            return len(held(store))

        publish(store, make_put("a.md", "ant"))
        with ThreadPoolExecutor(1) as pool, store.writer(wait=0):
            store.put_documents(store.open_build("next"), [make_put("b.md", "ant")])
            assert pool.submit(read).result(WAIT) == 1
