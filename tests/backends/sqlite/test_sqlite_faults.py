from __future__ import annotations

import shutil
from contextlib import suppress
from itertools import count, takewhile
from typing import TYPE_CHECKING, Any, cast

import apsw
import pytest

from commonplace.errors import (
    IndexBusyError,
    IndexReadOnlyError,
    IndexUnavailableError,
    UnavailableError,
)
from commonplace.model.chunks import DeleteDocument
from commonplace.testing import make_put, publish, search, write
from commonplace.testing.base import WAIT, held, places, words
from commonplace_sqlite.failures import translate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.faults.faulty_vfs import Fault, FaultyVFS

    from commonplace_sqlite.store import SqliteStore

pytestmark = pytest.mark.slow

FAULTS: tuple[Fault, ...] = ("full", "io", "short")
OLD = (make_put("a.md", "ant bee", "cat"), make_put("b.md", "ant"), make_put("c.md", "dog"))
NEW = (
    make_put("a.md", "ant ant", "eel"),
    DeleteDocument("memory", "b.md"),
    make_put("d.md", "ant"),
)


def seen(store: SqliteStore) -> object:
    """All that a user can see of a store, but for ids and scores."""
    found = search(store, words("ant", "bee", "cat", "dog", "eel"))
    texts = [hit.chunk.text for hit in found]
    return held(store), sorted(places(found)), sorted(texts)


def change(store: SqliteStore) -> None:
    write(store, *NEW)


def rebuild(store: SqliteStore) -> None:
    publish(store, *NEW, identity="second")


def failing_everywhere(attempt: Callable[[int], bool]) -> None:
    """Let ``attempt`` fail at its first operation, then at the second, until none fails.

    It is given the number of the operation, and returns whether it got that far.
    """
    assert sum(1 for _ in takewhile(attempt, count(1))) > 5, "nothing much was written"


def one_line(error: IndexUnavailableError) -> bool:
    return "\n" not in str(error) and bool(error.hint)


@pytest.fixture
def faulty_store(open_store: Callable[..., SqliteStore], faulty_vfs: FaultyVFS) -> SqliteStore:
    store = open_store(vfs=faulty_vfs.name)
    publish(store, *OLD)
    return store


@pytest.mark.parametrize("action", [change, rebuild])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_disk_changes_all_or_nothing(
    faulty_store: SqliteStore,
    faulty_vfs: FaultyVFS,
    fault: Fault,
    action: Callable[[SqliteStore], None],
) -> None:
    before = seen(faulty_store)
    raised: list[IndexUnavailableError] = []

    def attempt(at: int) -> bool:
        faulty_vfs.fail(at, fault)
        try:
            action(faulty_store)
        except IndexUnavailableError as error:
            raised.append(error)
            failed = faulty_vfs.heal()
            assert seen(faulty_store) == before
        else:
            failed = faulty_vfs.heal()
            if failed:  # in maintenance alone: the change itself is there
                publish(faulty_store, *OLD)
        return failed

    failing_everywhere(attempt)
    assert raised
    assert all(map(one_line, raised))
    assert seen(faulty_store) != before
    assert faulty_store.health(deep=True).problems == ()


@pytest.mark.parametrize("action", [change, rebuild])
@pytest.mark.parametrize("fault", ["io", "short"])
def test_a_crash_leaves_all_or_nothing(
    open_store: Callable[..., SqliteStore],
    faulty_vfs: FaultyVFS,
    tmp_path: Path,
    fault: Fault,
    action: Callable[[SqliteStore], None],
) -> None:
    template = str(tmp_path / "template")
    old = open_store(template)
    publish(old, *OLD)
    before = seen(old)
    old.close()
    shutil.copyfile(template, tmp_path / "changed")
    new = open_store(str(tmp_path / "changed"))
    action(new)
    after = seen(new)
    new.close()

    def attempt(at: int) -> bool:
        path = str(tmp_path / str(at))
        shutil.copyfile(template, path)
        store = open_store(path, vfs=faulty_vfs.name)
        faulty_vfs.fail(at, fault, lasting=True)
        with suppress(UnavailableError):
            action(store)
        store.close()  # which can write nothing any more
        crashed = faulty_vfs.heal()
        again = open_store(path)
        assert seen(again) in ([before, after] if crashed else [after])
        assert again.health(deep=True).problems == ()
        assert again.health().notices == ()
        action(again)
        assert seen(again) == after
        again.close()
        return crashed

    failing_everywhere(attempt)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_can_be_created_after_every_failure_to_create_it(
    open_store: Callable[..., SqliteStore], faulty_vfs: FaultyVFS, tmp_path: Path, fault: Fault
) -> None:
    def attempt(at: int) -> bool:
        store = open_store(str(tmp_path / f"{at}.sqlite"), vfs=faulty_vfs.name)
        faulty_vfs.fail(at, fault)
        with suppress(IndexUnavailableError):
            publish(store, *OLD)
        failed = faulty_vfs.heal()
        publish(store, *OLD, identity="again")
        assert len(held(store)) == 3
        assert store.health(deep=True).problems == ()
        store.close()
        return failed

    failing_everywhere(attempt)


def test_a_full_disk_is_named(faulty_store: SqliteStore, faulty_vfs: FaultyVFS) -> None:
    faulty_vfs.fail(1, "full", lasting=True)
    with pytest.raises(IndexUnavailableError, match="the disk is full") as caught:
        change(faulty_store)
    assert "free some space" in caught.value.hint


