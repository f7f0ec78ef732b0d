"""Files that can never be indexed keep no other change from a search."""

from __future__ import annotations

import errno
import hashlib
from types import SimpleNamespace

import pytest

from commonplace.index import indexing
from commonplace.index.indexing import _MOST_TRIED
from commonplace.index.manager import IndexedMemoryManager
from commonplace.index.syncing import INLINE_DOCUMENTS, QUICK_BYTES, Freshness, freshen
from commonplace.model.documents import Document, DocumentRef, ScanReport
from commonplace.model.search import Query, Where
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.text.analyse import make_analyser
from commonplace.text.query import parse_query
from commonplace_chunkers.lines import LinesChunker
from commonplace_inmemory.store import InMemoryStore

REASON = "it is no text"
MANY = INLINE_DOCUMENTS + 5


class Notes:
    """A source of notes in memory; what is in ``broken`` cannot be read."""

    id = "memory"
    version = "1"
    capabilities: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.texts: dict[str, tuple[str, int, int]] = {}
        self.broken: set[str] = set()
        self.read_paths: list[str] = []

    def write(self, path: str, text: str, *, size: int = 9, broken: bool = False) -> None:
        _, _, version = self.texts.get(path, ("", 0, 0))
        self.texts[path] = text, size, version + 1
        (self.broken.add if broken else self.broken.discard)(path)

    def scan(self) -> ScanReport:
        return ScanReport(tuple(map(self._ref, self.texts)), ("",))

    def read(self, ref: DocumentRef) -> Document:
        self.read_paths.append(ref.path)
        if ref.path in self.broken:
            raise OSError(errno.EILSEQ, REASON)
        text, _, _ = self.texts[ref.path]
        return Document(self._ref(ref.path), text, hashlib.sha256(text.encode()).hexdigest())

    def _ref(self, path: str) -> DocumentRef:
        _, size, version = self.texts[path]
        return DocumentRef("memory", path, path, f"{size} {version}000000001 {version}000000001 7")


class House:
    """An index of the notes."""

    def __init__(self) -> None:
        self.notes = Notes()
        self.manager = IndexedMemoryManager(
            store=InMemoryStore(),
            sources=[self.notes],
            chunker=LinesChunker(1600, 100),
            analyser=make_analyser(),
        )

    def search(self, word: str) -> tuple[bool, Freshness]:
        """Whether a search finds it, and what it says of the index; it looked at it just before."""
        fresh = freshen(self.manager)
        query = Query(word, make_analyser().query(parse_query(word)))
        (arm,) = self.manager.search(query, where=Where(), limit=5, deadline=NEVER)
        return bool(arm.found), fresh


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setattr(indexing, "_MOST_SECONDS", float("inf"))  # also on a busy machine
    house = House()
    house.notes.write("a.md", "ant")
    return house


def test_many_that_cannot_be_read_keep_no_new_note_from_a_search(house: House) -> None:
    for number in range(MANY):
        house.notes.write(f"b{number}.md", "", broken=True)
    assert len(house.manager.maintain(deadline=NEVER).unreadable) == MANY
    house.notes.write("c.md", "cat")
    found, fresh = house.search("cat")
    assert found
    assert fresh.stale == 0
    assert f"'b0.md' could not be read: {REASON}" in fresh.notes
    assert f"{MANY - 5} more could not be read: `commonplace index` names all" in fresh.notes


def test_where_nothing_else_has_changed_nothing_is_called_changed(house: House) -> None:
    for number in range(MANY):
        house.notes.write(f"b{number}.md", "", broken=True)
    house.manager.maintain(deadline=NEVER)
    found, fresh = house.search("ant")
    assert found
    assert fresh.stale == 0
    assert not any("changed" in note for note in fresh.notes)


def test_known_notes_that_cannot_be_read_now_are_found_as_they_were(house: House) -> None:
    for number in range(MANY):
        house.notes.write(f"b{number}.md", "bee")
    house.manager.maintain(deadline=NEVER)
    for number in range(MANY):
        house.notes.write(f"b{number}.md", "", broken=True)
    house.notes.write("c.md", "cat")
    assert house.search("cat")[0]
    found, fresh = house.search("bee")
    assert found
    assert fresh.stale == 0


def test_many_that_did_change_are_still_left_after_few_reads(house: House) -> None:
    house.manager.maintain(deadline=NEVER)
    for number in range(200):
        house.notes.write(f"b{number}.md", "bee")
    house.notes.read_paths.clear()
    found, fresh = house.search("bee")
    assert not found
    assert fresh.stale == 200
    assert len(house.notes.read_paths) == INLINE_DOCUMENTS + 1


def test_no_search_tries_more_than_it_has_time_for(house: House) -> None:
    house.manager.maintain(deadline=NEVER)
    for number in range(_MOST_TRIED + 100):
        house.notes.write(f"b{number}.md", "", broken=True)
    house.notes.read_paths.clear()
    _, fresh = house.search("ant")
    assert len(house.notes.read_paths) == _MOST_TRIED
    assert fresh.stale == 100


def test_a_large_file_that_is_no_text_is_not_called_changed(house: House) -> None:
    house.manager.maintain(deadline=NEVER)
    house.notes.write("large.md", "", size=QUICK_BYTES + 1, broken=True)
    _, fresh = house.search("ant")
    assert fresh.notes == (f"'large.md' could not be read: {REASON}",)
    house.notes.write("large.md", "whale", size=QUICK_BYTES + 1)
    found, fresh = house.search("whale")
    assert not found  # a search leaves it to a sync
    assert fresh.stale == 1


def test_what_cannot_be_read_takes_no_changed_note_its_turn(house: House) -> None:
    house.manager.maintain(deadline=NEVER)
    for number in range(3):
        house.notes.write(f"b{number}.md", "", broken=True)
    house.notes.write("a.md", "cat")
    # Without a moment left: the first one that can be read is indexed all the same.
    report = house.manager.maintain(
        at_most=INLINE_DOCUMENTS, embed=False, deadline=Deadline.after(0)
    )
    assert (report.updated, report.remaining, len(report.unreadable)) == (1, 0, 3)


def test_no_search_goes_on_where_reading_is_slow(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.manager.maintain(deadline=NEVER)
    for number in range(2 * MANY):
        house.notes.write(f"b{number}.md", "", broken=True)
    house.notes.read_paths.clear()
    now, read = [0.0], house.notes.read

    def slowly(ref: DocumentRef) -> Document:
        now[0] += 1
        return read(ref)

    deadline = SimpleNamespace(after=lambda seconds: Deadline.after(seconds, lambda: now[0]))
    monkeypatch.setattr(indexing, "Deadline", deadline)
    monkeypatch.setattr(indexing, "_MOST_SECONDS", 5)
    monkeypatch.setattr(house.notes, "read", slowly)
    _, fresh = house.search("ant")
    assert len(house.notes.read_paths) == 5
    assert fresh.stale == 2 * MANY - 5
