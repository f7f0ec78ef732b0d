from __future__ import annotations

import os
from typing import TYPE_CHECKING

import apsw
import pytest

from commonplace.errors import IndexNewerError
from commonplace.testing import make_put, publish, search
from commonplace.testing.base import held, words
from commonplace_sqlite import schema
from commonplace_sqlite.checking import damaged_indexes
from commonplace_sqlite.schema import checked_vfs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace_sqlite.store import SqliteStore

NOW, FIRST = schema.VERSION, schema.FIRST_VERSION


def add_table(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE added (x)")


def fill_table(connection: apsw.Connection) -> None:
    connection.execute("INSERT INTO added VALUES (1)")


def fail(connection: apsw.Connection) -> None:
    connection.execute("INSERT INTO added VALUES (2)")
    connection.execute("INSERT INTO nowhere VALUES (1)")


def run_out(connection: apsw.Connection) -> None:
    raise apsw.FullError("no room")


@pytest.fixture
def connection() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    schema.create(connection)
    connection.pragma("user_version", FIRST)
    return connection


def version_and_rows(path: str) -> tuple[int, list[object]]:
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY, vfs=checked_vfs(""))
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    try:
        rows = [row[0] for row in connection.execute("SELECT x FROM added")]
        return connection.pragma("user_version"), rows
    finally:
        connection.close()


def test_steps_run_in_order_from_the_files_version(connection: apsw.Connection) -> None:
    schema.migrate(connection, [add_table])
    assert connection.pragma("user_version") == FIRST + 1
    schema.migrate(connection, [fail, fill_table, fill_table])
    assert connection.pragma("user_version") == FIRST + 3
    assert connection.execute("SELECT count(*) FROM added").get == 2


def test_a_current_file_is_not_changed(connection: apsw.Connection) -> None:
    schema.migrate(connection, [])
    assert connection.pragma("user_version") == FIRST


def test_the_version_goes_with_the_steps() -> None:
    assert FIRST + len(schema.MIGRATIONS) == schema.VERSION


def test_an_older_file_is_migrated_when_it_is_opened(
    open_store: Callable[..., SqliteStore], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = open_store()
    publish(old, make_put("a.md", "ant"))
    old.close()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, add_table, fill_table))
    monkeypatch.setattr(schema, "VERSION", NOW + 2)
    new = open_store()
    assert set(held(new)) == {("memory", "a.md")}
    assert len(search(new, words("ant"))) == 1
    assert new.health(deep=True).problems == ()
    assert new.health().notices == ()
    new.close()
    assert version_and_rows(path) == (NOW + 2, [1])


def test_a_file_from_before_the_first_version_is_set_aside(
    open_store: Callable[..., SqliteStore], path: str
) -> None:
    os.makedirs(os.path.dirname(path))
    old = apsw.Connection(path)
    old.pragma("application_id", schema.APPLICATION_ID)
    old.pragma("user_version", schema.FIRST_VERSION - 1)
    old.close()
    new = open_store()
    assert new.builds() == ()
    assert new.health().notices[0].startswith("the index was of an older version: it was set aside")
    assert len(damaged_indexes(path).kept()) == 1


@pytest.mark.parametrize("broken", [fail, fill_table])
def test_an_older_file_that_cannot_be_migrated_is_set_aside(
    open_store: Callable[..., SqliteStore],
    path: str,
    monkeypatch: pytest.MonkeyPatch,
    broken: schema.Migration,
) -> None:
    old = open_store()
    publish(old, make_put("a.md", "ant"))
    old.close()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, broken))
    monkeypatch.setattr(schema, "VERSION", NOW + 1)
    new = open_store()
    assert new.builds() == ()
    assert "of a version that cannot be migrated" in new.health().notices[0]
    (kept,) = damaged_indexes(path).kept()
    kept_file = apsw.Connection(kept, vfs=checked_vfs(""))
    assert kept_file.pragma("user_version") == NOW
    kept_file.close()


def test_a_migration_without_room_leaves_the_old_version(
    open_store: Callable[..., SqliteStore], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = open_store()
    publish(old, make_put("a.md", "ant"))
    old.close()
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, add_table, run_out))
        patch.setattr(schema, "VERSION", NOW + 2)
        with pytest.raises(Exception, match="the disk is full"):
            open_store().builds()
    assert set(held(open_store())) == {("memory", "a.md")}


@pytest.mark.parametrize("logged", [False, True])
def test_a_newer_file_is_left_as_it_is(
    open_store: Callable[..., SqliteStore], path: str, tmp_path: Path, logged: bool
) -> None:
    store = open_store()
    publish(store, make_put("a.md", "ant"))
    store.close()
    newer = apsw.Connection(path, vfs=checked_vfs(""))
    newer.pragma("user_version", schema.VERSION + 1)
    if logged:
        # As its writer leaves it when it is killed: the change is in the log alone.
        newer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    newer.close()
    before = {name: read(path, name) for name in ("", "-wal")}
    assert bool(before["-wal"]) == logged
    store = open_store()
    asked: list[Callable[[], object]] = [
        store.builds,
        store.documents,
        lambda: search(store, words("ant")),
        store.health,
        lambda: publish(store, make_put("b.md", "bee")),
    ]
    for question in asked:
        with pytest.raises(IndexNewerError, match="newer version") as caught:
            question()
        assert caught.value.hint
    store.close()
    assert {name: read(path, name) for name in ("", "-wal")} == before
    assert damaged_indexes(path).kept() == []


def read(path: str, suffix: str) -> bytes:
    try:
        with open(path + suffix, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""
