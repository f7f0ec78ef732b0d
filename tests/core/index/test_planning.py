"""What a plan says of every way in which files and index can differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.index.planning import Plan, SourceScan, is_unsettled, plan_changes, settled_stamp
from commonplace.model.documents import DocumentRef, RootFailure, ScanReport, Stamp, StoredDocument

if TYPE_CHECKING:
    from collections.abc import Callable

STAMP: Stamp = "10 1000000001 1000000002 7"


def ref(path: str, stamp: Stamp = STAMP) -> DocumentRef:
    return DocumentRef("memory", path, "/w/" + path, stamp)


def stored(path: str, stamp: Stamp = STAMP, fingerprint: str = "r") -> StoredDocument:
    return StoredDocument("memory", path, "digest", stamp, fingerprint)


def scan(
    *refs: DocumentRef, complete: tuple[str, ...] = ("",), failed: tuple[str, ...] = ()
) -> SourceScan:
    failures = tuple(RootFailure(root, "unreadable") for root in failed)
    return SourceScan("memory", ScanReport(refs, complete, failures), "r")


def test_equal_stamp_and_fingerprint_is_unchanged() -> None:
    plan = plan_changes([stored("a.md")], [scan(ref("a.md"))])
    assert (plan.size, plan.unchanged) == (0, 1)


def test_any_part_of_the_stamp_makes_it_read() -> None:
    for part in range(4):
        changed = STAMP.split()
        changed[part] += "1"
        other = " ".join(changed)
        plan = plan_changes([stored("a.md")], [scan(ref("a.md", other))])
        assert [found.path for found, _ in plan.read] == ["a.md"]


def test_another_fingerprint_makes_it_read() -> None:
    plan = plan_changes([stored("a.md", fingerprint="old")], [scan(ref("a.md"))])
    assert [found.path for found, _ in plan.read] == ["a.md"]


def test_gone_under_a_complete_root_is_forgotten() -> None:
    plan = plan_changes([stored("memory/a.md")], [scan(complete=("memory/",))])
    assert [document.path for document in plan.gone] == ["memory/a.md"]


def test_gone_under_a_failed_root_is_hidden() -> None:
    plan = plan_changes([stored("memory/x/a.md")], [scan(failed=("memory/x",))])
    assert (plan.gone, plan.hidden) == ((), 1)


def test_a_prefix_is_a_folder_and_not_a_run_of_letters() -> None:
    plan = plan_changes([stored("memory/xy/a.md")], [scan(failed=("memory/x",))])
    assert [document.path for document in plan.gone] == ["memory/xy/a.md"]


def test_gone_where_no_scan_looked_is_hidden() -> None:
    plan = plan_changes([stored("../notes/a.md")], [scan(complete=("memory/", "MEMORY.md"))])
    assert (plan.gone, plan.hidden) == ((), 1)


def test_a_source_that_was_not_scanned_hides_its_documents() -> None:
    plan = plan_changes([StoredDocument("sessions", "s", "d", STAMP, "r")], [scan()])
    assert (plan.gone, plan.hidden) == ((), 1)


paths = st.sampled_from(["MEMORY.md", "memory/a.md", "memory/x/b.md", "memory/x/c.md", "../e.md"])
stamps = st.sampled_from([STAMP, "11 1 1 1"])


@given(
    st.dictionaries(paths, stamps),
    st.dictionaries(paths, stamps),
    st.sets(st.sampled_from(["", "memory/x", "MEMORY.md"])),
)
def test_every_document_has_one_fate(
    index: dict[str, Stamp], tree: dict[str, Stamp], failed: set[str]
) -> None:
    plan = plan_changes(
        [stored(path, stamp) for path, stamp in index.items()],
        [scan(*(ref(p, s) for p, s in tree.items()), failed=tuple(failed))],
    )
    read = {found.path for found, _ in plan.read}
    gone = {document.path for document in plan.gone}
    assert read == {path for path, stamp in tree.items() if index.get(path) != stamp}
    assert gone <= set(index) - set(tree)
    assert plan.unchanged == len(tree) - len(read)
    assert plan.unchanged + len(gone) + plan.hidden + len(read & set(index)) == len(index)
    if "" in failed:
        assert not gone


def lazily(*refs: DocumentRef, due: Callable[[DocumentRef, Stamp], bool]) -> SourceScan:
    return scan(*refs)._replace(due=due)


def test_what_has_not_grown_enough_is_deferred_and_is_no_work() -> None:
    asked: list[tuple[str, Stamp]] = []

    def due(found: DocumentRef, indexed: Stamp) -> bool:
        asked.append((found.path, indexed))
        return found.path == "b"

    grown = "11 2 2 7"
    refs = [ref("a", grown), ref("b", grown), ref("same"), ref("new", grown)]
    plan = plan_changes([stored("a"), stored("b"), stored("same")], [lazily(*refs, due=due)])
    assert [found.path for found, _ in plan.read] == ["b", "new"]
    assert [found.path for found, _ in plan.deferred] == ["a"]
    assert (plan.size, plan.unchanged, plan.known) == (2, 1, 3)
    assert asked == [("a", STAMP), ("b", STAMP)]


def test_another_fingerprint_is_never_deferred() -> None:
    refs = [ref("a", "11 2 2 7")]
    plan = plan_changes([stored("a", fingerprint="old")], [lazily(*refs, due=lambda *_: False)])
    assert (len(plan.read), plan.deferred) == (1, ())


def test_plan_size_counts_work() -> None:
    assert Plan(read=((ref("a"), None),), gone=(stored("b"),), unchanged=5, hidden=3).size == 2


def test_a_stamp_of_long_ago_is_settled() -> None:
    assert settled_stamp(STAMP, now_ns=10_000_000_000) == STAMP


def test_a_stamp_of_this_moment_is_not() -> None:
    stamp = settled_stamp("10 5000000001 1 7", now_ns=5_000_000_005)
    assert is_unsettled(stamp)
    assert stamp == "10 -1 -1 7"


def test_whole_seconds_are_distrusted_for_two() -> None:
    whole = "1 5000000000 5000000000 1"
    assert is_unsettled(settled_stamp(whole, now_ns=6_900_000_000))
    assert settled_stamp(whole, now_ns=7_100_000_000) == whole


def test_a_file_that_changed_in_the_future_is_not_settled() -> None:
    assert is_unsettled(settled_stamp("1 9000000001 9000000001 1", now_ns=5_000_000_000))
    assert is_unsettled(settled_stamp("1 1 9000000001 1", now_ns=5_000_000_000))


@pytest.mark.parametrize("times_of_changes", [True, False])
def test_a_time_to_come_that_was_set_by_hand_is_settled_where_changes_have_times(
    monkeypatch: pytest.MonkeyPatch, times_of_changes: bool
) -> None:
    monkeypatch.setattr("commonplace.index.planning._CHANGES_HAVE_TIMES", times_of_changes)
    stamp = settled_stamp("1 9000000001 1000000001 1", now_ns=5_000_000_000)
    assert is_unsettled(stamp) is not times_of_changes
    # Just changed: another write in this tick would not show.
    assert is_unsettled(settled_stamp("1 9000000001 4999999999 1", now_ns=5_000_000_000))


def test_what_is_no_file_is_settled_and_has_no_size() -> None:
    for stamp in ('W/"9f"', "7", "2026-02-01 10:00 by Ada Lovelace", "a b c d"):
        assert settled_stamp(stamp, now_ns=0) == stamp
        assert not is_unsettled(stamp)
        plan = Plan(read=((ref("a", stamp), None),), gone=(), unchanged=0, hidden=0)
        assert plan.without_large(1) is plan


def test_large_documents_can_be_left_for_later() -> None:
    pairs = ((ref("a", "5 1 1 1"), None), (ref("b", "6 1 1 1"), stored("b")))
    plan = Plan(read=pairs, gone=(), unchanged=2, hidden=0)
    small = plan.without_large(5)
    assert (small.read, small.left) == (pairs[:1], pairs[1:])
    assert (small.size, small.known, plan.known) == (1, 3, 3)
    assert plan.without_large(6) is plan
