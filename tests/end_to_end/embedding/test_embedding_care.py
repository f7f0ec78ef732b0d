"""Embeddings and what is kept beside them, looked at closely and looked after."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.end_to_end.embedding.conftest import World

    from commonplace import Memory
    from commonplace.model.findings import Finding


def look(memory: Memory) -> dict[str, Finding]:
    return {finding.name: finding for finding in memory.status(deep=True).findings}


def test_the_cache_is_told_with_its_size(world: World) -> None:
    memory = world.open()
    memory.sync()
    assert look(memory)["cache"].value.startswith("3 embeddings, 0.")
    assert "cache" not in {finding.name for finding in memory.status().findings}


def test_spaces_of_a_former_model_go_when_asked(world: World) -> None:
    with world.open() as memory:
        memory.sync()
        assert look(memory)["spaces"].value == "1, all of them in use"
    memory = world.open(model="text-embedding-3-large")
    used = look(memory)["spaces"]
    assert used.value == "1, all of them in use", "the former model still answers"
    memory.sync()
    finding = look(memory)["spaces"]
    assert finding.value.startswith("nobody uses ")
    assert "text-embedding-3-small" in finding.value
    assert finding.state == "ok"
    assert finding.remedy is not None
    assert finding.remedy.asked
    asked = world.asked()
    assert "text-embedding-3-small" in finding.remedy.run()
    assert [space.covered for space in memory.status().spaces] == [3]
    assert look(memory)["spaces"].value == "1, all of them in use"
    assert memory.search("walrus").provider == "openai"
    assert world.asked() <= asked + 1, "the query's"


def test_an_index_made_anew_by_a_remedy_embeds_nothing_again(world: World) -> None:
    import apsw

    memory = world.open(cache={"enabled": False})
    memory.sync()
    path = str(world.root / memory.status().db_path)
    connection = apsw.Connection(path)
    connection.execute("UPDATE build SET chunks = 99")
    connection.close()
    asked = world.asked()
    remedy = look(memory)["check"].remedy
    assert remedy is not None
    assert remedy.run() == "made the index anew, of 3 notes"
    assert memory.status(deep=True).problems == ()
    assert memory.status().spaces[0].covered == 3
    assert world.asked() == asked


def test_temporary_files_go_with_the_next_sync(world: World) -> None:
    memory = world.open()
    memory.sync()
    folder = (world.root / memory.status().db_path).parent
    old, young = folder / "spaces.json.999999999", folder / "refused.json.999999998"
    for file in (old, young):
        file.write_text("{")
    os.utime(old, (1_000_000_000, 1_000_000_000))
    os.utime(young, (4_000_000_000, 4_000_000_000))
    memory.sync()
    assert (old.exists(), young.exists()) == (False, True)


def test_an_index_that_is_deleted_under_an_open_memory_is_made_again(world: World) -> None:
    memory = world.open()
    memory.sync()
    asked = world.asked()
    path = str(world.root / memory.status().db_path)
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.unlink(path + suffix)
    assert memory.search("walrus").hits[0].path == "memory/2026-10-03.md"
    report = memory.sync()
    assert report.embedding is not None
    assert (report.embedding.cached, report.embedding.missing) == (3, 0)
    assert world.asked() <= asked + 1, "the query's"
    assert memory.status(deep=True).problems == ()


@pytest.mark.parametrize("backend", ["builtin", "lancedb"])
def test_nothing_that_a_memory_makes_is_open_to_others(world: World, backend: str) -> None:
    if backend == "lancedb":
        pytest.importorskip("lancedb")
    memory = world.open(backend=backend)
    memory.sync()
    memory.search("walrus")
    found = look(memory)
    assert found["folder"].state == "ok", found["folder"].value
    assert {finding.state for finding in found.values()} == {"ok"}
