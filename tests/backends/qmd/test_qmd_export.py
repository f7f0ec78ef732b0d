"""Transcripts exported for QMD: one private file each, and no other file is touched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from commonplace.model.documents import Document, DocumentRef, RootFailure, ScanReport
from commonplace.model.search import Where
from commonplace.resilience.deadline import NEVER
from commonplace_qmd.export import Exported, Exporter
from commonplace_qmd.settings import QmdSettings, Sessions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.backends.qmd.conftest import Desk

    from commonplace.model.documents import Stamp
    from commonplace.model.search import StoredChunk

    Ask = Callable[..., list[StoredChunk]]

NOW = 1_800_000_000.0
DAY_NS = 86_400 * 1_000_000_000


class Transcripts:
    """A source whose texts and ages the test says."""

    id = "sessions"
    version = "1"
    capabilities: frozenset[str] = frozenset()

    def __init__(self, **texts: str) -> None:
        self.texts = {f"sessions/{name}.jsonl": text for name, text in texts.items()}
        self.ages: dict[str, int] = {}
        self.edits: dict[str, int] = {}
        self.broken: set[str] = set()
        self.failed: tuple[RootFailure, ...] = ()
        self.reads = 0

    def scan(self) -> ScanReport:
        refs = []
        for path in self.texts:
            written = int(NOW * 1e9) - self.ages.get(path, 0) * DAY_NS
            refs.append(
                DocumentRef("sessions", path, path, f"1 {written} {self.edits.get(path, 0)} 1")
            )
        return ScanReport(tuple(refs), ("",), self.failed)

    def read(self, ref: DocumentRef) -> Document | None:
        self.reads += 1
        if ref.path in self.broken:
            raise PermissionError(13, "Permission denied")
        text = self.texts.get(ref.path)
        return None if text is None else Document(ref, text, "digest", trust="session")


def export(source: Transcripts, folder: Path, days: int | None = None) -> Exported:
    exporter = Exporter(source, str(folder), retention_days=days, clock=lambda: NOW)
    pending = exporter.pending()
    done = exporter.export()
    assert sum(pending) >= done.written + done.removed
    assert exporter.pending() == (0, 0), "whatever could not be done is not tried without end"
    return done


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.md"))


def test_each_transcript_is_a_file_that_only_we_may_read(tmp_path: Path) -> None:
    folder = tmp_path / "exported"
    done = export(Transcripts(one="User: hello", two="User: bye"), folder)
    assert done == Exported(written=2)
    assert (folder / "one.md").read_text() == "# Session one\n\nUser: hello\n"
    assert (folder / "one.md").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_only_what_changed_is_read_and_written(tmp_path: Path) -> None:
    source = Transcripts(one="User: hello", two="User: bye")
    export(source, tmp_path)
    before = (tmp_path / "two.md").stat().st_mtime_ns
    source.texts["sessions/one.jsonl"] += "\nAssistant: hi"
    source.edits["sessions/one.jsonl"] = 1
    assert export(source, tmp_path) == Exported(written=1, unchanged=1)
    assert source.reads == 3
    assert (tmp_path / "two.md").stat().st_mtime_ns == before
    source.version = "2"
    assert export(source, tmp_path).written == 2, "another version reads them otherwise"


def test_an_export_goes_with_its_transcript_or_its_time(tmp_path: Path) -> None:
    source = Transcripts(one="User: hello", two="User: bye", three="User: ciao")
    source.ages = {"sessions/two.jsonl": 8}
    assert export(source, tmp_path, days=30).written == 3
    del source.texts["sessions/one.jsonl"]
    assert export(source, tmp_path, days=7).removed == 2
    assert names(tmp_path) == ["three.md"]


def test_what_could_not_be_looked_for_stays(tmp_path: Path) -> None:
    source = Transcripts(one="User: hello")
    export(source, tmp_path)
    source.texts, source.failed = {}, (RootFailure("sessions", "Permission denied"),)
    assert export(source, tmp_path).removed == 0
    assert names(tmp_path) == ["one.md"]


def test_no_other_file_is_touched(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("mine")
    (tmp_path / "one.md").write_text("mine, too")
    secret = tmp_path.parent / "secret"
    secret.write_text("secret")
    os.symlink(secret, tmp_path / "two.md")
    source = Transcripts(one="User: hello", two="User: bye", three="User: ciao")
    done = export(source, tmp_path)
    assert done.written == 1
    assert [path for path, _ in done.unreadable] == ["sessions/one.jsonl", "sessions/two.jsonl"]
    (tmp_path / "three.md").write_text("changed by hand")
    source.edits["sessions/three.jsonl"] = 1
    assert len(export(source, tmp_path).unreadable) == 3
    source.texts = {}
    assert export(source, tmp_path).removed == 0
    assert (tmp_path / "notes.md").read_text() == "mine"
    assert (tmp_path / "one.md").read_text() == "mine, too"
    assert (tmp_path / "three.md").read_text() == "changed by hand"
    assert secret.read_text() == "secret"


def test_an_export_that_was_deleted_is_written_again(tmp_path: Path) -> None:
    source = Transcripts(one="User: hello")
    export(source, tmp_path)
    (tmp_path / "one.md").unlink()
    assert export(source, tmp_path).written == 1


def test_one_that_cannot_be_read_is_reported_and_keeps_its_export(tmp_path: Path) -> None:
    source = Transcripts(one="User: hello", two="User: bye")
    export(source, tmp_path)
    source.broken, source.edits = {"sessions/one.jsonl"}, {"sessions/one.jsonl": 1}
    done = export(source, tmp_path)
    assert done.unreadable == (("sessions/one.jsonl", "Permission denied"),)
    assert names(tmp_path) == ["one.md", "two.md"]


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", ".hidden", "a b\nc", "x" * 80, "ünï", "a.jsonl.reset.2026-01-01Z"]
)
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "exported"
    source = Transcripts()
    source.texts = {f"sessions/{name}.jsonl": "User: hello"}
    assert export(source, folder).written == 1
    (written,) = names(folder)
    assert not written.startswith(".")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["exported"]


def test_two_that_would_share_a_name_do_not(tmp_path: Path) -> None:
    source = Transcripts()
    source.texts = {"sessions/a b.jsonl": "one", "sessions/a_b.jsonl": "two"}
    export(source, tmp_path)
    assert names(tmp_path) == ["a_b-2.md", "a_b.md"]


def test_conversations_are_searched_beside_the_notes_and_by_turns(desk: Desk, ask: Ask) -> None:
    source = Transcripts(**{f"s{number}": "User: walrus walrus walrus" for number in range(4)})
    manager = desk.make(QmdSettings(sessions=Sessions(enabled=True)), source=source)
    report = manager.maintain(deadline=NEVER)
    assert report.added == 7
    desk.write("memory/b.md", "walrus")
    manager.maintain(deadline=NEVER)
    hits = ask(manager, "walrus")
    assert [hit.source for hit in hits] == [
        "sessions",
        "memory",
        "sessions",
        "memory",
        "sessions",
        "sessions",
    ]
    assert hits[0].path == "qmd/sessions-main/s0.md"
    assert (hits[0].trust, hits[0].heading) == ("session", ("Session s0",))
    only = ask(manager, "walrus", where=Where(sources=frozenset({"memory"})))
    assert {hit.source for hit in only} == {"memory"}


def test_a_search_brings_in_what_was_said_meanwhile(desk: Desk, ask: Ask) -> None:
    source = Transcripts(one="User: heron")
    manager = desk.make(QmdSettings(sessions=Sessions(enabled=True)), source=source)
    manager.maintain(deadline=NEVER)
    desk.clock[0] += 60
    source.texts["sessions/two.jsonl"] = "User: crane"
    assert manager.pending().remaining == 1
    manager.maintain(at_most=20, embed=False, deadline=NEVER, wait=0)
    assert [hit.path for hit in ask(manager, "crane")] == ["qmd/sessions-main/two.md"]
    assert manager.pending().remaining == 0


def test_without_a_reader_of_transcripts_the_rest_works(desk: Desk, ask: Ask) -> None:
    manager = desk.make(QmdSettings(sessions=Sessions(enabled=True)))
    manager.maintain(deadline=NEVER)
    assert ask(manager, "walrus")
    assert any("transcripts" in notice for notice in manager.health().notices)


class Growing(Transcripts):
    """One that grows by ``enough`` in the third number of its stamp is due."""

    capabilities = frozenset({"growing"})
    enough = 3

    def due(self, ref: DocumentRef, indexed: Stamp) -> bool:
        now, before = (int(stamp.split()[2]) for stamp in (ref.stamp, indexed))
        return now - before >= self.enough


def test_what_has_grown_by_little_is_left_until_a_sync_is_requested(tmp_path: Path) -> None:
    source = Growing(one="first", two="other")
    exporter = Exporter(source, str(tmp_path), retention_days=None, clock=lambda: NOW)
    assert exporter.pending() == (2, 0)
    assert exporter.export(eager=False).written == 2
    source.texts["sessions/one.jsonl"] = "first and second"
    source.edits["sessions/one.jsonl"] = 2
    assert exporter.pending() == (0, 1)
    assert exporter.export(eager=False) == Exported(0, 2)
    assert "second" not in (tmp_path / "one.md").read_text()
    assert exporter.export() == Exported(1, 1)
    assert "second" in (tmp_path / "one.md").read_text()
    source.edits["sessions/one.jsonl"] = 5
    assert exporter.pending() == (1, 0)
    assert exporter.export(eager=False) == Exported(1, 1)
    source.edits["sessions/one.jsonl"] = 6
    source.version = "2"
    assert exporter.pending() == (2, 0)
