"""Who stands in for whom, for how long, and at what cost."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.end_to_end.embedding.conftest import World
    from tests.providers.fakes.loopback import Loopback, Reply

    from commonplace.model.search import SearchResult

KEYWORDS = "keywords alone"
COOL_DOWN = 30.0


def answered_by(result: SearchResult) -> tuple[str | None, tuple[str, str] | None]:
    """Who made the query's vector, and in whose place who answered."""
    fallback = result.fallback
    return result.provider, (fallback.part, fallback.by) if fallback else None


def test_without_a_fallback_a_failure_leaves_keywords(world: World, reply: type[Reply]) -> None:
    memory = world.open()
    memory.sync()
    world.clock.pass_(5)
    failed_at = world.clock.now
    world.vendor.always(reply(401, {"error": {"message": "no such key"}}))
    for passed in (0, 7):
        world.clock.pass_(passed)
        result = memory.search("walrus")
        assert result.hits[0].path == "memory/2026-10-03.md"
        assert answered_by(result) == (None, ("openai", KEYWORDS))
        assert result.fallback is not None
        assert "no such key" in result.fallback.reason
        assert result.fallback.since == failed_at
        assert any("searched by keywords alone: openai" in note for note in result.notes)
        status = memory.status()
        assert (status.provider, status.model, status.search_mode) == (None, None, "keyword")
        assert status.fallback is not None
        assert (status.fallback.part, status.fallback.by) == ("openai", KEYWORDS)
        (provider,) = status.providers
        assert (provider.state, provider.since) == ("failing", failed_at)
        assert 0 < provider.retry_in <= COOL_DOWN
        assert "no such key" in provider.reason
        assert provider.covered == 3
    assert world.asked() == 2  # the notes', and one that failed: then it was left alone


def test_a_provider_is_tried_again_after_a_cool_down_and_recovers(
    world: World, reply: type[Reply]
) -> None:
    memory = world.open()
    memory.sync()
    world.vendor.always(reply(401, {"error": {"message": "no such key"}}))
    memory.search("walrus")
    world.clock.pass_(COOL_DOWN - 1)
    memory.search("walrus again")
    assert world.asked() == 2
    world.clock.pass_(1)
    assert memory.status().providers[0].state == "probing"
    memory.search("walrus again")  # the probe fails: a longer cool-down
    assert world.asked() == 3
    world.clock.pass_(COOL_DOWN + 1)
    memory.search("walrus again")
    assert world.asked() == 3
    world.clock.pass_(COOL_DOWN)
    world.vendor.always(None)  # well again
    result = memory.search("walrus again")
    assert answered_by(result) == ("openai", None)
    assert world.asked() == 4
    assert memory.status().providers[0].state == "ready"
    memory.sync()
    assert world.asked() == 4  # nothing is embedded again


def test_a_known_query_needs_no_provider(world: World, reply: type[Reply]) -> None:
    memory = world.open()
    memory.sync()
    memory.search("walrus")
    world.vendor.always(reply(500))
    assert memory.search("harbour").provider is None
    assert answered_by(memory.search("walrus")) == ("openai", None)


