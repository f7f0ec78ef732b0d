from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

from commonplace.errors import IndexCorruptError
from commonplace.testing import make_put, make_vector, nearest, publish, search
from commonplace.testing.base import WAIT, words
from commonplace_sqlite.schema import checked_vfs

if TYPE_CHECKING:
    from commonplace_sqlite.store import SqliteStore

FAULTS = {
    "chunks belong to no document": "DELETE FROM document_1 WHERE path = 'a.md'",
    "chunks have no text": "DELETE FROM text_1 WHERE id = (SELECT min(id) FROM text_1)",
    "texts belong to no chunk": "DELETE FROM chunk_1 WHERE id = 1",
    "chunks are not in the keyword index": "DELETE FROM fts_1 WHERE rowid = 1",
    "entries of the keyword index belong to no chunk": "DELETE FROM chunk_1 WHERE id = 2",
    "documents have another number of chunks": "UPDATE document_1 SET chunks = 7",
    "is the error in the count of chunks": "UPDATE build SET chunks = 9",
}


@pytest.fixture
def filled(store: SqliteStore) -> SqliteStore:
    publish(store, make_put("a.md", "ant", "bee"), make_put("b.md", "ant", source="sessions"))
    store.close()
    return store


def tamper(path: str, sql: str) -> None:
    connection = apsw.Connection(path, vfs=checked_vfs(""))
    connection.execute(sql)
    connection.close()


@pytest.mark.parametrize("words", FAULTS)
def test_a_deep_check_finds_what_does_not_fit_together(
    filled: SqliteStore, path: str, words: str
) -> None:
    tamper(path, FAULTS[words])
    again = type(filled)(path)
    problems = again.health(deep=True).problems
    again.close()
    assert any(words in problem for problem in problems)
    assert all(problem.startswith("the live build: ") for problem in problems)


LOSSES = {
    "document": "DELETE FROM document_1 WHERE path {}",
    "text": "DELETE FROM text_1 WHERE id >> 24 IN (SELECT id FROM document_1 WHERE path {})",
    "chunk": "DELETE FROM chunk_1 WHERE document IN (SELECT id FROM document_1 WHERE path {})",
}


@pytest.mark.parametrize("lost", LOSSES)
def test_a_search_refuses_what_has_lost_a_row(store: SqliteStore, path: str, lost: str) -> None:
    publish(store, make_put("a.md", "ant"), make_put("b.md", "ant"))
    (build,) = store.builds()
    vectors = {digest: make_vector(1, 0) for digest, _ in store.missing_vectors(build, "space")}
    with store.writer(wait=WAIT):
        store.put_vectors(build, "space", 2, vectors)
    store.close()
    tamper(path, LOSSES[lost].format("= 'a.md'"))
    for ask in (lambda it: search(it, words("ant")), lambda it: nearest(it, make_vector(1, 0))):
        again = type(store)(path)
        with pytest.raises(IndexCorruptError, match="chunks that it does not hold"):
            ask(again)
        again.close()
    again = type(store)(path)
    with pytest.raises(IndexCorruptError):
        search(again, words("ant"))
    assert again.builds() == ()
    assert again.health().notices[0].startswith("the index was damaged (its parts do not fit")
    again.close()


def test_a_shallow_look_does_not_check(filled: SqliteStore, path: str) -> None:
    tamper(path, FAULTS["chunks have no text"])
    again = type(filled)(path)
    assert again.health().problems == ()
    again.close()


def test_the_keyword_index_is_checked_against_itself(filled: SqliteStore, path: str) -> None:
    tamper(path, "DELETE FROM fts_1_data WHERE id > 10")
    again = type(filled)(path)
    assert again.health(deep=True).problems != ()
    again.close()


def test_a_check_after_writing_sees_what_is_written_now(store: SqliteStore) -> None:
    paths = [f"n{number}.md" for number in range(150)]
    publish(store, *(make_put(path, "walrus narwhal " * 40) for path in paths))
    (build,) = store.builds()
    for round_ in range(30):
        assert store.health(deep=True).problems == (), round_
        with store.writer(wait=WAIT):
            changed = [make_put(paths[5 * round_ + i], f"seal {i} " * 200) for i in range(5)]
            store.put_documents(build, changed)


def test_a_build_that_fills_is_checked_too(filled: SqliteStore, path: str) -> None:
    again = type(filled)(path)
    with again.writer(wait=WAIT):
        again.put_documents(again.open_build("second"), [make_put("a.md", "ant")])
    again.close()
    tamper(path, "DELETE FROM text_2")
    again = type(filled)(path)
    assert again.health(deep=True).problems == ("the filling build: 1 chunks have no text",)
    again.close()


def test_counts_are_by_source(filled: SqliteStore, path: str) -> None:
    again = type(filled)(path)
    health = again.health()
    assert health.documents_by_source == (("memory", 1), ("sessions", 1))
    assert health.chunks_by_source == (("memory", 2), ("sessions", 1))
    assert health.location == path
    assert health.writable
    again.close()
