"""For everything that goes wrong with a provider: what search answers, what status says."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

from commonplace.plugin import Limits
from commonplace_openai.provider import OpenAIProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.end_to_end.embedding.conftest import World
    from tests.providers.conftest import Failure
    from tests.providers.fakes.loopback import Reply

    from commonplace import Memory
    from commonplace.model.reports import Status

pytestmark = pytest.mark.slow

KEY = "sekrit-0123456789-abcdef"
HERON = ("memory/new.md", "# New\n\nA heron nests on the roof.\n")
ELSEWHERE = {"not TLS", "no proxy"}  # these need another address, which is another space
# Requests of a sync that find out whether it is a text that is at fault: a harmless one; where the
# request is said to be too large, halves and cuts of the first before it.
FURTHER = {"bad_request": 1, "protocol": 1, "too_large": 4}


def is_late(fault: Failure) -> bool:
    """Whether another attempt would come too late for a search, which waits for 2 s."""
    return any(pause >= Limits().wait_seconds for pause in fault.pauses)


@contextmanager
def time_for(fault: Failure | None = None) -> Iterator[None]:
    """Little for what would use up all of it; else enough for all attempts on a busy machine."""
    endless = fault is not None and fault.kind == "timeout"
    if endless:
        seconds = {"request_seconds": 0.1, "query_seconds": 0.2, "wait_seconds": 0.2}
    elif fault is not None and is_late(fault):
        seconds = {}
    else:
        seconds = {"query_seconds": 60.0, "wait_seconds": 60.0}
    limits = OpenAIProvider.limits
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            OpenAIProvider, "limits", property(lambda self: evolve(limits.__get__(self), **seconds))
        )
        patch.setattr("commonplace.memory.SEARCH_SECONDS", 0.4 if endless else 120.0)
        yield


def failing(status: Status) -> str:
    """The reason, after checking that everything else about a failure is reported."""
    (provider,) = status.providers
    assert provider.state == "failing"
    assert provider.since is not None
    assert provider.reason
    assert "\n" not in provider.reason
    return provider.reason


def leaks_nothing(world: World, seen: str) -> None:
    """No key is in what a person may see, nor in any file."""
    kept = b"".join(path.read_bytes() for path in world.root.rglob("*") if path.is_file())
    for secret in (KEY, "hidden-password"):
        assert secret not in seen
        assert secret.encode() not in kept


def heals(world: World, memory: Memory, covered: int, *, spare: int = 0) -> None:
    """Once the vendor is well nothing need be started again, and nothing is embedded twice.

    But for ``spare`` texts.
    """
    world.vendor.always(None)
    world.vendor.twist = None
    world.clock.pass_(4000)
    asked = len(world.texts())
    report = memory.sync()
    assert report.embedding is not None
    assert (report.embedding.missing, report.embedding.reason) == (0, "")
    assert covered <= len(world.texts()) - asked <= covered + spare
    result = memory.search("Mia saw a walrus getting well")
    assert (result.provider, result.fallback, result.notes) == ("openai", None, ())
    assert result.hits[0].path == "memory/2026-10-03.md"
    status = memory.status()
    assert (status.provider, status.search_mode) == ("openai", "hybrid")
    (provider,) = status.providers
    assert (provider.state, provider.reason, provider.since) == ("ready", "", None)
    assert provider.covered == provider.chunks == status.chunks


def test_a_fault_when_everything_is_embedded(
    world: World,
    fault: Failure,
    reported: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if fault.name in ELSEWHERE:
        pytest.skip("another address is another space; see the next test")
    memory = world.open()
    memory.sync()
    fault.arrange(world.vendor, monkeypatch)
    before = world.asked()
    with time_for(fault):
        result = memory.search("walrus")
    harmless = fault.kind == "bad_request"  # then another text is tried
    late = is_late(fault)
    assert world.asked() - before == (1 if late else fault.attempts) + harmless
    assert tuple(world.clock.pauses) == (() if late else fault.pauses)
    assert result.hits[0].path == "memory/2026-10-03.md"
    assert (result.provider, result.model) == (None, None)
    assert result.fallback is not None
    assert (result.fallback.part, result.fallback.by) == ("openai", "keywords alone")
    assert result.fallback.since == world.clock.now
    status = memory.status()
    assert failing(status) == result.fallback.reason
    assert status.spaces[0].covered == 3
    asked = world.asked()
    memory.search("another walrus")
    assert world.asked() == asked  # left alone for now
    world.write(*HERON)
    with time_for(fault):
        report = memory.sync()
    assert report.embedding is not None
    assert (report.added, report.embedding.missing) == (1, 1)
    assert report.embedding.reason
    assert memory.search("heron").hits[0].path == "memory/new.md"
    assert memory.status().spaces[0].covered == 3
    seen = reported(result, status, report, memory.status(), memory.settings, result.notes)
    leaks_nothing(world, seen)
    world.vendor.release()
    heals(world, memory, covered=1)


def test_a_fault_from_the_beginning(
    world: World,
    fault: Failure,
    reported: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = fault.arrange(world.vendor, monkeypatch)
    memory = world.open(remote={"baseUrl": f"{url}/v1", "apiKey": KEY})
    with time_for(fault):
        report = memory.sync()
    assert report.added == 3
    assert report.embedding is not None
    assert (report.embedding.provider, report.embedding.missing) == ("openai", 3)
    asked = world.asked()
    assert report.embedding.requests == fault.attempts + FURTHER.get(fault.kind, 0)
    if fault.kind == "timeout":  # so little time that a busy machine may not even have connected
        assert asked <= report.embedding.requests
    else:
        assert asked == (0 if fault.name in ELSEWHERE else report.embedding.requests)
    assert world.clock.paused == pytest.approx(sum(fault.pauses))
    result = memory.search("walrus")
    assert result.hits[0].path == "memory/2026-10-03.md"
    assert world.asked() == asked  # there is nothing that a query's vector could be compared with
    status = memory.status()
    assert failing(status) == report.embedding.reason
    assert ("Fix: " in report.embedding.reason) or fault.kind not in ("auth", "not_found")
    assert (status.provider, status.search_mode, status.spaces) == (None, "keyword", ())
    assert status.fallback is not None
    assert status.fallback.part == "openai"
    leaks_nothing(world, reported(result, status, report, memory.settings))
    if fault.name not in ELSEWHERE:
        world.vendor.release()
        heals(world, memory, covered=3)


def embedding_is(value: Any) -> Callable[[Any], Any]:
    return lambda body: {**body, "data": [{**item, "embedding": value} for item in body["data"]]}


TWISTS: dict[str, Callable[[Any], Any]] = {
    "wrong count": lambda body: {**body, "data": [*body["data"], body["data"][0]]},
    "NaN": embedding_is([float("nan")] + [1.0] * 63),
    "infinity": embedding_is([float("inf")] + [1.0] * 63),
    "empty vector": embedding_is([]),
    "empty list": lambda body: {**body, "data": []},
    "an error behind a 200": lambda _: {"error": {"message": f"upstream says no to {KEY}"}},
    "a complaint as text": lambda _: "no",
}


@pytest.mark.parametrize("name", TWISTS)
def test_an_answer_that_cannot_be_right(
    world: World, name: str, reported: Callable[..., str]
) -> None:
    memory = world.open()
    memory.sync()
    world.vendor.twist = TWISTS[name]
    passing = name == "an error behind a 200"  # as if the upstream had failed
    asked = world.asked()
    with time_for():
        result = memory.search("walrus")
    assert world.asked() - asked == (3 if passing else 1)
    assert result.hits[0].path == "memory/2026-10-03.md"
    assert (result.provider, result.model) == (None, None)
    assert result.fallback is not None
    assert (result.fallback.part, result.fallback.by) == ("openai", "keywords alone")
    assert result.fallback.since == world.clock.now
    assert failing(memory.status()) == result.fallback.reason
    world.write(*HERON)
    asked = world.asked()
    report = memory.sync()
    assert world.asked() - asked == (3 if passing else 2)
    assert report.embedding is not None
    assert (report.embedding.embedded, report.embedding.missing) == (0, 1)
    assert report.embedding.reason
    status = memory.status()
    failing(status)
    assert [(space.dims, space.covered) for space in status.spaces] == [(64, 3)]
    leaks_nothing(world, reported(result, report, status, memory.settings))
    heals(world, memory, covered=1)


def test_an_answer_in_another_order_is_right(world: World) -> None:
    def shuffled(body: Any) -> Any:
        return {**body, "data": body["data"][::-1]}

    world.vendor.twist = shuffled
    memory = world.open(query={"hybrid": {"enabled": False}})
    report = memory.sync()
    assert report.embedding is not None
    assert (report.embedding.embedded, report.embedding.reason) == (3, "")
    assert world.asked() == 1
    by_vectors = {
        "the staging server": "MEMORY.md",
        "walrus at the harbour": "memory/2026-10-03.md",
        "the otter project": "memory/projects/otter.md",
    }
    for words, path in by_vectors.items():
        (best, *_) = memory.search(words).hits
        assert (best.path, [arm.arm for arm in best.explain.arms]) == (path, ["vector"])


def test_no_money_is_not_asked_for_twice(
    world: World, reply: type[Reply], reported: Callable[..., str]
) -> None:
    memory = world.open()
    memory.sync()
    words = f"You exceeded your current quota with {KEY}"
    error = {"message": words, "code": "insufficient_quota"}
    world.vendor.always(reply(429, {"error": error}))
    result = memory.search("walrus")
    assert result.hits[0].path == "memory/2026-10-03.md"
    assert result.fallback is not None
    assert (world.asked(), world.clock.pauses) == (2, [])
    assert "quota" in failing(memory.status())
    world.write(*HERON)
    report = memory.sync()
    assert report.embedding is not None
    assert (report.embedding.requests, report.embedding.missing) == (1, 1)
    assert memory.status().spaces[0].covered == 3
    leaks_nothing(world, reported(result, report, memory.status()))
    heals(world, memory, covered=1)


def test_what_passes_by_itself_is_not_felt(world: World, reply: type[Reply]) -> None:
    memory = world.open()
    world.vendor.script(reply(500), reply(429, headers={"retry-after": "3"}))
    report = memory.sync()
    assert report.embedding is not None
    assert (report.embedding.embedded, report.embedding.requests) == (3, 3)
    assert world.clock.paused == pytest.approx(0.5 + 3.0)
    heals(world, memory, covered=0)


def test_a_server_that_asks_for_longer_is_left_alone_for_longer(
    world: World, reply: type[Reply]
) -> None:
    memory = world.open()
    memory.sync()
    world.vendor.script(reply(429, headers={"retry-after": "600"}))
    memory.search("walrus")
    world.clock.pass_(599)
    assert memory.search("walrus").provider is None
    assert world.asked() == 2
    world.clock.pass_(1)
    assert memory.search("walrus").provider == "openai"


def test_too_large_is_sent_in_halves_and_all_is_embedded(world: World) -> None:
    world.vendor.vendor.most = 1  # type: ignore[attr-defined]  # this vendor has it
    memory = world.open()
    report = memory.sync()
    assert report.embedding is not None
    assert (report.embedding.embedded, report.embedding.missing) == (3, 0)
    assert world.asked() == report.embedding.requests <= 6
    heals(world, memory, covered=0)


def test_a_hang_is_over_when_the_query_s_time_is(
    world: World, reply: type[Reply], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = world.open()
    memory.sync()
    monkeypatch.setattr("commonplace.memory.SEARCH_SECONDS", 0.4)
    world.vendor.always(reply(manner="hang"))
    began = time.monotonic()
    result = memory.search("walrus")
    assert time.monotonic() - began < 5  # the vendor would hang for 30 s
    assert result.hits[0].path == "memory/2026-10-03.md"
    (note,) = result.notes
    assert note.startswith("searched by keywords alone: openai: ")
    assert result.arms[0].found
    assert not result.arms[1].found


def notes_by_lengths(
    world: World, monkeypatch: pytest.MonkeyPatch, lengths: Iterable[int]
) -> Memory:
    """A memory of notes for which vectors of these ``lengths`` come, one request after the other.

    Where several are under way, whichever answer comes first decides the length.
    """
    monkeypatch.setattr(OpenAIProvider, "concurrency", 1)
    for number in range(120):
        world.write(f"memory/n{number}.md", f"# Note {number}\n\nThe walrus met seal {number}.\n")
    following = iter(lengths)

    def shrinking(body: Any) -> Any:
        return embedding_is([1.0] * next(following))(body)

    world.vendor.twist = shrinking
    return world.open()


def test_dimensions_that_change_while_notes_are_embedded_leave_one_length(
    world: World, monkeypatch: pytest.MonkeyPatch, reported: Callable[..., str]
) -> None:
    memory = notes_by_lengths(world, monkeypatch, [64, *([32] * 100)])
    report = memory.sync()
    assert report.embedding is not None
    assert report.embedding.missing == 123 - report.embedding.embedded > 0
    assert "dimensions" in report.embedding.reason
    assert world.asked() == report.embedding.requests == 3  # two batches and a harmless text
    assert "dimensions" in failing(memory.status())
    result = memory.search("walrus met seal 77")
    assert result.hits
    assert result.arms[0].found  # by words, whichever notes have vectors
    (space,) = memory.status().spaces
    assert (space.dims, space.covered) == (64, report.embedding.embedded)
    leaks_nothing(world, reported(result, report, memory.status()))
    # A query has met the other length since: one text finds out that it is gone.
    heals(world, memory, covered=report.embedding.missing, spare=1)


def test_one_answer_of_another_length_is_asked_for_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = notes_by_lengths(world, monkeypatch, [32, 64, *([32] * 100)])
    report = memory.sync()
    assert report.embedding is not None
    assert (report.embedding.embedded, report.embedding.reason) == (123, "")
    (space,) = memory.status().spaces
    assert (space.dims, space.covered) == (32, 123)


def test_a_provider_that_is_itself_broken_is_a_failure_like_any(
    world: World, monkeypatch: pytest.MonkeyPatch, reported: Callable[..., str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError(KEY)

    memory = world.open()
    memory.sync()
    with monkeypatch.context() as patch:
        patch.setattr(OpenAIProvider, "embed", broken)
        result = memory.search("walrus")
        assert result.hits
        assert result.fallback is not None
        assert "KeyError" in result.fallback.reason
        assert KEY not in reported(result, memory.status())
    heals(world, memory, covered=0)
