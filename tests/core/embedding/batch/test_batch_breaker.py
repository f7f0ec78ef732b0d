"""What batch jobs meet is known of the provider, and keeps nothing from being embedded at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.config.search import BatchSettings
from commonplace.embedding.batch.jobs import Batching, Clocks, JobStore
from commonplace.embedding.filling import fill_vectors
from commonplace.embedding.guarded import GuardedProvider
from commonplace.embedding.service import EmbeddingService, provider_states
from commonplace.errors import ProviderError, ProviderErrorKind
from commonplace.protocols.providers import Limits
from commonplace.resilience.breaker import CircuitBreaker
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.resilience.retry import RetryPolicy
from commonplace.testing import live_build, make_put, publish
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.core.embedding.conftest import Bench

    from commonplace.model.reports import Embedding, ProviderState

MANY = 150


def failure(kind: ProviderErrorKind = "unavailable", status: int | None = None) -> ProviderError:
    return ProviderError("vendor: down", provider="vendor", kind=kind, status=status)


class Provider:
    """Embeds at once too, unless it is ill."""

    model = "m"
    limits = Limits()
    capabilities: frozenset[str] = frozenset()
    concurrency = 1

    def __init__(self) -> None:
        self.ill = False

    def fingerprint(self) -> str:
        return "vendor m"

    def embed(
        self, texts: Sequence[str], *, purpose: str, deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        if self.ill:
            raise failure("auth")
        return [[float(len(text)), 1.0] for text in texts]

    def close(self) -> None:
        pass


class House:
    """A link whose documents go by jobs, and notes to embed."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.provider = Provider()
        self.changes: list[str | None] = []
        self.settings: dict[str, Any] = {}
        time = bench.time
        first, second = (CircuitBreaker(clock=time, monotonic=time) for _ in range(2))
        self.link = GuardedProvider(
            "vendor",
            self.provider,
            first,
            indexing=second,
            batching=self.batching,
            changed=lambda _, reason: self.changes.append(reason),
        )
        self.service = EmbeddingService([self.link], None)
        self.store = InMemoryStore()
        publish(self.store, make_put("a.md", *(f"text {i}" for i in range(MANY))))

    def batching(self, heard: Any) -> Batching:
        time = self.bench.time
        return Batching(
            "vendor",
            self.bench.vendor,
            BatchSettings(enabled=True, **self.settings),
            JobStore(self.bench.folder),
            clocks=Clocks(monotonic=time, epoch=time, sleep=time.sleep),
            policy=RetryPolicy(sleep=lambda _: None, jitter=lambda: 1.0),
            heard=heard,
        )

    def fill(self, deadline: Deadline = NEVER) -> Embedding:
        return fill_vectors(self.service, self.store, live_build(self.store), deadline=deadline)

    def state(self) -> ProviderState:
        (state,) = provider_states(self.service, self.store.spaces(), MANY)
        return state


@pytest.fixture
def house(bench: Bench) -> House:
    return House(bench)


def test_every_call_is_heard_once_however_often_it_was_tried(bench: Bench) -> None:
    bench.vendor.faults["poll"] = [failure(), None]
    bench.run({f"{i:064x}": f"text {i}" for i in range(MANY)})
    assert set(bench.heard) == {None}
    assert bench.vendor.count("poll") > 1


@pytest.mark.parametrize(
    ("kind", "status", "counts"),
    [
        ("unavailable", 503, True),
        ("timeout", None, True),
        ("auth", 401, True),
        ("not_found", 404, False),
        ("rate_limit", 429, False),
        ("quota", 429, False),
        ("bad_request", 400, False),
        ("protocol", 200, False),
    ],
)
def test_only_what_is_the_provider_s_own_illness_counts(
    bench: Bench, kind: ProviderErrorKind, status: int | None, *, counts: bool
) -> None:
    bench.vendor.faults["submit"] = [failure(kind, status)] * 9
    bench.vendor.faults["find"] = [failure(kind, status)] * 9
    bench.run({f"{i:064x}": f"text {i}" for i in range(MANY)})
    errors = [error for error in bench.heard if error is not None]
    assert bool(errors) == counts


def test_jobs_that_fail_do_not_keep_texts_from_being_embedded_at_once(house: House) -> None:
    house.bench.vendor.faults["submit"] = [failure()] * 9
    house.bench.vendor.faults["find"] = [failure()] * 9
    report = house.fill()
    assert (report.embedded, report.missing, report.reason) == (MANY, 0, "")
    assert "vendor: down" in report.batch_note
    assert house.state().state == "ready"
    assert house.changes == ["vendor: down", None]


def test_a_provider_that_fails_either_way_is_failing(house: House) -> None:
    house.bench.vendor.faults["submit"] = [failure("auth", 401)] * 9
    house.provider.ill = True
    report = house.fill()
    assert (report.embedded, report.missing) == (0, MANY)
    assert house.state().state == "failing"
    assert house.link.state("query").state == "closed"


def test_jobs_that_cannot_be_looked_at_are_reported(house: House) -> None:
    house.settings = {"wait": False}
    house.bench.vendor.polls = 0
    assert house.fill().pending == MANY
    house.bench.vendor.faults["poll"] = [failure()] * 9
    report = house.fill()
    assert report.pending == MANY
    assert report.batch_note.endswith("a look at one failed: vendor: down")
    state = house.state()
    assert (state.state, state.reason) == ("probing", "vendor: down")
    house.bench.vendor.faults.clear()
    report = house.fill()
    assert (report.batched, report.missing) == (MANY, 0)
    assert house.state().state == "ready"


def test_a_job_that_was_left_is_waited_for_only_until_its_texts_are_embedded(house: House) -> None:
    house.settings = {"wait": False}
    house.fill()
    house.bench.vendor.faults["poll"] = [failure("auth", 401)] * 2
    house.provider.ill = True
    assert house.fill().missing == MANY
    key = "vendor m|document"
    assert house.batching(print).notices(key) == [f"{MANY} texts wait for 1 batch job of vendor"]
    house.provider.ill = False
    house.bench.time.now += 60
    report = house.fill()
    assert (report.embedded, report.missing) == (MANY, 0)
    assert report.batch_note.endswith("the last: vendor: down")
    assert house.batching(print).notices(key) == []
