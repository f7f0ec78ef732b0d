"""Whatever fails: an answer whenever one backend could give it, and never a false one."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from commonplace.errors import CallerError, CommonplaceError, DeclinedError, UnavailableError
from commonplace.model.search import Arm, KeywordQuery, Query, Where

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.core.fallback.conftest import Chain, Engine

    from commonplace.fallback.backend import Work
    from commonplace.fallback.manager import ChainSearch

QUERY = Query("tea", KeywordQuery(("tea",)))
ABLE = ("answers", "finds nothing")
MODES = st.sampled_from([*ABLE, "fails", "declines", "blames", "breaks", "hangs"])
SYNC_MODES = st.sampled_from(["answers", "answers", "fails", "hangs", "breaks"])
COOLDOWN = 30.0


class Backends(RuleBasedStateMachine):
    """Backends fail, hang, recover, and are searched from one thread or several."""

    make: Callable[..., Chain]

    def __init__(self) -> None:
        super().__init__()
        self.chain: Chain
        self.failed_at: dict[str, float] = {}

    @initialize(count=st.integers(1, 4))
    def start(self, count: int) -> None:
        self.chain = self.make(count)

    @rule(data=st.data(), mode=MODES, sync_mode=SYNC_MODES)
    def a_backend_changes(self, data: st.DataObject, mode: str, sync_mode: str) -> None:
        self.change(data.draw(st.sampled_from(self.chain.engines)), mode, sync_mode)

    def change(self, engine: Engine, mode: Any, sync_mode: Any) -> None:
        engine.release.set()  # a call that hangs comes back too late
        engine.release = threading.Event()
        engine.mode, engine.sync_mode = mode, sync_mode
        self.failed_at.pop(engine.id, None)

    @rule(seconds=st.sampled_from([1.0, 31.0, 400.0]))
    def time_passes(self, seconds: float) -> None:
        self.chain.clock.pass_by(seconds)

    @rule(fresh=st.booleans())
    def search(self, fresh: bool) -> None:
        before = {engine.id: engine.searched for engine in self.chain.engines}
        now = self.chain.clock()
        good, late = (
            self.working("search"),
            {engine.id for engine in self.chain.engines} - self.working("sync"),
        )
        self.check(*self.ask(fresh=fresh), fresh=fresh, good=good)
        taken = self.chain.clock() - now
        assert taken <= 30.001, "a search ends when its time is over"
        self.check_that_broken_backends_are_spared(before, now, good, late, fresh=fresh)

    @rule(fresh=st.booleans())
    def search_from_three_threads(self, fresh: bool) -> None:
        outcomes: list[Any] = []
        good = self.working("search")
        threads = [
            threading.Thread(target=lambda: outcomes.append(self.ask(fresh=fresh)))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive(), "a search came back"
        for outcome in outcomes:
            self.check(*outcome, fresh=fresh, good=good)
        assert len(outcomes) == 3
        self.failed_at = {}

    @rule()
    def all_is_well_again(self) -> None:
        for engine in self.chain.engines:
            self.change(engine, "answers", "answers")
        self.chain.clock.pass_by(10_000)
        search, outcome = self.ask(fresh=True)
        assert not isinstance(outcome, CommonplaceError)
        assert (search.backend, search.fallback) == ("e0", None), "without a restart"

    def working(self, work: Work) -> set[str]:
        backends = self.chain.manager.backends
        return {backend.id for backend in backends if backend.guard.failure(work) is None}

    def ask(self, *, fresh: bool) -> tuple[ChainSearch, tuple[Arm, ...] | CommonplaceError]:
        search = self.chain.manager.search_of(QUERY, self.chain.deadline(), update=fresh)
        try:
            search.update()
            return search, search.ask(QUERY, where=Where(), limit=5)
        except CommonplaceError as error:
            return search, error

    def check(
        self,
        search: ChainSearch,
        outcome: tuple[Arm, ...] | CommonplaceError,
        *,
        fresh: bool,
        good: set[str],
    ) -> None:
        engines = {engine.id: engine for engine in self.chain.engines}
        if isinstance(outcome, CallerError):
            assert any(engine.mode == "blames" for engine in engines.values())
            return
        if isinstance(outcome, CommonplaceError):
            assert isinstance(outcome, UnavailableError | DeclinedError)
            assert not any(self.can_answer(engine, fresh=fresh) for engine in engines.values())
            return
        served = engines[search.backend]
        blamed = next(
            (id_ for id_ in engines if id_ in good and engines[id_].mode == "blames"), "z"
        )
        assert blamed > served.id, "a mistake of the caller is not answered by another"
        assert served.mode in ABLE
        found = [item for arm in outcome for item in arm.found]
        assert bool(found) == (served.mode == "answers"), "no answer stands for a failure"
        if fresh and served.sync_mode != "answers":
            assert search.freshness.stale == -1, "what may be stale is not reported as fresh"
            assert found
        if search.backend == "e0":
            assert search.fallback is None
        else:
            assert search.fallback is not None
            assert search.fallback.part == "e0"
            assert search.fallback.reason
            assert search.fallback.since <= self.chain.clock()

    def can_answer(self, engine: Engine, *, fresh: bool) -> bool:
        if engine.mode == "finds nothing":
            return not fresh or engine.sync_mode == "answers"
        return engine.mode == "answers"

    def check_that_broken_backends_are_spared(
        self, before: dict[str, int], now: float, good: set[str], late: set[str], *, fresh: bool
    ) -> None:
        """One that failed is not asked again within its cool-down, while a good one can answer."""
        answered = any(
            engine.id in good
            and (not fresh or engine.id not in late)
            and self.can_answer(engine, fresh=fresh)
            for engine in self.chain.engines
        )
        for engine in self.chain.engines:
            asked = engine.searched - before[engine.id]
            if engine.mode not in ("fails", "breaks", "hangs"):
                continue
            if answered:
                since = self.failed_at.get(engine.id)
                assert not asked or since is None or now - since >= COOLDOWN
            assert asked <= 1
            if asked and (engine.id not in self.failed_at or now - self.failed_at[engine.id] >= 30):
                self.failed_at[engine.id] = now

    @invariant()
    def nothing_changes_twice(self) -> None:
        """Every degradation is reported once, and so is every recovery."""
        if not hasattr(self, "chain"):
            return
        for engine in self.chain.engines:
            recoveries = [
                reason is None for part, reason in self.chain.changes if part == engine.id
            ]
            assert recoveries.count(True) <= recoveries.count(False)

    def teardown(self) -> None:
        if hasattr(self, "chain"):
            self.chain.close()
            assert all(engine.closed <= 1 for engine in self.chain.engines)


@pytest.mark.parametrize("examples", [15, pytest.param(160, marks=pytest.mark.slow)])
def test_backends_that_come_and_go(chains: Callable[..., Chain], examples: int) -> None:
    def machine() -> Backends:
        backends = Backends()
        backends.make = chains
        return backends

    run_state_machine_as_test(
        machine,  # type: ignore[arg-type] # a function that makes one serves as well
        settings=settings(max_examples=examples, stateful_step_count=25, deadline=None),
    )
