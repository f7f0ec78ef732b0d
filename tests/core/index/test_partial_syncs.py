"""A sync of the reported paths alone leaves the index that a whole sync would have left."""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from commonplace.errors import IndexBusyError
from commonplace.index.manager import IndexedMemoryManager
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.text.analyse import make_analyser
from commonplace_chunkers.lines import LinesChunker
from commonplace_inmemory.store import InMemoryStore
from commonplace_notes.source import NotesSource

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commonplace.model.documents import Build, DocumentRef, ScanReport
    from commonplace.model.reports import SyncReport

FILES = ["MEMORY.md", "top.md", "memory/a.md", "memory/b.md", "memory/s/a.md", "memory/n.md/a.md"]
FOLDERS = ["memory", "memory/s", "memory/n.md", "memory/t", "away"]


class Counted(NotesSource):
    """Counts its whole scans."""

    scans = 0

    def scan(self) -> ScanReport:
        self.scans += 1
        return super().scan()


class Bench:
    """A workspace with its index, and what a watcher would report of it."""

    def __init__(self, workspace: Path, extra: Iterable[str] = ()) -> None:
        self.workspace = workspace
        (workspace / "other").write_text("so that the workspace is never empty")
        self.source = Counted(str(workspace), extra)
        self.store = InMemoryStore()
        self.manager = self.open()
        self.reported: set[str] = set()
        self.writes = 0

    def open(self, size: int = 400) -> IndexedMemoryManager:
        return IndexedMemoryManager(
            store=self.store,
            sources=[self.source],
            chunker=LinesChunker(size, 0),
            analyser=make_analyser(),
            clock_ns=lambda: time.time_ns() + 10**12,  # no file is so new that it is read twice
        )

    def sync(self, paths: Iterable[str] | None = None, deadline: Deadline = NEVER) -> SyncReport:
        given = None if paths is None else frozenset(paths)
        return self.manager.maintain(embed=False, eager=False, deadline=deadline, paths=given)

    def is_partial(self) -> bool:
        """Whether a sync of all that was reported scans nothing else."""
        before = self.source.scans
        self.sync(self.reported)
        self.reported.clear()
        return self.source.scans == before

    def write(self, name: str) -> None:
        path = self.workspace / name
        if path.is_dir():
            return
        for folder in reversed(path.relative_to(self.workspace).parents):
            self.report(self.workspace / folder, (self.workspace / folder).exists())
        with suppress(NotADirectoryError, FileExistsError):
            path.parent.mkdir(parents=True, exist_ok=True)
            self.writes += 1
            path.write_text(f"The walrus {self.writes}.")
            self.reported.add(str(path))

    def report(self, folder: Path, known: bool) -> None:
        """That a folder came or went, unless it is ``known``; one like a note with its parent."""
        if not known:
            self.reported.add(str(folder))
            if folder.suffix == ".md":
                self.reported.add(str(folder.parent))

    def delete(self, name: str) -> None:
        path = self.workspace / name
        if path.is_file():
            path.unlink()
            self.reported.add(str(path))

    def move(self, old: str, new: str) -> None:
        before, after = self.workspace / old, self.workspace / new
        if before.exists() and not after.exists() and after.parent.is_dir():
            if before in after.parents:
                return
            is_file = before.is_file()
            before.rename(after)
            for path in (before, after):
                self.reported.add(str(path))
                self.report(path, is_file)

    def remove(self, folder: str) -> None:
        path = self.workspace / folder
        if path.is_dir():
            self.reported.update(str(each) for each in path.rglob("*"))
            shutil.rmtree(path)
            self.report(path, known=False)

    def check(self) -> None:
        """The index holds what a scan finds now, byte by byte."""
        found = NotesSource(str(self.workspace)).scan()
        files = {ref.path: Path(ref.location).read_bytes() for ref in found.documents}
        held = {one.path: one.digest for one in self.store.documents()}
        assert held == {path: sha256(data).hexdigest() for path, data in files.items()}
        assert self.manager.pending().remaining == 0


