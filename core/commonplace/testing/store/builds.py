"""Laws about builds, and a state machine of everything that is done to a store."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from commonplace.model.chunks import DeleteDocument
from commonplace.model.search import KeywordQuery
from commonplace.resilience.deadline import NEVER
from commonplace.testing.base import (
    ALL,
    EVERYWHERE,
    WAIT,
    attach,
    digests,
    fill,
    held,
    ids,
    live_build,
    make_append,
    make_put,
    make_vector,
    meanwhile,
    nearest,
    places,
    publish,
    search,
    words,
    write,
)
from commonplace.testing.laws import law
from commonplace.testing.store.lifetime import POISONS, StoreLaws, poisoned, succeeds
from commonplace.testing.strategies import (
    Documents,
    applied,
    batches,
    chunks,
    corpora,
    matching,
    on_lines,
    queries,
    stored,
    wheres,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commonplace.model.chunks import AnalysedChunk, Change
    from commonplace.model.documents import Build
    from commonplace.model.search import Where
    from commonplace.protocols.parts import Store
    from commonplace.testing.base import Batch, Corpus
    from commonplace.testing.store.lifetime import Poison


class BuildLaws(StoreLaws):
    """``builds``, ``open_build``, ``activate`` and ``drop``."""

    @law()
    def test_a_new_build_is_empty_and_filling(self, store: Store) -> None:
        """``open_build`` gives an empty, filling build of the identity, beside the live one."""
        live = publish(store, make_put("a.md", "ant"), identity="old")
        with store.writer(wait=WAIT):
            build = store.open_build("new")
        assert (build.identity, build.state) == ("new", "filling")
        assert held(store, build) == {}
        assert build.id != live.id
        assert sorted(store.builds(), key=lambda one: one.state) == [build, live]

    @law(corpus=corpora(), other=corpora())
    def test_a_filling_build_is_invisible(
        self, store: Store, corpus: Corpus, other: Corpus
    ) -> None:
        """``documents``, ``health`` and searches report the live build alone, scores and all.

        So do the counts that stand beside the hits of a search.
        """
        publish(store, *corpus, make_put("live.md", "ant"))
        before = held(store), store.health().chunks, _matches(store)
        with store.writer(wait=WAIT):
            fill(store, *other, make_put("filling.md", "ant", "ant bee"))
            assert (held(store), store.health().chunks, _matches(store)) == before
        assert (held(store), store.health().chunks, _matches(store)) == before

    @law()
    def test_without_a_live_build_nothing_is_there(self, store: Store) -> None:
        """A first build that still fills is not shown, be it as full as it may."""
        fill(store, make_put("a.md", "ant"))
        assert held(store) == {}
        assert store.health().documents == 0
        assert _found(store) == []

    @law()
    def test_an_unfinished_build_is_resumed(self, store: Store) -> None:
        """``open_build`` gives back the unfinished build of the identity, with all it holds."""
        put = make_put("a.md", "ant")
        first = fill(store, put)
        with store.writer(wait=WAIT):
            assert store.open_build("new") == first
        assert store.builds() == (first,)
        assert held(store, first) == stored({("memory", "a.md"): put})

    @law()
    def test_another_identity_drops_the_unfinished_build(self, store: Store) -> None:
        """An unfinished build of another identity is of no use: it goes, and a new one is empty."""
        with store.writer(wait=WAIT):
            fill(store, make_put("a.md", "ant"), identity="old")
            build = store.open_build("new")
        assert store.builds() == (build,)
        assert held(store, build) == {}

    @law()
    def test_a_live_build_is_not_resumed(self, store: Store) -> None:
        """A build of the live one's identity is a new one: so an index is rebuilt."""
        live = publish(store, make_put("a.md", "ant"), identity="same")
        with store.writer(wait=WAIT):
            build = store.open_build("same")
        assert build.id != live.id
        assert held(store, build) == {}
        assert set(held(store)) == {("memory", "a.md")}

    @law(old=corpora(), new=corpora())
    def test_activating_replaces_everything(self, store: Store, old: Corpus, new: Corpus) -> None:
        """The activated build is live and the only one; nothing of the old one can be found."""
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
            store.drop(fill(store, make_put("a.md", "bee")))
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

    @law()
    def test_each_change_shows_in_whatever_is_asked(self, store: Any) -> None:
        """Put, replaced, deleted, activated: no question is answered as it was before that."""
        can = store.capabilities
        puts = [make_put(f"{name}.md", "ant", day="2026-01-31") for name in "abc"]
        days, east = KeywordQuery(days=(("2026-01-01", "2026-12-31"),)), make_vector(1, 0, 0)
        questions: dict[str, Callable[[], int]] = {
            "keyword": lambda: len(search(store, words("ant"))),
            "counts": lambda: store.holders(("ant",))["ant"],
            "vocabulary": lambda: store.tokens_beginning("an", 9).get("ant", 0),
            "days": lambda: len(
                store.of_days(days, where=EVERYWHERE, limit=ALL, deadline=NEVER),
            ),
            "vectors": lambda: len(store.vectors("space", ids(nearest(store, east).found))),
        }

        def asked() -> set[int]:
            return {count() for name, count in questions.items() if name in can}

        build = publish(store, puts[0])
        if "vectors" in can:
            attach(store, build, "space", dict.fromkeys(digests(puts), east))
        assert asked() <= {1}
        for change, count in ((puts[1], 2), (make_put("b.md"), 1), (puts[1], 2)):
            write(store, change)
            assert asked() <= {count}
        build = fill(store, *puts)
        assert asked() <= {2}
        with store.writer(wait=WAIT):
            store.activate(build)
        assert asked() <= {3}
        write(store, DeleteDocument("memory", "c.md"))
        assert asked() <= {2}

    @law("keyword")
    def test_a_reader_never_sees_half_a_change(self, store: Store) -> None:
        """A search in another thread finds all of a batch or nothing of it."""
        pair = make_put("a.md", "ant"), make_put("b.md", "ant")
        publish(store)

        def come_and_go() -> None:
            for _ in range(10):
                write(store, *pair)
                write(store, *(DeleteDocument(put.source, put.path) for put in pair))

        for _ in meanwhile(come_and_go):
            assert len(search(store, words("ant"))) in {0, 2}

    @law("keyword")
    def test_a_reader_always_finds_a_build(self, store: Store) -> None:
        """While one build replaces another, a search in another thread finds what both hold."""
        publish(store, make_put("a.md", "ant"))

        def replace() -> None:
            for number in range(10):
                publish(store, make_put("a.md", "ant"), identity=str(number))

        for _ in meanwhile(replace):
            assert len(search(store, words("ant"))) == 1


