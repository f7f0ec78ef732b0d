"""Taking turns: one at a time, the urgent first."""

from __future__ import annotations

import threading

from commonplace_local.keeper import Turns


def test_a_turn_that_is_taken_is_not_given_again() -> None:
    turns = Turns()
    assert turns.take(urgent=False, timeout=0)
    assert not turns.take(urgent=True, timeout=0)
    turns.give_back()
    assert turns.take(urgent=True, timeout=0)


def test_an_endless_deadline_is_no_error() -> None:
    assert Turns().take(urgent=False, timeout=float("inf"))


def test_the_urgent_go_before_those_who_came_earlier() -> None:
    turns = Turns()
    order: list[str] = []
    waiting = threading.Semaphore(0)

    def want(name: str, *, urgent: bool) -> threading.Thread:
        def run() -> None:
            waiting.release()
            assert turns.take(urgent=urgent, timeout=60)
            order.append(name)
            turns.give_back()

        thread = threading.Thread(target=run)
        thread.start()
        waiting.acquire()
        return thread

    assert turns.take(urgent=False, timeout=0)
    threads = [want("first document", urgent=False), want("second document", urgent=False)]
    threads.append(want("query", urgent=True))
    # The semaphore is let go just before waiting begins: see that the query has arrived.
    while not turns._urgent:
        threading.Event().wait(0)
    turns.give_back()
    for thread in threads:
        thread.join(60)
    assert order[0] == "query"
    assert len(order) == 3


def test_who_gives_up_waiting_stands_in_nobodys_way() -> None:
    turns = Turns()
    assert turns.take(urgent=False, timeout=0)
    assert not turns.take(urgent=True, timeout=0)
    turns.give_back()
    assert turns.take(urgent=False, timeout=0)
