"""Diversity of hits is measured by vectors where the query has one, else by words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest
    from tests.end_to_end.embedding.conftest import World
    from tests.providers.fakes.loopback import Reply

    from commonplace.model.search import SearchResult

DIVERSE: dict[str, Any] = {"query": {"hybrid": {"mmr": {"enabled": True}}, "minScore": 0}}


def notes_of(result: SearchResult) -> set[str]:
    """What each hit's last step says it was compared by."""
    return {hit.explain.steps[-1].note.rpartition(", ")[2] for hit in result.hits}


def test_by_vectors_while_the_provider_answers_and_by_words_when_it_does_not(
    world: World, reply: type[Reply]
) -> None:
    memory = world.open(**DIVERSE)
    memory.sync()
    result = memory.search("staging server walrus harbour otter project")
    assert len(result.hits) == 3
    assert notes_of(result) == {"by vectors"}
    world.vendor.always(reply(401))
    result = memory.search("otter project, walrus harbour")
    assert result.provider is None
    assert len(result.hits) == 2
    assert notes_of(result) == {"by words"}


def test_compat_is_by_words_with_any_provider(world: World) -> None:
    memory = world.open(**DIVERSE, ranking={"profile": "compat"})
    memory.sync()
    result = memory.search("walrus")
    assert result.provider == "openai"
    assert len(result.hits) == 3
    assert notes_of(result) == {"by words"}


def test_no_vectors_are_read_where_nothing_compares_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = world.open()
    memory.sync()

    def vectors(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("commonplace_sqlite.store.SqliteStore.vectors", vectors)
    assert memory.search("walrus").provider == "openai"