def test_the_fallback_embeds_if_the_first_never_did_and_keeps_at_it(
    world: World, second: Loopback, reply: type[Reply]
) -> None:
    world.vendor.always(reply(401, {"error": {"message": "no such key"}}))
    memory = world.open(fallback="second")
    failed_at = world.clock.now
    report = memory.sync()
    world.clock.pass_(5)
    assert report.embedding is not None
    assert (report.embedding.provider, report.embedding.missing) == ("second", 0)
    assert "no such key" in report.embedding.reason
    result = memory.search("walrus")
    assert answered_by(result) == ("second", ("openai", "second"))
    assert result.model == "text-embedding-3-large"
    assert result.fallback is not None
    assert result.fallback.reason.startswith("nothing is embedded with openai yet: ")
    assert "no such key" in result.fallback.reason
    assert result.fallback.since == failed_at
    status = memory.status()
    assert (status.provider, status.model) == ("second", "text-embedding-3-large")
    assert status.fallback is not None
    assert (status.fallback.part, status.fallback.by) == ("openai", "second")
    assert [(p.id, p.role, p.covered) for p in status.providers] == [
        ("openai", "primary", 0),
        ("second", "fallback", 3),
    ]

    world.vendor.always(None)  # well again
    world.clock.pass_(10 * COOL_DOWN)
    asked = world.asked()
    world.write("memory/new.md", "# New\n\nA heron nests on the roof.\n")
    memory.sync()
    assert world.asked() == asked  # recovery embeds nothing again
    assert second.requests[-1].json["input"] == ["New\n\n# New\n\nA heron nests on the roof."]
    assert answered_by(memory.search("heron"))[0] == "second"
    assert any("index --force" in notice for notice in memory.status().notices)

    memory.sync(force=True)  # asked for
    assert len(world.texts()[-4:]) == 4
    assert answered_by(memory.search("heron")) == ("openai", None)
    assert {space.covered for space in memory.status().spaces} == {4}


def test_a_fallback_embeds_nothing_that_the_first_has_embedded(
    world: World, second: Loopback, reply: type[Reply]
) -> None:
    memory = world.open(fallback="second")
    memory.sync()
    world.vendor.always(reply(401, {"error": {"message": "no such key"}}))
    world.write("memory/new.md", "# New\n\nA heron nests on the roof.\n")
    report = memory.sync()
    assert report.embedding is not None
    assert (report.embedding.provider, report.embedding.missing) == ("openai", 1)
    assert "no such key" in report.embedding.reason
    result = memory.search("heron")
    assert result.hits[0].path == "memory/new.md"
    assert answered_by(result) == (None, ("openai", KEYWORDS))
    assert second.requests == []
    (notice,) = [line for line in memory.status().notices if "keywords alone answer" in line]
    assert "To change over, set provider to second" in notice
    world.vendor.always(None)  # well again
    world.clock.pass_(COOL_DOWN)
    assert answered_by(memory.search("walrus")) == ("openai", None)
    assert not [line for line in memory.status().notices if "keywords alone answer" in line]


def test_a_fallback_answers_only_if_it_covers_every_note(
    world: World, second: Loopback, reply: type[Reply]
) -> None:
    world.vendor.always(reply(401))
    memory = world.open(fallback="second")
    memory.sync()
    asked = len(second.requests)
    world.write("memory/new.md", "# New\n\nA heron nests on the roof.\n")
    result = memory.search("heron")  # indexed on the way, and not embedded
    assert answered_by(result) == (None, ("openai", KEYWORDS))
    assert len(second.requests) == asked
    memory.sync()
    assert answered_by(memory.search("heron")) == ("second", ("openai", "second"))


def test_a_fallback_serves_where_the_first_cannot_even_be_made(
    world: World, second: Loopback
) -> None:
    memory = world.open(fallback="second", remote={})
    report = memory.sync()
    assert report.embedding is not None
    assert (report.embedding.provider, report.embedding.missing) == ("second", 0)
    assert "no API key found" in report.embedding.reason
    result = memory.search("walrus")
    assert answered_by(result) == ("second", ("openai", "second"))
    assert result.fallback is not None
    assert "no API key found" in result.fallback.reason
    status = memory.status()
    assert [(p.id, p.state) for p in status.providers] == [
        ("openai", "unusable"),
        ("second", "ready"),
    ]
    assert len(second.requests) == 2


def test_a_key_that_is_gone_embeds_nothing_again_with_the_fallback(
    world: World, second: Loopback
) -> None:
    world.open().sync()
    memory = world.open(fallback="second", remote={})
    report = memory.sync()
    assert report.embedding is not None
    assert (report.embedding.provider, report.embedding.embedded) == ("openai", 0)
    assert answered_by(memory.search("walrus")) == (None, ("openai", KEYWORDS))
    assert second.requests == []


