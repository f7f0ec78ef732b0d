"""What a deep check reports on an index file and the files beside it, and their fixes."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from commonplace.errors import IndexReadOnlyError
from commonplace.testing import make_put, publish, write
from commonplace.testing.base import WAIT, held
from commonplace_sqlite.checking import damaged_indexes
from commonplace_sqlite.schema import checked_vfs

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace.model.documents import Finding
    from commonplace_sqlite.store import SqliteStore

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs rights of the POSIX kind")


@pytest.fixture
def filled(store: SqliteStore) -> SqliteStore:
    publish(store, make_put("a.md", "ant", "bee"), make_put("b.md", "ant", source="sessions"))
    return store


def look(store: SqliteStore) -> dict[str, Finding]:
    return {finding.name: finding for finding in store.health(deep=True).findings}


def run(finding: Finding) -> str:
    assert finding.fix is not None
    assert finding.fix.run is not None
    return finding.fix.run()


def tamper(path: str, sql: str) -> None:
    connection = apsw.Connection(path, vfs=checked_vfs(""))
    connection.execute(sql)
    connection.close()


def test_every_finding_is_reported(filled: SqliteStore) -> None:
    found = look(filled)
    assert {name: finding.text for name, finding in found.items()} == {
        "integrity check": "the file is sound",
        "keyword index": "in line with the chunks",
        "orphans": "none",
        "counts": "2 notes, 3 chunks, as counted",
        "vectors": "in line with the chunks",
        "writer": "no process is writing",
        "set aside": "nothing",
        "rights": "the index is its owner's alone",
    }
    assert {finding.state for finding in found.values()} == {"ok"}
    assert filled.health().findings == ()


@pytest.mark.parametrize(
    ("name", "sql"),
    [
        ("orphans", "DELETE FROM document_1 WHERE path = 'a.md'"),
        ("keyword index", "DELETE FROM fts_1 WHERE rowid = 1"),
        ("counts", "UPDATE build SET chunks = 9"),
    ],
)
def test_a_problem_is_reported_under_its_finding(
    filled: SqliteStore, path: str, name: str, sql: str
) -> None:
    tamper(path, sql)
    found = look(filled)
    assert found[name].state == "problem"
    assert found[name].text in filled.health(deep=True).problems[0] + " (and 1 more)"
    assert found["integrity check"].state == "ok"


def test_the_last_resort_is_an_empty_file(filled: SqliteStore, path: str) -> None:
    tamper(path, "UPDATE build SET chunks = 9")
    said = run(look(filled)["counts"])
    (kept,) = damaged_indexes(path).kept()
    assert kept in said
    assert not held(filled)
    publish(filled, make_put("a.md", "ant"), identity="second")
    assert filled.health(deep=True).problems == ()


def test_another_process_that_writes_is_named(
    filled: SqliteStore, open_store: Callable[..., SqliteStore], path: str
) -> None:
    other = open_store()
    with other.writer(wait=WAIT):
        Path(f"{path}.lock.pid").write_text("4711\n1700000000.0\ncommonplace index\n")
        value = look(filled)["writer"].text
    assert value.startswith("process 4711 (commonplace index) writes since 2023-11-1")


def test_of_files_that_were_set_aside_two_stay_by_themselves(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    kept = []
    for number in range(12):
        Path(path).write_text(str(number))
        Path(path + "-wal").write_text("log")
        kept.append(damaged_indexes(path).set_aside())
    assert damaged_indexes(path).kept() == kept[-2:]
    assert [Path(one).read_text() for one in kept[-2:]] == ["10", "11"]
    names = {os.path.basename(one) for one in kept[-2:]}
    assert set(os.listdir(os.path.dirname(path))) == names | {f"{name}-wal" for name in names}
    assert damaged_indexes(path).prune(keep=1) == kept[-2:-1]
    assert damaged_indexes(path).prune(keep=1) == []


def test_a_clock_that_was_set_back_does_not_make_the_newest_the_oldest(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.makedirs(os.path.dirname(path))
    for year in (2030, 2031, 2029, 2029):
        now = time.struct_time((year, 1, 1, 0, 0, 0, 0, 1, 0))
        monkeypatch.setattr("commonplace.health.state_files.time.gmtime", lambda now=now: now)
        Path(path).write_text(str(year))
        newest = damaged_indexes(path).set_aside()
        assert damaged_indexes(path).kept()[-1] == newest
    assert [Path(one).read_text() for one in damaged_indexes(path).kept()] == ["2029", "2029"]


def test_the_older_one_is_deleted_by_its_fix(filled: SqliteStore, path: str) -> None:
    for number in range(2):
        Path(f"{path}.damaged-2026010{number}T000000Z").write_text("no database")
    finding = look(filled)["set aside"]
    assert (finding.state, finding.text.startswith("2 damaged indexes are kept")) == (
        "warning",
        True,
    )
    assert run(finding).startswith("deleted 1 damaged index, kept ")
    assert look(filled)["set aside"].state == "ok"


@POSIX
def test_what_others_can_open_is_closed_to_them(filled: SqliteStore, path: str) -> None:
    os.chmod(path, 0o644)
    finding = look(filled)["rights"]
    assert (finding.state, finding.text) == ("warning", "others can open index.sqlite")
    run(finding)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert look(filled)["rights"].state == "ok"


def test_a_file_deleted_while_open_is_created_again(filled: SqliteStore, path: str) -> None:
    assert len(held(filled)) == 2
    for suffix in ("", "-wal", "-shm"):
        Path(path + suffix).unlink(missing_ok=True)
    assert not held(filled)
    publish(filled, make_put("c.md", "ant"))
    assert [document.path for document in filled.documents()] == ["c.md"]
    assert filled.health(deep=True).problems == ()


def test_a_file_that_is_replaced_while_it_is_open_is_the_one_searched(
    filled: SqliteStore, path: str, open_store: Callable[..., SqliteStore], tmp_path: Path
) -> None:
    assert len(held(filled)) == 2
    elsewhere = str(tmp_path / "other.sqlite")
    other = open_store(elsewhere)
    publish(other, make_put("z.md", "ant"))
    other.close()
    for suffix in ("-wal", "-shm"):
        Path(path + suffix).unlink(missing_ok=True)
    os.replace(elsewhere, path)
    assert [document.path for document in filled.documents()] == ["z.md"]
    write(filled, make_put("y.md", "ant"))
    assert {document.path for document in filled.documents()} == {"y.md", "z.md"}
    assert filled.health(deep=True).problems == ()


def test_a_disk_that_takes_nothing_for_a_while(
    filled: SqliteStore, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise apsw.ReadOnlyError("attempt to write a readonly database")

    filled.close()
    again = type(filled)(path)
    monkeypatch.setattr("commonplace_sqlite.connection.make_file", refuse)
    with pytest.raises(IndexReadOnlyError):
        write(again, make_put("c.md", "ant"))
    assert not again.health().writable
    assert any("the index cannot be updated" in notice for notice in again.health().notices)
    assert len(held(again)) == 2
    monkeypatch.undo()
    write(again, make_put("c.md", "ant"))
    assert again.health().writable
    assert again.health().notices == ()
    assert len(held(again)) == 3
    again.close()
