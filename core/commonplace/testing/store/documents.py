"""Laws about what a store holds, and how changes get into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from commonplace.model.chunks import DeleteDocument, TouchDocument
from commonplace.testing.builders import make_put
from commonplace.testing.driving import held, places, publish, search, words, write
from commonplace.testing.machine import StoreMachine
from commonplace.testing.naive import applied, stored
from commonplace.testing.poison import POISONS, poisoned, succeeds
from commonplace.testing.store.law import StoreLaws, law
from commonplace.testing.strategies import HOSTILE_PATHS, batches, corpora, puts, stamps

if TYPE_CHECKING:
    from commonplace.model.chunks import Change, PutDocument
    from commonplace.model.documents import Stamp
    from commonplace.protocols.stores import Store
    from commonplace.testing.poison import Poison

__all__ = ["DocumentLaws"]


class DocumentLaws(StoreLaws):
    """``documents`` and ``put_documents``."""

    def test_any_history_leaves_what_a_naive_model_leaves(self) -> None:
        """Whatever happens to it, the store holds and finds what a plain dictionary would.

        It is put to, deleted from, touched, filled, activated, dropped, reopened and killed, in any
        order.
        """
        open_store = self.open_store

        class Machine(StoreMachine):
            def open_store(self, directory: str) -> Store:
                return open_store(directory)

        run_state_machine_as_test(Machine, settings=self.relaxed())

    @law()
    def test_an_empty_store_is_empty(self, store: Store) -> None:
        """A store that nothing was put into says so, without an error.

        It has no build, no document and no chunk.
        """
        assert store.builds() == ()
        assert list(store.documents()) == []
        assert (store.health().documents, store.health().chunks) == (0, 0)
        if "keyword" in store.capabilities:
            assert search(store, words("ant")) == []

    @law(put=puts(), stamp=stamps(), fingerprint=st.text(max_size=9).map(lambda text: f"r{text}"))
    def test_a_document_is_remembered_exactly(
        self, store: Store, put: PutDocument, stamp: Stamp, fingerprint: str
    ) -> None:
        """Source, path, digest, fingerprint and stamp come back as they were put.

        The four numbers of a stamp may be negative or need 64 bits.
        """
        put = evolve(put, stamp=stamp, fingerprint=fingerprint)
        publish(store, put)
        assert held(store) == stored({(put.source, put.path): put})

    @law(batch=batches(max_size=12))
    def test_changes_of_a_batch_apply_in_their_order(
        self, store: Store, batch: list[Change]
    ) -> None:
        """A batch may change a document several times: the last change wins."""
        publish(store, *batch)
        assert held(store) == stored(applied({}, batch))

    @law()
    def test_paths_are_told_apart_to_the_letter(self, store: Store) -> None:
        """No two paths are the same document, however alike they look.

        Other case, another Unicode normalisation, quotes, wildcards, line breaks.
        """
        corpus = [make_put(path, f"ant{number}") for number, path in enumerate(HOSTILE_PATHS)]
        publish(store, *corpus)
        assert held(store) == stored({(put.source, put.path): put for put in corpus})
        for gone in HOSTILE_PATHS[::2]:
            write(store, DeleteDocument("memory", gone))
        assert {path for _, path in held(store)} == set(HOSTILE_PATHS[1::2])

    @law()
    def test_one_path_of_two_sources_is_two_documents(self, store: Store) -> None:
        """Source and path together name a document."""
        mine, theirs = make_put("a.md", "ant"), make_put("a.md", "bee", source="sessions")
        publish(store, mine, theirs)
        write(store, DeleteDocument("memory", "a.md"))
        assert held(store) == stored({("sessions", "a.md"): theirs})

    @law("keyword")
    def test_putting_again_replaces_all_chunks(self, store: Store) -> None:
        """Of a document that is put again nothing old can be found."""
        publish(store, make_put("a.md", "ant", "ant bee", "ant cat"), make_put("b.md", "ant"))
        write(store, make_put("a.md", "bee"))
        assert places(search(store, words("ant"))) == [("memory", "b.md", 1)]
        assert places(search(store, words("bee"))) == [("memory", "a.md", 1)]
        assert store.health().chunks == 2

    @law("keyword")
    def test_deleting_leaves_nothing_to_find(self, store: Store) -> None:
        """A deleted document is gone from ``documents``, from searches and from the counts."""
        publish(store, make_put("a.md", "ant", "ant bee"), make_put("b.md", "ant"))
        write(store, DeleteDocument("memory", "a.md"))
        assert set(held(store)) == {("memory", "b.md")}
        assert places(search(store, words("ant", "bee"))) == [("memory", "b.md", 1)]
        assert (store.health().documents, store.health().chunks) == (1, 1)

    @law(corpus=corpora(max_size=4), stamp=stamps())
    def test_touching_changes_the_stamp_alone(
        self, store: Store, corpus: list[PutDocument], stamp: Stamp
    ) -> None:
        """A touched document has the new stamp.

        Everything else, down to the ids of its chunks, is as it was.
        """
        corpus = [make_put("touched.md", "ant", "bee"), *corpus]
        publish(store, *corpus)
        before = _answers(store)
        touch = TouchDocument("memory", "touched.md", stamp)
        write(store, touch)
        expected = {(put.source, put.path): put for put in corpus}
        assert held(store) == stored(applied(expected, [touch]))
        assert _answers(store) == before

    @law()
    def test_what_is_not_there_is_neither_deleted_nor_touched(self, store: Store) -> None:
        """Deleting or touching an unknown document changes nothing and is no error.

        Another process may have been quicker.
        """
        put = make_put("a.md", "ant")
        publish(store, put)
        write(store, DeleteDocument("memory", "b.md"), DeleteDocument("sessions", "a.md"))
        write(store, TouchDocument("memory", "b.md", (1, 2, 3, 4)))
        assert held(store) == stored({("memory", "a.md"): put})

    @law(corpus=corpora(max_size=4), batch=batches(), poison=st.sampled_from(POISONS))
    def test_a_batch_that_fails_leaves_everything_as_it_was(
        self, store: Store, corpus: list[PutDocument], batch: list[Change], poison: Poison
    ) -> None:
        """If one change of a batch cannot be applied, none is, and the caller gets an error.

        It does not matter what comes before it in the batch. The store works on.
        """
        publish(store, *corpus)
        before, answers = held(store), _answers(store)
        changes = [*batch, make_put("memory/new.md", "ant bee")]
        if not succeeds(lambda: write(store, *poisoned(changes, poison))):
            assert held(store) == before
            assert _answers(store) == answers
        else:
            assert poison == "no text", "a batch that cannot be applied was accepted"
        write(store, make_put("memory/new.md", "bee"))
        assert ("memory", "memory/new.md") in held(store)


def _answers(store: Store) -> object:
    """Everything that can be found, with ids and scores."""
    if "keyword" not in store.capabilities:
        return None
    return search(store, words("ant", "bee", "cat", "dog"))
