"""What is embedded without `commonplace index`, and what a search says where nothing is."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from commonplace import CallerError, Memory
from commonplace.cli.checks import provider_findings
from commonplace.embedding.consent import UploadGate

if TYPE_CHECKING:
    from tests.end_to_end.embedding.conftest import World
    from tests.providers.fakes.loopback import Reply

    from commonplace.model.reports import SyncEvent

KEY = "sekrit-0123456789-abcdef"
NOTHING = "searched by keywords alone: nothing is embedded with openai yet: "
OFF = {"embedUnasked": 0}


class Opened:
    """A memory, and the end of each of its syncs."""

    def __init__(self, world: World, **options: Any) -> None:
        remote = {"baseUrl": f"{world.vendor.url}/v1", "apiKey": KEY}
        self.ended = threading.Semaphore(0)
        self.events: list[SyncEvent] = []
        self.memory = Memory.open(
            workspace=world.workspace,
            config={"memory": {"search": {"provider": "openai", "remote": remote}}},
            env=world.env,
            on_sync=self.on_sync,
            **options,
        )
        world.opened.append(self.memory)

    def on_sync(self, event: SyncEvent) -> None:
        self.events.append(event)
        self.ended.release()


@pytest.mark.parametrize("provider", ["openai", "auto"])
def test_where_nothing_is_embedded_the_answer_says_how_to_do_it(
    world: World, provider: str
) -> None:
    result = world.open(provider=provider, sync=OFF).search("walrus")
    assert result.notes == (f"{NOTHING}run `commonplace index` to embed 3 notes",)
    assert world.asked() == 0


def test_without_notes_or_provider_there_is_nothing_to_embed(world: World) -> None:
    assert world.open(provider="none").search("walrus").notes == ()
    for path in world.workspace.rglob("*.md"):
        path.unlink()
    (note, *_) = world.open().search("walrus").notes
    assert "commonplace index" not in note


def test_a_small_vault_is_embedded_in_the_background(world: World) -> None:
    opened = Opened(world)
    first = opened.memory.search("walrus")
    assert first.notes == (f"{NOTHING}3 notes are being embedded in the background",)
    assert opened.ended.acquire(timeout=60)
    assert len(world.texts()) == 3
    assert opened.memory.search("walrus").provider == "openai"
    world.write("memory/new.md", "# Heron\n\nA heron nests on the roof.\n")
    opened.memory.search("heron")  # which indexes the note, and embeds it afterwards
    assert opened.ended.acquire(timeout=60)
    assert opened.memory.status().spaces[0].covered == 4
    assert [event.error for event in opened.events] == [None, None]


def test_a_larger_one_is_not(world: World) -> None:
    memory = world.open(sync={"embedUnasked": 2})
    assert memory.search("walrus").notes == (f"{NOTHING}run `commonplace index` to embed 3 notes",)
    assert memory.sync_state is None


def test_a_process_that_ends_with_its_answer_embeds_nothing(world: World) -> None:
    memory = Opened(world, one_shot=True).memory
    assert memory.search("walrus").notes == (f"{NOTHING}run `commonplace index` to embed 3 notes",)
    assert memory.sync_state is None


def test_closing_ends_the_background_at_once(world: World, reply: type[Reply]) -> None:
    world.vendor.always(reply(manner="hang"))
    opened = Opened(world)
    assert opened.memory.search("walrus").hits  # which waits for nothing
    opened.memory.close()
    running = [thread for thread in threading.enumerate() if "embedding" in thread.name]
    assert running == []
    assert [event.error for event in opened.events if event.error is not None] == []
    assert Opened(world).memory.search("walrus").hits


def test_a_caller_that_waits_has_everything_embedded_first(world: World) -> None:
    memory = world.open(sync=OFF)
    first = memory.search("walrus", wait=True)
    assert (first.provider, first.notes) == ("openai", ())
    world.write("memory/new.md", "# Heron\n\nA heron nests on the roof.\n")
    memory.search("heron", wait=True)
    assert memory.status().spaces[0].covered == 4


def test_a_setting_makes_every_search_wait(world: World) -> None:
    assert world.open(sync={"embedOnSearch": True}).search("walrus").provider == "openai"


def test_waiting_for_a_provider_that_fails_ends_with_keywords(
    world: World, reply: type[Reply]
) -> None:
    world.vendor.always(reply(401, {"error": {"message": "no"}}))
    result = world.open(sync=OFF).search("walrus", wait=True)
    assert result.hits[0].path == "memory/2026-10-03.md"
    assert any("401" in note for note in result.notes)
    assert any(note.startswith("3 texts are not embedded yet") for note in result.notes)


@pytest.mark.slow
def test_waiting_ends_with_the_time_of_the_search(world: World, reply: type[Reply]) -> None:
    world.vendor.always(reply(manner="hang"))
    result = world.open(sync=OFF).search("walrus", wait=True, timeout=1.5)
    assert result.hits[0].path == "memory/2026-10-03.md"
    assert any(note.startswith("3 texts are not embedded yet") for note in result.notes)


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan")])
def test_a_search_has_some_time(world: World, timeout: float) -> None:
    with pytest.raises(CallerError, match="timeout"):
        world.open().search("walrus", timeout=timeout)


def test_a_damaged_index_has_its_vectors_again_with_the_same_search(world: World) -> None:
    with world.open() as memory:
        memory.sync()
        assert memory.search("walrus").provider == "openai"
    sent = len(world.texts())
    (index,) = (path for path in (world.root / "state" / "memory").glob("main-*.sqlite"))
    index.write_bytes(index.read_bytes()[: index.stat().st_size // 3])
    memory = world.open(sync=OFF)
    result = memory.search("walrus")
    assert (result.provider, result.fallback) == ("openai", None)
    assert memory.status().spaces[0].covered == 3
    assert len(world.texts()) == sent


def test_an_index_without_any_vector_is_not_called_well(world: World) -> None:
    memory = world.open(sync=OFF)
    memory.search("walrus")
    (finding, _) = provider_findings(memory.status())
    assert (finding.state, finding.text[:22]) == ("warning", "0 of 3 chunks embedded")
    assert finding.fix is not None
    assert finding.fix.hint == "commonplace index"
    memory.sync()
    assert {finding.state for finding in provider_findings(memory.status())} == {"ok"}


@pytest.mark.parametrize(
    ("host", "named", "policy", "agreed", "may"),
    [
        ("", False, "ask", False, True),
        ("api.example.com", True, "ask", False, True),
        ("api.example.com", True, "no", False, False),
        ("api.example.com", False, "ask", False, False),
        ("api.example.com", False, "ask", True, True),
    ],
)
def test_nothing_leaves_in_the_background_that_the_user_did_not_agree_to(
    world: World, host: str, named: bool, policy: Any, agreed: bool, may: bool
) -> None:
    memory = world.open()
    service = memory._embedding().service()
    assert service is not None
    assert service.primary is not None
    path = str(world.root / "uploads.json")
    gate = UploadGate(path, "openai", host, named=named, policy=policy)
    if agreed:
        gate._keep("yes")
    service.primary.gate = gate
    result = memory.search("walrus")
    words = "are being embedded in the background" if may else "run `commonplace index`"
    assert words in result.notes[0]
    assert (memory.sync_state is not None) == may
