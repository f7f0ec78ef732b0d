"""What a provider may do to an index being filled: change its vectors' length, refuse a text."""

from __future__ import annotations

import struct
from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.core.embedding.fills import Provider, filled, service_of

from commonplace.embedding import filling
from commonplace.embedding.cache import EmbeddingCache, text_digest
from commonplace.embedding.filling import fill_from_cache
from commonplace.embedding.service import EmbeddingService, QueryVector
from commonplace.embedding.spaces import RefusedTexts, SpaceLedger
from commonplace.health.status import refused_texts
from commonplace.model.search import Fallback
from commonplace.protocols.providers import Limits
from commonplace.resilience.deadline import NEVER
from commonplace.testing import live_build, make_put, publish, write
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from commonplace.model.documents import Build


class Ledgers(NamedTuple):
    """Files beside the index."""

    spaces: SpaceLedger
    refused: RefusedTexts


@pytest.fixture
def ledgers(tmp_path: Path) -> Ledgers:
    return Ledgers(
        SpaceLedger(str(tmp_path / "spaces.json")),
        RefusedTexts(str(tmp_path / "refused.json"), "index"),
    )


def another(service: EmbeddingService, ledgers: Ledgers) -> EmbeddingService:
    """``service`` with files that outlive it."""
    return EmbeddingService(
        service.providers, service.cache, ledger=ledgers.spaces, refused=ledgers.refused
    )


def lengths(store: InMemoryStore) -> dict[int, int]:
    return {info.dims: info.covered for info in store.spaces()}


def test_a_server_that_changes_its_length_is_followed_into_a_new_space(
    store: InMemoryStore,
) -> None:
    cache = EmbeddingCache(":memory:")
    provider = Provider(0)
    service = service_of(provider, cache=cache)
    filled(service, store)
    write(store, make_put("c.md", "new"))
    provider.extra = 1
    report = filled(service, store)
    assert (report.embedded, report.missing, report.reason) == (4, 0, "")
    assert report.note == (
        "p0 now gives 3 dimensions instead of 2: the vectors of all notes are replaced"
    )
    assert lengths(store) == {3: 4}  # no query vector of the old length can be made
    again = filled(service, store)
    assert (again.embedded, again.requests, again.note) == (0, 0, "")


def test_a_new_index_names_the_length_that_the_cache_had(store: InMemoryStore) -> None:
    cache = EmbeddingCache(":memory:")
    provider = Provider(0)
    service = service_of(provider, cache=cache)
    filled(service, store)
    with closing(InMemoryStore()) as new:
        publish(new, make_put("a.md", "one", "two two"), make_put("b.md", "three", "more"))
        provider.extra = 1
        report = filled(service, new)
        assert lengths(new) == {3: 4}
    assert report.note == (
        "p0 now gives 3 dimensions instead of 2: the vectors of all notes are replaced"
    )


@pytest.mark.parametrize("seen", [True, False])
def test_vectors_of_each_length_stay_in_the_cache(
    store: InMemoryStore, ledgers: Ledgers, *, seen: bool
) -> None:
    """A gateway that balances over two models does not cost a whole embedding with each update."""
    provider = Provider(0)
    service = another(service_of(provider, cache=EmbeddingCache(":memory:")), ledgers)
    filled(service, store)
    for round_, extra in enumerate((1, 0, 1)):
        provider.extra = extra
        if seen:
            service.query(f"query {round_}", store.spaces(), deadline=NEVER)
        write(store, make_put("new.md", f"new {round_}"))
        report = filled(service, store)
        assert (report.missing, report.reason) == (0, "")
        assert lengths(store) == {2 + extra: 4}
        if round_:
            assert report.embedded <= 2
            assert report.cached >= 2


def test_what_a_query_has_seen_is_followed_though_nothing_is_missing(
    store: InMemoryStore, ledgers: Ledgers
) -> None:
    provider = Provider(0)
    service = another(service_of(provider, cache=EmbeddingCache(":memory:")), ledgers)
    filled(service, store)
    assert filled(service, store).requests == 0
    provider.extra = 1
    assert isinstance(service.query("who", store.spaces(), deadline=NEVER), Fallback)
    report = filled(service, store)
    assert (report.embedded, report.missing) == (3, 0)
    assert lengths(store) == {3: 3}
    assert isinstance(service.query("who", store.spaces(), deadline=NEVER), QueryVector)


def test_until_the_new_space_covers_all_the_old_one_stays(
    store: InMemoryStore, ledgers: Ledgers
) -> None:
    provider = Provider(0, Limits(items=1))
    service = another(service_of(provider), ledgers)
    filled(service, store)
    provider.extra = 1
    service.query("who", store.spaces(), deadline=NEVER)
    provider.sick_after = len(provider.requests) + 3  # a harmless text is among them
    report = filled(service, store)
    assert (report.embedded, report.missing, report.reason) == (2, 1, "0 is ill")
    assert lengths(store) == {2: 3, 3: 2}
    provider.sick_after = None
    found = service_of(provider).query("who", store.spaces(), deadline=NEVER)
    assert isinstance(found, QueryVector)
    assert len(found.vector) == 4 * 3
    report = filled(another(service_of(provider), ledgers), store)
    assert (report.embedded, report.missing) == (1, 0)
    assert lengths(store) == {3: 3}


