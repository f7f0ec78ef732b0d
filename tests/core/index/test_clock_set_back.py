"""A clock that is wrong, or set right, never hides a change; it costs a second look at most."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from commonplace.index.manager import IndexedMemoryManager
from commonplace.model.documents import Document, DocumentRef, ScanReport
from commonplace.model.search import Query, Where
from commonplace.resilience.deadline import NEVER
from commonplace.text.analyse import make_analyser
from commonplace.text.query import parse_query
from commonplace_chunkers.lines import LinesChunker
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from commonplace.model.reports import SyncReport

SECOND = 1_000_000_000
START = 1_700_000_000 * SECOND + 1


class Machine:
    """A file system with one note, whose times are the clock's, and an index of it."""

    id = "memory"
    version = "1"
    capabilities: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.now = START
        self.reads = 0
        self._store = InMemoryStore()
        self.write("ant ant")

    def write(self, text: str) -> None:
        self._text = text
        self._written = self.now

    def scan(self) -> ScanReport:
        stamp = f"{len(self._text)} {self._written} {self._written} 7"
        return ScanReport((DocumentRef("memory", "a.md", "a.md", stamp),), ("",))

    def read(self, ref: DocumentRef) -> Document:
        del ref
        self.reads += 1
        digest = hashlib.sha256(self._text.encode()).hexdigest()
        (found,) = self.scan().documents
        return Document(found, self._text, digest)

    def _manager(self) -> IndexedMemoryManager:
        return IndexedMemoryManager(
            store=self._store,
            sources=[self],
            chunker=LinesChunker(1600, 100),
            analyser=make_analyser(),
            clock_ns=lambda: self.now,
        )

    def sync(self) -> SyncReport:
        return self._manager().maintain(deadline=NEVER)

    def finds(self, word: str) -> bool:
        query = Query(word, make_analyser().query(parse_query(word)))
        (arm,) = self._manager().search(query, where=Where(), limit=5, deadline=NEVER)
        return bool(arm.found)


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.mark.parametrize("back", [1, 3_600 * SECOND, 400 * 86_400 * SECOND])
def test_a_change_after_the_clock_was_set_back_is_seen(machine: Machine, back: int) -> None:
    machine.now += 60 * SECOND
    machine.sync()
    machine.now -= back
    machine.write("bee bee")  # of the same size, with times before those that are known
    machine.sync()
    assert machine.finds("bee")
    assert not machine.finds("ant")


def test_a_change_in_the_very_tick_is_seen_after_the_clock_came_round_again(
    machine: Machine,
) -> None:
    machine.write("ant ant")
    machine.sync()
    machine.write("bee bee")  # the same size, the same times
    machine.sync()
    assert machine.finds("bee")


def test_a_note_from_the_future_is_read_again_until_the_clock_has_passed_it(
    machine: Machine,
) -> None:
    machine.now += 3_600 * SECOND
    machine.write("ant ant")
    machine.now -= 3_600 * SECOND
    machine.sync()
    reads = machine.reads
    assert machine.sync().updated == 0
    assert machine.reads > reads
    machine.now += 7_200 * SECOND
    machine.sync()
    reads = machine.reads
    assert machine.sync().unchanged == 1
    assert machine.reads == reads
