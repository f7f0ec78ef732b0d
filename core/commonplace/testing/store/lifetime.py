"""Laws about a store as a whole: its lease, its health, its end, and what outlives a process."""

from __future__ import annotations

import os
import shutil
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import count
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar

import pytest

from commonplace.errors import CommonplaceError, DeadlineExceededError, DeclinedError
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.testing.base import (
    ALL,
    EVERYWHERE,
    WAIT,
    Laws,
    busy,
    fill,
    held,
    law,
    live_build,
    publish,
    search,
    words,
    write,
)
from commonplace.testing.builders import applied, make_put, stored
from commonplace.testing.strategies import Watched, batches, corpora

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.protocols.stores import Store
    from commonplace.testing.builders import Batch, Corpus


class StoreLaws(Laws):
    """What all laws of stores stand on."""

    subject: ClassVar[str] = "store"

    directory: str
    """The folder of the store that a law is looking at."""

    def open_store(self, directory: str) -> Store:
        """Open the store that lives in ``directory``."""
        raise NotImplementedError(f"{type(self).__name__} has to define open_store(directory)")

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """A store in an empty folder."""
        with TemporaryDirectory(prefix="commonplace-") as scratch:
            self.directory = f"{scratch}/store"
            os.mkdir(self.directory)
            with self.opened_again() as store:
                yield store

    @contextmanager
    def opened_again(self) -> Iterator[Store]:
        """The store of this law's folder, opened once more."""
        with closing(self.open_store(self.directory)) as store:
            yield store


_KNOWN = {"keyword", "phrases", "vectors", "append", "persistent"}


class LifetimeLaws(StoreLaws):
    """``capabilities``, ``health``, deadlines and ``close``."""

    @law()
    def test_capabilities_are_known_words(self, store: Store) -> None:
        """A store declares only capabilities that there are.

        Phrases are of no use without keyword queries.
        """
        assert store.capabilities <= _KNOWN
        assert store.capabilities, "a store that can do nothing"
        assert "keyword" in store.capabilities or "phrases" not in store.capabilities

    @law()
    def test_undeclared_keyword_queries_are_declined(self, store: Store) -> None:
        """A store without the capability ``keyword`` raises ``DeclinedError``.

        It does not answer that nothing was found.
        """
        if "keyword" in store.capabilities:
            pytest.skip("the store declares keyword")
        publish(store, make_put("a.md", "ant"))
        with pytest.raises(DeclinedError):
            search(store, words("ant"))

    @law(corpus=corpora())
    def test_health_counts_what_is_there(self, store: Store, corpus: Corpus) -> None:
        """Documents and chunks of the live build, in all and by source.

        A deep check finds no fault in a healthy store.
        """
        publish(store, *corpus)
        documents = Counter(put.source for put in corpus)
        chunks = Counter({put.source: 0 for put in corpus})
        for put in corpus:
            chunks[put.source] += len(put.chunks)
        for health in (store.health(), store.health(deep=True)):
            assert (health.documents, health.chunks) == (documents.total(), chunks.total())
            assert Counter(dict(health.documents_by_source)) == documents
            assert Counter(dict(health.chunks_by_source)) == chunks
            assert health.problems == ()
            assert health.writable

    @law("keyword")
    def test_a_search_without_time_is_an_error(self, store: Store) -> None:
        """A deadline that has passed raises ``DeadlineExceededError``.

        It does so though the answer might have been quick: the caller has stopped waiting.
        """
        publish(store, make_put("a.md", "ant"))
        late = Deadline(0.0, clock=lambda: 1.0)
        with pytest.raises(DeadlineExceededError):
            store.keyword(words("ant"), where=EVERYWHERE, limit=ALL, deadline=late)
        assert len(search(store, words("ant"))) == 1

    @law("keyword")
    def test_a_search_gives_all_or_an_error(self, store: Store) -> None:
        """A deadline that passes during a search never makes an answer shorter.

        It raises ``DeadlineExceededError`` or comes too late. The store works on.
        """
        publish(store, make_put("a.md", *["ant"] * 600))
        every = search(store, words("ant"))
        for steps in (*range(1, 20), 1_000_000):
            ticking = Deadline(float(steps), clock=count().__next__)
            try:
                answer = store.keyword(words("ant"), where=EVERYWHERE, limit=ALL, deadline=ticking)
            except DeadlineExceededError:
                assert steps < 1_000_000
            else:
                assert list(answer.found) == every

    @law()
    def test_a_closed_store_does_not_answer(self, store: Store) -> None:
        """Once closed, everything but ``capabilities`` and ``close`` raises a ``CommonplaceError``.

        An empty answer would be taken for an empty memory.
        """
        build = publish(store, make_put("a.md", "ant"))
        store.close()

        def take_lease() -> None:
            with store.writer(wait=0):
                pass

        asked: dict[str, Callable[[], object]] = {
            "documents": lambda: list(store.documents()),
            "builds": store.builds,
            "health": store.health,
            "writer": take_lease,
            "put_documents": lambda: store.put_documents(build, [make_put("b.md", "ant")]),
            "open_build": lambda: store.open_build("new"),
            "activate": lambda: store.activate(build),
            "drop": lambda: store.drop(build),
        }
        if "keyword" in store.capabilities:
            asked["keyword"] = lambda: store.keyword(
                words("ant"), where=EVERYWHERE, limit=ALL, deadline=NEVER
            )
        answered = []
        for name, question in asked.items():
            try:
                question()
            except CommonplaceError:
                continue
            answered.append(name)
        assert answered == []

    @law()
    def test_closing_twice_is_fine(self, store: Store) -> None:
        """``close`` may be called again and again."""
        publish(store, make_put("a.md", "ant"))
        for _ in range(3):
            store.close()


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
            fill(store, make_put("b.md", "ant"))
            assert pool.submit(read).result(WAIT) == 1


