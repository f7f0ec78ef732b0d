"""Laws about what a killed process leaves: those of stores that declare ``persistent``."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING

from commonplace.testing.builders import make_put
from commonplace.testing.driving import WAIT, held, live_build, publish, search, words, write
from commonplace.testing.naive import applied, stored
from commonplace.testing.poison import Watched
from commonplace.testing.store.law import StoreLaws, law
from commonplace.testing.strategies import batches, corpora

if TYPE_CHECKING:
    from commonplace.model.chunks import Change, PutDocument
    from commonplace.protocols.stores import Store

__all__ = ["CrashLaws"]


class CrashLaws(StoreLaws):
    """The folder as it is at some moment, which is all that is left when a process is killed.

    A copy of it is opened. Nobody who is dead holds a lease on it.
    """

    @law("persistent", corpus=corpora(max_size=4), batch=batches())
    def test_a_kill_loses_nothing_that_was_written(
        self, store: Store, corpus: list[PutDocument], batch: list[Change]
    ) -> None:
        """What ``put_documents`` and ``activate`` returned from is there, without any ``close``."""
        publish(store, *corpus, make_put("memory/n.md", "ant"))
        write(store, *batch)
        before = _everything(store)
        with closing(self.open_store(self._copied("killed"))) as survivor:
            assert _everything(survivor) == before

    @law("persistent", corpus=corpora(max_size=4), batch=batches())
    def test_a_kill_within_a_batch_leaves_all_of_it_or_nothing(
        self, store: Store, corpus: list[PutDocument], batch: list[Change]
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
            build = store.open_build("next")
            store.put_documents(build, [make_put("b.md", "ant")])
            image = self._copied("killed")
        with closing(self.open_store(image)) as survivor:
            assert _everything(survivor)[1:] == before
            with survivor.writer(wait=0):
                again = survivor.open_build("next")
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


def _everything(store: Store) -> tuple[object, ...]:
    found = search(store, words("ant", "bee")) if "keyword" in store.capabilities else []
    return store.builds(), held(store), found