def test_when_both_fail_there_are_keywords_and_both_reasons(
    world: World, second: Loopback, reply: type[Reply]
) -> None:
    world.vendor.always(reply(401, {"error": {"message": "first is ill"}}))
    second.always(reply(401, {"error": {"message": "second is ill"}}))
    memory = world.open(fallback="second")
    report = memory.sync()
    assert report.embedding is not None
    assert "first is ill" in report.embedding.reason
    assert "second is ill" in report.embedding.reason
    assert report.embedding.missing == 3
    result = memory.search("walrus")
    assert result.hits
    assert result.provider is None
    status = memory.status()
    assert [p.state for p in status.providers] == ["failing", "failing"]
    assert (status.provider, status.search_mode) == (None, "keyword")
    assert status.fallback is not None
    assert "first is ill" in status.fallback.reason


@pytest.mark.parametrize(
    ("change", "model", "dims"),
    [
        ({"outputDimensionality": 32}, "text-embedding-3-small", 32),
        ({"model": "text-embedding-3-large"}, "text-embedding-3-large", 96),
    ],
)
def test_a_former_model_answers_until_the_new_one_covers(
    world: World, change: dict[str, Any], model: str, dims: int
) -> None:
    world.open().sync()
    memory = world.open(**change)
    result = memory.search("walrus")
    assert answered_by(result) == ("openai", ("openai", "openai"))
    assert result.model == "text-embedding-3-small"
    assert result.fallback is not None
    way = "as the settings say now" if model == result.model else f"with {model}"
    assert result.fallback.reason == f"0 of 3 chunks are embedded {way} yet"
    assert "dimensions" not in world.vendor.requests[-1].json
    memory.sync()
    result = memory.search("walrus")
    assert answered_by(result) == ("openai", None)
    assert result.model == model
    assert sorted((s.dims, s.covered) for s in memory.status().spaces) == sorted(
        [(64, 3), (dims, 3)]
    )
    asked = world.asked()
    back = world.open()
    back.sync()
    assert answered_by(back.search("walrus")) == ("openai", None)
    assert world.asked() == asked


def test_a_former_address_is_never_asked(world: World, start_vendor: Any) -> None:
    world.open().sync()
    former = world.vendor
    world.vendors["openai"] = start_vendor("openai")
    asked = len(former.requests)
    result = world.open().search("walrus")
    assert answered_by(result) == (None, ("openai", KEYWORDS))
    assert len(former.requests) == asked


def test_plugins_are_notified_when_a_provider_degrades_and_recovers(
    world: World, second: Loopback, reply: type[Reply]
) -> None:
    from commonplace.plugin import hookimpl

    heard: list[tuple[str, ...]] = []
    enough = threading.Event()

    class Listener:
        @hookimpl
        def commonplace_degraded(self, part: str, reason: str) -> None:
            heard.append(("degraded", part, reason))

        @hookimpl
        def commonplace_recovered(self, part: str) -> None:
            heard.append(("recovered", part))
            enough.set()

    assert world.host is not None
    world.host.register(Listener(), name="listener")
    memory = world.open()
    memory.sync()
    world.vendor.always(reply(403, {"error": {"message": "go away"}}))
    memory.search("walrus")
    memory.search("otter")
    world.clock.pass_(COOL_DOWN)
    world.vendor.always(None)  # well again
    memory.search("otter")
    assert enough.wait(30)
    assert [words[:2] for words in heard] == [("degraded", "openai"), ("recovered", "openai")]
    assert "go away" in heard[0][2]
    assert not second.requests


def test_documents_that_fail_do_not_keep_queries_from_being_embedded(
    world: World, reply: type[Reply]
) -> None:
    memory = world.open()
    memory.sync()
    world.write("memory/new.md", "# New\n\nA heron nests on the roof.\n")
    world.vendor.script(reply(403, {"error": {"message": "not for documents"}}))
    memory.sync()
    assert answered_by(memory.search("walrus")) == ("openai", None)
    (provider,) = memory.status().providers
    assert (provider.state, provider.covered, provider.chunks) == ("failing", 3, 4)
    assert memory.status().provider == "openai"
    world.clock.pass_(COOL_DOWN)
    memory.sync()
    assert memory.status().providers[0].covered == 4
