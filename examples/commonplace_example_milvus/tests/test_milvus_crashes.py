"""A writer that does not come to its end leaves what was there before, and nothing besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.plugin import DeleteDocument
from commonplace.testing import (
    WAIT,
    attach,
    held,
    live_build,
    make_chunk,
    make_put,
    make_vector,
    nearest,
    places,
    publish,
    search,
    words,
    write,
)
from commonplace_example_milvus.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable

    from commonplace_example_milvus.store import MilvusStore


_A, _B = make_chunk("ant"), make_chunk("bee", line=2)
_EAST = make_vector(1, 0, 0)


class PowerCutError(Exception):
    """The end of a process, as far as what it still would have done goes."""


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Callable[[], None]]:
    """Let only so many requests that write come through; the answer undoes it."""

    def cut_after(requests: int) -> Callable[[], None]:
        left = [requests]

        def counted(method: Callable[..., None]) -> Callable[..., None]:
            def call(*args: Any) -> None:
                if not left[0]:
                    raise PowerCutError
                left[0] -= 1
                method(*args)

            return call

        for name in ("create", "drop", "insert", "upsert", "delete"):
            monkeypatch.setattr(Database, name, counted(getattr(Database, name)))
        return monkeypatch.undo

    return cut_after


@pytest.mark.parametrize("requests", range(8))
def test_a_batch_that_was_cut_off_is_there_as_a_whole_or_not_at_all(
    requests: int,
    opened: Callable[..., MilvusStore],
    cut: Callable[[int], Callable[[], None]],
) -> None:
    store = opened()
    build = publish(store, make_put("a.md", _A), make_put("b.md", _B))
    attach(store, build, "space", {_A.digest: _EAST})
    undo = cut(requests)
    try:
        write(store, make_put("a.md", "ant cat", _A), DeleteDocument("memory", "b.md"))
        finished = True
    except PowerCutError:
        finished = False
    undo()
    store.close()

    again = opened()
    before, after = {"a.md", "b.md"}, {"a.md"}
    there = {path for _, path in held(again)}
    assert there in ((after,) if finished else (before, after))
    chunks = again.health(deep=True)
    assert chunks.chunks == 2
    assert chunks.problems == ()
    assert len(search(again, words("ant", "bee"))) == 2
    assert len(nearest(again, _EAST).found) == 1
    # And on what is left of it others can write.
    write(again, make_put("c.md", "ant dog"))
    assert {path for _, path in held(again)} == there | {"c.md"}
    assert len(search(again, words("ant"))) == (2 if there == before else 3)
    assert again.health(deep=True).problems == ()


@pytest.mark.parametrize("requests", range(6))
def test_a_space_that_was_cut_off_is_there_as_a_whole_or_not_at_all(
    requests: int,
    opened: Callable[..., MilvusStore],
    cut: Callable[[int], Callable[[], None]],
) -> None:
    store = opened()
    build = publish(store, make_put("a.md", _A, _B))
    undo = cut(requests)
    try:
        attach(store, build, "space", dict.fromkeys((_A.digest, _B.digest), _EAST))
        finished = True
    except PowerCutError:
        finished = False
    undo()
    store.close()
    again = opened()
    assert [info.covered for info in again.spaces()] in ([[2]] if finished else [[], [2]])
    attach(again, live_build(again), "space", {_A.digest: _EAST})
    attach(again, live_build(again), "other", {_B.digest: _EAST})
    assert {info.space for info in again.spaces()} == {"space", "other"}


def test_nothing_is_left_of_what_was_replaced_or_dropped(
    opened: Callable[..., MilvusStore],
) -> None:
    store = opened()
    for number in range(3):
        build = publish(store, make_put("a.md", _A), make_put("b.md", _B), identity=str(number))
        attach(store, build, "space", dict.fromkeys((_A.digest, _B.digest), _EAST))
    write(store, make_put("a.md", "cat"), DeleteDocument("memory", "b.md"))
    with store.writer(wait=WAIT):
        store.drop_space("space")
    write(store)
    write(store, make_put("c.md", "dog"))
    database = store._database
    assert sorted(database.names()) == ["_chunks", "_log"]
    assert database.count("_chunks", "") == 2
    # The two documents, and the commit.
    assert database.count("_log", "") == 3
    assert [path for _, path, _ in places(search(store, words("cat", "dog")))] == [
        "a.md",
        "c.md",
    ]
