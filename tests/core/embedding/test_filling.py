"""Filling a build's missing vectors: nothing twice, nothing unasked, nothing lost."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.core.embedding.fills import Provider, filled, service_of

from commonplace.embedding import filling
from commonplace.embedding.cache import EmbeddingCache
from commonplace.embedding.filling import fill_from_cache, fill_vectors
from commonplace.embedding.service import QueryVector
from commonplace.embedding.spaces import fingerprint_of
from commonplace.embedding.vectors import floats
from commonplace.errors import IndexBusyError
from commonplace.model.search import Fallback
from commonplace.protocols.providers import Limits
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.testing import live_build, make_put, publish, write
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from commonplace.model.documents import Build
    from commonplace.model.reports import Progress
    from commonplace.model.search import ChunkId


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def coverage(store: InMemoryStore) -> dict[str, int]:
    return {fingerprint_of(info.space): info.covered for info in store.spaces()}


def test_all_that_is_missing_is_embedded_in_as_few_requests_as_may_be(store: InMemoryStore) -> None:
    provider = Provider(0)
    report = filled(service_of(provider), store)
    assert (report.embedded, report.requests, report.missing, report.reason) == (3, 1, 0, "")
    assert provider.requests == [["one", "two two", "three three"]]
    assert coverage(store) == {"maker 0": 3}
    again = filled(service_of(provider), store)
    assert (again.embedded, again.requests) == (0, 0)


def test_equal_texts_are_sent_once(store: InMemoryStore) -> None:
    write(store, make_put("c.md", "one", "one"), make_put("d.md", "one"))
    provider = Provider(0)
    filled(service_of(provider), store)
    assert sorted(provider.sent) == ["one", "three three", "two two"]
    assert coverage(store) == {"maker 0": 6}


def test_what_is_cached_is_not_sent_whatever_the_store_knows(store: InMemoryStore) -> None:
    cache = EmbeddingCache(":memory:")
    provider = Provider(0)
    filled(service_of(provider, cache=cache), store)
    other = InMemoryStore()
    publish(other, make_put("x.md", "two two", "new"))
    report = filled(service_of(provider, cache=cache), other)
    assert (report.cached, report.embedded) == (1, 1)
    assert provider.sent[3:] == ["new"]


def test_a_cached_vector_that_is_damaged_is_made_again(tmp_path: Path) -> None:
    cache = EmbeddingCache(str(tmp_path / "e.sqlite"))
    provider = Provider(0)
    for _ in range(2):
        store = InMemoryStore()
        publish(store, make_put("x.md", "one", "two two"))
        report = filled(service_of(provider, cache=cache), store)
        assert (report.missing, report.reason) == (0, "")
        with closing(apsw.Connection(cache.path)) as file:  # as a disk may, unseen by SQLite
            file.execute("UPDATE embedding SET vector = ?", (b"\xff" * 8,))
    assert provider.requests == [["one", "two two"]] * 2
    cache.close()


def test_vectors_from_the_cache_are_stored_until_the_deadline(
    store: InMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filling, "_GROUP", 1)
    service = service_of(Provider(0), cache=EmbeddingCache(":memory:"))
    filled(service, store)
    other, time = InMemoryStore(), Clock()
    publish(other, make_put("a.md", "one", "two two", "three three"))
    put = other.put_vectors

    def slow(*args: Any) -> None:
        put(*args)
        time.now += 1.0

    monkeypatch.setattr(other, "put_vectors", slow)
    build = live_build(other)
    assert fill_from_cache(service, other, build, deadline=Deadline(2.0, time)) == 2
    assert fill_from_cache(service, other, build, deadline=NEVER) == 1


def test_a_failure_later_keeps_what_was_finished(store: InMemoryStore) -> None:
    provider = Provider(0, Limits(items=1))
    provider.sick_after = 2
    cache = EmbeddingCache(":memory:")
    report = filled(service_of(provider, cache=cache), store)
    assert (report.embedded, report.missing, report.reason) == (2, 1, "0 is ill")
    assert coverage(store) == {"maker 0": 2}
    assert cache.count() == 2
    provider.sick_after = None
    report = filled(service_of(provider, cache=cache), store)
    assert (report.embedded, report.missing) == (1, 0)
    assert sorted(provider.sent) == ["one", "three three", "two two"]


def test_every_request_is_kept_before_the_next_is_done(store: InMemoryStore) -> None:
    cache = EmbeddingCache(":memory:")
    seen: list[tuple[int, int]] = []

    class Looking(Provider):
        def embed(
            self, texts: Sequence[str], *, purpose: str, deadline: Deadline
        ) -> Sequence[Sequence[float]]:
            seen.append((cache.count(), coverage(store).get("maker 0", 0)))
            return super().embed(texts, purpose=purpose, deadline=deadline)

    filled(service_of(Looking(0, Limits(items=1)), cache=cache), store)
    assert seen == [(0, 0), (1, 1), (2, 2)]


def test_an_index_that_is_busy_is_no_fault_of_the_provider(store: InMemoryStore) -> None:
    class Busy(InMemoryStore):
        def put_vectors(
            self, build: Build, space: str, dims: int, vectors: Mapping[str, bytes]
        ) -> None:
            raise IndexBusyError("another process writes")

    busy = Busy()
    publish(busy, make_put("a.md", "one"))
    service = service_of(Provider(0))
    report = filled(service, busy)
    assert (report.embedded, report.missing, report.reason) == (0, 1, "another process writes")
    assert service.providers[0].state().state == "closed"


def test_the_lease_is_held_only_while_vectors_are_put(store: InMemoryStore) -> None:
    free: list[bool] = []

    class Looking(Provider):
        def embed(
            self, texts: Sequence[str], *, purpose: str, deadline: Deadline
        ) -> Sequence[Sequence[float]]:
            lease: AbstractContextManager[object] = store.writer(wait=0)
            with lease:
                free.append(True)
            return super().embed(texts, purpose=purpose, deadline=deadline)

    filled(service_of(Looking(0)), store)
    assert free == [True]


def test_a_wait_to_put_vectors_names_the_writer() -> None:
    waits: list[float] = []

    class Busy(InMemoryStore):
        busy = False

        def writer(self, *, wait: float) -> AbstractContextManager[object]:
            if self.busy:
                waits.append(wait)
                if len(waits) == 1:
                    raise IndexBusyError("another process writes", holder="process 12")
            return super().writer(wait=wait)

    store = Busy()
    publish(store, make_put("a.md", "one"))
    store.busy = True
    reported: list[Progress] = []
    report = filled(service_of(Provider(0)), store, progress=reported.append, wait=30.0)
    assert (report.embedded, report.reason) == (1, "")
    assert waits == [1.0, 29.0]
    assert "waiting for process 12, which is writing the index" in [one.label for one in reported]


def test_progress_is_reported(store: InMemoryStore) -> None:
    reported: list[Progress] = []
    filled(service_of(Provider(0, Limits(items=1))), store, progress=reported.append)
    assert [(one.completed, one.total) for one in reported] == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_time_that_runs_out_is_no_fault_of_the_provider(store: InMemoryStore) -> None:
    now = [0.0]

    class Slow(Provider):
        def embed(
            self, texts: Sequence[str], *, purpose: str, deadline: Deadline
        ) -> Sequence[Sequence[float]]:
            now[0] += 4.0
            return super().embed(texts, purpose=purpose, deadline=deadline)

    service = service_of(Slow(0, Limits(items=1)))
    end = Deadline(6.0, lambda: now[0])
    report = fill_vectors(service, store, live_build(store), deadline=end)
    assert (report.embedded, report.missing) == (2, 1)
    assert "no time" in report.reason
    assert service.providers[0].state().state == "closed"


def test_an_absent_primary_is_reported_even_without_a_fallback(store: InMemoryStore) -> None:
    service = service_of(absent=Fallback(part="p9", reason="no key", since=0.0))
    report = filled(service, store)
    assert (report.provider, report.reason, report.missing) == ("p9", "no key", 3)


def test_an_open_breaker_stops_no_vector_that_is_cached(store: InMemoryStore) -> None:
    cache = EmbeddingCache(":memory:")
    provider = Provider(0)
    service = service_of(provider, cache=cache)
    filled(service, store)
    write(store, make_put("c.md", "new"))
    provider.ill = True
    assert filled(service, store).reason == "0 is ill"
    with store.writer(wait=0):
        store.drop_space(store.spaces()[0].space)
    report = filled(service, store)
    assert (report.cached, report.missing) == (3, 1)
    assert "left alone" in report.reason


TEXTS = st.sampled_from(["x", "yy", "zzz", "a b", "long " * 9])


class Filling(RuleBasedStateMachine):
    """Two providers that fall ill and recover, notes that come and go, and a cache that is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.providers = [Provider(0, Limits(items=2)), Provider(1, Limits(items=2))]
        self.clock = Clock()
        self.cache = EmbeddingCache(":memory:")
        self.service = service_of(*self.providers, cache=self.cache, clock=self.clock)
        self.store = InMemoryStore()
        publish(self.store)

    def teardown(self) -> None:
        self.service.close()
        self.store.close()

    @rule(name=st.sampled_from("abc"), texts=st.lists(TEXTS, max_size=3))
    def write(self, name: str, texts: list[str]) -> None:
        write(self.store, make_put(f"{name}.md", *texts))

    @rule(place=st.integers(0, 1), ill=st.booleans())
    def falls_ill_or_recovers(self, place: int, ill: bool) -> None:
        self.providers[place].ill = ill

    @rule(seconds=st.sampled_from([1.0, 60.0, 4000.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule(rebuild=st.booleans())
    def fill(self, rebuild: bool) -> None:
        covered_first = coverage(self.store).get("maker 0", 0)
        covered_second = coverage(self.store).get("maker 1", 0)
        before = [len(one.sent) for one in self.providers]
        report = filled(self.service, self.store, rebuild=rebuild)
        sent = [len(one.sent) - b for one, b in zip(self.providers, before, strict=True)]
        if covered_first and not covered_second:
            assert not sent[1], "the fallback embeds nothing that the first has embedded"
        if covered_second and not covered_first and not rebuild:
            assert not sent[0], "recovery embeds nothing again"
        if not report.missing:
            chunks = self.store.health().chunks
            assert not chunks or max(coverage(self.store).values()) == chunks
        else:
            assert report.reason

    @precondition(lambda self: self.store.spaces())
    @rule(words=st.sampled_from(["who", "what"]))
    def query(self, words: str) -> None:
        found = self.service.query(words, self.store.spaces(), deadline=NEVER)
        if isinstance(found, QueryVector):
            numbers = floats(found.vector)
            place = round(numbers[0] / numbers[1] * len(words)) - 1
            assert fingerprint_of(found.space) == f"maker {place}"
            if place == 1:
                infos = {info.space: info for info in self.store.spaces()}
                assert infos[found.space].covered == infos[found.space].chunks

    @invariant()
    def no_text_is_sent_twice_to_anybody(self) -> None:
        for provider in self.providers:
            documents = [text for text in provider.sent if text not in {"who", "what"}]
            assert len(documents) == len(set(documents))

    @invariant()
    def every_vector_lies_in_the_space_of_its_maker(self) -> None:
        for info in self.store.spaces():
            place = int(fingerprint_of(info.space).split()[1])
            texts: dict[ChunkId, str] = {
                row.id: row.analysed.chunk.text for row in self.store._live().rows()
            }
            for id_, vector in self.store.vectors(info.space, texts).items():
                numbers = floats(vector)
                share = numbers[0] / numbers[1]
                assert share * len(texts[id_]) == pytest.approx(place + 1, rel=1e-4)


TestFilling = Filling.TestCase
TestFilling.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
