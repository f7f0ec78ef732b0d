"""Who may answer a query, in whose place, and at what cost; spaces never meet."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.embedding.cache import EmbeddingCache
from commonplace.embedding.guarded import GuardedProvider
from commonplace.embedding.service import (
    EmbeddingService,
    QueryVector,
    active_provider,
    provider_states,
)
from commonplace.embedding.spaces import (
    RefusedText,
    RefusedTexts,
    SpaceLedger,
    fingerprint_of,
    space_name,
)
from commonplace.embedding.vectors import floats
from commonplace.errors import ProviderError
from commonplace.health.status import refused_texts
from commonplace.model.documents import SpaceInfo
from commonplace.model.search import Fallback
from commonplace.protocols.providers import Limits
from commonplace.resilience.breaker import CircuitBreaker
from commonplace.resilience.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

NOW = 5000.0


class Provider:
    """Its vectors say who made them: the number of its own place is the largest."""

    limits = Limits()
    capabilities: frozenset[str] = frozenset()
    concurrency = 1

    def __init__(self, place: int, *, ill: bool = False, dims: int = 4) -> None:
        self.place = place
        self.ill = ill
        self.dims = dims
        self.model = f"model {place}"
        self.asked: list[str] = []

    def fingerprint(self) -> str:
        return f"maker {self.place}"

    def embed(
        self, texts: Sequence[str], *, purpose: str, deadline: Deadline
    ) -> Sequence[Sequence[float]]:
        self.asked += texts
        if self.ill:
            raise ProviderError(f"{self.place} is ill", provider="p", kind="auth")
        return [[2.0 if at == self.place else 1.0 for at in range(self.dims)] for _ in texts]

    def close(self) -> None:
        pass


def link_of(provider: Provider) -> GuardedProvider:
    breaker = CircuitBreaker(clock=lambda: NOW, monotonic=lambda: NOW)
    return GuardedProvider(f"p{provider.place}", provider, breaker)


def service_of(*providers: Provider, cache: EmbeddingCache | None = None) -> EmbeddingService:
    return EmbeddingService([link_of(one) for one in providers], cache, clock=lambda: NOW)


def space(place: int, covered: int, chunks: int = 10, dims: int = 4) -> SpaceInfo:
    return SpaceInfo(space_name(f"maker {place}", dims), dims, covered, chunks)


def maker_of(vector: bytes) -> int:
    numbers = list(floats(vector))
    return numbers.index(max(numbers))


coverage = st.sampled_from([0, 1, 5, 9, 10])


@given(
    ill=st.tuples(st.booleans(), st.booleans()),
    covered=st.tuples(coverage, coverage, coverage),
    absent=st.booleans(),
    former=st.booleans(),
)
def test_a_query_is_answered_in_the_space_of_who_made_its_vector(
    ill: tuple[bool, bool], covered: tuple[int, int, int], absent: bool, former: bool
) -> None:
    providers = [Provider(place, ill=is_ill) for place, is_ill in enumerate(ill)]
    old = Provider(2)
    links = [link_of(one) for one in providers][1 if absent else 0 :]
    service = EmbeddingService(
        links,
        None,
        absent=Fallback(part="p0", reason="no key", since=NOW) if absent else None,
        former=lambda infos: link_of(old) if former and infos[0] == space(2, covered[2]) else None,
        clock=lambda: NOW,
    )
    spaces = [space(place, number) for place, number in enumerate(covered)]
    reported = active_provider(service, spaces)
    found = service.query("words", spaces, deadline=NEVER)
    after = active_provider(service, spaces)

    may = set()
    if not absent and covered[0] and not ill[0]:
        may.add(0)
    if covered[1] == 10 and not ill[1]:
        may.add(1)
    if former and not absent and covered[2] > covered[0]:
        may.add(2)
    if not may:
        assert isinstance(found, Fallback)
        assert found.reason
        assert found.part == "p0"
        assert not after.answers
        return
    assert isinstance(found, QueryVector)
    place = maker_of(found.vector)
    assert place in may
    assert fingerprint_of(found.space) == f"maker {place}"
    assert (found.provider, found.model) == (f"p{place}", f"model {place}")
    assert (found.fallback is None) == (place == 0)
    if found.fallback is not None:
        assert (found.fallback.part, found.fallback.by) == ("p0", f"p{place}")
        assert found.fallback.reason
        assert found.fallback.since == NOW
    assert (after.provider, after.model, after.answers) == (found.provider, found.model, True)
    assert (after.fallback is None) == (found.fallback is None)
    if not any(ill):
        assert reported.provider == after.provider  # known without a request


def test_a_query_is_asked_for_once() -> None:
    cache = EmbeddingCache(":memory:")
    provider = Provider(0)
    service = service_of(provider, cache=cache)
    first = service.query("words", [space(0, 1)], deadline=NEVER)
    assert service.query("words", [space(0, 1)], deadline=NEVER) == first
    assert provider.asked == ["words"]
    service.close()


def test_a_cached_query_needs_no_provider() -> None:
    provider = Provider(0)
    service = service_of(provider, cache=EmbeddingCache(":memory:"))
    service.query("words", [space(0, 1)], deadline=NEVER)
    provider.ill = True
    service.query("others", [space(0, 1)], deadline=NEVER)
    assert isinstance(service.query("words", [space(0, 1)], deadline=NEVER), QueryVector)
    assert provider.asked == ["words", "others"]


def test_a_cached_query_that_is_damaged_is_asked_for_again(tmp_path: Path) -> None:
    cache = EmbeddingCache(str(tmp_path / "e.sqlite"))
    provider = Provider(0)
    service = service_of(provider, cache=cache)
    first = service.query("words", [space(0, 1)], deadline=NEVER)
    with closing(apsw.Connection(cache.path)) as file:  # as a disk may, unseen by SQLite
        file.execute("UPDATE embedding SET vector = ?", (b"\xff" * 16,))
    assert service.query("words", [space(0, 1)], deadline=NEVER) == first
    assert provider.asked == ["words", "words"]
    service.close()


def test_a_vector_of_another_length_is_neither_used_nor_kept() -> None:
    provider = Provider(0, dims=8)
    cache = EmbeddingCache(":memory:")
    service = service_of(provider, cache=cache)
    found = service.query("words", [space(0, 1)], deadline=NEVER)
    assert isinstance(found, Fallback)
    assert found.reason.startswith("p0 now gives 8 dimensions, the index has 4: ")
    provider.dims = 4
    assert isinstance(service.query("words", [space(0, 1)], deadline=NEVER), QueryVector)
    assert cache.count() == 1


def test_vectors_of_another_length_are_seen_in_status_and_heard_of_once(tmp_path: Path) -> None:
    provider = Provider(0, dims=8)
    heard: list[tuple[str, str | None]] = []
    link = GuardedProvider(
        "p0", provider, CircuitBreaker(), changed=lambda *change: heard.append(change)
    )
    ledger = SpaceLedger(str(tmp_path / "spaces.json"), clock=lambda: NOW - 9)
    service = EmbeddingService([link], None, ledger=ledger, clock=lambda: NOW)
    index = [space(0, 10)]
    for query in ("one", "two"):
        found = service.query(query, index, deadline=NEVER)
    words = "p0 now gives 8 dimensions, the index has 4: `commonplace index` embeds the notes again"
    assert found == Fallback(part="p0", reason=words, since=NOW - 9, by="keywords alone")
    # Another process knows it, too.
    other = EmbeddingService([link_of(provider)], None, ledger=ledger, clock=lambda: NOW)
    (state,) = provider_states(other, index, 10)
    assert (state.state, state.reason, state.since) == ("failing", words, NOW - 9)
    assert state.work == "queries"
    active = active_provider(other, index)
    assert (active.fallback, active.answers) == (found, False)

    provider.dims = 4  # the server is itself again, and the next query shows it
    assert isinstance(service.query("three", index, deadline=NEVER), QueryVector)
    assert heard == [("p0", words), ("p0", None)]
    assert provider_states(other, index, 10)[0].state == "ready"
    assert active_provider(other, index).answers


def test_a_vector_of_another_length_is_used_where_the_index_has_begun_to_follow() -> None:
    provider = Provider(0, dims=8)
    cache = EmbeddingCache(":memory:")
    service = service_of(provider, cache=cache)
    spaces = [space(0, 9), space(0, 1, dims=8)]
    found = service.query("words", spaces, deadline=NEVER)
    assert isinstance(found, QueryVector)
    assert found.space == spaces[1].space
    assert service.query("words", spaces, deadline=NEVER) == found
    assert provider.asked == ["words"]
    assert isinstance(service.query("words", spaces[:1], deadline=NEVER), Fallback)


def test_a_text_that_is_always_refused_keeps_a_space_from_nothing(tmp_path: Path) -> None:
    refused = RefusedTexts(str(tmp_path / "refused.json"), "index")
    refused.keep("maker 1", {"digest": RefusedText("a.md#L1", "no")})
    links = [link_of(Provider(0, ill=True)), link_of(Provider(1))]
    service = EmbeddingService(links, None, refused=refused, clock=lambda: NOW)
    for covered, answers in ((8, False), (9, True), (10, True)):
        found = service.query("words", [space(1, covered)], deadline=NEVER)
        assert isinstance(found, QueryVector) == answers
    assert refused_texts(service) == ["a.md#L1 is not embedded: no"]


def test_one_space_of_several_lengths_is_the_one_that_covers_most() -> None:
    spaces = [space(0, 3, dims=8), space(0, 9)]
    found = service_of(Provider(0)).query("words", spaces, deadline=NEVER)
    assert isinstance(found, QueryVector)
    assert found.space == space(0, 9).space


def test_a_primary_that_could_not_be_made_is_reported_with_its_reason() -> None:
    absent = Fallback(part="p0", reason="no key", since=NOW)
    service = EmbeddingService([], None, absent=absent)
    found = service.query("words", [space(0, 10)], deadline=NEVER)
    assert found == absent
    (state,) = provider_states(service, [], 10)
    assert (state.id, state.state, state.reason) == ("p0", "unusable", "no key")


def test_states_tell_what_each_has_embedded_and_what_is_wrong() -> None:
    providers = [Provider(0, ill=True), Provider(1)]
    service = service_of(*providers)
    spaces = [space(0, 4)]
    first, second = provider_states(service, spaces, 10)
    assert (first.role, first.state, first.covered, first.space) == (
        "primary",
        "ready",
        4,
        space(0, 4).space,
    )
    assert (second.role, second.state, second.covered, second.space) == ("fallback", "ready", 0, "")
    service.query("words", spaces, deadline=NEVER)
    first, second = provider_states(service, spaces, 10)
    assert (first.state, first.reason, first.since) == ("failing", "0 is ill", NOW)
    assert providers[1].asked == []  # to look is not to ask


@pytest.mark.parametrize(
    ("spaces", "provider"), [([], "p0"), ([space(0, 0)], "p0"), ([space(1, 10)], "p1")]
)
def test_before_anything_is_embedded_it_is_known_who_will(
    spaces: list[SpaceInfo], provider: str
) -> None:
    reported = active_provider(service_of(Provider(0), Provider(1)), spaces)
    assert reported.provider == provider
    assert reported.answers == bool(spaces and spaces[0].covered)


def test_former_links_are_made_once_and_closed() -> None:
    closed: list[str] = []

    class Closing(Provider):
        def close(self) -> None:
            closed.append(self.model)

    made: list[GuardedProvider] = []

    def former(_: Sequence[SpaceInfo]) -> GuardedProvider:
        link = link_of(Closing(2))
        assert link.model  # it is made now
        made.append(link)
        return link

    find: Callable[[Sequence[SpaceInfo]], GuardedProvider] = former
    service = EmbeddingService([link_of(Provider(0))], None, former=find)
    for words in ("a", "b"):
        service.query(words, [space(2, 10)], deadline=NEVER)
    service.close()
    assert (len(made), closed) == (1, ["model 2"])


def test_a_query_vector_of_length_zero_is_no_failure_of_the_provider() -> None:
    class Blank(Provider):
        def embed(self, texts: Sequence[str], **_: object) -> Sequence[Sequence[float]]:
            self.asked += texts
            return [[0.0] * self.dims for _ in texts]

    provider = Blank(0)
    service = service_of(provider, Provider(1))
    for _ in range(9):
        found = service.query("?!", [space(0, 10), space(1, 5)], deadline=NEVER)
        assert isinstance(found, Fallback)
        assert found.reason == "p0 returned a zero vector for the query"
    (state, _) = provider_states(service, [space(0, 10), space(1, 5)], 10)
    assert (state.state, state.since) == ("ready", None)
    assert len(provider.asked) == 9
