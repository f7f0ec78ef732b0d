"""A store and a naive model taken through one history, and compared after every step."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from commonplace.testing.builders import make_append
from commonplace.testing.driving import EVERYWHERE, WAIT, held, places, publish, search, write
from commonplace.testing.naive import Documents, applied, matching, stored
from commonplace.testing.poison import POISONS, poisoned, succeeds
from commonplace.testing.strategies import batches, chunks, queries, wheres

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonplace.model.chunks import AnalysedChunk, Change
    from commonplace.model.search import KeywordQuery, Where
    from commonplace.model.store import Build
    from commonplace.protocols.stores import Store
    from commonplace.testing.poison import Poison

__all__ = ["StoreMachine"]


class StoreMachine(RuleBasedStateMachine):
    """``live`` and ``filling`` are what the store's two builds should hold, where there are any."""

    def __init__(self) -> None:
        super().__init__()
        self._directory = TemporaryDirectory(prefix="commonplace-")
        self._crashes = 0
        os.mkdir(self._folder)
        self.store = self.open_store(self._folder)
        self.live: Documents | None = None
        self.filling: tuple[str, Documents] | None = None

    def open_store(self, directory: str) -> Store:
        """Open the store that lives in ``directory``."""
        raise NotImplementedError

    @property
    def _folder(self) -> str:
        return f"{self._directory.name}/{self._crashes}"

    def teardown(self) -> None:
        """Leave nothing behind."""
        with self._directory, closing(self.store):
            pass

    @initialize(batch=batches())
    def begin(self, batch: list[Change]) -> None:
        """Most of a store's life is spent with a live build."""
        publish(self.store, *batch)
        self.live = applied({}, batch)

    @precondition(lambda self: self.live is not None)
    @rule(batch=batches())
    def change(self, batch: list[Change]) -> None:
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
        placed = [
            piece._replace(chunk=piece.chunk._replace(start_line=line, end_line=line))
            for line, piece in enumerate(pieces, 50 + keep)
        ]
        change = make_append(path, *placed, keep=keep, source=source, resume=f"{keep} here")
        write(self.store, change)
        self.live = applied(live, [change])

    @precondition(lambda self: self.live is not None)
    @rule(batch=batches(), poison=st.sampled_from(POISONS))
    def fail(self, batch: list[Change], poison: Poison) -> None:
        """A batch fails; it may only succeed where it can be applied to its end."""
        sick = poisoned(batch, poison)
        if succeeds(lambda: self._put("live", sick)):
            assert poison == "no text", "a batch that cannot be applied was accepted"
            self.live = applied(self.live or {}, sick)

    @rule(identity=st.sampled_from(("one", "two")), batch=batches())
    def fill(self, identity: str, batch: list[Change]) -> None:
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

    @precondition(lambda self: self.filling is not None)
    @rule()
    def give_up(self) -> None:
        """The other build is dropped."""
        with self.store.writer(wait=WAIT):
            self.store.drop(self._build("filling"))
        self.filling = None

    @precondition(lambda self: self.live is not None)
    @rule()
    def drop(self) -> None:
        """The live build is dropped, and nothing takes over."""
        with self.store.writer(wait=WAIT):
            self.store.drop(self._build("live"))
        self.live = None

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
