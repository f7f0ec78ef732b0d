from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from commonplace.model.chunks import DeleteDocument
from commonplace.testing import live_build, make_put, publish, search, write
from commonplace.testing.base import WAIT, held, words
from commonplace_sqlite import maintenance, rows
from commonplace_sqlite.schema import checked_vfs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.model.chunks import PutDocument
    from commonplace_sqlite.store import SqliteStore

pytestmark = pytest.mark.slow


def documents(number: int, first: int = 0, mark: str = "") -> list[PutDocument]:
    """Documents of 20 chunks; every chunk has `often`, one in twenty has `seldom`."""
    filling = " ".join(f"w{word}" for word in range(20))
    return [
        make_put(f"{at}.md", *[f"often n{at} {filling} {mark}"] * 19, f"often seldom n{at}")
        for at in range(first, first + number)
    ]


def asked(path: str, sql: str) -> list[tuple[apsw.SQLiteValue, ...]]:
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY, vfs=checked_vfs(""))
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def counted(path: str) -> int:
    (_, (_, count, _)) = counts(path)
    assert isinstance(count, int)
    return count


def counts(path: str) -> tuple[dict[object, object], tuple[apsw.SQLiteValue, ...]]:
    """The common terms but for the filling, and the counts of the build."""
    rows = asked(path, "SELECT term, documents FROM common_1 WHERE term NOT GLOB 'w*'")
    (counts,) = asked(path, "SELECT chunks, counted, removed FROM build")
    return {row[0]: row[1] for row in rows}, counts


def segments(path: str) -> int:
    ((count,),) = asked(path, "SELECT count(DISTINCT segid) FROM fts_1_idx")
    assert isinstance(count, int)
    return count


def test_common_terms_are_noted_after_a_large_session(
    store: SqliteStore, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "_LEAST_CHUNKS", 2_000)
    publish(store, *documents(99))
    assert counts(path) == ({}, (1_980, 0, 0)), "too small to need it"
    write(store, *documents(11, 99))
    assert counts(path) == ({"often": 2_200}, (2_200, 2_200, 0))
    write(store, *documents(10, 110))
    assert counts(path) == ({"often": 2_200}, (2_400, 2_200, 0)), "within a tenth"
    write(store, *documents(5, 120))
    assert counts(path) == ({"often": 2_500}, (2_500, 2_500, 0))


def test_deleted_chunks_are_counted_until_terms_are_counted_again(
    store: SqliteStore, path: str
) -> None:
    publish(store, *documents(120))
    write(store, *(DeleteDocument("memory", f"{at}.md") for at in range(5)))
    write(store, *documents(5))
    assert counts(path) == ({"often": 2_400}, (2_400, 2_400, 100))
    write(store, *documents(10))
    assert counts(path) == ({"often": 2_400}, (2_400, 2_400, 0)), "replaced more than a tenth"


def test_a_large_session_leaves_the_keyword_index_in_one_piece(
    store: SqliteStore, path: str
) -> None:
    with store.writer(wait=WAIT):
        live = store.open_build("first")
        store.activate(live)
        for first in range(0, 60, 10):
            store.put_documents(live, documents(10, first))
        assert segments(path) > 1
    assert segments(path) == 1
    write(store, *documents(1, 60))
    assert segments(path) == 2, "one document is not worth it"
    assert len(search(store, words("seldom"))) == 61
    assert store.health(deep=True).problems == ()


def test_a_large_session_writes_its_log_back(
    store: SqliteStore, path: str, open_store: Callable[..., SqliteStore], tmp_path: Path
) -> None:
    publish(store, *documents(60))
    copy = str(tmp_path / "copy.sqlite")
    shutil.copyfile(path, copy)  # without the log
    assert len(held(open_store(copy))) == 60


def test_the_log_does_not_grow_without_end(store: SqliteStore, path: str) -> None:
    publish(store, *documents(25))
    sizes = []
    for _ in range(30):
        write(store, *documents(25))
        sizes.append(os.stat(f"{path}-wal").st_size)
    assert max(sizes) < 4 * sizes[0]


def test_room_is_given_back_when_much_is_free(store: SqliteStore, path: str) -> None:
    publish(store, *documents(120))
    store.close()
    full = os.stat(path).st_size
    again = type(store)(path)
    publish(again, *documents(1), identity="second")
    again.close()
    assert os.stat(path).st_size < full / 2


