from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from commonplace.errors import CallerError, IndexBusyError, IndexCorruptError
from commonplace.testing import make_put, publish, search, write
from commonplace.testing.base import WAIT, held, words
from commonplace_sqlite import schema
from commonplace_sqlite.checking import damaged_indexes
from commonplace_sqlite.schema import checked_vfs, reserve

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace_sqlite.store import SqliteStore


def valid_index(open_store: Callable[..., SqliteStore]) -> None:
    store = open_store()
    text = " ".join(f"word{number}" for number in range(300))
    publish(store, *(make_put(f"{number}.md", text, f"ant bee n{number}") for number in range(40)))
    store.close()


def foreign(path: str) -> None:
    os.unlink(path)
    connection = apsw.Connection(path)
    connection.execute("CREATE TABLE precious (x); INSERT INTO precious VALUES ('data')")
    connection.close()


def other_application(path: str) -> None:
    os.unlink(path)
    connection = apsw.Connection(path)
    connection.pragma("application_id", 0x12345678)
    connection.close()


def overwrite(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def cut(path: str, size: int) -> None:
    with open(path, "r+b") as file:
        file.truncate(size)


def without_a_table(path: str, table: str) -> None:
    connection = apsw.Connection(path, vfs=checked_vfs(""))
    connection.execute(f"DROP TABLE {table}")
    connection.close()


DAMAGES: dict[str, Callable[[str], None]] = {
    "another program's": foreign,
    "another application's id": other_application,
    "text": lambda path: overwrite(path, b"# Not a database\n" * 100),
    "noise": lambda path: overwrite(path, random.Random(1).randbytes(50_000)),
    "short text": lambda path: overwrite(path, b"xy"),
    "a cut header": lambda path: cut(path, 60),
    "a cut first page": lambda path: cut(path, 2_000),
    "cut in the middle": lambda path: cut(path, os.path.getsize(path) // 2 // 512 * 512),
    "cut at the end": lambda path: cut(path, os.path.getsize(path) - 1_000),
    "no builds": lambda path: without_a_table(path, "build"),
    "no chunks": lambda path: without_a_table(path, "chunk_1"),
    "no keyword index": lambda path: without_a_table(path, "fts_1"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("first", ["read", "write"])
def test_what_cannot_be_used_is_set_aside(
    open_store: Callable[..., SqliteStore], path: str, damage: str, first: str
) -> None:
    valid_index(open_store)
    DAMAGES[damage](path)
    with open(path, "rb") as file:
        before = file.read()

    store = open_store()
    if first == "read":
        assert store.builds() == ()
        assert held(store) == {}
    publish(store, make_put("a.md", "ant"))
    assert set(held(store)) == {("memory", "a.md")}
    assert store.health(deep=True).problems == ()

    (kept,) = damaged_indexes(path).kept()
    with open(kept, "rb") as file:
        assert file.read() == before
    (repair,) = store.health().notices
    assert repair.endswith(f"set aside as {kept}")
    store.close()
    # The next process repairs nothing, but reports the file: once.
    again = open_store()
    assert again.health().notices == (f"a damaged index is kept at {kept}",)
    deep = again.health(deep=True)
    (kept_finding,) = (finding for finding in deep.findings if finding.name == "set aside")
    assert kept in kept_finding.text
    assert deep.notices == ()


FIRST: dict[str, Callable[[SqliteStore], object]] = {
    "read": lambda store: store.builds(),
    "write": lambda store: publish(store, make_put("a.md", "ant")),
    "check": lambda store: store.health(deep=True),
}


@pytest.mark.parametrize("file", ["another program's", "another application's id", "text"])
@pytest.mark.parametrize("lock", [None, b"", b"# of another program\n"])
@pytest.mark.parametrize("first", FIRST)
def test_a_file_that_never_was_an_index_is_refused_and_stays(
    open_store: Callable[..., SqliteStore], path: str, file: str, lock: bytes | None, first: str
) -> None:
    os.makedirs(os.path.dirname(path))
    overwrite(path, b"")
    DAMAGES[file](path)
    if lock is not None:
        overwrite(f"{path}.lock", lock)
    before = {entry.path: Path(entry).read_bytes() for entry in os.scandir(os.path.dirname(path))}
    for _ in range(2):
        store = open_store()
        with pytest.raises(CallerError, match="is not an index of commonplace") as caught:
            FIRST[first](store)
        assert "store.path" in caught.value.hint
        store.close()
    after = {entry.path: Path(entry).read_bytes() for entry in os.scandir(os.path.dirname(path))}
    assert after == before


def test_an_empty_file_is_just_a_beginning(store: SqliteStore, path: str) -> None:
    os.makedirs(os.path.dirname(path))
    overwrite(path, b"")
    assert store.builds() == ()
    publish(store, make_put("a.md", "ant"))
    assert set(held(store)) == {("memory", "a.md")}
    assert store.health().notices == ()


def test_a_half_created_file_is_created_again(
    open_store: Callable[..., SqliteStore], path: str
) -> None:
    store = open_store()
    with store.writer(wait=WAIT):
        pass
    store.close()
    for name in os.listdir(os.path.dirname(path)):
        if not name.endswith(".lock"):
            os.unlink(os.path.join(os.path.dirname(path), name))
    connection = apsw.Connection(path, vfs=checked_vfs(""))
    reserve(connection)
    connection.pragma("journal_mode", "WAL")
    connection.close()
    store = open_store()
    publish(store, make_put("a.md", "ant"))
    assert store.health().notices == ()


def test_what_sqlite_keeps_beside_a_file_is_set_aside_with_it(tmp_path: Path) -> None:
    path = str(tmp_path / "index.sqlite")
    for suffix in ("", "-wal", "-shm", "-journal"):
        overwrite(path + suffix, suffix.encode())
    first = damaged_indexes(path).set_aside()
    assert os.listdir(tmp_path) != []
    for suffix in ("", "-wal", "-shm", "-journal"):
        assert not os.path.exists(path + suffix)
        with open(first + suffix, "rb") as file:
            assert file.read() == suffix.encode()
    overwrite(path, b"second")
    second = damaged_indexes(path).set_aside()
    assert second != first
    assert sorted(damaged_indexes(path).kept()) == sorted([first, second])


def spoil(path: str, name: str) -> None:
    """Overwrite all pages of a table or index."""
    connection = apsw.Connection(path)
    rows = connection.execute("SELECT pageno FROM dbstat WHERE name = ?", (name,)).fetchall()
    size = connection.pragma("page_size")
    connection.close()
    with open(path, "r+b") as file:
        for (page,) in rows:
            assert isinstance(page, int)
            file.seek((page - 1) * size)
            file.write(b"\xa5" * size)


def use_everything(store: SqliteStore) -> None:
    search(store, words("ant", "word7"))
    held(store)


@pytest.mark.parametrize("victim", ["fts_1_data", "chunk_1", "document_1", "text_1"])
def test_damage_found_in_use_is_reported_and_then_repaired(
    open_store: Callable[..., SqliteStore], path: str, victim: str
) -> None:
    valid_index(open_store)
    spoil(path, victim)
    store = open_store()
    assert store.health(deep=True).problems != ()
    store.close()
    store = open_store()
    with pytest.raises(IndexCorruptError, match="damaged") as caught:
        use_everything(store)
    assert "commonplace index" in caught.value.hint
    # The next process finds an index again, though an empty one.
    assert store.builds() == ()
    publish(store, make_put("a.md", "ant"))
    assert len(search(store, words("ant"))) == 1
    assert any("set aside" in notice for notice in store.health().notices)


def test_damage_found_while_writing_is_repaired_by_the_next_writer(
    open_store: Callable[..., SqliteStore], path: str
) -> None:
    valid_index(open_store)
    spoil(path, "sqlite_autoindex_document_1_1")
    store = open_store()
    with pytest.raises(IndexCorruptError):
        write(store, make_put("a.md", "ant"))
    publish(store, make_put("a.md", "ant"))
    assert set(held(store)) == {("memory", "a.md")}
    assert len(damaged_indexes(path).kept()) == 1


def test_damage_is_repaired_within_a_session_too(
    open_store: Callable[..., SqliteStore], path: str
) -> None:
    valid_index(open_store)
    spoil(path, "document_1")
    store = open_store()
    with store.writer(wait=WAIT):
        with pytest.raises(IndexCorruptError):
            store.documents()
        assert store.builds() == ()
        store.activate(store.open_build("second"))
    assert len(store.builds()) == 1
    assert len(damaged_indexes(path).kept()) == 1


def test_nothing_is_set_aside_while_another_process_writes(
    open_store: Callable[..., SqliteStore], path: str
) -> None:
    valid_index(open_store)
    overwrite(path, b"# Not a database\n" * 100)
    code = (
        "import sys\n"
        "from commonplace.resilience.lock import Lease\n"
        "lease = Lease(sys.argv[1] + '.lock')\n"
        "with lease.held(0):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        store = open_store()
        with pytest.raises(IndexBusyError):
            store.builds()
        assert damaged_indexes(path).kept() == []
        other.communicate("\n")
    assert store.builds() == ()
    assert len(damaged_indexes(path).kept()) == 1


def test_changes_in_the_log_of_a_killed_process_are_not_lost(
    open_store: Callable[..., SqliteStore], path: str
) -> None:
    valid_index(open_store)
    code = (
        "import os, sys\n"
        "from commonplace.testing import make_put, write\n"
        "from commonplace_sqlite.store import SqliteStore\n"
        "store = SqliteStore(sys.argv[1])\n"
        "write(store, make_put('late.md', 'late'))\n"
        "with store.writer(wait=0):\n"
        "    with store._database.writing() as connection:\n"
        "        connection.execute('DELETE FROM document_1')\n"
        "        os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, path], check=False).returncode == 9
    assert os.path.getsize(f"{path}-wal") > 0
    store = open_store()
    assert len(search(store, words("late"))) == 1
    assert len(held(store)) == 41
    write(store, make_put("later.md", "late"))
    assert len(search(store, words("late"))) == 2
    assert store.health(deep=True).problems == ()


def test_the_schema_knows_the_tables_of_a_build(store: SqliteStore, path: str) -> None:
    live = publish(store, make_put("a.md", "ant"))
    with store.writer(wait=WAIT):
        store.drop(live)
    store.close()
    connection = apsw.Connection(path)
    left = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    connection.close()
    assert not left & {schema.of_build(table, live.id) for table in schema.BUILD_TABLES}
    assert {"build", "counter"} <= left