def filled(workspace: Path) -> Bench:
    """With each of the files, indexed."""
    bench = Bench(workspace)
    for name in FILES:
        bench.write(name)
    bench.sync()
    bench.reported.clear()
    return bench


class Machine(RuleBasedStateMachine):
    """Any changes, reported in any parts and order, or lost."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.bench = filled(Path(self.folder.name))
        self.lost = False

    @rule(names=st.lists(st.sampled_from(FILES), min_size=1, max_size=3), then=st.booleans())
    def write(self, names: list[str], then: bool) -> None:
        for name in names:
            self.bench.write(name)
        self.report(now=then)

    @rule(name=st.sampled_from(FILES), then=st.booleans())
    def delete(self, name: str, then: bool) -> None:
        self.bench.delete(name)
        self.report(now=then)

    @rule(old=st.sampled_from(FILES), new=st.sampled_from(FILES), then=st.booleans())
    def rename(self, old: str, new: str, then: bool) -> None:
        self.bench.move(old, new)
        self.report(now=then)

    @rule(old=st.sampled_from(FOLDERS), new=st.sampled_from(FOLDERS), then=st.booleans())
    def rename_folder(self, old: str, new: str, then: bool) -> None:
        self.bench.move(old, new)
        self.report(now=then)

    @rule(folder=st.sampled_from(FOLDERS), then=st.booleans())
    def remove(self, folder: str, then: bool) -> None:
        self.bench.remove(folder)
        self.report(now=then)

    @rule(data=st.data())
    def sync_a_part(self, data: st.DataObject) -> None:
        paths = sorted(self.bench.reported)
        part = data.draw(st.sets(st.sampled_from(paths))) if paths else set[str]()
        self.bench.reported -= part
        self.bench.sync(part)

    @rule(at_most=st.integers(min_value=0, max_value=3))
    def search(self, at_most: int) -> None:
        self.bench.manager.maintain(at_most=at_most, embed=False, eager=False, deadline=NEVER)

    @precondition(lambda self: not self.lost)
    @rule()
    def search_where_changes_are_reported(self) -> None:
        paths = frozenset(self.bench.reported)
        self.bench.manager.maintain(
            at_most=20, embed=False, eager=False, deadline=NEVER, paths=paths
        )
        self.bench.check()

    @precondition(lambda self: self.bench.reported)
    @rule()
    def overflow(self) -> None:
        self.lost = True
        self.bench.reported.clear()

    def report(self, *, now: bool) -> None:
        """Sync all that is reported; nothing else has changed, unless some was lost."""
        if now:
            self.bench.sync(self.bench.reported)
            self.bench.reported.clear()
            if not self.lost:
                self.bench.check()

    @rule()
    def sync_all(self) -> None:
        self.bench.sync()
        self.lost = False
        self.bench.check()

    def teardown(self) -> None:
        self.bench.sync()
        self.bench.check()
        self.folder.cleanup()


def test_what_is_reported_is_all_that_has_to_be_compared() -> None:
    run = settings(max_examples=8, stateful_step_count=12, deadline=None)
    run_state_machine_as_test(Machine, settings=run)


@pytest.mark.slow
def test_what_is_reported_is_all_that_has_to_be_compared_at_length() -> None:
    run = settings(max_examples=120, stateful_step_count=30, deadline=None)
    run_state_machine_as_test(Machine, settings=run)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return filled(tmp_path)


def test_the_first_sync_compares_everything(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.write("MEMORY.md")
    assert not bench.is_partial()
    bench.write("MEMORY.md")
    assert bench.is_partial()
    bench.check()


def test_the_counts_are_of_the_whole_index(bench: Bench) -> None:
    bench.write("memory/a.md")
    bench.write("memory/new.md")
    bench.delete("memory/b.md")
    report = bench.sync(bench.reported)
    assert (report.added, report.updated, report.removed) == (1, 1, 1)
    assert (report.unchanged, report.known, report.remaining) == (3, 5, 0)
    report = bench.sync(bench.reported)
    assert (report.unchanged, report.known) == (5, 5), "nothing left to do"
    assert bench.source.scans == 1


def test_a_search_that_indexes_changes_itself_spoils_nothing(bench: Bench) -> None:
    bench.write("memory/new.md")
    bench.manager.maintain(at_most=5, embed=False, eager=False, deadline=NEVER)
    assert bench.is_partial()
    bench.check()


def test_a_search_compares_few_reported_paths_alone(bench: Bench) -> None:
    def search(at_most: int) -> int:
        before = bench.source.scans
        bench.manager.maintain(
            at_most=at_most, embed=False, eager=False, deadline=NEVER, paths=bench.reported
        )
        return bench.source.scans - before

    assert search(at_most=5) == 0
    bench.write("memory/a.md")
    bench.write("memory/b.md")
    assert search(at_most=2) == 0
    bench.check()
    assert search(at_most=1) == 1, "so many may take long"


def test_a_search_leaves_large_documents_to_the_next_sync_of_the_reported_paths(
    bench: Bench,
) -> None:
    def search() -> SyncReport:
        return bench.manager.maintain(
            at_most=5, embed=False, eager=False, deadline=NEVER, paths=bench.reported
        )

    bench.write("memory/a.md")
    with (bench.workspace / "memory/a.md").open("a") as file:
        file.write("\nThe walrus swims." * 100_000)
    report = search()
    assert (report.remaining, report.updated, report.known) == (1, 0, 5)
    bench.write("memory/b.md")
    report = search()
    assert (report.remaining, report.updated, report.known) == (1, 1, 5)
    assert bench.is_partial()
    assert bench.source.scans == 1
    bench.check()


def test_a_search_that_cannot_see_or_read_all_lets_all_be_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_: DocumentRef) -> None:
        raise PermissionError("no")

    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "x.md").write_text("The walrus.")
    (tmp_path / "home").mkdir()
    bench = Bench(tmp_path / "home", [str(extra)])

    def search() -> SyncReport:
        return bench.manager.maintain(at_most=5, embed=False, eager=False, deadline=NEVER)

    bench.write("MEMORY.md")
    bench.sync()
    (extra / "x.md").rename(tmp_path / "x.md")
    assert search().failed_roots, "it holds nothing: its disk may not be mounted"
    (tmp_path / "x.md").rename(extra / "x.md")
    assert not bench.is_partial()
    assert bench.is_partial()
    bench.write("memory/a.md")
    monkeypatch.setattr(bench.source, "read", denied)
    assert search().unreadable
    assert not bench.is_partial()


def test_another_build_or_number_of_documents_lets_all_be_compared(bench: Bench) -> None:
    other = bench.open()
    other.maintain(force=True, embed=False, deadline=NEVER)
    bench.write("memory/a.md")
    assert not bench.is_partial()
    bench.write("memory/new.md")
    other.maintain(embed=False, deadline=NEVER)
    bench.write("memory/a.md")
    assert not bench.is_partial(), "another process has indexed it"
    bench.write("memory/a.md")
    assert bench.is_partial()
    bench.check()


def test_a_rebuild_that_has_begun_lets_all_be_compared(bench: Bench) -> None:
    with bench.store.writer(wait=0):
        bench.store.open_build("another")
    bench.write("memory/a.md")
    assert not bench.is_partial()


def test_what_was_left_undone_lets_all_be_compared(bench: Bench) -> None:
    bench.write("memory/a.md")
    bench.write("memory/b.md")
    late = Deadline(0.0, clock=lambda: 1.0)
    assert bench.sync(bench.reported, late).remaining == 2
    assert not bench.is_partial()
    bench.check()


def test_what_failed_lets_all_be_compared(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object, **__: object) -> Build:
        raise IndexBusyError("another process is writing")

    bench.write("memory/a.md")
    with monkeypatch.context() as patched:
        patched.setattr(bench.store, "put_documents", busy)
        with pytest.raises(IndexBusyError):
            bench.sync(bench.reported)
    assert not bench.is_partial()
    bench.check()


def test_a_root_that_could_not_be_looked_at_lets_all_be_compared(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [str(tmp_path / "missing")])
    bench.write("MEMORY.md")
    assert not bench.is_partial()
    bench.write("MEMORY.md")
    assert not bench.is_partial()
