"""What is made of documents at their sources, and what is left for later."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from commonplace.files.roots import FileStamp
from commonplace.index.documents import DocumentProcessor, with_unreadable
from commonplace.index.planning import Plan, is_unsettled
from commonplace.model.chunks import AppendDocument, PutDocument, TouchDocument
from commonplace.model.documents import (
    Document,
    DocumentRef,
    ScanReport,
    Segment,
    Stamp,
    StoredDocument,
)
from commonplace.model.reports import SyncReport
from commonplace.resilience.deadline import NEVER
from commonplace.text.analyse import make_analyser
from commonplace_chunkers.lines import LinesChunker

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from commonplace.model.chunks import Change, Chunk

SECOND = 1_000_000_000
STAMP: Stamp = FileStamp(9, SECOND + 1, SECOND + 2, 7).text
CHUNKER = LinesChunker(100, 0)
REF = DocumentRef("log", "a.log", "/a.log", STAMP)


class Clock:
    def __init__(self, now_ns: int) -> None:
        self.now_ns = now_ns

    def __call__(self) -> int:
        return self.now_ns


class Log:
    """A document of three pieces; to open it takes a second."""

    id, version = "log", "1"
    capabilities = frozenset({"growing"})

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.texts = ["one", "two", "three"]
        self.opened: list[str] = []
        self.breaks = False

    def scan(self) -> ScanReport:
        return ScanReport((REF,), ("",))

    def due(self, ref: DocumentRef, indexed: Stamp) -> bool:
        return ref.stamp != indexed

    def read(self, ref: DocumentRef) -> Document | None:
        raise AssertionError(f"{ref.path} is read as a whole")

    @contextmanager
    def segments(
        self, ref: DocumentRef, after: str = ""
    ) -> Generator[Iterator[Segment] | None, None, None]:
        self.opened.append(after)
        self.clock.now_ns += SECOND
        yield self._pieces(ref, int(after or 0)) if int(after or 0) < len(self.texts) else None

    def _pieces(self, ref: DocumentRef, first: int) -> Iterator[Segment]:
        for number, text in enumerate(self.texts[first:], first + 1):
            if self.breaks:
                raise OSError(5, "Input/output error")
            digest = " ".join(self.texts[:number])
            if number < len(self.texts):
                part = ref._replace(stamp=f"{number} -1 -1 7")
                yield Segment(Document(part, text, digest), str(number))
            else:
                yield Segment(Document(ref, text, digest))


class Made:
    """A maker of one log, and what it put."""

    def __init__(self, *, appends: bool = True, now_ns: int = 9 * SECOND) -> None:
        self.clock = Clock(now_ns)
        self.log = Log(self.clock)
        self.changes: list[Change] = []
        self.processor = DocumentProcessor(
            sources={"log": self.log},
            chunker=CHUNKER,
            analyser=make_analyser("standard"),
            clock_ns=self.clock,
            appends=appends,
        )

    def make(self, old: StoredDocument | None = None, largest: int | None = None) -> str:
        return self.processor.process(
            REF, old, "r", self.changes.append, deadline=NEVER, largest=largest
        ).result

    @property
    def change(self) -> Change:
        (change,) = self.changes
        return change


def stored(digest: str, resume: str, fingerprint: str = "r") -> StoredDocument:
    return StoredDocument("log", "a.log", digest, "3 1 1 7", fingerprint, resume)


def test_it_is_made_whole_and_says_where_to_go_on() -> None:
    made = Made()
    assert made.make() == "added"
    assert isinstance(made.change, PutDocument)
    assert [chunk.chunk.text for chunk in made.change.chunks] == ["one", "two", "three"]
    assert (made.change.resume, made.change.stamp) == ("2 2", STAMP)


def test_it_is_gone_on_with_from_where_it_was_left() -> None:
    made = Made()
    assert made.make(stored("one", "1 1")) == "updated"
    assert isinstance(made.change, AppendDocument)
    assert [chunk.chunk.text for chunk in made.change.chunks] == ["two", "three"]
    assert (made.change.keep, made.change.resume) == (1, "2 2")
    assert made.log.opened == ["1"]


def test_what_is_not_what_it_was_is_made_from_its_beginning() -> None:
    made = Made()
    assert made.make(stored("other", "9 9")) == "updated"
    assert isinstance(made.change, PutDocument)
    assert made.log.opened == ["9", ""]
    again = Made()
    assert again.make(stored("other", "9 9"), largest=8) == "unfinished"
    assert (again.changes, again.log.opened) == ([], ["9"])


@pytest.mark.parametrize("old", [stored("one", ""), stored("one", "1 1", fingerprint="old")])
def test_what_was_made_otherwise_is_made_from_its_beginning(old: StoredDocument) -> None:
    made = Made()
    assert made.make(old) == "updated"
    assert isinstance(made.change, PutDocument)
    assert made.log.opened == [""]


def test_what_is_unchanged_is_touched() -> None:
    made = Made()
    assert made.make(stored("one two three", "2 2")) == "unchanged"
    assert made.change == TouchDocument("log", "a.log", STAMP)


def test_what_cannot_be_read_to_its_end_is_unreadable() -> None:
    made = Made()
    made.log.breaks = True
    outcome = made.processor.process(REF, None, "r", made.changes.append, deadline=NEVER)
    assert outcome == ("unreadable", "Input/output error")
    assert made.changes == []


def test_what_of_a_plan_cannot_be_read_is_named_before_any_of_it_is_done() -> None:
    made = Made()
    old = stored("one", "1 1")
    reason = (REF.path, "Input/output error")
    for before, remaining in ((None, 0), (old, 1), (old._replace(stamp=STAMP), 1)):
        plan = Plan(((REF, before),), (), 0, 0)
        sources = {"log": made.log}
        report = with_unreadable(SyncReport(remaining=1), plan, sources, CHUNKER)
        assert (report.unreadable, report.remaining) == ((), 1)
        made.log.breaks = True
        report = with_unreadable(SyncReport(remaining=1), plan, sources, CHUNKER)
        changed = before is None or before.stamp != STAMP
        assert report.unreadable == ((reason,) if changed else ())
        assert report.remaining == remaining
        made.log.breaks = False


@pytest.mark.parametrize("before", [None, stored("one", "1 1")._replace(stamp=STAMP)])
def test_a_chunker_that_fails_is_named_before_a_sync(before: StoredDocument | None) -> None:
    def fails(_: Document) -> Sequence[Chunk]:
        raise OSError("the chunker of acme failed: ValueError")

    chunker = mock.Mock(fingerprint="odd-1", chunk=fails)
    plan, made = Plan(((REF, before),), (), 0, 0), Made()
    report = with_unreadable(SyncReport(remaining=1), plan, {"log": made.log}, chunker)
    assert report.unreadable == ((REF.path, "the chunker of acme failed: ValueError"),)
    assert report.remaining == (0 if before is None else 1)


def test_a_chunker_that_cuts_one_document_is_not_asked_for_all_that_were_read() -> None:
    plan = Plan(((REF, stored("one", "1 1")._replace(stamp=STAMP)),) * 9, (), 0, 0)
    chunker, made = mock.Mock(wraps=CHUNKER), Made()
    report = with_unreadable(SyncReport(remaining=9), plan, {"log": made.log}, chunker)
    assert (report.unreadable, report.remaining, chunker.chunk.call_count) == ((), 9, 1)


def test_what_was_written_before_it_was_looked_at_may_change_unseen() -> None:
    # The times that count are those from before it was opened, however long it took to read it.
    made = Made(now_ns=SECOND + 3)
    assert made.make() == "added"
    assert isinstance(made.change, PutDocument)
    assert is_unsettled(made.change.stamp)
    assert made.processor.is_racy
    made.clock.now_ns = 9 * SECOND
    assert made.processor.settle() == [TouchDocument("log", "a.log", STAMP)]
    assert not made.processor.is_racy


@pytest.mark.parametrize("texts", [["one", "two", "3"], ["one", "two", "three", "four"], []])
def test_what_changed_meanwhile_is_not_settled(texts: list[str]) -> None:
    made = Made(now_ns=SECOND + 3)
    made.make()
    made.log.texts = texts
    made.clock.now_ns = 9 * SECOND
    assert made.processor.settle() == []


def test_a_store_that_cannot_go_on_gets_the_whole() -> None:
    made = Made(appends=False)
    assert made.make(stored("one", "")) == "updated"
    assert isinstance(made.change, PutDocument)
    assert (made.change.resume, len(made.change.chunks)) == ("", 3)


def test_a_source_without_any_piece_has_no_document(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made()
    monkeypatch.setattr(made.log, "_pieces", lambda _ref, _first: iter(()))
    assert made.make() == "vanished"
    assert made.make(stored("one", "1 1")) == "vanished"
    assert made.changes == []


def test_a_source_whose_last_piece_has_a_place_is_taken_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = Made()
    text = "a line\n" * 200_000
    pieces = [Segment(Document(REF, text, "d"), "end")]
    monkeypatch.setattr(made.log, "_pieces", lambda _ref, _first: iter(pieces))
    assert made.make() == "added"
    assert isinstance(made.change, PutDocument)
