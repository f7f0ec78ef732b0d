"""What a store remembers of the state that it read last, and when it forgets it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.model.search import Where
from commonplace.resilience.deadline import NEVER
from commonplace.testing import make_put, publish, search, write
from commonplace.testing.base import make_append, words
from commonplace_sqlite import rows

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from commonplace.model.search import KeywordMatches
    from commonplace_sqlite.store import SqliteStore

    Open = Callable[..., SqliteStore]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many chunks were read from the file, each time that any were."""
    counts: list[int] = []
    real = rows._read

    def noting(connection: apsw.Connection, build: int, ids: list[int]) -> Any:
        counts.append(len(ids))
        return real(connection, build, ids)

    monkeypatch.setattr(rows, "_read", noting)
    return counts


def ask(store: SqliteStore, *tokens: str) -> KeywordMatches:
    return store.keyword(words(*tokens), where=Where(), limit=10, deadline=NEVER)


def test_a_chunk_is_read_once_in_one_state(store: SqliteStore, reads: list[int]) -> None:
    publish(store, make_put("a.md", "ant bee"), make_put("b.md", "ant cat"))
    search(store, words("bee"))
    assert [hit.chunk.text for hit in search(store, words("bee"))] == ["ant bee"]
    assert reads == [1]
    assert {hit.chunk.text for hit in search(store, words("ant"))} == {"ant bee", "ant cat"}
    assert reads == [1, 1]  # only the other one


def test_counts_are_those_of_the_state_that_is_searched(open_store: Open) -> None:
    store, other = open_store(), open_store()
    publish(store, make_put("a.md", "ant bee"))
    assert ask(store, "ant").holders == {"ant": 1}
    write(other, make_put("b.md", "ant cat"))
    matches = ask(store, "ant", "cat")
    assert (matches.holders, matches.chunks) == ({"ant": 2, "cat": 1}, 2)
    assert sorted(found.chunk.path for found in matches.found) == ["a.md", "b.md"]


def test_a_chunk_that_is_kept_gets_the_new_day_of_its_document(open_store: Open) -> None:
    store, other = open_store(), open_store()
    publish(store, make_put("a.md", "ant", day="2026-01-01"))
    assert [hit.chunk.day for hit in search(store, words("ant"))] == ["2026-01-01"]
    write(other, make_append("a.md", "bee", keep=1, day="2026-02-02"))
    assert [hit.chunk.day for hit in search(store, words("ant"))] == ["2026-02-02"]


def test_a_file_that_replaces_another_is_read(open_store: Open, path: str) -> None:
    store = open_store()
    publish(store, make_put("a.md", "ant of the first"))
    fresh = open_store(f"{path}.new")
    publish(fresh, make_put("a.md", "ant of the second"))
    search(store, words("ant"))
    fresh.close()
    Path(f"{path}.new").replace(path)
    for end in ("-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    assert [hit.chunk.text for hit in search(store, words("ant"))] == ["ant of the second"]


def test_the_chunks_read_longest_ago_are_forgotten_first(
    store: SqliteStore, reads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store, *(make_put(f"{name}.md", name) for name in ("ant", "bee", "cat")))
    monkeypatch.setattr(rows, "_MOST_CHARACTERS", 13)  # text and tokens of two
    for name in ("ant", "bee", "ant", "cat"):
        search(store, words(name))
    assert len(reads) == 3
    search(store, words("ant"))
    assert len(reads) == 3  # it was asked for after "bee"
    search(store, words("bee"))
    assert len(reads) == 4


def test_counts_of_too_many_tokens_are_forgotten(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store, make_put("a.md", "ant bee"))
    monkeypatch.setattr(rows, "_MOST_TOKENS", 2)
    for query in (("ant", "bee", "cat"), ("dog",), ("ant", "bee")):
        matches = ask(store, *query)
        assert matches.holders == {token: int(token in {"ant", "bee"}) for token in query}
    assert store._known is not None
    assert set(store._known.holders) == {"dog", "ant", "bee"}


def test_the_table_of_tokens_is_made_once_for_a_build(open_store: Open) -> None:
    store, other = open_store(), open_store()

    def tables() -> list[Any]:
        with store._database.reading() as connection:
            assert connection is not None
            rows: Any = connection.execute("SELECT name FROM temp.sqlite_schema")
            return [name for (name,) in rows]

    publish(store, make_put("a.md", "ant bee"))
    assert store.tokens_beginning("a", 9) == {"ant": 1}
    first = tables()
    assert len(first) == 1  # the search that made it has ended
    write(other, make_put("b.md", "ant cat"))
    assert store.tokens_beginning("a", 9) == {"ant": 2}
    assert tables() == first
    publish(other, make_put("c.md", "asp"))  # which drops the build before
    assert store.tokens_beginning("a", 9) == {"asp": 1}
    publish(store, make_put("d.md", "ape"))
    assert store.tokens_beginning("a", 9) == {"ape": 1}
    assert store.health(deep=True).problems == ()
