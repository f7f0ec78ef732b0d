"""A file that another process has locked: waiting is bounded, and said in our own words."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import IndexBusyError
from commonplace.testing import live_build, make_put, publish, search
from commonplace.testing.base import WAIT, held, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace.model.documents import Build
    from commonplace_sqlite.store import SqliteStore

LOCKER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
for statement in sys.argv[2:]:
    connection.execute(statement)
print("locked", flush=True)
sys.stdin.readline()
connection.close(True)
"""
WRITERS_OUT = ("BEGIN IMMEDIATE",)
ALL_OUT = ("PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "DELETE FROM build WHERE 0")


@contextmanager
def locked(path: str, *statements: str) -> Iterator[None]:
    """Another process holds SQLite's own locks: a backup tool, a shell, an older version."""
    with subprocess.Popen(
        [sys.executable, "-c", LOCKER, path, *statements],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield
        process.communicate("\n")


def check_words(error: IndexBusyError) -> None:
    assert "is locked by another process" in str(error)
    assert "database is locked" not in str(error)
    assert "BusyError" not in str(error)
    assert error.hint


@pytest.mark.slow
def test_who_cannot_write_reads(open_store: Callable[..., SqliteStore], path: str) -> None:
    build = publish(open_store(), make_put("a.md", "ant"))
    for store in (open_store(), open_store()):
        with locked(path, *WRITERS_OUT):
            with store.writer(wait=0):
                for change in _changes(store, build):
                    with pytest.raises(IndexBusyError) as caught:
                        change()
                    check_words(caught.value)
            assert set(held(store)) == {("memory", "a.md")}
            assert len(search(store, words("ant"))) == 1
            assert store.health(deep=True).problems == ()
        with store.writer(wait=WAIT):
            store.put_documents(live_build(store), [make_put("a.md", "ant")])


def test_an_unreadable_index_is_an_error(open_store: Callable[..., SqliteStore], path: str) -> None:
    first = open_store()
    publish(first, make_put("a.md", "ant"))
    first.close()
    store = open_store()
    with locked(path, *ALL_OUT):
        for read in (
            store.builds,
            store.documents,
            lambda: search(store, words("ant")),
            store.spaces,
            lambda: store.health(deep=True),
        ):
            with pytest.raises(IndexBusyError) as caught:
                read()
            check_words(caught.value)
        with pytest.raises(IndexBusyError) as caught, store.writer(wait=0):
            pass
        check_words(caught.value)
    assert set(held(store)) == {("memory", "a.md")}


def _changes(store: SqliteStore, build: Build) -> list[Callable[[], object]]:
    return [
        lambda: store.put_documents(build, [make_put("b.md", "bee")]),
        lambda: store.open_build("next"),
        lambda: store.activate(build),
        lambda: store.drop(build),
        lambda: store.drop_space("space"),
        lambda: store.put_vectors(build, "space", 1, {}),
    ]


def test_closing_waits_for_the_search_that_counts_terms(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without what it counts with, another search would begin to count in the midst of it."""
    publish(store, make_put("a.md", "ant"))
    assert search(store, words("ant"))
    close, counted = store._database.close, list[object]()

    def closing() -> None:
        counted.append(store._term_counter)
        close()

    monkeypatch.setattr(store._database, "close", closing)
    store.close()
    assert counted[0] is not None
    assert store._term_counter is None
