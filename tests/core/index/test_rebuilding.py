"""A whole index rebuilt beside the one that is searched: begun, continued, activated."""

from __future__ import annotations

import hashlib
from functools import partial
from itertools import count
from unittest import mock

import pytest

from commonplace.errors import IndexBusyError, IndexUnavailableError
from commonplace.index.builds import (
    build_identity,
    forced_at,
    forced_identity,
    plain_identity,
    same_tokenizer,
    same_workspace,
)
from commonplace.index.documents import GrowingDocument, Resume, analyse_chunks
from commonplace.index.manager import IndexedMemoryManager
from commonplace.index.syncing import Freshness, freshen
from commonplace.model.documents import Document, DocumentRef, RootFailure, ScanReport, Segment
from commonplace.model.reports import Progress
from commonplace.model.search import Query, Where
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.text.analyse import make_analyser
from commonplace.text.query import parse_query
from commonplace_chunkers.lines import LinesChunker
from commonplace_inmemory.store import InMemoryStore

IDENTITY = build_identity(make_analyser(), "/w")
OLDER = IDENTITY.replace("keyword-1", "keyword-0")
DAY = 86_400
SIZE = 50


class Notes:
    """A source of notes that are only names; ``read`` are those that were read."""

    id = "memory"
    version = "1"
    capabilities: frozenset[str] = frozenset()

    def __init__(self, size: int) -> None:
        self.texts = {f"n{number:02}.md": "A walrus." for number in range(size)}
        self.changed = 0
        self.unreadable: set[str] = set()
        self.seen: list[str] = []

    def scan(self) -> ScanReport:
        return ScanReport(tuple(map(self._ref, sorted(self.texts))), ("",))

    def read(self, ref: DocumentRef) -> Document | None:
        if ref.path in self.unreadable:
            raise PermissionError(13, "not for you")
        self.seen.append(ref.path)
        text = self.texts[ref.path]
        return Document(ref, text, hashlib.sha256(text.encode()).hexdigest())

    def _ref(self, path: str) -> DocumentRef:
        size = len(self.texts[path])
        return DocumentRef("memory", path, path, f"{size} 1000000001 1000000001 7")


class House:
    """A store and a source, and managers over both as one process after the other has them."""

    def __init__(self, size: int = SIZE) -> None:
        self.store = InMemoryStore()
        self.notes = Notes(size)
        self.now = 1_700_000_000

    def manager(self, *, analyser: str = "standard", size: int = 1600) -> IndexedMemoryManager:
        return IndexedMemoryManager(
            store=self.store,
            sources=[self.notes],
            chunker=LinesChunker(size, 100),
            analyser=make_analyser(analyser),
            workspace="/w",
            clock_ns=lambda: self.now * 10**9,
        )

    def killed(self, notes: int, *, force: bool = False) -> None:
        """A sync that comes as far as ``notes`` notes and no further."""
        self.notes.seen.clear()

        def expired() -> float:
            return float(len(self.notes.seen) >= notes)

        self.manager().maintain(force=force, deadline=Deadline(1, expired))
        assert len(self.notes.seen) == notes
        self.notes.seen.clear()

    def states(self) -> list[str]:
        return [build.state for build in self.store.builds()]

    def made_before(self, identity: str = OLDER) -> None:
        """An index of another make, in which every note stands."""
        self.manager().maintain(deadline=NEVER)
        (live,) = self.store.builds()
        with self.store.writer(wait=0):
            old = self.store.open_build(identity)
            analyse = partial(
                analyse_chunks, chunker=LinesChunker(1600, 100), analyser=make_analyser()
            )
            notes = [
                GrowingDocument(ref, "old", Resume(), analyse).change(
                    [Segment(document)], ref.stamp, resumable=False
                )
                for ref in self.notes.scan().documents
                if (document := self.notes.read(ref)) is not None
            ]
            self.store.put_documents(old, notes)
            self.store.activate(old)
        self.notes.seen.clear()
        assert live not in self.store.builds()

    def found(self, manager: IndexedMemoryManager) -> int:
        query = Query("walrus", make_analyser().query(parse_query("walrus")))
        (arm,) = manager.search(query, where=Where(), limit=1000, deadline=NEVER)
        return len(arm.found)


@pytest.fixture(autouse=True)
def _slow_machines_have_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace.index.syncing._INLINE_SECONDS", 3_600)


@pytest.fixture
def house() -> House:
    return House()


def test_a_first_index_that_was_killed_is_gone_on_with() -> None:
    house = House(300)
    house.killed(120)
    seen: list[Progress] = []
    report = house.manager().maintain(deadline=NEVER, progress=seen.append)
    assert (report.added, report.unchanged) == (180, 120)
    shares = [(one.completed, one.total) for one in seen if one.label == "Indexing notes"]
    assert (shares[0], shares[-1]) == ((120, 300), (300, 300))
    seen.clear()
    house.notes.texts["n00.md"] = "A walrus and another."
    house.manager().maintain(deadline=NEVER, progress=seen.append)
    assert seen[-1] == Progress(label="Indexing notes", completed=1, total=1)