def _matches(store: Store) -> object:
    """All that a search says, as far as the store declares it."""
    if "keyword" not in store.capabilities:
        return None
    query = words("ant", "bee")
    matches = store.keyword(query, where=EVERYWHERE, limit=ALL, deadline=NEVER)
    counts = (matches.chunks, matches.holders) if "counts" in store.capabilities else ()
    terms = (matches.terms, matches.average) if "term_counts" in store.capabilities else ()
    return matches.found, counts, terms


def _found(store: Store) -> object:
    return search(store, words("ant", "bee")) if "keyword" in store.capabilities else []


class StoreMachine(RuleBasedStateMachine):
    """``live`` and ``filling`` are what the store's two builds should hold, where there are any.

    ``open_store`` opens the store that lives in a folder.
    """

    def __init__(self, open_store: Callable[[str], Store]) -> None:
        super().__init__()
        self.open_store = open_store
        self._directory = TemporaryDirectory(prefix="commonplace-")
        self._crashes = 0
        os.mkdir(self._folder)
        self.store = self.open_store(self._folder)
        self.live: Documents | None = None
        self.filling: tuple[str, Documents] | None = None

    @property
    def _folder(self) -> str:
        return f"{self._directory.name}/{self._crashes}"

    def teardown(self) -> None:
        """Leave nothing behind."""
        with self._directory, closing(self.store):
            pass

    @initialize(batch=batches())
    def begin(self, batch: Batch) -> None:
        """Most of a store's life is spent with a live build."""
        publish(self.store, *batch)
        self.live = applied({}, batch)

    @precondition(lambda self: self.live is not None)
    @rule(batch=batches())
    def change(self, batch: Batch) -> None:
        """Documents of the live build come, change and go."""
        write(self.store, *batch)
        self.live = applied(self.live or {}, batch)

    @precondition(lambda self: self.live and "append" in self.store.capabilities)
    @rule(data=st.data(), keep=st.integers(0, 3), pieces=st.lists(chunks(), max_size=2))
    def go_on(self, data: st.DataObject, keep: int, pieces: list[AnalysedChunk]) -> None:
        """A document of the live build has grown."""
        live = self.live or {}
        source, path = data.draw(st.sampled_from(sorted(live)))
        keep = min(keep, len(live[source, path].chunks))
        placed = on_lines(pieces, first=50 + keep)
        change = make_append(path, *placed, keep=keep, source=source, resume=f"{keep} here")
        write(self.store, change)
        self.live = applied(live, [change])

    @precondition(lambda self: self.live is not None)
    @rule(batch=batches(), poison=st.sampled_from(POISONS))
    def fail(self, batch: Batch, poison: Poison) -> None:
        """A batch fails; it may only succeed where it can be applied to its end."""
        sick = poisoned(batch, poison)
        if succeeds(lambda: self._put("live", sick)):
            assert poison == "no text", "a batch that cannot be applied was accepted"
            self.live = applied(self.live or {}, sick)

    @rule(identity=st.sampled_from(("one", "two")), batch=batches())
    def fill(self, identity: str, batch: Batch) -> None:
        """Another build is begun or gone on with."""
        resumed = self.filling is not None and self.filling[0] == identity
        before = self.filling[1] if resumed and self.filling else {}
        with self.store.writer(wait=WAIT):
            build = self.store.open_build(identity)
            assert (build.identity, build.state) == (identity, "filling")
            self.store.put_documents(build, batch)
        self.filling = identity, applied(before, batch)

    @precondition(lambda self: self.filling is not None)
    @rule()
    def activate(self) -> None:
        """The other build takes over."""
        with self.store.writer(wait=WAIT):
            self.store.activate(self._build("filling"))
        self.live, self.filling = (self.filling or ("", {}))[1], None

    @rule(state=st.sampled_from(("filling", "live")))
    def drop(self, state: str) -> None:
        """A build is dropped; where it is the live one, nothing takes over."""
        if getattr(self, state) is not None:
            with self.store.writer(wait=WAIT):
                self.store.drop(self._build(state))
            setattr(self, state, None)

    @precondition(lambda self: "persistent" in self.store.capabilities)
    @rule()
    def reopen(self) -> None:
        """The process ends and another begins."""
        self.store.close()
        self.store = self.open_store(self._folder)

    @precondition(lambda self: "persistent" in self.store.capabilities)
    @rule()
    def crash(self) -> None:
        """The process is killed: all there is for the next is what lies in the folder just now."""
        killed = self._folder
        self._crashes += 1
        shutil.copytree(killed, self._folder)
        self.store.close()
        self.store = self.open_store(self._folder)

    @precondition(lambda self: {"keyword", "phrases"} <= self.store.capabilities)
    @rule(query=queries(), where=wheres())
    def ask(self, query: KeywordQuery, where: Where) -> None:
        """A search finds what it should and nothing else, each chunk once."""
        found = places(search(self.store, query, where))
        assert sorted(found) == sorted(matching(self.live or {}, query, where))

    @precondition(lambda self: "keyword" in self.store.capabilities)
    @rule(query=queries(longest_phrase=1))
    def ask_plainly(self, query: KeywordQuery) -> None:
        """As above, for stores without phrases too."""
        found = places(search(self.store, query))
        assert sorted(found) == sorted(matching(self.live or {}, query, EVERYWHERE))

    @invariant()
    def holds_the_same(self) -> None:
        """Documents, builds and counts are the model's."""
        store, live = self.store, self.live or {}
        assert held(store) == stored(live)
        states = {build.state: build.identity for build in store.builds()}
        assert len(states) == len(store.builds()), "two builds in one state"
        assert ("live" in states) == (self.live is not None)
        assert states.get("filling") == (self.filling[0] if self.filling else None)
        if self.filling:
            assert held(store, self._build("filling")) == stored(self.filling[1])
        health = store.health()
        assert health.documents == len(live)
        assert health.chunks == sum(len(put.chunks) for put in live.values())

    def _build(self, state: str) -> Build:
        return next(build for build in self.store.builds() if build.state == state)

    def _put(self, state: str, batch: Sequence[Change]) -> None:
        with self.store.writer(wait=WAIT):
            self.store.put_documents(self._build(state), batch)
