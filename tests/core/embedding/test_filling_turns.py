"""Two processes that fill one index: one embeds, the other waits for it while it goes on."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from tests.core.embedding.fills import Provider, filled, service_of

from commonplace.embedding.cache import EmbeddingCache
from commonplace.protocols.providers import Limits
from commonplace.resilience.deadline import Deadline
from commonplace.resilience.lock import Lease
from commonplace.testing import make_put, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commonplace.model.reports import Progress
    from commonplace_inmemory.store import InMemoryStore


@pytest.mark.parametrize("cached", [True, False])
def test_who_waits_for_another_process_that_embeds_pays_for_nothing(
    store: InMemoryStore, tmp_path: Path, *, cached: bool
) -> None:
    cache = EmbeddingCache(":memory:") if cached else None
    provider, theirs = Provider(0), Provider(0)
    lock = str(tmp_path / "index.embedding.lock")
    service = service_of(provider, cache=cache, turn=Lease(lock))
    heard: list[str] = []
    with ExitStack() as other:
        other.enter_context(Lease(lock).held(0))

        def waits(progress: Progress) -> None:
            if progress.label.startswith("waiting"):
                heard.append(progress.label)
                filled(service_of(theirs, cache=cache), store)
                other.close()

        report = filled(service, store, progress=waits)
    assert len(heard) == 1
    assert heard[0].endswith(", which embeds the notes")
    assert (provider.requests, len(theirs.requests)) == ([], 1)
    assert (report.embedded, report.requests, report.missing, report.reason) == (0, 0, 0, "")
    write(store, make_put("new.md", "new"))  # the turn is free again
    assert filled(service, store).embedded == 1


def test_the_name_that_a_killed_process_left_goes_though_nothing_is_to_be_embedded(
    store: InMemoryStore, tmp_path: Path
) -> None:
    lock = tmp_path / "index.embedding.lock"
    service = service_of(Provider(0), turn=Lease(str(lock)))
    assert filled(service, store).missing == 0
    left = tmp_path / "index.embedding.lock.pid"
    left.write_text("4194305\n1.000\ncommonplace index\n")  # killed with its last vector stored
    assert filled(service, store).embedded == 0
    assert not left.exists()


class Time:
    """Seconds that pass while a lease sleeps; then ``each`` is called."""

    def __init__(self, each: Callable[[], None] = lambda: None) -> None:
        self.now = 0.0
        self.each = each

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.each()


def test_a_wait_for_another_process_that_embeds_nothing_ends_with_its_name(
    store: InMemoryStore, tmp_path: Path
) -> None:
    first, second, time = Provider(0), Provider(1), Time()
    lock = str(tmp_path / "index.embedding.lock")
    turn = Lease(lock, clock=time, sleep=time.sleep)
    heard: list[str] = []
    with Lease(lock).held(0):
        report = filled(
            service_of(first, second, turn=turn),
            store,
            progress=lambda progress: heard.append(progress.label),
        )
    assert first.requests == second.requests == []
    assert report.missing == 3
    assert "embeds the notes, and has stored no vector for 2 min. Fix: " in report.reason
    assert report.reason.count("embeds the notes") == 1  # no other provider waited, too
    assert 119 < time.now < 122
    waits = [label for label in heard if label.startswith("waiting")]
    assert len(waits) > 100  # a line that is drawn again and again stays in sight


def test_another_process_that_goes_on_embedding_is_waited_for_longer(
    store: InMemoryStore, tmp_path: Path
) -> None:
    provider, theirs = Provider(0, Limits(items=1)), Provider(0, Limits(items=1))
    lock = str(tmp_path / "index.embedding.lock")
    with ExitStack() as other:
        other.enter_context(Lease(lock).held(0))
        embeds = iter(range(1, 4))

        def now_and_then() -> None:
            if time.now > 100 * (len(theirs.requests) + 1) and next(embeds, 0):
                theirs.sick_after = len(theirs.requests) + 1
                filled(service_of(theirs), store)
                if len(theirs.requests) == 3:
                    other.close()

        time = Time(now_and_then)
        turn = Lease(lock, clock=time, sleep=time.sleep)
        report = filled(service_of(provider, turn=turn), store)
    assert time.now > 300
    assert (provider.requests, report.missing, report.reason) == ([], 0, "")


def test_a_wait_for_another_process_that_embeds_ends_at_the_deadline(
    store: InMemoryStore, tmp_path: Path
) -> None:
    provider = Provider(0)
    lock = str(tmp_path / "index.embedding.lock")
    service = service_of(provider, turn=Lease(lock))
    moments = iter([5.0, 5.0, 5.0])
    deadline = Deadline(9.0, lambda: next(moments, 10.0))
    with Lease(lock).held(0):
        report = filled(service, store, deadline=deadline)
    assert provider.requests == []
    assert (report.missing, report.reason) == (3, "there was no time to embed the rest")
