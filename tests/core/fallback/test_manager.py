"""Maintenance by role, and how a chain describes itself."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from commonplace.errors import CallerError, MemoryClosedError, UnavailableError
from commonplace.fallback.backend import Backend
from commonplace.fallback.manager import FallbackMemoryManager
from commonplace.model.documents import StoreHealth
from commonplace.model.reports import BackendState, SyncReport
from commonplace.model.search import Query, Where
from commonplace.resilience.deadline import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.core.fallback.conftest import Chain

    Chains = Callable[..., Chain]


def maintained(chain: Chain) -> list[int]:
    return [len(engine.maintained) for engine in chain.engines]


def search(chain: Chain) -> None:
    query = Query("tea", keyword=None)  # type: ignore[arg-type] # these engines do not read it
    chain.manager.search(query, where=Where(), limit=5, deadline=chain.deadline())


def test_who_stands_by_is_left_as_it_is(chains: Chains) -> None:
    chain = chains(3)
    assert chain.manager.maintain(deadline=NEVER).known == 1
    assert maintained(chain) == [1, 0, 0]
    chain.close()


def test_who_stands_by_warm_is_maintained_without_embedding(chains: Chains) -> None:
    chain = chains(2, standby="warm")
    chain.manager.maintain(deadline=NEVER, force=True)
    first, second = (engine.maintained[0] for engine in chain.engines)
    assert (first["embed"], second["embed"]) == (True, False)
    assert first["force"] is second["force"] is True
    chain.close()


def test_who_stands_by_is_embedded_where_that_was_asked_for(chains: Chains) -> None:
    chain = chains(2, standby="warm", embed_standby=True)
    chain.manager.maintain(deadline=NEVER)
    assert chain.engines[1].maintained[0]["embed"] is True
    chain.manager.maintain(deadline=NEVER, embed=False)
    assert chain.engines[1].maintained[1]["embed"] is False
    chain.close()


def test_who_answers_in_anothers_place_is_maintained_too(chains: Chains) -> None:
    chain = chains(3)
    chain.engines[0].mode = "fails"
    search(chain)
    chain.manager.maintain(deadline=NEVER)
    assert maintained(chain) == [1, 1, 0]
    chain.close()


def test_the_report_is_that_of_the_one_that_answers(chains: Chains) -> None:
    chain = chains(3, standby="warm")
    chain.engines[0].mode = "fails"
    search(chain)
    for added, engine in enumerate(chain.engines):
        report = SyncReport(added=added)
        engine.maintain = lambda report=report, **_: report  # type: ignore[method-assign]
    assert chain.manager.maintain(deadline=NEVER).added == 1
    chain.close()


def test_who_was_maintained_is_asked_again_at_the_next_search(chains: Chains) -> None:
    chain = chains(2)
    chain.engines[0].mode = "fails"
    for _ in range(2):
        search(chain)
    assert chain.engines[0].searched == 1, "left alone meanwhile"
    chain.engines[0].mode = "answers"
    chain.manager.maintain(deadline=NEVER, force=True)
    search(chain)
    assert chain.engines[0].searched == 2
    assert chain.manager.backends[0].guard.failure("search") is None
    chain.close()


def test_where_the_first_cannot_be_maintained_the_next_is(chains: Chains) -> None:
    chain = chains(3)
    chain.engines[0].sync_mode = "fails"
    report = chain.manager.maintain(deadline=NEVER)
    assert maintained(chain) == [1, 1, 0]
    assert report.notices == ("the index of e0 was not updated: e0 is down",)
    assert report.failed_backends == ("e0",)
    status = chain.manager.status()
    assert status.sync_failures == ("the index of e0 could not be updated: e0 is down",)
    assert status.active is chain.manager.backends[0], "it searches all the same"
    chain.close()


def test_a_failed_sync_is_reported_with_its_hint(chains: Chains) -> None:
    chain = chains(2)
    chain.engines[0].sync_mode = "fails"
    chain.engines[0].hint = "switch it on"
    report = chain.manager.maintain(deadline=NEVER)
    assert report.notices == ("the index of e0 was not updated: e0 is down (switch it on)",)
    chain.close()


def test_where_none_can_be_maintained_the_first_error_is_raised(chains: Chains) -> None:
    chain = chains(2)
    chain.engines[0].sync_mode = "breaks"
    chain.engines[1].sync_mode = "fails"
    with pytest.raises(UnavailableError, match="e0 failed: ZeroDivisionError"):
        chain.manager.maintain(deadline=NEVER)
    chain.engines[1].sync_mode = "blames"
    with pytest.raises(CallerError):
        chain.manager.maintain(deadline=NEVER)
    chain.close()


def test_a_status_has_the_state_of_each_backend(chains: Chains) -> None:
    chain = chains(3)
    serving, standby = (
        BackendState(id="e0", state="serving"),
        BackendState(id="e2", state="standby"),
    )
    assert chain.manager.status().states == (
        serving,
        BackendState(id="e1", state="standby"),
        standby,
    )
    chain.engines[0].mode = "fails"
    search(chain)
    status = chain.manager.status()
    since = chain.clock()
    assert status.states == (
        BackendState(id="e0", state="failing", reason="e0 is down", since=since, retry_in=30.0),
        BackendState(id="e1", state="serving"),
        standby,
    )
    assert status.health.available
    assert chain.engines[2].closed == 0
    chain.close()


def test_a_status_counts_nothing(chains: Chains) -> None:
    chain = chains(2)
    for engine in chain.engines:
        engine.mode = "fails"
    status = chain.manager.status()
    assert status.active is None
    assert [state.reason for state in status.states] == ["e0: fails", "e1: fails"]
    assert not chain.manager.health().available
    assert chain.changes == []
    assert chain.manager.pending().known == 1
    chain.close()


def test_one_with_an_empty_index_that_cannot_be_filled_does_not_serve(chains: Chains) -> None:
    chain = chains(2)
    first = chain.engines[0]
    first.store = StoreHealth("here", documents=0, chunks=0)
    assert chain.manager.status().states[0].state == "serving"
    first.sync_mode = "fails"
    chain.manager.maintain(deadline=NEVER)
    assert chain.manager.status().states == (
        BackendState(id="e0", state="failing", reason="e0 is down", since=chain.clock()),
        BackendState(id="e1", state="serving"),
    )
    first.store = StoreHealth("here", documents=1, chunks=1)
    assert chain.manager.status().states[0].state == "serving", "what it has, it can search"
    chain.close()


def test_one_with_an_empty_index_that_cannot_be_written_does_not_serve(chains: Chains) -> None:
    chain = chains(2)
    chain.engines[0].store = StoreHealth("here", documents=0, chunks=0, writable=False)
    (state, _) = chain.manager.status().states
    assert state.state == "failing"
    assert state.reason == "the index of e0 is empty and cannot be written"
    chain.close()


def test_an_engine_that_cannot_be_made_fails_and_is_made_later() -> None:
    chances = [UnavailableError("not installed", hint="install it"), None]

    def make() -> object:
        if (error := chances.pop(0)) is not None:
            raise error
        return object()

    backend = Backend("e", make)  # type: ignore[arg-type] # any engine will do
    with pytest.raises(UnavailableError, match="not installed"):
        backend.call("search", lambda _: 1, NEVER)
    failure = backend.guard.failure("search")
    assert failure is not None
    assert failure.reason == "not installed (install it)"
    assert backend.call("search", lambda _: 1, NEVER) == 1
    assert backend.guard.failure("search") is None


def test_an_engine_made_while_its_chain_was_closed_is_closed_too(chains: Chains) -> None:
    chain = chains(1)
    engine = chain.engines[0]
    making, closed = threading.Event(), threading.Event()

    def make() -> object:
        making.set()
        closed.wait(10)
        return engine

    backend = Backend("e", make)  # type: ignore[arg-type] # it is one
    failed: list[Exception] = []

    def ask() -> None:
        try:
            backend.manager()
        except MemoryClosedError as error:
            failed.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert making.wait(10)
    backend.close()
    closed.set()
    thread.join(10)
    assert engine.closed == 1
    assert len(failed) == 1
    chain.close()


class ClosedMeanwhile(Backend):
    """Another thread closes it just before the engine that was made is its own."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "_manager" and value is not None:
            self.close()
        super().__setattr__(name, value)


def test_an_engine_is_closed_too_if_that_was_just_before_its_chain_had_it(chains: Chains) -> None:
    chain = chains(1)
    engine = chain.engines[0]
    backend = ClosedMeanwhile("e", lambda: engine)
    with pytest.raises(MemoryClosedError):
        backend.manager()
    assert engine.closed == 1
    chain.close()


def test_a_chain_has_backends() -> None:
    with pytest.raises(ValueError, match="at least one backend"):
        FallbackMemoryManager([])


def test_every_backend_is_asked_for_a_sync_that_is_not_eager(chains: Chains) -> None:
    chain = chains(2, standby="warm")
    chain.manager.maintain(deadline=NEVER, eager=False)
    assert [engine.maintained[0]["eager"] for engine in chain.engines] == [False, False]
    chain.close()
