"""Laws about builds: filled beside the live one, and activated as a whole."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from commonplace.model.chunks import DeleteDocument
from commonplace.testing.builders import make_put
from commonplace.testing.driving import (
    WAIT,
    held,
    live_build,
    places,
    publish,
    search,
    words,
    write,
)
from commonplace.testing.naive import stored
from commonplace.testing.store.lifetime import StoreLaws, law
from commonplace.testing.strategies import corpora

if TYPE_CHECKING:
    from commonplace.model.chunks import PutDocument
    from commonplace.protocols.stores import Store

__all__ = ["BuildLaws"]


class BuildLaws(StoreLaws):
    """``builds``, ``open_build``, ``activate`` and ``drop``."""

    @law()
    def test_a_new_build_is_empty_and_filling(self, store: Store) -> None:
        """``open_build`` gives a build of the identity asked for that is filling and holds nothing.

        It stands in ``builds`` beside the live one.
        """
        live = publish(store, make_put("a.md", "ant"), identity="old")
        with store.writer(wait=WAIT):
            build = store.open_build("new")
        assert (build.identity, build.state) == ("new", "filling")
        assert held(store, build) == {}
        assert build.id != live.id
        assert sorted(store.builds(), key=lambda one: one.state) == [build, live]

    @law(corpus=corpora(), other=corpora())
    def test_a_filling_build_is_invisible(
        self, store: Store, corpus: list[PutDocument], other: list[PutDocument]
    ) -> None:
        """While another build fills, nothing is seen of it.

        ``documents``, ``health`` and searches tell of the live build alone: the same chunks with
        the same scores as before.
        """
        publish(store, *corpus, make_put("live.md", "ant"))
        before = held(store), store.health().chunks, _found(store)
        with store.writer(wait=WAIT):
            build = store.open_build("new")
            store.put_documents(build, [*other, make_put("filling.md", "ant", "ant bee")])
            assert (held(store), store.health().chunks, _found(store)) == before
        assert (held(store), store.health().chunks, _found(store)) == before

    @law()
    def test_without_a_live_build_nothing_is_there(self, store: Store) -> None:
        """A first build that still fills is not shown, be it as full as it may."""
        with store.writer(wait=WAIT):
            store.put_documents(store.open_build("first"), [make_put("a.md", "ant")])
        assert held(store) == {}
        assert store.health().documents == 0
        assert _found(store) == []

    @law()
    def test_an_unfinished_build_is_resumed(self, store: Store) -> None:
        """``open_build`` gives back the unfinished build of the identity, and no second one.

        It holds all that was put into it.
        """
        put = make_put("a.md", "ant")
        with store.writer(wait=WAIT):
            first = store.open_build("new")
            store.put_documents(first, [put])
        with store.writer(wait=WAIT):
            assert store.open_build("new") == first
        assert store.builds() == (first,)
        assert held(store, first) == stored({("memory", "a.md"): put})

    @law()
    def test_another_identity_drops_the_unfinished_build(self, store: Store) -> None:
        """An unfinished build of another identity is of no use: it goes, and a new one is empty."""
        with store.writer(wait=WAIT):
            store.put_documents(store.open_build("old"), [make_put("a.md", "ant")])
            build = store.open_build("new")
        assert store.builds() == (build,)
        assert held(store, build) == {}

    @law()
    def test_a_live_build_is_not_resumed(self, store: Store) -> None:
        """A build of the live one's identity is a new one: this is how an index is made anew."""
        live = publish(store, make_put("a.md", "ant"), identity="same")
        with store.writer(wait=WAIT):
            build = store.open_build("same")
        assert build.id != live.id
        assert held(store, build) == {}
        assert set(held(store)) == {("memory", "a.md")}

    @law(old=corpora(), new=corpora())
    def test_activating_replaces_everything(
        self, store: Store, old: list[PutDocument], new: list[PutDocument]
    ) -> None:
        """The activated build is live and the only one, under its id and identity.

        Of the old one nothing is left to find.
        """
        publish(store, *old, make_put("old.md", "ant"), identity="old")
        live = publish(store, *new, make_put("new.md", "ant"), identity="new")
        assert store.builds() == (live,)
        assert (live.identity, live.state) == ("new", "live")
        expected = [*new, make_put("new.md", "ant")]
        assert held(store) == stored({(put.source, put.path): put for put in expected})
        assert store.health().chunks == sum(len(put.chunks) for put in expected)
        if "keyword" in store.capabilities:
            found = {path for _, path, _ in places(search(store, words("ant")))}
            assert "new.md" in found
            assert found <= {put.path for put in expected}

    @law()
    def test_a_build_keeps_its_id_when_it_goes_live(self, store: Store) -> None:
        """A build is one thing from its opening to its end."""
        with store.writer(wait=WAIT):
            build = store.open_build("first")
            store.activate(build)
        assert live_build(store).id == build.id

    @law()
    def test_dropping_the_filling_build_spares_the_live_one(self, store: Store) -> None:
        """To give up a build costs nothing that can be searched."""
        live = publish(store, make_put("a.md", "ant"))
        before = _found(store)
        with store.writer(wait=WAIT):
            build = store.open_build("new")
            store.put_documents(build, [make_put("a.md", "bee")])
            store.drop(build)
        assert store.builds() == (live,)
        assert set(held(store)) == {("memory", "a.md")}
        assert _found(store) == before

    @law()
    def test_dropping_the_live_build_leaves_nothing(self, store: Store) -> None:
        """Afterwards there is no build, no document, no chunk and no match."""
        live = publish(store, make_put("a.md", "ant"))
        with store.writer(wait=WAIT):
            store.drop(live)
        assert store.builds() == ()
        assert held(store) == {}
        assert (store.health().documents, store.health().chunks) == (0, 0)
        assert _found(store) == []

    @law("keyword")
    def test_a_reader_never_sees_half_a_change(self, store: Store) -> None:
        """A search in another thread finds what was before a batch or what is after it.

        Both of two documents that come and go together, or neither.
        """
        pair = make_put("a.md", "ant"), make_put("b.md", "ant")
        publish(store)

        def come_and_go() -> None:
            for _ in range(10):
                write(store, *pair)
                write(store, *(DeleteDocument(put.source, put.path) for put in pair))

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(come_and_go)
            while not writing.done():
                assert len(search(store, words("ant"))) in {0, 2}
            writing.result()

    @law("keyword")
    def test_a_reader_always_finds_a_build(self, store: Store) -> None:
        """A search finds a build at any time.

        While one takes the place of another again and again, a search in another thread always
        finds what both hold.
        """
        publish(store, make_put("a.md", "ant"))

        def replace() -> None:
            for number in range(10):
                publish(store, make_put("a.md", "ant"), identity=str(number))

        with ThreadPoolExecutor(1) as pool:
            replacing = pool.submit(replace)
            while not replacing.done():
                assert len(search(store, words("ant"))) == 1
            replacing.result()


def _found(store: Store) -> object:
    return search(store, words("ant", "bee")) if "keyword" in store.capabilities else []
