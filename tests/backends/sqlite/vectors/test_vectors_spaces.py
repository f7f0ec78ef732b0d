from __future__ import annotations

from contextlib import closing
from random import Random
from typing import TYPE_CHECKING

import apsw
import pytest

from commonplace.model.chunks import DeleteDocument
from commonplace.testing import live_build, make_put, publish, write
from commonplace.testing.base import WAIT, attach, make_vector, nearest
from commonplace_sqlite.schema import PAGE_SIZE, checked_vfs
from commonplace_sqlite.vectors.stored import head_bytes

if TYPE_CHECKING:
    from commonplace.model.chunks import PutDocument
    from commonplace_sqlite.store import SqliteStore

pytestmark = pytest.mark.slow

DIMS = 400
CUT = 1_024
"""Dimensions of vectors that are stored in two parts."""


def asked(path: str, sql: str) -> list[tuple[apsw.SQLiteValue, ...]]:
    with closing(
        apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY, vfs=checked_vfs(""))
    ) as connection:
        return connection.execute(sql).fetchall()


def pages(path: str, table: str) -> object:
    ((count,),) = asked(path, f"SELECT count(*) FROM dbstat WHERE name = '{table}'")
    return count


_TAKEN = "SELECT sum(pgsize) FROM dbstat WHERE name IN ('vector', 'vector_tail')"


def document(number: int, revision: int = 0, size: int = 17) -> PutDocument:
    return make_put(f"{number}.md", *(f"{number} {place} {revision}" for place in range(size)))


def embed(store: SqliteStore, dims: int = DIMS) -> dict[str, bytes]:
    live = live_build(store)
    dice = Random(7)
    texts = store.missing_vectors(live, "space")
    vectors = {d: make_vector(*dice.choices(range(1, 9), k=dims)) for d, _ in texts}
    attach(store, live, "space", vectors, dims)
    return vectors


@pytest.mark.parametrize("dims", [DIMS, CUT])
def test_vectors_take_the_rows_of_deleted_ones(store: SqliteStore, path: str, dims: int) -> None:
    publish(store, *map(document, range(40)))
    embed(store, dims)
    before = {table: pages(path, table) for table in ("vector", "vector_tail", "code_1")}
    for revision in range(1, 4):
        for number in range(0, 40, 3):
            write(store, document(number, revision))
            embed(store, dims)
    assert {table: pages(path, table) for table in before} == before
    assert asked(path, "SELECT count(*) FROM vector") == [(40 * 17,)]
    assert store.health(deep=True).problems == ()


def test_few_rows_are_kept_for_vectors_to_come(store: SqliteStore, path: str) -> None:
    publish(store, *map(document, range(40)))
    embed(store)
    write(store, *(DeleteDocument("memory", f"{number}.md") for number in range(30)))
    assert asked(path, "SELECT count(*) FROM vector WHERE space > 0") == [(170,)]
    assert asked(path, "SELECT count(*) FROM vector WHERE space < 0") == [(64 + 40 * 17 // 8,)]
    assert asked(path, "SELECT count(*) FROM code_1 WHERE document <= 30") == [(0,)]
    assert store.health(deep=True).problems == ()
    store.close()


def test_a_text_deleted_twice_leaves_one_row(store: SqliteStore, path: str) -> None:
    publish(store, document(1), document(2))
    embed(store)
    for _ in range(3):
        write(store, DeleteDocument("memory", "1.md"))
        write(store, document(1))
        embed(store)
    assert asked(path, "SELECT count(*) FROM vector") == [(34,)]
    with store.writer(wait=WAIT):
        store.drop_space("space")
    assert asked(path, "SELECT count(*) FROM vector") == [(0,)]


def test_nothing_is_kept_of_a_space_that_nothing_uses(store: SqliteStore, path: str) -> None:
    publish(store, document(1))
    embed(store)
    write(store, DeleteDocument("memory", "1.md"))
    assert asked(path, "SELECT count(*) FROM vector") == [(0,)]
    assert store.spaces() == ()


def test_a_document_that_waits_for_its_vectors_is_not_found(store: SqliteStore) -> None:
    publish(store, document(1), document(2, size=3))
    embed(store)
    write(store, document(1, 1))
    query = make_vector(*[1] * DIMS)
    found = [hit.chunk.path for hit in nearest(store, query).found]
    assert found == ["2.md"] * 3
    assert store.health(deep=True).problems == ()


@pytest.mark.parametrize(
    ("dims", "share"),
    [(256, 1.1), (384, 1.1), (512, 1.1), (768, 1.1), (1024, 1.1), (1536, 1.1), (3072, 1.2)],
)
def test_vectors_fill_their_pages(store: SqliteStore, path: str, dims: int, share: float) -> None:
    publish(store, *map(document, range(1_500_000 // dims // 17)))
    vectors = embed(store, dims)
    ((taken,),) = asked(path, _TAKEN)
    assert isinstance(taken, int)
    assert taken <= share * sum(map(len, vectors.values())) + 4 * PAGE_SIZE
    ids = [found.chunk.id for found in nearest(store, make_vector(*[1] * dims)).found]
    assert sorted(store.vectors("space", ids).values()) == sorted(vectors.values())


@pytest.mark.parametrize("dims", [1, 768, 1024, 1536, 4096, 5000])
def test_a_cut_leaves_whole_numbers_on_both_sides(dims: int) -> None:
    end = head_bytes(dims)
    assert end % 4 == 0
    assert 0 < end <= 4 * dims


def test_a_deep_check_finds_a_vector_without_its_end(store: SqliteStore, path: str) -> None:
    publish(store, document(1))
    embed(store, CUT)
    with closing(apsw.Connection(path, vfs=checked_vfs(""))) as connection:
        connection.execute("UPDATE vector_tail SET id = id + 99 WHERE id = 3")
    assert store.health(deep=True).problems == (
        "the live build: 1 vectors have another length than their space",
        "the live build: 1 ends of vectors belong to no vector",
    )


def test_the_ends_of_vectors_go_with_them(store: SqliteStore, path: str) -> None:
    publish(store, document(1))
    embed(store, CUT)
    assert asked(path, "SELECT count(*) FROM vector_tail") == [(17,)]
    with store.writer(wait=WAIT):
        store.drop_space("space")
    assert asked(path, "SELECT count(*) FROM vector_tail") == [(0,)]
