"""What a search answers while only some of the notes are embedded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.tools.toolset import MemoryTools

if TYPE_CHECKING:
    from tests.end_to_end.embedding.conftest import World

    from commonplace import Memory

OFF: dict[str, Any] = {"sync": {"embedUnasked": 0}}
NEW = "memory/new.md"
NOTE = "1 of 4 chunks are not embedded yet, and found by keywords alone: run `commonplace index`"


def partly(world: World, **search: Any) -> Memory:
    """Three notes that are embedded, and a fourth that has just been written."""
    world.open(**OFF).sync()
    world.write(NEW, "# Heron\n\nA heron nests on the roof of the ferry house.\n")
    return world.open(**OFF, **search)


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_a_new_note_that_matches_exactly_stands_first_before_it_is_embedded(
    world: World, fusion: str
) -> None:
    memory = partly(world, ranking={"chain": [fusion]}, query={"minScore": 0})
    result = memory.search("heron nests on the roof of the ferry house")
    assert result.provider == "openai"
    assert len(result.hits) == 4
    assert result.hits[0].path == NEW
    assert result.notes == (NOTE,)
    memory.sync()
    after = memory.search("heron nests on the roof of the ferry house")
    assert (after.hits[0].path, after.notes) == (NEW, ())


def test_every_answer_says_it_whatever_it_found(world: World) -> None:
    memory = partly(world)
    for query in ("walrus harbour", "otter", "zzzzz"):
        assert NOTE in memory.search(query).notes
    tools = MemoryTools(memory, seconds=None)
    assert NOTE in tools.call("memory_search", {"query": "walrus"}).text
    assert NOTE in memory.recall(query="walrus").text


def test_without_keywords_such_notes_are_not_searched(world: World) -> None:
    memory = partly(world, query={"hybrid": {"enabled": False}})
    (note,) = memory.search("heron").notes
    assert note == "1 of 4 chunks are not embedded yet, and not searched: run `commonplace index`"


def test_no_vector_is_read_where_every_note_has_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = partly(world)
    memory.sync()

    def vectors(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("commonplace_sqlite.store.SqliteStore.vectors", vectors)
    assert memory.search("heron").notes == ()
