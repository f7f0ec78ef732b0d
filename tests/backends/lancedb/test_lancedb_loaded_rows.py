"""Rows in memory answer as the table does, and of a newer version only what is new is read."""

from __future__ import annotations

import shutil
import threading
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.model.chunks import DeleteDocument
from commonplace.model.search import KeywordQuery, Where
from commonplace.protocols.contexts import StoreContext
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.testing import make_put, publish, search, write
from commonplace.testing.base import (
    EVERYWHERE,
    attach,
    digests,
    live_build,
    make_vector,
    nearest,
    places,
    words,
)
from commonplace.testing.base import held as documents_of
from commonplace_lancedb import maintenance, rows
from commonplace_lancedb.loading import RowLoader
from commonplace_lancedb.plugin import make_store
from commonplace_lancedb.settings import LanceSettings, location_of
from commonplace_lancedb.store import LanceStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commonplace_lancedb.loaded_rows import LoadedRows

loaded_rows = pytest.importorskip(
    "commonplace_lancedb.loaded_rows", reason="needs the extra lancedb"
)
pytestmark = pytest.mark.slow

PLENTY = 1_000_000_000


@pytest.fixture
def open_loading(lancedb_installed: None, folder: str) -> Iterator[Callable[..., LanceStore]]:
    """Opens stores in ``folder`` that hold rows in memory; closes them after the test."""
    opened: list[LanceStore] = []

    def make(name: str = "main", held_bytes: int = PLENTY) -> LanceStore:
        location = location_of(f"{folder}/{name}.sqlite", LanceSettings(uri=folder))
        opened.append(LanceStore(location, held_bytes=held_bytes))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Maintenance is due at every opportunity, and makes all addresses new."""
    for name, value in {"_LOOSE_ROWS": 0, "_MOST_FRAGMENTS": 0, "_SCALAR_FROM": 1}.items():
        monkeypatch.setattr(maintenance, name, value)


def in_memory(store: LanceStore) -> LoadedRows | None:
    snapshot = store._database.latest()
    assert snapshot is not None
    return snapshot.loaded_rows()


def test_a_newer_version_costs_what_is_new_in_it(
    open_loading: Callable[..., LanceStore],
    open_store: Callable[..., LanceStore],
    read: list[tuple[int, tuple[str, ...]]],
) -> None:
    other, reader = open_store(), open_loading()
    publish(other, *(make_put(f"{number}.md", "ant bee") for number in range(50)))
    assert len(search(reader, words("ant"))) == 50
    assert any(set(rows.TEXTS) <= set(columns) for _, columns in read)
    read.clear()
    assert len(search(reader, words("bee"))) == 50
    assert read == [], "nothing is new"
    write(other, make_put("new.md", "ant cat"))
    assert places(search(reader, words("cat")))[0][1] == "new.md"
    assert len(search(reader, words("ant"))) == 51
    # One row tells that the table is the same; the new ones are the head, the document, the chunk.
    assert [rows for rows, _ in read] == [1, 3]


def test_what_is_deleted_or_replaced_elsewhere_is_not_found(
    open_loading: Callable[..., LanceStore], open_store: Callable[..., LanceStore]
) -> None:
    other, reader = open_store(), open_loading()
    publish(other, *(make_put(f"{number}.md", "ant") for number in range(10)))
    assert len(search(reader, words("ant"))) == 10
    write(other, DeleteDocument("memory", "3.md"), make_put("4.md", "bee"))
    assert len(search(reader, words("ant"))) == 8
    assert len(search(reader, words("bee"))) == 1
    assert len(documents_of(reader)) == 9
    assert reader.health(deep=True).problems == ()


@pytest.mark.parametrize("tail", [0, 5_000])
@pytest.mark.usefixtures("eager")
def test_vectors_put_again_elsewhere_count_once_files_were_merged(
    open_loading: Callable[..., LanceStore],
    open_store: Callable[..., LanceStore],
    monkeypatch: pytest.MonkeyPatch,
    tail: int,
) -> None:
    monkeypatch.setattr(loaded_rows, "_TAIL", tail)
    other, reader = open_store(), open_loading()
    puts = [make_put(f"{number}.md", f"ant n{number}") for number in range(20)]
    build = publish(other, *puts)
    east, north = make_vector(1, 0, 0), make_vector(0, 1, 0)
    attach(other, build, "space", dict.fromkeys(digests(puts), east))
    assert len(nearest(reader, east, limit=30).found) == 20
    attach(other, build, "space", {digests(puts)[7]: north})
    first, *others = nearest(reader, north, limit=30).found
    assert first.chunk.path == "7.md"
    assert first.score == pytest.approx(1.0)
    assert [found.score for found in others] == pytest.approx([0.0] * 19)
    assert len(search(reader, words("ant"))) == 20


@pytest.mark.usefixtures("eager")
def test_texts_are_kept_where_files_were_merged(
    open_loading: Callable[..., LanceStore],
    open_store: Callable[..., LanceStore],
    monkeypatch: pytest.MonkeyPatch,
    read: list[tuple[int, tuple[str, ...]]],
) -> None:
    monkeypatch.setattr(loaded_rows, "_TAIL", 10)
    other, reader = open_store(), open_loading()
    publish(other, *(make_put(f"{number}.md", f"ant n{number}") for number in range(50)))
    assert len(search(reader, words("ant"))) == 50
    read.clear()
    write(other, make_put("new.md", "ant new"))
    assert len(search(reader, words("ant"))) == 51
    assert places(search(reader, words("n49")))[0][1] == "49.md"
    assert sum(rows for rows, columns in read if "text" in columns) < 10


def test_a_table_made_in_the_place_of_another_is_read_from_the_beginning(
    open_loading: Callable[..., LanceStore], open_store: Callable[..., LanceStore], folder: str
) -> None:
    other, reader = open_store(), open_loading()
    publish(other, make_put("old.md", "ant"), make_put("older.md", "ant"))
    assert len(search(reader, words("ant"))) == 2
    snapshot = reader._database.latest()
    assert snapshot is not None
    before = snapshot._table.version
    other.close()
    shutil.rmtree(folder)
    another = open_store()
    publish(another, make_put("new.md", "ant"), make_put("newer.md", "ant bee"))
    number = 0
    while another._database.table().version <= before:
        number += 1
        write(another, make_put(f"{number}.md", "cat"))
    assert {place[1] for place in places(search(reader, words("ant")))} == {"new.md", "newer.md"}
    assert documents_of(reader).keys() == documents_of(another).keys()


def test_rows_of_others_are_not_held(open_loading: Callable[..., LanceStore]) -> None:
    mine, theirs = open_loading("mine"), open_loading("theirs")
    publish(mine, make_put("a.md", "ant bee"))
    publish(theirs, *(make_put(f"{number}.md", "ant") for number in range(20)))
    assert len(search(mine, words("ant"))) == 1
    publish(theirs, make_put("more.md", "ant"), identity="second")
    assert len(search(mine, words("ant"))) == 1
    rows = in_memory(mine)
    assert rows is not None
    assert len(rows.addresses[rows.mask(None, "chunk")]) == 1


def test_rows_of_a_build_that_were_left_behind_are_found_in_memory(
    open_loading: Callable[..., LanceStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_loading()
    old = publish(store, make_put("a.md", "ant"), identity="old")
    with monkeypatch.context() as patched:
        patched.setattr(maintenance, "forget_builds", lambda *_: None)
        publish(store, make_put("b.md", "ant"), identity="new")
    snapshot = store._database.latest()
    assert snapshot is not None
    assert snapshot.orphans() == [old.id]


def test_what_does_not_fit_is_not_held(open_loading: Callable[..., LanceStore]) -> None:
    store = open_loading(held_bytes=1)
    build = publish(store, make_put("a.md", "ant"))
    attach(store, build, "space", dict.fromkeys(digests([make_put("a.md", "ant")]), _unit()))
    assert in_memory(store) is None
    assert len(search(store, words("ant"))) == len(nearest(store, _unit()).found) == 1


def _unit() -> bytes:
    return make_vector(1, 0, 0)


def test_who_cannot_wait_asks_the_table_meanwhile(
    open_loading: Callable[..., LanceStore],
    open_store: Callable[..., LanceStore],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    publish(open_store(), make_put("a.md", "ant"))
    reader, may = open_loading(), threading.Event()
    whole = RowLoader._load

    def late(*arguments: Any) -> None:
        may.wait(30)
        whole(*arguments)

    monkeypatch.setattr(RowLoader, "_load", late)
    monkeypatch.setattr("commonplace_lancedb.loading._PATIENCE", 0.001)

    def asked() -> int:
        soon = Deadline.after(20)
        return len(reader.keyword(words("ant"), where=EVERYWHERE, limit=5, deadline=soon).found)

    assert asked() == 1
    loader: Any = reader._database._loader
    assert [loader.started] == [False]
    may.set()
    loader._job.join(30)
    assert [loader.started] == [True], "it was read on for the searches that follow"
    assert asked() == 1


def test_where_it_is_uncertain_which_rows_have_no_index_lance_looks_for_them(
    open_loading: Callable[..., LanceStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_loading()
    publish(store, make_put("a.md", "ant"), make_put("b.md", "ant bee"))
    monkeypatch.setattr(loaded_rows.LoadedRows, "chunks_among_last", lambda *_: None)
    write(store, make_put("c.md", "ant"))
    assert len(search(store, words("ant"))) == 3


def test_rows_are_held_of_a_bucket_alone(lancedb_installed: None, folder: str) -> None:
    def holds(**settings: Any) -> bool:
        config = LanceSettings(**settings)
        store: Any = make_store(StoreContext(path="main.sqlite", config=config))
        return store._database._loader is not None

    assert holds(uri="s3://bucket/x")
    assert not holds(uri=folder)
    assert not holds(uri="db://name")
    assert not holds(uri="s3://bucket/x", held_megabytes=0)


@pytest.mark.parametrize("seed", range(4))
def test_in_memory_and_in_the_table_the_same_is_found(
    open_loading: Callable[..., LanceStore],
    open_store: Callable[..., LanceStore],
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    chance = Random(seed)
    monkeypatch.setattr(maintenance, "_MOST_FRAGMENTS", chance.randint(1, 12))
    far = seed % 2 == 0  # then the last files alone are merged most of the time
    monkeypatch.setattr(maintenance, "_is_far", lambda _: far)
    monkeypatch.setattr(maintenance, "_LOOSE_ROWS", chance.choice([0, 2_000]))
    monkeypatch.setattr(maintenance, "_SCALAR_FROM", chance.choice([1, 5_000]))
    monkeypatch.setattr(loaded_rows, "_TAIL", chance.choice([0, 10, 5_000]))
    monkeypatch.setattr(loaded_rows, "_PARTS", chance.choice([1, 3, 24]))
    writers = [open_store(), open_loading()]
    plain, reader = open_store(), open_loading()
    names = "ant", "bee", "cat", "dog", "elk"

    def text() -> str:
        return " ".join(chance.choices(names, k=chance.randint(1, 6)))

    publish(writers[0], *(make_put(f"{number}.md", text(), text()) for number in range(30)))
    for _ in range(25):
        writer = chance.choice(writers)
        path = f"{chance.randrange(40)}.md"
        match chance.randrange(4):
            case 0:
                write(writer, DeleteDocument("memory", path))
            case 1 | 2:
                write(writer, make_put(path, text(), day=chance.choice([None, "2026-01-02"])))
            case _:
                build = live_build(writer)
                missing = [digest for digest, _ in writer.missing_vectors(build, "space")]
                some = chance.sample(missing, min(3, len(missing)))
                if some:
                    attach(writer, build, "space", {one: random_unit(chance) for one in some})
        if chance.random() < 0.6:
            query = words(*chance.sample(names, 2))
            where = chance.choice([Where(), Where(paths=("1*.md",)), Where(after="2026-01-01")])
            assert asked(reader, query, where) == asked(plain, query, where)
            vector = random_unit(chance)
            one, other = nearest(reader, vector, where), nearest(plain, vector, where)
            assert places(one.found) == places(other.found)
            assert one.exact
            assert documents_of(reader) == documents_of(plain)
    assert reader.health(deep=True).problems == ()


def asked(store: LanceStore, query: KeywordQuery, where: Where) -> Any:
    return store.keyword(query, where=where, limit=20, deadline=NEVER)


def random_unit(chance: Random) -> bytes:
    return make_vector(*(chance.gauss(0, 1) for _ in range(3)))