class PersistenceLaws(StoreLaws):
    """The same folder, opened again."""

    @law("persistent", corpus=corpora())
    def test_everything_is_there_after_reopening(self, store: Store, corpus: Corpus) -> None:
        """A store that is closed and opened again is unchanged.

        It has the same builds and documents, and gives the same answers with the same ids and
        scores.
        """
        publish(store, *corpus)
        before = _everything(store)
        store.close()
        with self.opened_again() as again:
            assert _everything(again) == before

    @law("persistent")
    def test_a_filling_build_is_resumed_after_reopening(self, store: Store) -> None:
        """What a process left unfinished the next one goes on with."""
        publish(store, make_put("a.md", "ant"))
        build = fill(store, make_put("b.md", "ant"))
        store.close()
        with self.opened_again() as again, again.writer(wait=WAIT):
            assert again.open_build("new") == build
            assert set(held(again, build)) == {("memory", "b.md")}

    @law("persistent")
    def test_what_one_writes_the_other_reads(self, store: Store) -> None:
        """Two stores open on one folder see each other's changes at once."""
        publish(store, make_put("a.md", "ant"))
        with self.opened_again() as other:
            assert _everything(other) == _everything(store)
            write(other, make_put("b.md", "bee"))
            assert _everything(other) == _everything(store)
            publish(store, make_put("c.md", "ant"), identity="new")
            assert _everything(other) == _everything(store)

    @law("persistent")
    def test_the_lease_is_for_the_whole_folder(self, store: Store) -> None:
        """Of two stores open on one folder, in two threads, one can write at a time."""
        with self.opened_again() as other, ThreadPoolExecutor(1) as pool:
            with store.writer(wait=0):
                assert pool.submit(busy, other).result()
            assert not pool.submit(busy, other).result()
            with other.writer(wait=0):
                assert pool.submit(busy, store).result()


def _everything(store: Store) -> tuple[object, ...]:
    found = search(store, words("ant", "bee")) if "keyword" in store.capabilities else []
    return store.builds(), held(store), found


class CrashLaws(StoreLaws):
    """The folder as it is at some moment, which is all that is left when a process is killed.

    A copy of it is opened. No dead process holds a lease on it.
    """

    @law("persistent", corpus=corpora(max_size=4), batch=batches())
    def test_a_kill_loses_nothing_that_was_written(
        self, store: Store, corpus: Corpus, batch: Batch
    ) -> None:
        """What ``put_documents`` and ``activate`` returned from is there, without any ``close``."""
        publish(store, *corpus, make_put("memory/n.md", "ant"))
        write(store, *batch)
        before = _everything(store)
        with closing(self.open_store(self._copied("killed"))) as survivor:
            assert _everything(survivor) == before

    @law("persistent", corpus=corpora(max_size=4), batch=batches())
    def test_a_kill_within_a_batch_leaves_all_of_it_or_nothing(
        self, store: Store, corpus: Corpus, batch: Batch
    ) -> None:
        """Whatever moment of ``put_documents`` it is, no batch is applied by half.

        The next process writes on.
        """
        publish(store, *corpus)
        changes = [*batch, make_put("memory/n.md", "ant"), make_put("memory/m.md", "bee")]
        known = {(put.source, put.path): put for put in corpus}
        allowed = [stored(known), stored(applied(known, changes))]
        images: list[str] = []
        with store.writer(wait=WAIT):
            store.put_documents(
                live_build(store),
                Watched(changes, lambda at: images.append(self._copied(f"killed-{at}"))),
            )
            images.append(self._copied("killed"))
        assert held(store) == allowed[1]
        for image in {images[0], images[len(images) // 2], images[-2], images[-1]}:
            with closing(self.open_store(image)) as survivor:
                assert held(survivor) in allowed
        with closing(self.open_store(images[-1])) as survivor:
            write(survivor, make_put("memory/next.md", "ant"))
            assert ("memory", "memory/next.md") in held(survivor)

    @law("persistent")
    def test_a_kill_while_a_build_fills_spares_the_live_one(self, store: Store) -> None:
        """The live build answers as before, and the other one is gone on with."""
        publish(store, make_put("a.md", "ant"))
        before = _everything(store)[1:]
        with store.writer(wait=WAIT):
            fill(store, make_put("b.md", "ant"))
            image = self._copied("killed")
        with closing(self.open_store(image)) as survivor:
            assert _everything(survivor)[1:] == before
            with survivor.writer(wait=0):
                again = survivor.open_build("new")
                assert set(held(survivor, again)) == {("memory", "b.md")}
                survivor.put_documents(again, [make_put("c.md", "ant")])
                survivor.activate(again)
            assert set(held(survivor)) == {("memory", "b.md"), ("memory", "c.md")}

    def _copied(self, name: str) -> str:
        """What is in the folder now, elsewhere."""
        copy = f"{self.directory}-{name}"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.directory, copy)
        return copy