def test_a_mark_leaves_an_identity_what_it_was() -> None:
    for workspace in ("/w", "/a workspace=b forced=9", ""):
        identity = build_identity(make_analyser(), workspace)
        marked = forced_identity(identity, 1_700_000_000)
        assert marked != identity
        assert plain_identity(marked) == identity == plain_identity(identity)
        assert (forced_at(marked), forced_at(identity)) == (1_700_000_000, None)
        assert same_workspace(marked, identity)
        assert same_tokenizer(marked, identity)
    assert not same_tokenizer(IDENTITY, build_identity(make_analyser("trigram"), "/w"))
    assert not same_tokenizer("", "")


def test_a_forced_rebuild_that_was_killed_is_gone_on_with(house: House) -> None:
    house.manager().maintain(deadline=NEVER)
    house.killed(20, force=True)
    assert house.states() == ["live", "filling"]
    seen: list[Progress] = []
    report = house.manager().maintain(force=True, deadline=NEVER, progress=seen.append)
    assert (report.rebuilt, len(house.notes.seen)) == (True, SIZE - 20)
    assert house.states() == ["live"]
    shares = [(one.completed, one.total) for one in seen if one.label == "Indexing notes"]
    assert (shares[0], shares[-1]) == ((20, SIZE), (SIZE, SIZE))
    house.notes.seen.clear()
    assert house.manager().maintain(force=True, deadline=NEVER).rebuilt
    assert len(house.notes.seen) == SIZE, "what is done is begun again"
    assert house.manager().maintain(deadline=NEVER).unchanged == SIZE


@pytest.mark.parametrize("later", [DAY + 1, -1])
def test_one_begun_too_long_ago_or_by_a_clock_that_was_wrong_is_begun_again(
    house: House, later: int
) -> None:
    house.manager().maintain(deadline=NEVER)
    house.killed(20, force=True)
    house.now += later
    assert house.manager().maintain(force=True, deadline=NEVER).rebuilt
    assert len(house.notes.seen) == SIZE


def test_what_has_changed_since_a_forced_rebuild_was_killed_is_read_again(house: House) -> None:
    house.manager().maintain(deadline=NEVER)
    house.killed(20, force=True)
    house.notes.texts["n00.md"] = "A walrus and another."
    del house.notes.texts["n01.md"]
    assert house.manager().maintain(force=True, deadline=NEVER).rebuilt
    assert set(house.notes.seen) == {"n00.md", *(f"n{number}.md" for number in range(20, SIZE))}
    assert len(house.notes.seen) == SIZE - 19
    assert house.manager().maintain(deadline=NEVER).unchanged == SIZE - 1


def test_a_plain_sync_keeps_what_a_killed_one_began_for_a_day(house: House) -> None:
    house.manager().maintain(deadline=NEVER)
    house.killed(20, force=True)
    house.notes.texts["n00.md"] = "A walrus and another."
    report = house.manager().maintain(deadline=NEVER)
    assert (report.updated, report.rebuilt, house.states()) == (1, False, ["live", "filling"])
    house.now += DAY + 1
    house.notes.texts["n00.md"] = "A walrus."
    house.manager().maintain(deadline=NEVER)
    assert house.states() == ["live"]


def test_an_index_of_an_older_make_answers_while_searches_rebuild_it(house: House) -> None:
    house.made_before()
    assert house.manager().pending().rebuilding == (0, SIZE)
    for done in (20, 40):
        manager = house.manager()
        fresh = freshen(manager)
        assert fresh.stale == SIZE - done
        (note,) = fresh.notes
        assert f"rebuilding the index ({done} of {SIZE} notes)" in note
        assert house.found(manager) == SIZE
        assert len(house.notes.seen) == done
        assert manager.pending().rebuilding == (done, SIZE)
    last = house.manager()
    assert freshen(last) == Freshness()
    assert house.states() == ["live"]
    assert house.found(last) == SIZE
    assert last.pending().unchanged == SIZE


def test_a_sync_finishes_what_searches_began(house: House) -> None:
    house.made_before()
    freshen(house.manager())
    seen: list[Progress] = []
    report = house.manager().maintain(deadline=NEVER, progress=seen.append)
    assert (report.rebuilt, len(house.notes.seen)) == (True, SIZE)
    first = next(one for one in seen if one.label == "Indexing notes")
    assert (first.completed, first.total) == (20, SIZE)


def test_what_is_forced_meanwhile_is_read_again_from_the_beginning(house: House) -> None:
    house.made_before()
    freshen(house.manager())
    house.notes.seen.clear()
    assert house.manager().maintain(force=True, deadline=NEVER).rebuilt
    assert len(house.notes.seen) == SIZE


def test_a_change_that_is_rebuilt_already_is_not_in_the_answer_yet(house: House) -> None:
    house.made_before()
    freshen(house.manager())
    for number in range(SIZE):
        house.notes.texts[f"n{number:02}.md"] = "Two walrus."
    freshen(house.manager())
    assert house.manager().pending().remaining == SIZE
    assert freshen(house.manager()).stale == SIZE


