"""What a check of an index finds, and that its fixes fix just that."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import apsw
import pytest

from commonplace.index.manager import IndexedMemoryManager
from commonplace.model.documents import Document, DocumentRef, ScanReport
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.text.analyse import make_analyser
from commonplace_chunkers.lines import LinesChunker
from commonplace_inmemory.store import InMemoryStore
from commonplace_sqlite.schema import checked_vfs
from commonplace_sqlite.store import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from commonplace.model.documents import Finding
    from commonplace.protocols.parts import Store

NOW = 1_800_000_000
DAY = 86_400


class Notes:
    id = "memory"
    version = "1"
    capabilities: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.read_so_far = 0

    def scan(self) -> ScanReport:
        stamp = "9 1000000001 1000000001 7"
        names = [f"n{number}.md" for number in range(5)]
        return ScanReport(tuple(DocumentRef("memory", name, name, stamp) for name in names), ("",))

    def read(self, ref: DocumentRef) -> Document:
        self.read_so_far += 1
        return Document(ref, "A walrus.", hashlib.sha256(ref.path.encode()).hexdigest())


def manager(
    store: Store, *, now: int = NOW, size: int = 1600, workspace: str = "/w"
) -> IndexedMemoryManager:
    return IndexedMemoryManager(
        store=store,
        sources=[Notes()],
        chunker=LinesChunker(size, 100),
        analyser=make_analyser(),
        workspace=workspace,
        clock_ns=lambda: now * 10**9,
    )


def look(manager: IndexedMemoryManager) -> dict[str, Finding]:
    return {finding.name: finding for finding in manager.health(deep=True).findings}


def run(finding: Finding) -> str:
    assert finding.fix is not None
    assert finding.fix.run is not None
    return finding.fix.run()


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(str(tmp_path / "index.sqlite"))


@pytest.mark.parametrize("kind", ["sqlite", "inmemory"])
def test_a_sound_index_is_found_sound_whatever_the_store(store: SqliteStore, kind: str) -> None:
    serving = manager(store if kind == "sqlite" else InMemoryStore())
    assert look(serving)["identity"].text == "there is no index yet"
    serving.maintain(deadline=NEVER)
    found = look(serving)
    assert {finding.state for finding in found.values()} == {"ok"}
    assert found["check"].text == "no problems found"
    assert "keyword-1 tokenizer=analysed workspace=/w" in found["identity"].text
    assert found["fingerprints"].text == "all current"
    assert found["unfinished"].text == "no build"
    assert serving.health().findings == ()
    serving.close()


def test_what_differs_from_today_is_named_and_rebuilt(store: SqliteStore) -> None:
    manager(store).maintain(deadline=NEVER)
    other = manager(store, workspace="/v", size=800)
    found = look(other)
    assert found["identity"].text == "differs from today: workspace /w, today /v"
    assert found["fingerprints"].state == "warning"
    assert found["fingerprints"].text.startswith("5 of 5 notes have another: ")
    assert run(found["identity"]) == "re-indexed 5 notes"
    assert {finding.state for finding in look(other).values()} == {"ok"}
    other.close()


def test_an_abandoned_build_is_dropped(store: SqliteStore) -> None:
    serving = manager(store)
    serving.maintain(deadline=NEVER)
    serving.maintain(force=True, deadline=Deadline(0, lambda: 1))
    assert [build.state for build in store.builds()] == ["live", "filling"]
    young = look(serving)["unfinished"]
    assert (young.state, young.fix) == ("ok", None)
    assert "`commonplace index --force` continues it" in young.text
    later = manager(store, now=NOW + DAY + 1)
    assert run(look(later)["unfinished"]) == "dropped a build of 0 notes"
    assert [build.state for build in store.builds()] == ["live"]
    assert look(later)["unfinished"].state == "ok"
    serving.close()


def test_an_inconsistent_index_is_rebuilt_beside_the_old_one(
    store: SqliteStore, tmp_path: Path
) -> None:
    serving = manager(store)
    serving.maintain(deadline=NEVER)
    connection = apsw.Connection(str(tmp_path / "index.sqlite"), vfs=checked_vfs(""))
    connection.execute("DELETE FROM document_1 WHERE path = 'n1.md'")
    connection.close()
    found = look(serving)
    assert found["check"].state == "problem"
    assert found["orphans"].fix is None, "it is the last resort"
    assert run(found["check"]) == "rebuilt the index from 5 notes"
    assert {finding.state for finding in look(serving).values()} == {"ok"}
    assert [build.state for build in store.builds()] == ["live"]
    assert not list(tmp_path.glob("*.damaged-*"))
    serving.close()


def test_a_file_that_is_damaged_itself_is_set_aside(store: SqliteStore, tmp_path: Path) -> None:
    serving = manager(store)
    serving.maintain(deadline=NEVER)
    connection = apsw.Connection(str(tmp_path / "index.sqlite"), vfs=checked_vfs(""))
    # An index without its rows, which no new build beside it would fix.
    connection.execute("CREATE TABLE odd (a); INSERT INTO odd VALUES (1), (2)")
    connection.execute("CREATE INDEX odd_by_a ON odd (a) WHERE a > 5")
    connection.execute("PRAGMA writable_schema = 1")
    connection.execute(
        "UPDATE sqlite_schema SET sql = 'CREATE INDEX odd_by_a ON odd (a)' WHERE name = 'odd_by_a'"
    )
    connection.close()
    found = look(serving)
    assert found["integrity check"].state == "problem"
    assert run(found["check"]).endswith("; rebuilt it from 5 notes")
    assert store.health().documents == 5
    assert {finding.state for finding in look(serving).values()} == {"ok"}
    assert len(list(tmp_path.glob("*.damaged-*Z"))) == 1
    serving.close()
