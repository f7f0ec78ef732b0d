"""What a sync works around by itself, and tells: a refused note, vectors of another length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.end_to_end.embedding.conftest import World
    from tests.providers.fakes.loopback import Loopback

    from commonplace.model.reports import Embedding, SyncReport

CURSED = ("memory/cursed.md", "# Odd\n\nsomething\n\n## Spell\n\nxyzzy plugh abracadabra\n")


def refuse(vendor: Loopback, word: str) -> None:
    """Let the vendor refuse every request that holds ``word``."""
    respond = vendor.vendor.respond

    def picky(method: str, path: str, headers: Any, body: bytes) -> Any:
        if word.encode() in body:
            said = b'{"error": {"message": "content policy", "type": "invalid_request_error"}}'
            return 400, {"content-type": "application/json"}, said
        return respond(method, path, headers, body)

    vendor.vendor.respond = picky  # type: ignore[method-assign]  # a vendor with a mood


def embedding_of(report: SyncReport) -> Embedding:
    assert report.embedding is not None
    return report.embedding


def test_a_note_that_is_refused_is_named_and_all_others_are_found_by_meaning(
    world: World,
) -> None:
    from commonplace.cli.commands.index import warnings_of

    refuse(world.vendor, "xyzzy")
    world.write(*CURSED)
    memory = world.open()
    report = memory.sync()
    done = embedding_of(report)
    assert (done.missing, done.reason) == (0, "")
    ((place, reason),) = done.refused
    assert place.startswith("memory/cursed.md#L")
    assert "content policy" in reason
    (line,) = warnings_of(report)
    assert line == f"{place} is not embedded: {reason}"
    assert memory.search("walrus").provider == "openai"
    assert memory.search("xyzzy").hits[0].path == "memory/cursed.md"  # by its words
    status = memory.status()
    assert line in status.notices
    assert status.providers[0].state == "ready"
    asked = world.asked()
    assert embedding_of(world.open().sync()).refused == done.refused
    assert world.asked() == asked
    world.write("memory/cursed.md", "# Odd\n\nsomething\n\n## Spell\n\nplease\n")
    assert embedding_of(memory.sync()).refused == ()
    assert memory.status().notices == ()


def test_vectors_of_another_length_are_reported_and_followed_by_the_next_sync(world: World) -> None:
    from commonplace.cli.commands.index import warnings_of

    memory = world.open()
    memory.sync()

    def shorter(body: Any) -> Any:
        """A server that cuts its vectors, in whichever form it was asked for them."""
        from commonplace.embedding.http.provider import numbers_of

        cut = [
            {**item, "embedding": [*numbers_of(item["embedding"])][:32]} for item in body["data"]
        ]
        return {**body, "data": cut}

    world.vendor.twist = shorter
    result = memory.search("walrus")
    assert result.provider is None
    assert result.fallback is not None
    assert "now gives 32 dimensions, the index has 64" in result.fallback.reason
    with world.open() as other:  # as `commonplace index` would
        report = other.sync()
    done = embedding_of(report)
    assert (done.embedded, done.missing) == (3, 0)
    assert warnings_of(report) == [done.note]
    assert "32 dimensions instead of 64" in done.note
    assert [(space.dims, space.covered) for space in memory.status().spaces] == [(32, 3)]
    result = memory.search("walrus")
    assert (result.provider, result.fallback) == ("openai", None)
    assert result.hits[0].path == "memory/2026-10-03.md"
    asked = world.asked()
    memory.sync()
    assert world.asked() == asked