def io_error(code: int) -> apsw.IOError:
    """What SQLite raises with ``code``."""
    error: Any = apsw.IOError("disk I/O error")
    error.extendedresult = code
    return cast("apsw.IOError", error)


@pytest.mark.parametrize(("free", "said"), [(0, "the disk is full"), (1 << 30, "cannot be used")])
def test_an_error_of_writing_means_a_full_disk_where_nothing_is_free(
    free: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # SQLite's file beside the log cannot grow, or what is written at once is only put off.
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=free))
    for code in (apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_WRITE):
        assert said in str(translate(io_error(code), "/x/index.sqlite"))
    reading = io_error(apsw.SQLITE_IOERR_READ)
    assert "cannot be used" in str(translate(reading, "/x/index.sqlite"))


@pytest.mark.parametrize(("free", "said"), [(0, "the disk is full"), (1 << 30, "it is read-only")])
def test_the_notice_of_an_index_that_cannot_be_written_names_a_full_disk(
    free: int,
    said: str,
    faulty_store: SqliteStore,
    open_store: Callable[..., SqliteStore],
    faulty_vfs: FaultyVFS,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faulty_store.close()
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=free))
    faulty_vfs.read_only = True
    store = open_store(vfs=faulty_vfs.name)
    assert len(held(store)) == 3
    assert store.health().notices[0].endswith(f"cannot be written: {said}")


def test_reading_goes_on_while_nothing_can_be_written(
    faulty_store: SqliteStore, faulty_vfs: FaultyVFS
) -> None:
    before = seen(faulty_store)
    faulty_vfs.fail(1, "full", lasting=True)
    for _ in range(3):
        with pytest.raises(IndexUnavailableError):
            change(faulty_store)
        assert seen(faulty_store) == before


def test_a_disk_that_cannot_be_read_is_an_error_and_may_heal(
    open_store: Callable[..., SqliteStore], faulty_vfs: FaultyVFS
) -> None:
    store = open_store(vfs=faulty_vfs.name)
    publish(store, *OLD)
    before = seen(store)
    store.close()
    store = open_store(vfs=faulty_vfs.name)
    faulty_vfs.fail_reads = True
    for question in (store.builds, store.documents, lambda: search(store, words("ant"))):
        with pytest.raises(IndexUnavailableError, match="cannot be used"):
            question()
    faulty_vfs.heal()
    assert seen(store) == before


def test_a_read_only_file_is_searched_and_not_written(
    faulty_store: SqliteStore, open_store: Callable[..., SqliteStore], faulty_vfs: FaultyVFS
) -> None:
    before = seen(faulty_store)
    faulty_store.close()
    faulty_vfs.read_only = True
    store = open_store(vfs=faulty_vfs.name)
    assert seen(store) == before
    with pytest.raises(IndexReadOnlyError, match="cannot be written") as caught:
        change(store)
    assert "writable" in caught.value.hint
    health = store.health(deep=True)
    assert not health.writable
    assert health.problems == ()
    assert any("the index cannot be updated" in notice for notice in health.notices)
    assert seen(store) == before


def test_a_read_only_file_becomes_writable_again(
    faulty_store: SqliteStore, open_store: Callable[..., SqliteStore], faulty_vfs: FaultyVFS
) -> None:
    faulty_store.close()
    faulty_vfs.read_only = True
    store = open_store(vfs=faulty_vfs.name)
    with pytest.raises(IndexReadOnlyError):
        change(store)
    faulty_vfs.heal()
    change(store)
    store.close()
    assert set(held(open_store())) == {("memory", "a.md"), ("memory", "c.md"), ("memory", "d.md")}


def test_without_a_file_and_without_rights_memory_serves(
    open_store: Callable[..., SqliteStore], faulty_vfs: FaultyVFS
) -> None:
    faulty_vfs.read_only = True
    store = open_store(vfs=faulty_vfs.name)
    assert store.builds() == ()
    publish(store, *OLD)
    before = seen(store)
    change(store)
    assert seen(store) != before
    health = store.health(deep=True)
    assert (health.location, health.size, health.writable) == ("", 0, True)
    assert health.documents == 3
    assert any("lost when this process ends" in notice for notice in health.notices)
    store.close()
    with pytest.raises(IndexUnavailableError, match="closed"):
        store.builds()


def test_a_file_locked_for_too_long_is_busy(
    open_store: Callable[..., SqliteStore], path: str
) -> None:
    store = open_store()
    publish(store, *OLD)
    before = seen(store)
    other = apsw.Connection(path)
    other.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(IndexBusyError, match="locked"):
            change(store)
        assert seen(store) == before
        other.execute("ROLLBACK")
        change(store)
    finally:
        other.close()
    assert seen(store) != before


def test_an_error_in_a_session_does_not_end_the_store(faulty_store: SqliteStore) -> None:
    before = seen(faulty_store)
    with pytest.raises(ZeroDivisionError), faulty_store.writer(wait=WAIT):
        raise ZeroDivisionError
    with pytest.raises(IndexUnavailableError, match="there is no build"):
        faulty_store.documents(publish(faulty_store, *OLD)._replace(id=99))
    assert seen(faulty_store) == before
