"""Embeddings and what is kept beside them, checked and repaired."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from commonplace_sqlite.schema import checked_vfs

if TYPE_CHECKING:
    from tests.end_to_end.embedding.conftest import World
    from tests.providers.fakes.loopback import Reply

    from commonplace import Memory
    from commonplace.model.documents import Finding

pytestmark = pytest.mark.slow


def look(memory: Memory) -> dict[str, Finding]:
    return {finding.name: finding for finding in memory.status(deep=True).findings}


def test_the_cache_is_reported_with_its_size(world: World) -> None:
    memory = world.open()
    memory.sync()
    assert look(memory)["cache"].text.startswith("3 embeddings, 0.")
    assert "cache" not in {finding.name for finding in memory.status().findings}


def test_a_provider_is_asked_once_and_timed(world: World) -> None:
    memory = world.open()
    memory.sync()
    asked = world.asked()
    finding = look(memory)["provider openai"]
    assert finding.state == "ok"
    assert re.fullmatch(
        r"text-embedding-3-small answers in \d\.\d\d s with 64 dimensions", finding.text
    )
    assert world.asked() == asked + 1
    assert "provider openai" not in {finding.name for finding in memory.status().findings}


def test_a_provider_that_does_not_answer_is_reported_with_its_reason(
    world: World, reply: type[Reply]
) -> None:
    memory = world.open()
    world.vendor.always(reply(503))
    finding = look(memory)["provider openai"]
    assert (finding.state, "HTTP 503" in finding.text) == ("warning", True)


def test_spaces_of_a_former_model_go_when_asked(world: World) -> None:
    with world.open() as memory:
        memory.sync()
        assert look(memory)["spaces"].text == "1, all in use"
    memory = world.open(model="text-embedding-3-large")
    used = look(memory)["spaces"]
    assert used.text == "1, all in use", "the former model still answers"
    memory.sync()
    finding = look(memory)["spaces"]
    assert finding.text.startswith("unused: ")
    assert "text-embedding-3-small" in finding.text
    assert finding.state == "warning"
    assert finding.fix is not None
    assert finding.fix.on_request
    asked = world.asked()
    assert finding.fix.run is not None
    assert "text-embedding-3-small" in finding.fix.run()
    assert [space.covered for space in memory.status().spaces] == [3]
    assert look(memory)["spaces"].text == "1, all in use"
    assert memory.search("walrus").provider == "openai"
    assert world.asked() <= asked + 2, "the query's, and that of the last look"


def test_an_index_rebuilt_by_a_fix_embeds_nothing_again(world: World) -> None:
    import apsw

    memory = world.open(cache={"enabled": False})
    memory.sync()
    path = str(world.root / memory.status().db_path)
    connection = apsw.Connection(path, vfs=checked_vfs(""))
    connection.execute("UPDATE build SET chunks = 99")
    connection.close()
    asked = world.asked()
    fix = look(memory)["check"].fix
    assert fix is not None
    assert fix.run is not None
    assert fix.run() == "rebuilt the index from 3 notes"
    assert memory.status(deep=True).problems == ()
    assert memory.status().spaces[0].covered == 3
    assert world.asked() == asked + 2, "those of the looks alone"


def test_temporary_files_go_with_the_next_sync(world: World) -> None:
    memory = world.open()
    memory.sync()
    folder = (world.root / memory.status().db_path).parent
    old, young = (folder / f".commonplace-999999999-{digits * 8}.tmp" for digits in "01")
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
    assert memory.status().spaces[0].covered == 3, "from the cache"
    report = memory.sync()
    assert report.embedding is not None
    assert (report.embedding.embedded, report.embedding.missing) == (0, 0)
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
    assert found["folder"].state == "ok", found["folder"].text
    assert {finding.state for finding in found.values()} == {"ok"}
