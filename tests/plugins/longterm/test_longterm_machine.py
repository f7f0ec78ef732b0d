"""Any order of what can be done to two agents' stores leaves what a plain model says."""

from __future__ import annotations

import uuid
from array import array
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from commonplace_longterm.database import Database
from commonplace_longterm.entries import CATEGORIES, Entry, digest
from commonplace_longterm.markdown import read, written
from commonplace_longterm.store import LongTermStore

if TYPE_CHECKING:
    from pathlib import Path

AGENTS = ("main", "o'brien")
TEXTS = st.sampled_from(
    [
        "tea at five",
        "Tea at FIVE!",
        "no tea",
        "port 8471",
        "port 8472",
        "私は寿司が好き",
        "a\n  b\n\n- c",
    ]
)


class Stores(RuleBasedStateMachine):
    """Two agents in one folder, and what each must hold."""

    folder: Path
    embedder: Any = None

    @initialize()
    def open(self) -> None:
        self.now = 0
        uri = str(self.folder / uuid.uuid4().hex)
        self.model: dict[str, dict[str, Entry]] = {agent: {} for agent in AGENTS}
        self.stores = {
            agent: LongTermStore(
                Database(uri, agent, {}), lambda: self.embedder, clock=lambda: float(self.now)
            )
            for agent in AGENTS
        }

    @rule(agent=st.sampled_from(AGENTS), text=TEXTS, category=st.sampled_from(CATEGORIES))
    def store(self, agent: str, text: str, category: str) -> None:
        self.now += 1
        stored = self.stores[agent].store(text, category=category)
        same = [e for e in self.model[agent].values() if digest(e.text) == digest(text)]
        assert stored.created is (not same)
        if stored.created:
            assert (stored.entry.text, stored.entry.created) == (text, self.now * 1000)
            self.model[agent][stored.entry.id] = stored.entry
        else:
            assert stored.entry in same

    @precondition(lambda self: any(self.model.values()))
    @rule(agent=st.sampled_from(AGENTS), data=st.data())
    def forget(self, agent: str, data: st.DataObject) -> None:
        held = {e.created: i for mine in self.model.values() for i, e in mine.items()}
        id_ = held[data.draw(st.sampled_from(sorted(held)))]  # ids themselves are random
        own = self.model[agent].pop(id_, None)
        assert self.stores[agent].forget([id_]) == (own is not None)

    @rule(agent=st.sampled_from(AGENTS), data=st.data())
    def edit_the_export_and_replace(self, agent: str, data: st.DataObject) -> None:
        self.now += 1
        entries = read(written(self.stores[agent].entries(), agent), now=1)
        kept = [e for e in entries if data.draw(st.booleans())]
        kept = [e._replace(importance=0.25) if data.draw(st.booleans()) else e for e in kept]
        self.stores[agent].take(kept, replace=True)
        self.model[agent] = {e.id: e for e in kept}

    @rule(source=st.sampled_from(AGENTS), taker=st.sampled_from(AGENTS))
    def take_from_another(self, source: str, taker: str) -> None:
        given = self.stores[source].entries()
        self.stores[taker].take(given)
        mine = self.model[taker]
        others = {digest(e.text) for i, e in mine.items() if i not in self.model[source]}
        for entry in given:
            if entry.id in mine or digest(entry.text) not in others:
                mine[entry.id] = entry

    @invariant()
    def each_holds_its_own(self) -> None:
        for agent, store in self.stores.items():
            found = {entry.id: entry for entry in store.entries()}
            assert found == self.model[agent]
            hits = store.recall("tea port 8471 寿司", limit=50, min_score=0.0).found
            assert {hit.entry.id for hit in hits} <= found.keys()

    def teardown(self) -> None:
        for store in getattr(self, "stores", {}).values():
            store.close()


@pytest.mark.slow
@pytest.mark.parametrize("embedded", [False, True])
def test_any_order_of_changes(embedded: bool, lancedb_installed: None, tmp_path: Path) -> None:
    def machine() -> Stores:
        stores = Stores()
        stores.folder = tmp_path
        # Vectors that are all at right angles: doubles are found by their words alone.
        stores.embedder = _Apart() if embedded else None
        return stores

    run_state_machine_as_test(
        machine,  # type: ignore[arg-type]  # a function that makes one serves as well
        settings=settings(max_examples=25, stateful_step_count=15, deadline=None),
    )


class _Apart:
    """An axis for each text."""

    id = model = "apart"
    dims = 16

    def __init__(self) -> None:
        self._axes: dict[str, int] = {}

    def fingerprint(self) -> str:
        return "apart"

    def query(self, text: str, *, deadline: object) -> bytes:
        return self.documents([text], deadline=deadline)[0]

    def documents(self, texts: list[str], *, deadline: object) -> list[bytes]:
        found = []
        for text in texts:
            axis = self._axes.setdefault(text, len(self._axes))
            found.append(array("f", [float(n == axis) for n in range(16)]).tobytes())
        return found
