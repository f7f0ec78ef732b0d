from __future__ import annotations

import os
import stat
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import IndexUnavailableError
from commonplace.testing import make_put, publish, search, write
from commonplace.testing.base import WAIT, held, words
from commonplace_sqlite.connection import condition_of, make_file, open_file
from commonplace_sqlite.database import stamp_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import apsw

    from commonplace.model.documents import Build
    from commonplace_sqlite.store import SqliteStore


@contextmanager
def umask(mask: int) -> Iterator[None]:
    old = os.umask(mask)
    try:
        yield
    finally:
        os.umask(old)


def mode(path: str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o177, 0o777])
def test_only_the_owner_may_read_whatever_the_umask(
    open_store: Callable[..., SqliteStore], tmp_path: Path, mask: int
) -> None:
    path = str(tmp_path / "a" / "b" / "index.sqlite")
    with umask(mask):
        publish(open_store(path), make_put("a.md", "ant"))
    assert mode(os.path.dirname(path)) == 0o700
    assert mode(str(tmp_path / "a")) == 0o700
    made = os.listdir(os.path.dirname(path))
    assert {"index.sqlite", "index.sqlite-wal", "index.sqlite-shm"} <= set(made)
    for name in made:
        assert mode(os.path.join(os.path.dirname(path), name)) & 0o077 == 0, name


def test_a_folder_that_was_there_keeps_its_rights(store: SqliteStore, path: str) -> None:
    os.mkdir(os.path.dirname(path))
    os.chmod(os.path.dirname(path), 0o750)
    publish(store, make_put("a.md", "ant"))
    assert mode(os.path.dirname(path)) == 0o750


def test_a_build_that_another_process_begins_meanwhile_is_no_damage(
    store: SqliteStore, path: str
) -> None:
    publish(store, make_put("a.md", "ant"))
    with store.writer(wait=WAIT), closing(open_file(path, "read", vfs="", busy_ms=0)) as reader:
        begun: list[Build] = []

        def overtaken(_: apsw.Cursor, sql: str, __: object) -> bool:
            if "FROM build" in sql and not begun:
                begun.append(store.open_build("second"))
            return True

        reader.exec_trace = overtaken
        assert condition_of(reader, path) == "current"
    assert begun


def test_making_a_file_spares_the_one_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("text")
    make_file(str(path))
    assert path.read_text() == "text"


def test_reading_makes_no_file(store: SqliteStore, path: str) -> None:
    assert store.builds() == ()
    assert search(store, words("ant")) == []
    assert store.health().documents == 0
    assert not os.path.exists(os.path.dirname(path))


def test_closing_leaves_no_log(store: SqliteStore, path: str) -> None:
    publish(store, make_put("a.md", "ant"))
    store.close()
    assert sorted(os.listdir(os.path.dirname(path))) == ["index.sqlite", "index.sqlite.lock"]


def test_a_deleted_file_is_created_again(store: SqliteStore, path: str) -> None:
    publish(store, make_put("a.md", "ant"))
    for name in os.listdir(os.path.dirname(path)):
        os.unlink(os.path.join(os.path.dirname(path), name))
    assert store.builds() == ()
    publish(store, make_put("b.md", "bee"))
    assert set(held(store)) == {("memory", "b.md")}


def test_a_replaced_file_is_reopened(
    store: SqliteStore, open_store: Callable[..., SqliteStore], path: str, tmp_path: Path
) -> None:
    publish(store, make_put("old.md", "ant"))
    other = open_store(str(tmp_path / "other.sqlite"))
    publish(other, make_put("new.md", "ant"))
    other.close()
    for suffix in ("-wal", "-shm"):
        os.unlink(path + suffix)
    os.replace(tmp_path / "other.sqlite", path)
    assert set(held(store)) == {("memory", "new.md")}
    write(store, make_put("newer.md", "bee"))
    store.close()
    assert set(held(open_store())) == {("memory", "new.md"), ("memory", "newer.md")}


def test_the_size_counts_the_log(store: SqliteStore, path: str) -> None:
    publish(store, make_put("a.md", "ant"))
    sizes = [os.stat(path + suffix).st_size for suffix in ("", "-wal", "-shm")]
    assert store.health().size == sum(sizes)
    assert sizes[1] > 0


def test_stamps_tell_files_apart(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert stamp_of(str(path)) is None
    path.write_text("a")
    stamp, frozen = stamp_of(str(path)), stamp_of(str(path), frozen=True)
    path.write_text("ab")
    assert stamp_of(str(path)) == stamp
    assert stamp_of(str(path), frozen=True) != frozen
    (tmp_path / "new").write_text("ab")
    os.replace(tmp_path / "new", path)
    assert stamp_of(str(path)) != stamp


def asked(store: SqliteStore) -> Iterator[str]:
    """The messages to a reader and to a writer."""
    for ask in (store.builds, lambda: publish(store, make_put("a.md", "ant"))):
        with pytest.raises(IndexUnavailableError) as caught:
            ask()
        assert caught.value.hint
        yield str(caught.value)


@pytest.mark.skipif(os.name != "posix", reason="needs links and pipes")
def test_a_link_that_leads_nowhere_is_named(
    open_store: Callable[..., SqliteStore], tmp_path: Path
) -> None:
    link, target = tmp_path / "index.sqlite", tmp_path / "unmounted" / "index.sqlite"
    link.symlink_to(target)
    waiting = open_store(str(link))
    for message in asked(waiting):
        assert message == f"the index {link} is a link to {target}, which is not there"
    assert link.is_symlink()
    target.parent.mkdir()
    target.touch()
    for store in (open_store(str(link)), waiting):
        publish(store, make_put("a.md", "ant"))
        assert len(held(store)) == 1
    assert (target.parent / "index.sqlite-wal").exists()


@pytest.mark.skipif(os.name != "posix", reason="needs links and pipes")
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir] if os.name == "posix" else [])
def test_what_is_no_file_is_not_opened(
    make: Callable[[str], None], open_store: Callable[..., SqliteStore], tmp_path: Path
) -> None:
    path = str(tmp_path / "index.sqlite")
    make(path)
    for message in asked(open_store(path)):
        assert message == f"the index {path} is not a regular file"
