"""Damaged tables: never an empty answer; in a folder, set aside and rebuilt."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import CommonplaceError, IndexCorruptError
from commonplace.plugin import Lease
from commonplace.testing import make_put, publish, search
from commonplace.testing.base import held, words
from commonplace_lancedb import errors, maintenance
from commonplace_lancedb.errors import UnknownError, translated

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace_lancedb.store import LanceStore

pytestmark = pytest.mark.slow


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def empty(file: Path) -> None:
    os.truncate(file, 0)


def garble(file: Path) -> None:
    file.write_bytes(b"\xaa" * file.stat().st_size)


@pytest.mark.parametrize("what", ["_versions/*.manifest", "data/*.lance", "_indices/*/*.lance"])
@pytest.mark.parametrize("damage", [cut, empty, garble, Path.unlink])
def test_a_damaged_table_is_reported_set_aside_and_rebuilt(
    open_store: Callable[..., LanceStore],
    folder: str,
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Path], None],
    what: str,
) -> None:
    monkeypatch.setattr(maintenance, "_LOOSE_ROWS", 0)  # so that the index holds something
    store = open_store()
    notes = [make_put(f"{number}.md", "ant bee") for number in range(30)]
    publish(store, *notes)
    store.close()
    files = list(Path(folder).glob(f"*.lance/{what}"))
    assert files
    for file in files:
        damage(file)
    again = open_store()
    if damage is Path.unlink and "manifest" in what:
        assert again.builds() == (), "without any version there is no table"
    else:
        with pytest.raises(IndexCorruptError, match="is damaged") as caught:
            search(again, words("ant"))
        assert "commonplace index" in caught.value.hint
        (kept,) = Path(folder).glob("*.damaged-*")
        assert any(str(kept) in line for line in again.health().notices)
    assert again.builds() == ()
    publish(again, *notes)
    assert len(search(again, words("ant"))) == 30


@pytest.mark.parametrize("writer", ["main", "another agent"])
def test_a_damaged_table_is_left_while_another_process_writes(
    open_store: Callable[..., LanceStore], folder: str, writer: str
) -> None:
    for name in ("main", writer):
        store = open_store(name)
        publish(store, make_put("a.md", "ant"))
        store.close()
    for file in Path(folder).glob("*.lance/data/*.lance"):
        cut(file)
    again = open_store()
    with Lease(f"{folder}/{writer}.lock").processes(0), pytest.raises(CommonplaceError):
        held(again)
    assert not list(Path(folder).glob("*.damaged-*"))
    with pytest.raises(CommonplaceError):
        held(again)
    assert len(list(Path(folder).glob("*.damaged-*"))) == 1, "the writer is done"
    with Lease(f"{folder}/{writer}.lock").processes(0):
        pass  # it was let go of


def test_what_another_process_has_rebuilt_meanwhile_is_not_set_aside(
    open_store: Callable[..., LanceStore], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    publish(store, make_put("a.md", "ant"))
    answers = iter([True, False])
    monkeypatch.setattr(store._database, "is_latest", lambda: next(answers))
    with pytest.raises(IndexCorruptError), store._repairing():
        raise errors.damaged(store._location)
    assert not list(Path(folder).glob("*.damaged-*"))
    assert len(search(store, words("ant"))) == 1


def test_damage_is_seen_whatever_words_lancedb_finds_for_it(
    open_store: Callable[..., LanceStore], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, "_KINDS", ())
    for what in ("_versions/*.manifest", "data/*.lance"):
        store = open_store()
        publish(store, make_put("a.md", "ant"))
        store.close()
        for file in Path(folder).glob(f"*.lance/{what}"):
            cut(file)
        again = open_store()
        with pytest.raises(IndexCorruptError, match="is damaged"):
            search(again, words("ant"))
        publish(again, make_put("a.md", "ant"))
        assert len(search(again, words("ant"))) == 1
        again.close()
    assert len(list(Path(folder).glob("*.damaged-*"))) == 2


def test_of_damaged_tables_two_stay_until_the_older_one_is_deleted_by_its_fix(
    open_store: Callable[..., LanceStore], folder: str
) -> None:
    for number in range(4):
        store = open_store()
        publish(store, make_put(f"{number}.md", "ant"))
        store.close()
        for file in Path(folder).glob("*.lance/data/*.lance"):
            cut(file)
        with pytest.raises(IndexCorruptError):
            search(open_store(), words("ant"))
        kept = sorted(Path(folder).glob("*.damaged-2*"))
        assert len(kept) == min(2, number + 1)
        assert all(any(one.glob("data/*.lance")) for one in kept)
    store = open_store()
    (finding,) = store.health(deep=True).findings
    assert (finding.state, finding.name) == ("warning", "set aside")
    assert finding.text.startswith("2 damaged indexes are kept")
    assert finding.fix is not None
    assert finding.fix.run is not None
    assert finding.fix.run().startswith("deleted 1 damaged index, kept ")
    (finding,) = store.health(deep=True).findings
    assert (finding.state, len(list(Path(folder).glob("*.damaged-*")))) == ("ok", 1)
    assert kept[-1].is_dir()


def test_a_failure_of_which_nothing_is_known_is_no_damage(store: LanceStore, folder: str) -> None:
    publish(store, make_put("a.md", "ant"))
    with pytest.raises(UnknownError), store._repairing(), translated(store._location):
        raise RuntimeError("the moon is in the wrong house")
    assert not list(Path(folder).glob("*.damaged-*"))
    assert len(search(store, words("ant"))) == 1


def test_a_file_that_may_not_be_opened_is_no_damage(
    store: LanceStore, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store, make_put("a.md", "ant"))
    for file in Path(folder).glob("*.lance/data/*.lance"):
        cut(file)

    def refuse(*_: object) -> int:
        raise PermissionError

    monkeypatch.setattr("commonplace_lancedb.database.os.open", refuse)
    assert not store._database.is_unreadable()
    monkeypatch.undo()
    assert store._database.is_unreadable()
