"""Processes that come one after the other: none waits for what the one before found failing."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.embedding.cache import EmbeddingCache
from commonplace.plugin import DeadlineExceededError, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.end_to_end.embedding.conftest import World
    from tests.providers.fakes.loopback import Reply

    from commonplace.model.reports import Status, SyncReport
    from commonplace.model.search import SearchResult
    from commonplace.plugin import Deadline

KEY = "sekrit-0123456789-abcdef"


@pytest.fixture(autouse=True)
def no_cache_of_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every query must be embedded."""
    known = EmbeddingCache.get

    def get(self: EmbeddingCache, fingerprint: str, digests: Any, **of: Any) -> dict[bytes, bytes]:
        return {} if fingerprint.endswith("|query") else known(self, fingerprint, digests, **of)

    monkeypatch.setattr(EmbeddingCache, "get", get)


def search(world: World, **settings: Any) -> SearchResult:
    with world.open(**settings) as memory:
        return memory.search("walrus")


def sync(world: World) -> SyncReport:
    with world.open() as memory:
        return memory.sync()


def status(world: World) -> Status:
    with world.open() as memory:
        return memory.status()


def kept(world: World) -> list[Path]:
    folder = world.root / "state" / "memory" / "breakers"
    return sorted(folder.iterdir()) if folder.exists() else []


@pytest.fixture
def broken(world: World, reply: type[Reply]) -> Iterator[SearchResult]:
    """All is embedded; then the vendor refuses, and a search has met that."""
    sync(world)
    world.vendor.always(reply(401, {"error": {"message": f"no, {KEY}, not today"}}))
    yield search(world)
    world.vendor.always(None)


def test_the_next_search_answers_at_once_and_says_since_when(
    world: World, broken: SearchResult
) -> None:
    asked = world.asked()
    since = world.clock.now
    world.clock.pass_(5)
    result = search(world)
    assert world.asked() == asked
    assert result.hits[0].path == "memory/2026-10-03.md"
    assert broken.fallback is not None
    assert broken.fallback.since == since
    assert result.fallback == broken.fallback
    assert result.provider is None


def test_status_of_another_process_tells_it(world: World, broken: SearchResult) -> None:
    asked = world.asked()
    found = status(world)
    assert world.asked() == asked
    (provider,) = found.providers
    assert broken.fallback is not None
    assert (provider.state, provider.since) == ("failing", broken.fallback.since)
    assert provider.work == "queries"
    assert provider.reason == broken.fallback.reason
    assert (found.search_mode, found.fallback) == ("keyword", broken.fallback)


def test_it_recovers_after_the_cool_down_without_a_restart(
    world: World, broken: SearchResult
) -> None:
    memory = world.open()
    assert memory.search("walrus").provider is None
    world.vendor.always(None)
    world.clock.pass_(30)
    assert memory.search("walrus").provider == "openai"
    assert kept(world) == []
    assert search(world).provider == "openai"
    assert status(world).providers[0].state == "ready"


def test_a_sync_asks_and_what_it_finds_helps_searches(world: World, broken: SearchResult) -> None:
    world.write("memory/new.md", "A heron nests on the roof.\n")
    asked = world.asked()
    assert sync(world).embedding is not None
    assert world.asked() == asked + 1
    assert len(kept(world)) == 2
    world.vendor.always(None)
    report = sync(world)
    assert report.embedding is not None
    assert report.embedding.missing == 0
    assert search(world).provider == "openai"  # before its own cool-down is over
    assert kept(world) == []


def test_who_insists_need_not_wait_for_the_cool_down(world: World, broken: SearchResult) -> None:
    world.vendor.always(None)
    assert search(world).provider is None
    asked = world.asked()
    with world.open() as memory:
        memory.sync(force=True)
    assert world.asked() == asked  # all of it is in the cache: no request has shown that it works
    assert search(world).provider == "openai"


def test_other_settings_are_tried_at_once(world: World, broken: SearchResult) -> None:
    world.vendor.always(None)
    remote = {
        "baseUrl": f"{world.vendor.url}/v1",
        "apiKey": KEY,
        "headers": {"Authorization": f"Bearer {KEY}"},
    }
    assert search(world, remote=remote).provider == "openai"


def test_a_clock_that_was_set_back_locks_no_provider_out(
    world: World, broken: SearchResult
) -> None:
    world.vendor.always(None)
    world.clock.pass_(-86400 * 365)
    assert search(world).provider == "openai"


@pytest.mark.parametrize("damage", [b"", b"commonplace breaker 1\n", b"\xff\x00" * 40])
def test_a_damaged_file_is_no_hindrance(world: World, broken: SearchResult, damage: bytes) -> None:
    for path in kept(world):
        path.write_bytes(damage)
    world.vendor.always(None)
    assert search(world).provider == "openai"
    assert kept(world) == []


def test_no_key_is_in_it_and_no_other_user_may_read_it(world: World, broken: SearchResult) -> None:
    (path,) = kept(world)
    assert KEY not in path.read_text()
    assert "401" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_search_waits_as_long_as_configured(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(world)
    waited: list[float] = []

    def impatient(_: object, __: object, deadline: Deadline) -> None:
        waited.append(deadline.remaining())
        raise DeadlineExceededError("too late")

    monkeypatch.setattr("commonplace.embedding.http.client.Worker.run", impatient)
    remote = {"baseUrl": f"{world.vendor.url}/v1", "apiKey": KEY}
    assert search(world, remote=remote, query={"embeddingSeconds": 3}).provider is None
    assert 2 < waited[0] <= 3.1
    assert Limits().query_seconds <= 10  # by default