def test_while_another_rebuilds_it_an_older_one_answers(house: House) -> None:
    house.made_before()
    freshen(house.manager())
    manager = house.manager()

    class Busy:
        def __getattr__(self, name: str) -> object:
            return getattr(manager, name)

        def maintain(self, **_: object) -> object:
            raise IndexBusyError("process 7 is writing the index")

    busy: object = Busy()
    fresh = freshen(busy)  # type: ignore[arg-type]  # passes for a manager
    assert (fresh.stale, house.found(manager)) == (SIZE - 20, SIZE)
    assert "(20 of 50 notes)" in fresh.notes[0]
    assert "process 7 is writing the index" in fresh.notes[0]


@pytest.mark.parametrize("size", [SIZE, 5])
def test_one_of_another_tokenizer_never_answers(house: House, size: int) -> None:
    house.notes = Notes(size)
    house.manager().maintain(deadline=NEVER)
    other = house.manager(analyser="trigram")
    with pytest.raises(IndexUnavailableError):
        house.found(other)
    assert freshen(other).stale == 0
    assert house.states() == ["live"]
    assert other.pending().unchanged == size


@pytest.mark.parametrize("analyser", ["standard", "trigram"])
def test_a_workspace_that_is_away_is_lost_also_to_an_index_of_another_tokenizer(
    house: House, monkeypatch: pytest.MonkeyPatch, analyser: str
) -> None:
    house.manager().maintain(deadline=NEVER)
    away = RootFailure("", "the workspace is empty")
    monkeypatch.setattr(house.notes, "scan", lambda: ScanReport((), (), absent_roots=(away,)))
    report = house.manager(analyser=analyser).pending()
    assert [root.root for root in report.failed_roots] == [""]
    assert report.absent_roots == ()


def test_a_note_that_no_one_may_read_does_not_keep_the_index_of_another_tokenizer(
    house: House,
) -> None:
    house.manager().maintain(deadline=NEVER)
    house.notes.unreadable.add("n03.md")
    report = house.manager(analyser="trigram").maintain(deadline=NEVER)
    assert report.rebuilt
    assert [path for path, _ in report.unreadable] == ["n03.md"]


def test_a_note_that_no_one_may_read_keeps_its_place_in_an_older_one(house: House) -> None:
    house.made_before()
    house.notes.unreadable.add("n03.md")
    report = house.manager().maintain(deadline=NEVER)
    assert not report.rebuilt
    assert house.found(house.manager()) == SIZE
    house.notes.unreadable.clear()
    assert house.manager().maintain(deadline=NEVER).rebuilt


def test_notes_that_no_one_may_read_keep_no_other_from_a_rebuild_by_searches(house: House) -> None:
    house.made_before()
    unreadable = {f"a{number:02}.md": "" for number in range(25)}  # they are found first
    house.notes.texts |= unreadable
    house.notes.unreadable.update(unreadable)
    for done in (20, 40, SIZE):
        freshen(house.manager())
        assert len(house.notes.seen) == done
    assert house.states() == ["live"]
    assert house.found(house.manager()) == SIZE


def test_another_fingerprint_is_counted_and_what_has_changed_is_not_held_up_by_it(
    house: House,
) -> None:
    house.manager().maintain(deadline=NEVER)
    house.notes.seen.clear()
    house.notes.texts["n09.md"] = "A walrus and another."
    other = house.manager(size=800)
    fresh = freshen(other)
    assert house.notes.seen == ["n09.md"]
    assert fresh.stale == SIZE - 1
    assert f"rebuilding the index (1 of {SIZE} notes)" in fresh.notes[0]
    assert house.found(other) == SIZE
    seen: list[Progress] = []
    report = other.maintain(deadline=NEVER, progress=seen.append)
    assert (report.updated, report.rebuilt) == (SIZE - 1, False)
    first = next(one for one in seen if one.label == "Indexing notes")
    assert (first.completed, first.total) == (1, SIZE)
    assert freshen(other) == Freshness()


@pytest.mark.parametrize("question", ["maintain", "pending"])
def test_a_sync_goes_on_in_the_index_that_another_process_has_just_rebuilt(question: str) -> None:
    house = House(2)
    manager, other = house.manager(), house.manager()
    manager.maintain(deadline=NEVER)
    builds, looks = house.store.builds, count(1)

    def builds_then_rebuild() -> object:
        found = builds()
        if next(looks) == 1:  # what was found is gone before it is read
            assert other.maintain(force=True, deadline=NEVER).rebuilt
        return found

    with mock.patch.object(house.store, "builds", builds_then_rebuild):
        report = manager.maintain(deadline=NEVER) if question == "maintain" else manager.pending()
    assert next(looks) > 1
    assert (report.known, report.remaining) == (2, 0)
    assert house.states() == ["live"]


def test_what_is_no_matter_of_a_rebuild_is_raised() -> None:
    house = House(2)
    house.manager().maintain(deadline=NEVER)
    gone = mock.patch.object(house.store, "documents", side_effect=IndexUnavailableError("gone"))
    with gone, pytest.raises(IndexUnavailableError, match="gone"):
        house.manager().maintain(deadline=NEVER)
