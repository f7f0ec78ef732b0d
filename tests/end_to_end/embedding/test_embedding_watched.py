"""A memory that watches its files and embeds their texts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.end_to_end.embedding.conftest import World
    from tests.providers.fakes.loopback import Reply

    from commonplace import Memory

PATIENCE = 60.0
QUICK = {"watchDebounceMs": 30}


def until(holds: Callable[[], object]) -> None:
    give_up = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < give_up, "it never came to be"
        time.sleep(0.01)


def covered(memory: Memory) -> tuple[int, int]:
    """How many chunks are embedded, of how many."""
    (provider,) = memory.status().providers
    return provider.covered, provider.chunks


def state(memory: Memory) -> Any:
    assert memory.sync_state is not None
    return memory.sync_state


def test_what_is_saved_is_embedded_too(world: World) -> None:
    memory = world.open(sync=QUICK)
    memory.watch()
    until(lambda: covered(memory) == (3, 3))
    until(lambda: state(memory).watching == "native")
    world.write("memory/new.md", "A narwhal.\n")
    until(lambda: covered(memory) == (4, 4))
    assert world.texts()[-1].endswith("A narwhal.")


def test_a_provider_that_hangs_keeps_no_note_from_being_found_and_no_memory_from_closing(
    world: World, reply: type[Reply]
) -> None:
    world.vendor.always(reply(manner="hang"))
    memory = world.open(sync=QUICK)
    memory.watch()
    until(lambda: world.vendor.requests)
    until(lambda: state(memory).watching == "native")
    until(lambda: "start" in state(memory).running)
    world.write("memory/new.md", "A narwhal.\n")
    until(lambda: memory.status().files == 4)
    began = time.monotonic()
    memory.close()
    assert time.monotonic() - began < 15  # the vendor would hang for 30 s, and be asked again


def test_a_search_sends_no_note_to_a_provider_unless_it_is_watched(world: World) -> None:
    memory = world.open(sync=QUICK)
    memory.sync()
    asked = world.texts()
    for number in range(25):
        world.write(f"memory/n{number}.md", f"A narwhal called {number}.\n")
    assert memory.search("narwhal", session_key="agent:main:one").stale == 25
    until(lambda: memory.status().files == 28)
    until(lambda: not state(memory).running and state(memory).due_in is None)
    assert [text for text in world.texts()[len(asked) :] if "called" in text] == []
    assert covered(memory) == (3, 28)


@pytest.mark.slow
def test_what_could_not_be_embedded_is_said_and_made_up_for(
    world: World, reply: type[Reply]
) -> None:
    world.vendor.always(reply(503, {"error": {"message": "overloaded"}}))
    memory = world.open(sync=QUICK)
    memory.watch()
    until(lambda: state(memory).last is not None and state(memory).last.error)
    assert "3 texts are not embedded yet: " in state(memory).last.error
    world.vendor.always(None)
    world.clock.pass_(3600)
    until(lambda: covered(memory) == (3, 3))
    until(lambda: not state(memory).last.error)
