from __future__ import annotations

import threading
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import pytest
from tests.conformance.mutants import caught, complete

from commonplace.errors import DeadlineExceededError, DeclinedError, IndexBusyError
from commonplace.model.search import KeywordMatches
from commonplace.resilience.deadline import NEVER, Deadline
from commonplace.testing.store.lifetime import LifetimeLaws
from commonplace_inmemory.store import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from commonplace.index.simple_store import StoredBuild
    from commonplace.model.documents import Build, StoredDocument, StoreHealth
    from commonplace.model.search import KeywordQuery, Where


class LeasesOnce(InMemoryStore):
    """Takes a lock before the lease that no thread can take twice."""

    def __init__(self) -> None:
        super().__init__()
        self._once = threading.Lock()

    @contextmanager
    def writer(self, *, wait: float) -> Iterator[None]:
        if not self._once.acquire(timeout=wait):
            raise IndexBusyError("another writer is active")
        with self._once_held(), super().writer(wait=wait):
            yield

    @contextmanager
    def _once_held(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._once.release()


class LeasesToEverybody(InMemoryStore):
    def writer(self, *, wait: float) -> AbstractContextManager[None]:
        return nullcontext()


class KeepsTheLeaseAfterErrors(LeasesOnce):
    @contextmanager
    def _once_held(self) -> Iterator[None]:
        yield
        self._once.release()


class NeverWaits(InMemoryStore):
    def writer(self, *, wait: float) -> AbstractContextManager[object]:
        return super().writer(wait=0)


class LeasesToReaders(InMemoryStore):
    def documents(self, build: Build | None = None) -> Iterable[StoredDocument]:
        with self.writer(wait=0):
            return super().documents(build)


class DeclaresWonders(InMemoryStore):
    capabilities = InMemoryStore.capabilities | {"telepathy"}


class FindsNothingUndeclared(InMemoryStore):
    capabilities = frozenset({"vectors"})

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        return KeywordMatches()


class DeclinesKeywords(FindsNothingUndeclared):
    """Not broken: it says what it cannot do."""

    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        raise DeclinedError("this store keeps vectors")


class CountsSourcesForDocuments(InMemoryStore):
    def health(self, *, deep: bool = False, counts: bool = True) -> StoreHealth:
        health = super().health(deep=deep, counts=counts)
        return health._replace(documents=len(health.documents_by_source))


class NeverLooksAtTheClock(InMemoryStore):
    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        return super().keyword(query, where=where, limit=limit, deadline=NEVER)


class AnswersWhatItHas(InMemoryStore):
    def keyword(
        self, query: KeywordQuery, *, where: Where, limit: int, deadline: Deadline
    ) -> KeywordMatches:
        deadline.check("the search")
        found = super().keyword(query, where=where, limit=limit, deadline=NEVER)
        try:
            deadline.check("the search")
        except DeadlineExceededError:
            return KeywordMatches(found.found[: len(found.found) // 2])
        return found


class IsEmptyOnceClosed(InMemoryStore):
    def _snapshot(self) -> dict[int, StoredBuild]:
        return {} if self._closed else super()._snapshot()


class ClosesOnce(InMemoryStore):
    def close(self) -> None:
        self._snapshot()
        super().close()


class DropsWithoutTheLease(InMemoryStore):
    def drop(self, build: Build) -> None:
        builds = self._snapshot()
        builds.pop(build.id, None)
        self._swap(builds)


BROKEN: list[tuple[type[InMemoryStore], str]] = [
    (DropsWithoutTheLease, "test_writing_needs_the_lease"),
    (LeasesOnce, "test_a_thread_may_take_its_lease_again"),
    (LeasesToEverybody, "test_one_thread_at_a_time_has_the_lease"),
    (KeepsTheLeaseAfterErrors, "test_an_error_lets_the_lease_go"),
    (NeverWaits, "test_who_waits_gets_the_lease"),
    (LeasesToReaders, "test_reading_needs_no_lease"),
    (DeclaresWonders, "test_capabilities_are_known_words"),
    (FindsNothingUndeclared, "test_undeclared_keyword_queries_are_declined"),
    (CountsSourcesForDocuments, "test_health_counts_what_is_there"),
    (NeverLooksAtTheClock, "test_a_search_without_time_is_an_error"),
    (AnswersWhatItHas, "test_a_search_gives_all_or_an_error"),
    (IsEmptyOnceClosed, "test_a_closed_store_does_not_answer"),
    (ClosesOnce, "test_closing_twice_is_fine"),
]


test_the_law_catches = caught(BROKEN)
test_every_law_can_fail = complete(BROKEN, LifetimeLaws)


@pytest.mark.parametrize(
    ("law", "outcome"),
    [
        ("test_undeclared_keyword_queries_are_declined", "kept"),
        ("test_any_history_leaves_what_a_naive_model_leaves", "kept"),
        ("test_a_closed_store_does_not_answer", "kept"),
        ("test_a_search_finds_all_that_match_and_nothing_else", "skipped"),
    ],
)
def test_who_declares_no_keywords_need_not_have_them(
    law: str, outcome: str, verdict: Callable[..., str]
) -> None:
    assert verdict(lambda _: DeclinesKeywords(), law, 40) == outcome
