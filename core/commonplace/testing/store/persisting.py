"""Laws about stores that outlive their process: those that declare ``persistent``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from commonplace.testing.builders import make_put
from commonplace.testing.driving import WAIT, busy, held, publish, search, words, write
from commonplace.testing.store.law import StoreLaws, law
from commonplace.testing.strategies import corpora

if TYPE_CHECKING:
    from commonplace.model.chunks import PutDocument
    from commonplace.protocols.stores import Store

__all__ = ["PersistenceLaws"]


class PersistenceLaws(StoreLaws):
    """The same folder, opened again."""

    @law("persistent", corpus=corpora())
    def test_everything_is_there_after_reopening(
        self, store: Store, corpus: list[PutDocument]
    ) -> None:
        """A store that is closed and opened again is as it was.

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
        with store.writer(wait=WAIT):
            build = store.open_build("new")
            store.put_documents(build, [make_put("b.md", "ant")])
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


def _everything(store: Store) -> object:
    found = search(store, words("ant", "bee")) if "keyword" in store.capabilities else []
    return store.builds(), held(store), found
