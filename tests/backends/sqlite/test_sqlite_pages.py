"""Every page has a checksum, and one that does not fit is damage; also a log that lost its end."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import IndexCorruptError
from commonplace.testing import make_put, publish, search, write
from commonplace.testing.base import held, words
from commonplace_sqlite.checking import damaged_indexes
from commonplace_sqlite.schema import PAGE_SIZE, RESERVED, checked_vfs, sealed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace_sqlite.store import SqliteStore

LONG = " ".join(f"word{number}" for number in range(400))


def pages_of(path: str) -> list[bytes]:
    with open(path, "rb") as file:
        data = file.read()
    return [data[at : at + PAGE_SIZE] for at in range(0, len(data), PAGE_SIZE)]


def is_sound(pages: list[bytes]) -> bool:
    return all(page == sealed(page[:-RESERVED], at) for at, page in enumerate(pages, 1))


def filled(store: SqliteStore, count: int = 30) -> None:
    publish(store, *(make_put(f"{number}.md", LONG, f"ant n{number}") for number in range(count)))


@given(st.binary(max_size=64), st.integers(1, 2**31), st.integers(0, 511))
def test_any_bit_and_the_number_of_a_page_count(head: bytes, number: int, bit: int) -> None:
    page = sealed(head.ljust(PAGE_SIZE - RESERVED, b"\0"), number)
    flipped = bytearray(page)
    flipped[bit // 8] ^= 1 << bit % 8
    assert sealed(bytes(flipped[:-RESERVED]), number) != bytes(flipped)
    assert sealed(page[:-RESERVED], number + 1) != page


def test_every_page_of_a_closed_file_is_sealed(store: SqliteStore, path: str) -> None:
    filled(store)
    write(store, make_put("1.md", "bee"), make_put("late.md", LONG))
    store.close()
    pages = pages_of(path)
    assert len(pages) > 10
    assert is_sound(pages)


def test_a_value_of_many_pages_is_read_from_the_disk(
    open_store: Callable[..., SqliteStore],
) -> None:
    put = make_put("a.md", "ant", resume="r" * (20 * PAGE_SIZE + 7))
    store = open_store()
    publish(store, put)
    store.close()
    # No page is in the log or in memory now, so that SQLite reads parts of pages.
    assert held(open_store())["memory", "a.md"].resume == put.resume


def test_other_programs_can_read_the_file(store: SqliteStore, path: str) -> None:
    filled(store, 3)
    store.close()
    plain = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    assert plain.execute("SELECT count(*) FROM document_1").get == 3
    assert plain.pragma("integrity_check") == "ok"
    plain.close()


def test_pages_that_sqlite_leaves_out_are_sealed_too(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    file = apsw.VFSFile(checked_vfs(""), path, [flags, 0])
    file.xWrite(bytes(PAGE_SIZE), 3 * PAGE_SIZE)
    file.xTruncate(6 * PAGE_SIZE)
    file.xClose()
    assert len(pages_of(path)) == 6
    assert is_sound(pages_of(path))


@pytest.mark.parametrize("where", ["start", "middle", "checksum"])
def test_a_flipped_bit_is_found_wherever_it_is(
    open_store: Callable[..., SqliteStore], path: str, where: str
) -> None:
    store = open_store()
    filled(store)
    store.close()
    pages = pages_of(path)
    at = {"start": 0, "middle": PAGE_SIZE // 2, "checksum": PAGE_SIZE - 1}[where]
    for number in range(1, len(pages)):
        damaged = bytearray(b"".join(pages))
        damaged[number * PAGE_SIZE + at] ^= 4
        with open(path, "wb") as file:
            file.write(damaged)
        connection = apsw.Connection(path, vfs=checked_vfs(""))
        with pytest.raises(apsw.CorruptError, match=f"page {number + 1} is not as it was written"):
            connection.execute("PRAGMA integrity_check").fetchall()
        connection.close()


def test_a_journal_beside_the_file_is_not_written_over_it(
    open_store: Callable[..., SqliteStore], path: str
) -> None:
    store = open_store()
    filled(store, 3)
    store.close()
    plain = apsw.Connection(path, vfs=checked_vfs(""))
    plain.execute("PRAGMA journal_mode = PERSIST")
    plain.execute("BEGIN IMMEDIATE; DELETE FROM document_1; DELETE FROM chunk_1")
    plain.cache_flush()
    shutil.copy(f"{path}-journal", f"{path}-kept")
    plain.execute("ROLLBACK; PRAGMA journal_mode = WAL")
    plain.close()
    os.replace(f"{path}-kept", f"{path}-journal")
    assert len(held(open_store())) == 3
    assert os.path.exists(f"{path}-journal")


def with_log(open_store: Callable[..., SqliteStore], path: str, folder: Path) -> str:
    """A copy of an index whose log was written back and is still there; returns its path."""
    store = open_store()
    filled(store, 5)
    store.close()
    store = open_store()
    for round_ in range(4):
        write(store, *(make_put(f"{number}.md", LONG, f"bee r{round_}") for number in range(3)))
    other = apsw.Connection(path, vfs=checked_vfs(""))
    other.pragma("schema_version")  # else SQLite does not know yet that there is a log
    frames, written_back = other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    assert frames == written_back > 0
    copy = str(folder / "copy.sqlite")
    for suffix in ("", "-wal"):
        shutil.copy(path + suffix, copy + suffix)
    other.close()
    return copy


def test_a_log_without_the_end_that_was_written_back_is_damage(
    open_store: Callable[..., SqliteStore], path: str, tmp_path: Path
) -> None:
    copy = with_log(open_store, path, tmp_path)
    whole = os.path.getsize(f"{copy}-wal")
    os.truncate(f"{copy}-wal", whole // 2)
    store = open_store(copy)
    assert store.builds() == ()
    assert "its log lacks what was written back" in store.health().notices[0]
    assert len(damaged_indexes(copy).kept()) == 1


@pytest.mark.parametrize("left", [0, 20, 1])
def test_a_log_that_was_written_back_may_be_empty_or_whole(
    open_store: Callable[..., SqliteStore], path: str, tmp_path: Path, left: int
) -> None:
    copy = with_log(open_store, path, tmp_path)
    if left != 1:
        os.truncate(f"{copy}-wal", left)
    store = open_store(copy)
    assert len(held(store)) == 5
    assert len(search(store, words("r3"))) == 3
    assert store.health(deep=True).problems == ()
    assert damaged_indexes(copy).kept() == []


def test_a_log_that_was_not_written_back_may_lose_its_end(
    open_store: Callable[..., SqliteStore], path: str, tmp_path: Path
) -> None:
    store = open_store()
    filled(store, 5)
    store.close()
    store = open_store()
    write(store, make_put("first.md", "bee"))
    first = os.path.getsize(f"{path}-wal")
    write(store, make_put("second.md", "bee"))
    copy = str(tmp_path / "copy.sqlite")
    for suffix in ("", "-wal"):
        shutil.copy(path + suffix, copy + suffix)
    os.truncate(f"{copy}-wal", first + 10)
    again = open_store(copy)
    assert damaged_indexes(copy).kept() == []
    assert ("memory", "first.md") in held(again)
    assert ("memory", "second.md") not in held(again)
    assert again.health(deep=True).problems == ()


def spoil(path: str, name: str) -> None:
    """Overwrite all pages of a table."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    rows: Any = connection.execute("SELECT pageno FROM dbstat WHERE name = ?", (name,)).fetchall()
    connection.close()
    with open(path, "r+b") as file:
        for (page,) in rows:
            file.seek((page - 1) * PAGE_SIZE)
            file.write(b"\xa5" * PAGE_SIZE)


def test_damage_of_a_file_that_was_replaced_meanwhile_is_that_of_no_other(
    open_store: Callable[..., SqliteStore], path: str
) -> None:
    """Two that find the same damage do not set aside the index that the other one rebuilds."""
    store = open_store()
    filled(store)
    store.close()
    spoil(path, "fts_1_data")
    ours, theirs = open_store(), open_store()
    for one in (ours, theirs):
        with pytest.raises(IndexCorruptError):
            search(one, words("ant"))
    publish(theirs, make_put("a.md", "ant"))
    assert len(search(ours, words("ant"))) == 1
    write(ours, make_put("b.md", "ant"))
    assert len(search(theirs, words("ant"))) == 2
    assert len(damaged_indexes(path).kept()) == 1