def test_a_server_that_comes_back_to_its_length_costs_one_request(
    store: InMemoryStore, ledgers: Ledgers
) -> None:
    provider = Provider(0)
    service = another(service_of(provider), ledgers)
    filled(service, store)
    provider.extra = 1
    service.query("who", store.spaces(), deadline=NEVER)
    provider.extra = 0
    report = filled(service, store)
    assert (report.requests, report.missing, report.reason) == (1, 0, "")
    assert [len(texts) for texts in provider.requests[2:]] == [1]
    assert lengths(store) == {2: 3}
    assert filled(service, store).requests == 0


def test_a_text_that_is_refused_is_reported_with_its_path_and_not_sent_again(
    store: InMemoryStore, ledgers: Ledgers
) -> None:
    provider = Provider(0)
    provider.bad = frozenset({"two two"})
    asked: list[str] = []

    def locate(text: str) -> str:
        asked.append(text)
        return "a.md#L2"

    report = filled(another(service_of(provider), ledgers), store, locate=locate)
    assert (report.embedded, report.missing, report.reason) == (2, 0, "")
    assert report.refused == (("a.md#L2", "not that"),)
    assert asked == ["two two"]
    sent = len(provider.requests)
    service = another(service_of(provider), ledgers)
    report = filled(service, store)
    assert (report.requests, report.refused) == (0, (("a.md#L2", "not that"),))
    assert refused_texts(service) == ["a.md#L2 is not embedded: not that"]
    assert service.providers[0].state().state == "closed"
    write(store, make_put("a.md", "one", "two three"))  # its text changes
    report = filled(another(service_of(provider), ledgers), store)
    assert (report.embedded, report.refused, report.missing) == (1, (), 0)
    assert provider.requests[sent:] == [["two three"]]


@pytest.mark.parametrize("items", [1, 100])
def test_a_text_that_alone_gets_another_length_is_left_out(
    store: InMemoryStore, ledgers: Ledgers, items: int
) -> None:
    provider = Provider(0, Limits(items=items))
    provider.odd = frozenset({"odd", "strange"})
    filled(another(service_of(provider), ledgers), store)
    for odd in sorted(provider.odd):
        write(store, make_put(f"{odd}.md", odd), make_put("new.md", f"beside {odd}"))
        report = filled(another(service_of(provider), ledgers), store)
        assert (report.missing, report.reason, report.note) == (0, "", "")
        assert (f"'{odd}'", "p0: a vector of 3 dimensions came back, others have 2") in (
            report.refused
        )
        assert filled(another(service_of(provider), ledgers), store).requests == 0
    assert lengths(store) == {2: 4}
    provider.extra = 5
    write(store, make_put("c.md", "after the change"))
    report = filled(another(service_of(provider), ledgers), store)
    assert (report.missing, report.reason, len(report.refused)) == (0, "", 2)
    assert lengths(store) == {7: 5}


def test_a_query_of_another_length_changes_nothing_once_a_note_has_the_old_one(
    store: InMemoryStore, ledgers: Ledgers
) -> None:
    provider = Provider(0)
    provider.odd = frozenset({"who"})
    service = another(service_of(provider), ledgers)
    filled(service, store)
    assert isinstance(service.query("who", store.spaces(), deadline=NEVER), Fallback)
    report = filled(service, store)
    assert (report.embedded, report.requests, report.note) == (1, 1, "")
    assert lengths(store) == {2: 3}


def test_a_refused_text_is_sent_again_to_another_provider_and_when_asked_for(
    store: InMemoryStore, ledgers: Ledgers
) -> None:
    provider = Provider(0)
    provider.bad = frozenset({"one"})
    filled(another(service_of(provider), ledgers), store)
    report = filled(another(service_of(Provider(1)), ledgers), store)
    assert (report.embedded, report.missing) == (3, 0)
    provider.bad = frozenset()
    service = another(service_of(provider), ledgers)
    assert filled(service, store).requests == 0
    report = filled(service, store, rebuild=True)
    assert (report.embedded, report.refused) == (1, ())


def test_a_refused_text_that_has_no_path_is_reported_by_its_beginning(
    store: InMemoryStore, ledgers: Ledgers
) -> None:
    provider = Provider(0)
    provider.bad = frozenset({"one"})
    report = filled(another(service_of(provider), ledgers), store)
    assert report.refused == (("'one'", "not that"),)


@pytest.mark.parametrize("bound", [None, 1], ids=["", "of a cache that is full"])
def test_a_cache_that_lacked_most_texts_is_not_asked_for_them_until_it_has_others(
    store: InMemoryStore, monkeypatch: pytest.MonkeyPatch, bound: int | None
) -> None:
    monkeypatch.setattr(filling, "_GROUP", 1)
    moments = count(1)
    cache = EmbeddingCache(":memory:", max_entries=bound, clock=lambda: float(next(moments)))
    service = service_of(Provider(0), cache=cache)
    cache.put("maker 0|document", {text_digest("other"): bytes(8)})
    listed: list[str] = []
    missing = store.missing_vectors

    def counted(build: Build, space: str) -> Any:
        listed.append(space)
        return missing(build, space)

    monkeypatch.setattr(store, "missing_vectors", counted)
    for _ in range(3):
        assert fill_from_cache(service, store, live_build(store), deadline=NEVER) == 0
    assert len(listed) == 1
    cache.put("maker 0|document", {text_digest("one"): struct.pack("<2f", 1.0, 0.0)})
    assert fill_from_cache(service, store, live_build(store), deadline=NEVER) == 1
    assert len(listed) == 2
