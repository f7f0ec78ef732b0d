"""One search along a chain, outcome by outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commonplace.errors import (
    CallerError,
    DeadlineExceededError,
    DeclinedError,
    ScopeDeniedError,
    UnavailableError,
    reason_of,
)
from commonplace.fallback.backend import Backend
from commonplace.index.syncing import Freshness
from commonplace.model.search import Fallback, Query, Where

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.core.fallback.conftest import Chain, Mode

    from commonplace.fallback.backend import UpdateOptions
    from commonplace.fallback.manager import ChainSearch, FallbackMemoryManager

    Chains = Callable[..., Chain]


def ask(chain: Chain, query: Query, *, fresh: bool = False, seconds: float = 30.0) -> ChainSearch:
    search = chain.manager.search_of(query, chain.deadline(seconds), update=fresh)
    search.update()
    search.ask(query, where=Where(), limit=5)
    return search


@pytest.mark.parametrize("mode", ["fails", "breaks", "hangs"])
def test_a_broken_backend_is_passed_over_and_left_alone(
    chains: Chains, query: Query, cooldown: float, mode: Mode
) -> None:
    chain = chains(2)
    first, second = chain.engines
    first.mode = mode
    search = ask(chain, query)
    assert search.backend == "e1"
    assert search.fallback is not None
    assert search.fallback.part == "e0"
    assert "e0" in search.fallback.reason
    since = search.fallback.since
    chain.clock.pass_by(5)
    again = ask(chain, query)
    assert (first.searched, second.searched) == (1, 2)
    assert again.fallback == Fallback(part="e0", reason=search.fallback.reason, since=since)
    first.release.set()
    first.mode = "answers"
    chain.clock.pass_by(cooldown)
    assert ask(chain, query).fallback is None
    assert [reason is None for _, reason in chain.changes] == [False, True]
    chain.close()


def test_one_that_declines_counts_nothing_and_is_asked_again(chains: Chains, query: Query) -> None:
    chain = chains(2)
    chain.engines[0].mode = "declines"
    for _ in range(2):
        search = ask(chain, query)
        assert search.fallback == Fallback(
            part="e0", reason="e0 would rather not", since=chain.clock()
        )
    assert chain.engines[0].searched == 2
    assert chain.changes == []
    chain.close()


@pytest.mark.parametrize("fresh", [False, True])
def test_a_mistake_of_the_caller_ends_the_search(chains: Chains, query: Query, fresh: bool) -> None:
    chain = chains(2)
    chain.engines[0].mode = "blames"
    with pytest.raises(CallerError, match="e0 cannot be asked that"):
        ask(chain, query, fresh=fresh)
    assert chain.engines[1].searched == 0
    assert chain.changes == []
    chain.close()


def test_nothing_found_is_an_answer(chains: Chains, query: Query) -> None:
    chain = chains(2)
    chain.engines[0].mode = "finds nothing"
    search = ask(chain, query, fresh=True)
    assert (search.backend, search.fallback, search.freshness) == ("e0", None, Freshness())
    chain.close()


@pytest.mark.parametrize("sync_mode", ["fails", "breaks", "hangs", "declines"])
def test_nothing_found_in_an_index_that_may_hold_nothing_is_no_answer(
    chains: Chains, query: Query, sync_mode: Mode
) -> None:
    chain = chains(2)
    chain.engines[0].mode = "finds nothing"
    chain.engines[0].sync_mode = sync_mode
    assert ask(chain, query, fresh=True).backend == "e1"
    chain.engines[1].mode = "fails"
    with pytest.raises(UnavailableError, match="e0"):
        ask(chain, query, fresh=True)
    chain.close()


def test_a_backend_passed_over_after_a_failed_sync_is_reported_with_hint(
    chains: Chains, query: Query
) -> None:
    chain = chains(2)
    chain.engines[0].mode = "finds nothing"
    chain.engines[0].sync_mode = "fails"
    chain.engines[0].hint = "switch it on"
    for _ in range(2):  # asked, then left alone
        search = ask(chain, query, fresh=True)
        reason = "e0 is down (switch it on)"
        assert search.fallback == Fallback(part="e0", reason=reason, since=chain.clock())
    assert len(chain.engines[0].maintained) == 1
    chain.close()


def test_a_note_of_an_index_that_is_behind_says_how_to_fix_it(chains: Chains, query: Query) -> None:
    chain = chains(2)
    chain.engines[0].sync_mode = "fails"
    chain.engines[0].hint = "switch it on"
    (note,) = ask(chain, query, fresh=True).freshness.notes
    assert note.endswith(": e0 is down (switch it on)")
    chain.close()


@pytest.mark.parametrize("sync_mode", ["fails", "breaks", "hangs"])
def test_an_index_that_was_not_updated_answers_and_says_so(
    chains: Chains, query: Query, sync_mode: Mode
) -> None:
    chain = chains(2)
    chain.engines[0].sync_mode = sync_mode
    search = ask(chain, query, fresh=True)
    assert (search.backend, search.fallback, search.freshness.stale) == ("e0", None, -1)
    (note,) = search.freshness.notes
    assert note.startswith("the index of e0 could not be updated: ")
    assert ask(chain, query, fresh=True).freshness.stale == -1
    assert len(chain.engines[0].maintained) == 1, "left alone meanwhile"
    chain.close()


def test_each_backend_is_updated_once_a_search(chains: Chains, query: Query) -> None:
    chain = chains(2)
    search = chain.manager.search_of(query, chain.deadline(), update=True)
    for _ in range(2):
        search.update()
        search.ask(query, where=Where(), limit=5)
    assert len(chain.engines[0].maintained) == 1
    assert chain.engines[1].maintained == []
    chain.close()


def test_what_is_asked_again_is_asked_of_the_backend_that_answered_and_changes_nothing(
    chains: Chains, query: Query
) -> None:
    chain = chains(2)
    first, second = chain.engines
    first.mode = "declines"
    search = ask(chain, query, fresh=True)
    state = search.backend, search.fallback, search.freshness
    first.mode = "answers"
    (arm,) = search.ask_again(query, where=Where(), limit=5)
    assert arm.name == "e1"
    second.mode = "fails"
    with pytest.raises(UnavailableError, match="e1 is down"):
        search.ask_again(query, where=Where(), limit=5)
    assert (search.backend, search.fallback, search.freshness) == state
    assert first.searched == 1
    chain.close()


def test_the_first_error_is_raised_with_the_others_named(chains: Chains, query: Query) -> None:
    chain = chains(3)
    for engine in chain.engines:
        engine.mode = "fails"
    chain.engines[1].hint = "start it"
    chain.engines[2].mode = "declines"
    for _ in range(2):  # the second time the breakers are open, and all are tried all the same
        with pytest.raises(UnavailableError, match="e0 is down") as caught:
            ask(chain, query)
        assert caught.value.__notes__ == ["e1: e1 is down (start it)", "e2: e2 would rather not"]
        assert reason_of(caught.value).endswith(
            "; e1: e1 is down (start it); e2: e2 would rather not"
        )
    chain.close()


def test_if_all_decline_so_does_the_chain(chains: Chains, query: Query) -> None:
    chain = chains(2)
    for engine in chain.engines:
        engine.mode = "declines"
    with pytest.raises(DeclinedError, match="e0 would rather not"):
        ask(chain, query)
    chain.close()


def test_a_backend_that_recovers_early_answers_where_no_other_can(
    chains: Chains, query: Query
) -> None:
    chain = chains(2)
    for engine in chain.engines:
        engine.mode = "fails"
    with pytest.raises(UnavailableError):
        ask(chain, query)
    chain.engines[0].mode = "answers"
    assert ask(chain, query).backend == "e0"
    chain.close()


def test_every_backend_has_its_share_of_the_time(chains: Chains, query: Query) -> None:
    chain = chains(4)
    for engine in chain.engines[:3]:
        engine.mode = "hangs"
    before = chain.clock()
    assert ask(chain, query, seconds=20).backend == "e3"
    assert chain.clock() - before == pytest.approx(5 + 5 + 5)
    chain.close()


def test_a_backend_that_cannot_be_reached_costs_its_time_once(chains: Chains, query: Query) -> None:
    chain = chains(2)
    chain.engines[0].mode = chain.engines[0].sync_mode = "hangs"
    before = chain.clock()
    assert ask(chain, query, fresh=True).backend == "e1"
    assert chain.clock() - before == pytest.approx(5 + 2)  # half of ten, and one short try
    before = chain.clock()
    assert ask(chain, query, fresh=True).backend == "e1"
    assert chain.clock() == before
    chain.close()


@pytest.mark.parametrize("known", [False, True], ids=["", "and that is known"])
@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("seconds", [30, 400])
def test_a_backend_in_the_place_of_one_that_fails_answers_as_it_would_alone(
    chains: Chains, query: Query, known: bool, bounded: bool, seconds: int
) -> None:
    def indexed(chain: Chain, backends: Backend | FallbackMemoryManager) -> tuple[object, ...]:
        engine = chain.engines[1]
        engine.notes, engine.mode = 12, "finds nothing"
        options: UpdateOptions = {"update": True, "bounded": bounded, "later": "later"}
        search = backends.search_of(query, chain.deadline(seconds), **options)
        search.update()
        arms = search.ask(query, where=Where(), limit=5)
        search.ask_again(query, where=Where(), limit=5)
        return arms, search.freshness, engine.indexed, chain.clock()

    single = chains(2)
    alone = indexed(single, Backend("e1", lambda: single.engines[1]))
    chain = chains(2)
    chain.engines[0].mode = chain.engines[0].sync_mode = "fails"
    if known:
        chain.manager.backends[0].guard.failed("search", UnavailableError("e0 is down"))
    assert indexed(chain, chain.manager) == alone
    assert alone[2] == (12 if not bounded or seconds == 400 else 2)
    assert chain.manager.backends[1].guard.failure("sync") is None
    single.close()
    chain.close()


def test_a_first_index_that_goes_no_further_is_given_up_and_says_what_builds_it(
    chains: Chains, query: Query
) -> None:
    chain = chains(2)
    first, second = chain.engines
    first.mode = first.sync_mode = "fails"
    second.mode, second.sync_mode, second.notes = "finds nothing", "hangs", 12
    before = chain.clock()
    with pytest.raises(UnavailableError, match="e0 is down") as caught:
        ask(chain, query, fresh=True)
    assert chain.clock() - before == pytest.approx(12 * 10 + 22.5)
    (note,) = caught.value.__notes__
    assert note.startswith("e1: e1 did not answer within ")
    assert note.endswith(" s (`commonplace index` takes as long as it needs)")
    chain.close()


def test_one_that_is_left_alone_has_time_where_the_other_hangs(
    chains: Chains, query: Query
) -> None:
    chain = chains(2)
    first, second = chain.engines
    chain.manager.backends[0].guard.failed("search", UnavailableError("e0 is down"))
    second.mode = second.sync_mode = "hangs"
    before = chain.clock()
    assert ask(chain, query, fresh=True).backend == "e0"
    assert chain.clock() - before == pytest.approx(22.5 + 7.5 / 8)
    assert first.searched == 1
    chain.close()


def test_a_deadline_that_is_too_short_is_no_failure_of_a_backend(
    chains: Chains, query: Query
) -> None:
    chain = chains(2)
    for engine in chain.engines:
        engine.mode = "hangs"
    with pytest.raises(DeadlineExceededError):
        ask(chain, query, seconds=0.5)
    with pytest.raises(DeadlineExceededError):
        ask(chain, query, seconds=0)
    assert chain.changes == []
    chain.close()


def test_who_may_not_search_is_refused_whichever_backend_would_answer(
    chains: Chains, query: Query
) -> None:
    def refuse(asked: Query) -> None:
        if asked.session_key:
            raise ScopeDeniedError("not in this chat")

    chain = chains(2, permits=[refuse])
    chain.engines[0].mode = "fails"
    with pytest.raises(ScopeDeniedError):
        ask(chain, query._replace(session_key="agent:main:x:group:1"))
    assert [engine.searched for engine in chain.engines] == [0, 0]
    assert ask(chain, query).backend == "e1"
    chain.close()
