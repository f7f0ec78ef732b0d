"""Scans of several sources: whose a root is, and which of those that are absent were there."""

from __future__ import annotations

from commonplace.index.planning import SourceScan, plan_changes, scan_sources, with_scans
from commonplace.index.syncing import Freshness
from commonplace.model.documents import (
    Document,
    DocumentRef,
    RootFailure,
    ScanReport,
    Stamp,
    StoredDocument,
)
from commonplace.model.reports import SyncReport
from commonplace.model.search import Candidate, Explanation, StoredChunk
from commonplace.text.analyse import make_analyser

STAMP: Stamp = "1 2 3 4"


class Listed:
    """A source with a report of its own."""

    version = "1"
    capabilities: frozenset[str] = frozenset()

    def __init__(self, id_: str, report: ScanReport) -> None:
        self.id = id_
        self.report = report

    def scan(self) -> ScanReport:
        return self.report

    def read(self, ref: DocumentRef) -> Document | None:
        raise NotImplementedError


def stored(source: str, path: str) -> StoredDocument:
    return StoredDocument(source, path, "digest", STAMP, "r")


def scans(*sources: Listed, known: tuple[StoredDocument, ...] = ()) -> list[SourceScan]:
    return scan_sources(
        sources, chunker_fingerprint="c", analyser=make_analyser("standard"), known=lambda: known
    )


ABSENT = ScanReport((), (), absent_roots=(RootFailure("talks", "is missing"),))


def test_an_absent_root_is_a_failure_only_if_it_was_known() -> None:
    for known, failed in (
        ((), False),
        ((stored("b", "talks/1"), stored("a", "talkshow")), False),
        ((stored("a", "talks/1"),), True),
    ):
        (scan,) = scans(Listed("a", ABSENT), known=known)
        seen = (RootFailure("talks", "is missing", "a"),)
        assert scan.report.failed_roots == (seen if failed else ())
        assert scan.report.absent_roots == (() if failed else seen)
        plan = plan_changes(known, [scan])
        assert plan.gone == ()


def test_the_index_is_not_asked_where_no_root_is_absent() -> None:
    def known() -> tuple[StoredDocument, ...]:
        raise AssertionError

    whole = ScanReport((), ("",), (RootFailure("x", "broken"),), skipped_symlinks=2)
    found = scan_sources(
        [Listed("a", whole), Listed("b", whole)],
        chunker_fingerprint="c",
        analyser=make_analyser("standard"),
        known=known,
    )
    report = with_scans(SyncReport(added=1), found)
    assert report.added == 1
    assert report.skipped_symlinks == 4
    assert report.failed_roots == (RootFailure("x", "broken", "a"), RootFailure("x", "broken", "b"))


def test_a_root_hides_what_is_its_sources_own() -> None:
    fresh = Freshness(hidden=(RootFailure("", "gone", "a"), RootFailure("x", "gone")))

    def shows(source: str, path: str) -> bool:
        return fresh.shows(Candidate(StoredChunk(path, source, path, 1, 1, ""), 0.0, Explanation()))

    assert not shows("a", "anything")
    assert shows("b", "anything")
    assert not shows("b", "x/y")
    assert shows("b", "xy")


def test_what_is_no_longer_configured_is_forgotten() -> None:
    found = scans(Listed("a", ScanReport((), ("",))))
    known = [stored("b", "1"), stored("c", "2")]
    plan = plan_changes(known, found, configured={"a", "b"})
    assert plan.gone == (known[1],)
    assert plan.hidden == 1
    assert plan_changes(known, found).hidden == 2
