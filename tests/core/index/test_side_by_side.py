"""Threads that index, embed and search with one engine."""

from __future__ import annotations

import hashlib
import threading
from math import inf
from typing import TYPE_CHECKING, ClassVar

import pytest

from commonplace.errors import IndexBusyError
from commonplace.index.manager import IndexedMemoryManager
from commonplace.index.syncing import freshen
from commonplace.model.documents import Document, DocumentRef, ScanReport
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.text.analyse import make_analyser
from commonplace_chunkers.lines import LinesChunker
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from commonplace.model.reports import Progress

PATIENCE = 60.0


class Notes:
    """A source of which a note can be held while it is read."""

    id = "memory"
    version = "1"
    capabilities: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.paths = ["a.md"]
        self.held = ""
        self.reading = threading.Event()
        self.release = threading.Event()

    def scan(self) -> ScanReport:
        return ScanReport(tuple(map(self._ref, self.paths)), ("",))

    def read(self, ref: DocumentRef) -> Document | None:
        if ref.path == self.held:
            self.reading.set()
            assert self.release.wait(PATIENCE)
        return Document(ref, "A walrus.", hashlib.sha256(ref.path.encode()).hexdigest())

    def _ref(self, path: str) -> DocumentRef:
        return DocumentRef("memory", path, path, "9 1000000001 1000000001 7")


@pytest.fixture
def notes() -> Iterator[Notes]:
    notes = Notes()
    yield notes
    notes.release.set()


def engine(
    notes: Notes,
    embedding: Callable[[], None] = lambda: None,
    store: InMemoryStore | None = None,
) -> IndexedMemoryManager:
    return IndexedMemoryManager(
        store=store or InMemoryStore(),
        sources=[notes],
        chunker=LinesChunker(1600, 100),
        analyser=make_analyser(),
        embedding=embedding,
    )


def test_a_search_does_not_wait_for_the_sync_of_another_thread(notes: Notes) -> None:
    manager = engine(notes)
    manager.maintain(deadline=NEVER)
    notes.paths += ["b.md", "c.md"]
    notes.held = "b.md"
    syncing = threading.Thread(target=lambda: manager.maintain(deadline=NEVER))
    syncing.start()
    assert notes.reading.wait(PATIENCE)
    fresh = freshen(manager)
    assert fresh.stale == 2
    assert any("another thread of this process is writing" in note for note in fresh.notes)
    notes.release.set()
    syncing.join(PATIENCE)
    assert freshen(manager).stale == 0


class BusyStore(InMemoryStore):
    """A store that another process is writing, which ends as soon as it is waited for."""

    waits: ClassVar[list[float]] = []

    def writer(self, *, wait: float) -> AbstractContextManager[object]:
        self.waits.append(wait)
        if wait <= 0:
            raise IndexBusyError("process 1 is writing the index")
        return super().writer(wait=wait)


def test_a_search_waits_for_another_process_in_its_time_for_indexing(notes: Notes) -> None:
    store = BusyStore()
    manager = engine(notes, store=store)
    manager.maintain(deadline=NEVER)
    notes.paths += ["b.md"]
    store.waits.clear()
    fresh = freshen(manager)
    assert (fresh.stale, fresh.notes) == (0, ())
    assert all(0 < wait <= 0.2 for wait in store.waits), store.waits

    notes.paths += ["c.md"]
    store.waits.clear()
    freshen(manager, within=Deadline.after(0.1))
    assert all(wait <= 0.05 for wait in store.waits), store.waits


def test_a_search_waits_where_there_is_nothing_yet_to_answer_from(notes: Notes) -> None:
    manager = engine(notes)
    notes.held = "a.md"
    syncing = threading.Thread(target=lambda: manager.maintain(deadline=NEVER))
    syncing.start()
    assert notes.reading.wait(PATIENCE)
    threading.Timer(0.3, notes.release.set).start()  # after the time a search has for indexing
    assert freshen(manager).stale == 0
    syncing.join(PATIENCE)
    assert manager.health().store is not None


def test_notes_are_indexed_while_texts_are_embedded(notes: Notes) -> None:
    embedding, release = threading.Event(), threading.Event()

    def embed() -> None:
        embedding.set()
        assert release.wait(PATIENCE)

    manager = engine(notes, embed)
    filling = threading.Thread(target=lambda: manager.maintain(deadline=NEVER))
    filling.start()
    assert embedding.wait(PATIENCE)
    notes.paths.append("b.md")
    assert freshen(manager).stale == 0
    with pytest.raises(IndexBusyError):
        manager.maintain(deadline=Deadline.after(0))
    with pytest.raises(IndexBusyError):
        manager.maintain(deadline=Deadline(inf, cancelled=lambda: True))
    release.set()
    filling.join(PATIENCE)


def test_a_callback_of_a_sync_does_not_wait_for_that_sync(notes: Notes) -> None:
    manager = engine(notes)
    heard: list[str] = []

    def ask(_: Progress) -> None:
        try:
            heard.append(f"{freshen(manager, until=Deadline.after(5)).stale} left")
        except IndexBusyError as error:
            heard.append(f"{error}: {error.hint}")

    manager.maintain(deadline=NEVER, progress=ask)
    this = "the index is being written by this very thread"
    assert heard[0] == f"{this}: ask once the sync is done, not in its callback"
    notes.paths.append("b.md")
    heard.clear()
    manager.maintain(deadline=NEVER, progress=ask)
    assert heard[0] == "1 left", "there is something to answer from"
    assert freshen(manager).stale == 0