@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError, apsw.BusyError, apsw.CorruptError])
def test_failing_maintenance_fails_no_write(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, error: type[apsw.Error]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error("made to fail")

    monkeypatch.setattr(maintenance, "refresh_common_terms", fail)
    publish(store, *documents(2))
    write(store, make_put("a.md", "ant"))
    assert len(held(store)) == 3
    assert store.health(deep=True).problems == ()


def long_documents(first: int, number: int, revision: int) -> list[PutDocument]:
    """Documents of 20 chunks of some 300 characters, whose texts name their revision."""
    filling = " ".join(f"{revision}w{word}" for word in range(50))
    return [
        make_put(f"{at}.md", *(f"n{at} r{revision} {line} {filling}" for line in range(20)))
        for at in range(first, first + number)
    ]


def texts(store: SqliteStore) -> list[str]:
    build = live_build(store).id
    with store._database.reading() as connection:
        assert connection is not None
        ids: Any = connection.execute(f"SELECT id, 0.0 FROM chunk_{build}").fetchall()
        return sorted(hit.chunk.text for hit in rows.found(connection, build, ids))


def test_new_texts_of_a_document_take_the_room_of_its_old_ones(
    store: SqliteStore, path: str
) -> None:
    def wasted() -> float:
        sums = "SELECT sum(unused), sum(pgsize) FROM dbstat WHERE name = 'text_1'"
        ((unused, size),) = asked(path, sums)
        assert isinstance(unused, int)
        assert isinstance(size, int)
        return unused / size

    publish(store, *long_documents(0, 99, 0))
    kept = {f"{at}.md": long_documents(at, 1, 0)[0] for at in range(99)}
    before = wasted()
    shares = []
    for revision in range(1, 60):
        (put,) = long_documents(revision * 37 % 99, 1, revision)
        kept[put.path] = put
        write(store, put)
        shares.append(wasted())
    assert sum(shares) / len(shares) < before + 0.15
    assert texts(store) == sorted(one.chunk.text for put in kept.values() for one in put.chunks)
    assert len(search(store, words("r59"))) == 20
    assert store.health(deep=True).problems == ()


def test_a_build_that_is_being_filled_keeps_its_texts(store: SqliteStore, path: str) -> None:
    """However often documents of the live one are replaced meanwhile."""
    publish(store, *long_documents(0, 20, 0))
    with store.writer(wait=WAIT):
        filling = store.open_build("second")
        store.put_documents(filling, long_documents(0, 10, 0))
    for revision in range(1, 20):
        write(store, *long_documents(revision, 1, revision))
    with store.writer(wait=WAIT):
        store.put_documents(filling, long_documents(10, 10, 0))
        store.activate(filling)
    expected = sorted(one.chunk.text for put in long_documents(0, 20, 0) for one in put.chunks)
    assert texts(store) == expected
    for revision in range(1, 20):
        write(store, *long_documents(0, 10, revision))
    assert texts(store)[:1] == ["n0 r19 0 " + " ".join(f"19w{word}" for word in range(50))]
    assert len(texts(store)) == 400
    assert store.health(deep=True).problems == ()


class Hurried:
    """A clock by which every look takes a minute."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 60
        return self.now


def test_room_is_given_back_a_piece_at_a_time_where_there_is_no_time(
    store: SqliteStore, path: str
) -> None:
    publish(store, *documents(400))
    with store.writer(wait=WAIT):
        store.drop(store.builds()[0])
        connection = apsw.Connection(path, vfs=checked_vfs(""))
        free = [connection.pragma("freelist_count")]
        for _ in range(3):
            maintenance.tidy(connection, 0, clock=Hurried())
            free.append(connection.pragma("freelist_count"))
        connection.close()
    assert free == sorted(free, reverse=True)
    assert 0 < free[0] - free[1] <= 256
    store.close()


def test_a_few_documents_that_are_replaced_do_not_make_the_file_grow(
    store: SqliteStore, path: str
) -> None:
    publish(store, *documents(400, mark="r0"))
    store.close()
    full = os.stat(path).st_size
    again = type(store)(path)
    for number in (30, 200, 310):
        write(again, *documents(1, first=number, mark="r1"))
    again.close()
    assert os.stat(path).st_size <= full


def test_a_file_has_room_for_a_little_more_than_it_holds(store: SqliteStore, path: str) -> None:
    publish(store, *documents(400))
    store.close()
    connection = apsw.Connection(path, vfs=checked_vfs(""))
    size, free = connection.pragma("page_count"), connection.pragma("freelist_count")
    connection.close()
    used = size - free
    assert used // 48 <= free < used // 24
    again = type(store)(path)
    with again.writer(wait=WAIT):
        again.drop(again.builds()[0])
    again.close()
    assert os.stat(path).st_size < full_size(size, path) / 2


def full_size(pages: int, path: str) -> int:
    connection = apsw.Connection(path, vfs=checked_vfs(""))
    try:
        return pages * int(connection.pragma("page_size"))
    finally:
        connection.close()


def test_a_short_session_on_a_large_index_counts_no_common_terms(
    store: SqliteStore, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store, *documents(110))
    monkeypatch.setattr("commonplace_sqlite.maintenance._SECONDS_PER_CHUNK", 1.0)
    write(store, *documents(22, 110))
    assert counted(path) == 2_200, "it would take too long"
    monkeypatch.setattr("commonplace_sqlite.maintenance._LEAST_SECONDS", 1e6)
    write(store, *documents(1, 132))
    assert counted(path) == 2_660, "there is time"
    monkeypatch.undo()
    monkeypatch.setattr("commonplace_sqlite.maintenance._SECONDS_PER_CHUNK", 1.0)
    for first in range(133, 203, 10):
        write(store, *documents(10, first))
    assert counted(path) > 2_660, "after so much it must be"
