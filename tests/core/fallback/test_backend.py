"""Work that was ended from outside says nothing against who did it."""

from __future__ import annotations

import signal
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, NoReturn, cast

import pytest

from commonplace.errors import DeadlineExceededError, IndexBusyError, UnavailableError
from commonplace.fallback.backend import Backend
from commonplace.model.reports import SyncReport
from commonplace.model.search import Arm, Found, KeywordQuery, Query, StoredChunk, Where
from commonplace.resilience.bounded_call import Worker
from commonplace.resilience.deadline import Deadline

if TYPE_CHECKING:
    from commonplace.protocols.managers import MemoryManager


class Slow:
    """An engine whose update and answers take the given seconds, on a clock of its own."""

    capabilities: frozenset[str] = frozenset()

    def __init__(self, *, update: float, answer: float) -> None:
        self.now, self.given = 0.0, list[float]()
        self._update, self._answer = update, answer

    def search(self, *_: object, deadline: Deadline, **__: object) -> tuple[Arm, ...]:
        self.given.append(deadline.remaining())
        self.now += self._answer
        return (Arm("slow", "opaque", ()),)

    def maintain(self, **_: object) -> SyncReport:
        self.now += self._update
        return SyncReport()

    def pending(self) -> SyncReport:
        return SyncReport(added=1, known=1)


@pytest.mark.parametrize("update", [0, 20])
def test_all_that_a_search_asks_for_ends_by_its_deadline_or_half_of_it_after_the_update(
    update: int,
) -> None:
    slow = Slow(update=update, answer=4)
    backend = Backend("slow", lambda: cast("MemoryManager", slow))
    query = Query("tea", KeywordQuery(("tea",)))
    search = backend.search_of(query, Deadline.after(10, lambda: slow.now), update=bool(update))
    search.update()
    for ask in (search.ask, search.ask_again):
        ask(query, where=Where(), limit=5)
    assert slow.given == ([10, 6] if not update else [5, 1])
    slow.now += 10
    with pytest.raises(DeadlineExceededError):
        search.ask_again(query, where=Where(), limit=5)
    assert backend.guard.failure("search") is None


class FullDisk(Slow):
    """An engine that cannot be updated, and has ``words`` in its index."""

    def __init__(self, *words: str) -> None:
        super().__init__(update=0, answer=0)
        self._words = frozenset(words)

    def maintain(self, **_: object) -> SyncReport:
        raise UnavailableError("disk full")

    pending = maintain

    def search(self, query: Query, **_: object) -> tuple[Arm, ...]:  # type: ignore[override]
        found = Found(StoredChunk(1, "memory", "MEMORY.md", 1, 1, "tea"), 1.0)
        has = not query.keyword.must and self._words & set(query.keyword.should)
        return (Arm("keyword", "bm25", (found,) if has else ()),)


def test_an_index_without_the_quoted_words_is_not_empty_where_it_has_others() -> None:
    keyword = KeywordQuery(("green", "tea"), must=(("green", "tea"),))

    def asked(*words: str, **options: Any) -> tuple[Arm, ...]:
        backend = Backend("full", lambda: cast("MemoryManager", FullDisk(*words)))
        search = backend.search_of(Query("tea", keyword), Deadline.after(9), update=True)
        search.update()
        return search.ask(Query("tea", keyword), where=Where(), limit=5, **options)

    assert [arm.found for arm in asked("tea")] == [()]
    with pytest.raises(UnavailableError, match="disk full"):
        asked("coffee")
    with pytest.raises(UnavailableError, match="disk full"):  # the next of a chain may have them
        asked("tea", deadline=Deadline.after(9))


class Idle:
    """An engine that is never asked for anything."""


def make() -> MemoryManager:
    return Idle()  # type: ignore[return-value]  # what is asked of it is the test's own


@pytest.mark.parametrize(
    ("error", "cancelled", "blamed"),
    [
        (DeadlineExceededError("too long"), True, False),
        (DeadlineExceededError("too long"), False, True),
        (UnavailableError("broken"), True, True),
        (IndexBusyError("another thread is writing the index"), False, False),
    ],
)
def test_who_is_to_blame(error: UnavailableError, cancelled: bool, blamed: bool) -> None:
    changes: list[str | None] = []  # logged, and reported to plugins
    backend = Backend("engine", make, changed=lambda _, reason: changes.append(reason))
    ended: list[bool] = []

    def ask(_: MemoryManager) -> NoReturn:
        ended.append(cancelled)
        raise error

    deadline = Deadline(inf, cancelled=lambda: ended == [True])
    for _ in range(5):
        ended.clear()
        with pytest.raises(UnavailableError):
            backend.call("sync", ask, deadline)
    assert (backend.guard.failure("sync") is not None) == blamed
    assert len(changes) == blamed


@pytest.mark.parametrize(
    ("error", "worker"),
    [
        (SystemExit(3), None),
        (SystemExit(3), Worker("engine")),
        (KeyboardInterrupt(), Worker("engine")),
    ],
    ids=["exit", "exit on a thread", "interrupt on a thread"],
)
def test_an_engine_that_ends_the_program_has_failed(
    error: BaseException, worker: Worker | None
) -> None:
    backend = Backend("engine", make, worker=worker)

    def ask(_: MemoryManager) -> NoReturn:
        raise error

    for call in (partial(backend.call, "search"), backend.probe):
        with pytest.raises(UnavailableError, match=f"engine failed: .*{type(error).__name__}"):
            call(ask, Deadline.after(60))
    assert backend.guard.failure("search") is not None


def test_the_users_interrupt_passes() -> None:
    def ask(_: MemoryManager) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        Backend("engine", make).call("search", ask, Deadline.after(60))


def test_an_interrupt_that_an_engine_raises_is_its_failure() -> None:
    def ask(_: MemoryManager) -> NoReturn:
        raise KeyboardInterrupt

    with pytest.raises(UnavailableError, match="engine failed: KeyboardInterrupt"):
        Backend("engine", make).call("search", ask, Deadline.after(60))
